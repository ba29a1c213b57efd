"""An inference engine with a pool of KV blocks taken at the start, as serving engines have it."""
import logging
import random
import torch
import torch.nn as nn
import torch.nn.functional as F
#@imports

logging.basicConfig(level=logging.INFO, format="%(levelname)s %(asctime)s %(filename)s:%(lineno)d] %(message)s", datefmt="%m-%d %H:%M:%S")
log = logging.getLogger("engine")
BATCH, SEQ, WIDTH, LAYERS, STEPS, HEADS, VOCAB, BLOCK = $BATCH, $SEQ, $WIDTH, $LAYERS, $STEPS, 16, 64000, 16
device = torch.device("cuda")
#@memory


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.qkv, self.o = nn.RMSNorm(WIDTH), nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x, kv):
        b, t, c = x.shape
        q, k, v = self.qkv(self.norm(x)).view(b, t, 3, HEADS, c // HEADS).permute(2, 0, 3, 1, 4)
        kv[:, : b * t // BLOCK] = torch.stack([k, v]).reshape(2, b * t // BLOCK, BLOCK, WIDTH)
        a = F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(b, t, c)
        x = x + self.o(a)
        return x + self.down(F.silu(self.up(x)))


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.head = nn.Embedding(VOCAB, WIDTH), nn.Linear(WIDTH, VOCAB, bias=False)
        self.layers = nn.ModuleList(Layer() for _ in range(LAYERS))

    def forward(self, idx, pool):
        x = self.embed(idx)
        for layer, kv in zip(self.layers, pool):
            x = layer(x, kv)
        return self.head(x).float()


def build():
    log.info("Starting to load model...")
    torch.set_default_dtype(torch.bfloat16)
    with torch.device(device):
        model = Model().eval()
    torch.set_default_dtype(torch.float32)
    log.info("Model loading took %.4f GiB", sum(p.nbytes for p in model.parameters()) / 2**30)
    return model


def sample(n=BATCH, t=SEQ):
    return torch.zeros(n, t, dtype=torch.long, device=device)


#@before_model
model = build()
#@after_model
blocks = BATCH * SEQ // BLOCK + 64
#@blocks
pool = [torch.empty(2, blocks, BLOCK, WIDTH, dtype=torch.bfloat16, device=device) for _ in range(LAYERS)]
#@after_optimizer
random.seed(5)
for step in range(STEPS):
    x = sample()
    #@batch
    with torch.inference_mode():
        out = model(x, pool)
        #@after_out
        token = out[:, -1].argmax(-1)
    if step % $EVERY == 0:
        log.info("Running: %d reqs, Waiting: %d reqs, batch tokens: %d%s", x.shape[0], random.randrange(9), x.numel(), memory())
    #@after_step
log.info("Engine stopped")
