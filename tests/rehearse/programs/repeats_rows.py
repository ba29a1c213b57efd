# Repeats rows by counts that are made on the GPU.
# Right: unknown (the sum of the counts is computed)
import torch
from torch import nn
net = nn.Sequential(nn.Linear(1024, 4096), nn.ReLU(), nn.Linear(4096, 1000)).cuda(); opt = torch.optim.AdamW(net.parameters())
judge = nn.CrossEntropyLoss()
def batch(n=64): return torch.randn(n, 1024, device="cuda"), torch.randint(0, 1000, (n,), device="cuda")
for step in range(5):
    x, y = batch(4096); n = torch.randint(1, 9, (4096,), device="cuda"); rows = x.repeat_interleave(n, dim=0)
    net(rows).mean().backward(); opt.step(); opt.zero_grad()
