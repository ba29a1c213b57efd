# Accumulates gradients over 8 batches and clips them.
# Right: fits (0.2 GiB, arithmetic)
import torch
from torch import nn
net = nn.Sequential(nn.Linear(1024, 4096), nn.ReLU(), nn.Linear(4096, 1000)).cuda(); opt = torch.optim.AdamW(net.parameters())
judge = nn.CrossEntropyLoss()
def batch(n=64): return torch.randn(n, 1024, device="cuda"), torch.randint(0, 1000, (n,), device="cuda")
for step in range(64):
    x, y = batch(); (judge(net(x), y) / 8).backward()
    if step % 8 == 7:
        nn.utils.clip_grad_norm_(net.parameters(), 1.0); opt.step(); opt.zero_grad()
