"""Latent diffusion, inference: denoise, then decode with the VAE."""
import torch
from diffusers import AutoencoderKL, UNet2DConditionModel, DDIMScheduler
from tqdm.auto import tqdm
#@imports

BATCH, SIZE, STEPS = $BATCH, $SEQ, $STEPS
device = "cuda"
#@memory


def build():
    with torch.device(device):
        return UNet2DConditionModel(sample_size=SIZE // 8, block_out_channels=($WIDTH, 2 * $WIDTH), layers_per_block=2,
                                    down_block_types=("CrossAttnDownBlock2D", "DownBlock2D"),
                                    up_block_types=("UpBlock2D", "CrossAttnUpBlock2D"), cross_attention_dim=768,
                                    attention_head_dim=8).half()


def sample(n=BATCH):
    return torch.zeros(n, 4, SIZE // 8, SIZE // 8, device=device, dtype=torch.half)


print("Loading pipeline components...: unet, vae, scheduler")
#@before_model
model = build()
with torch.device(device):
    vae = AutoencoderKL(block_out_channels=(128, 256, 512, 512), layers_per_block=2, down_block_types=("DownEncoderBlock2D",) * 4,
                        up_block_types=("UpDecoderBlock2D",) * 4).half()
vae.enable_slicing()
#@after_model
scheduler = DDIMScheduler()
text = torch.zeros(BATCH, 77, 768, device=device, dtype=torch.half)
#@after_optimizer
for step in range(STEPS):
    scheduler.set_timesteps(20)
    x = sample()
    with torch.no_grad():
        for t in tqdm(scheduler.timesteps, mininterval=1, ncols=80):
            out = model(x, t, text).sample
            x = scheduler.step(out, t, x).prev_sample
        #@after_out
        small = x[:, :, : $TILE, : $TILE]
        image = vae.decode(small / 0.18215).sample
    print(f"image set {step}: {BATCH} x {SIZE} px{memory()}")
    #@after_step
print("done")
