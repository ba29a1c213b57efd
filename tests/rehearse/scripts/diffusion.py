"""Training a diffusers UNet to predict noise."""
import torch
from diffusers import DDPMScheduler, UNet2DModel

model = UNet2DModel(sample_size=32, in_channels=3, out_channels=3, block_out_channels=(64, 128, 256),
                    down_block_types=("DownBlock2D", "AttnDownBlock2D", "DownBlock2D"),
                    up_block_types=("UpBlock2D", "AttnUpBlock2D", "UpBlock2D")).cuda()
noise_schedule = DDPMScheduler(num_train_timesteps=1000)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
for step in range(20):
    images = torch.randn(16, 3, 32, 32, device="cuda")
    noise = torch.randn_like(images)
    times = torch.randint(0, 1000, (16,), device="cuda")
    with torch.autocast("cuda", dtype=torch.bfloat16):
        predicted = model(noise_schedule.add_noise(images, noise, times), times).sample
        loss = torch.nn.functional.mse_loss(predicted.float(), noise)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    print(step, loss.item())
