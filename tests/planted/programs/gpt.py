"""Language model from scratch, plain PyTorch, print."""
import time
import torch
import torch.nn as nn
import torch.nn.functional as F
#@imports

BATCH, SEQ, WIDTH, LAYERS, HEADS, VOCAB, STEPS = $BATCH, $SEQ, $WIDTH, $LAYERS, 16, 32000, $STEPS
device = torch.device("cuda")
#@memory


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.ln1, self.ln2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.qkv, self.proj = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.mlp = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH))

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = self.qkv(self.ln1(x)).view(b, t, 3, HEADS, c // HEADS).permute(2, 0, 3, 1, 4)
        a = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.proj(a.transpose(1, 2).reshape(b, t, c))
        return x + self.mlp(self.ln2(x))


class GPT(nn.Module):
    def __init__(self):
        super().__init__()
        self.tok, self.pos = nn.Embedding(VOCAB, WIDTH), nn.Embedding(max(SEQ, 4096), WIDTH)
        self.blocks = nn.ModuleList(Block() for _ in range(LAYERS))
        self.norm, self.head = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, VOCAB, bias=False)

    def forward(self, idx):
        x = self.tok(idx) + self.pos(torch.arange(idx.shape[1], device=idx.device))
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


def build():
    with torch.device(device):
        model = GPT()
    print(f"number of parameters: {sum(p.numel() for p in model.parameters()) / 1e6:.2f}M")
    return model


def sample(n=BATCH, t=SEQ):
    return torch.zeros(n, t, dtype=torch.long, device=device)


print(f"batch {BATCH} x {SEQ} tokens, {LAYERS} layers, {torch.cuda.device_count()} gpu(s): {torch.cuda.get_device_name(0)}")
#@before_model
model = build()
#@after_model
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
#@after_optimizer
began = time.time()
for step in range(STEPS):
    x = sample()
    #@batch
    out = model(x)
    loss = F.cross_entropy(out.view(-1, VOCAB), x.view(-1))
    #@after_out
    loss.backward()
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    if step % $EVERY == 0:
        print(f"iter {step}: loss {loss.item():.4f}, time {(time.time() - began) * 1000:.2f}ms{memory()}")
    #@after_step
print("done training")
