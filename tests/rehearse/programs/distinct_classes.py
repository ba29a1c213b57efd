# One table for each distinct class that is predicted.
# Right: unknown (how many are distinct is computed)
import torch
from torch import nn
net = nn.Sequential(nn.Linear(1024, 4096), nn.ReLU(), nn.Linear(4096, 1000)).cuda(); opt = torch.optim.AdamW(net.parameters())
judge = nn.CrossEntropyLoss()
def batch(n=64): return torch.randn(n, 1024, device="cuda"), torch.randint(0, 1000, (n,), device="cuda")
for step in range(10):
    x, y = batch(4096); found = torch.unique(net(x).argmax(-1)); table = torch.zeros(len(found), 4096, 256, device="cuda")
    (net(x).mean() + table.sum()).backward(); opt.step(); opt.zero_grad()
