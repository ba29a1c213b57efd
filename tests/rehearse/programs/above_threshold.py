# Keeps the probabilities above a threshold and sizes a tensor by their number.
# Right: unknown (how many there are is computed)
import torch
from torch import nn
net = nn.Sequential(nn.Linear(1024, 4096), nn.ReLU(), nn.Linear(4096, 1000)).cuda(); opt = torch.optim.AdamW(net.parameters())
judge = nn.CrossEntropyLoss()
def batch(n=64): return torch.randn(n, 1024, device="cuda"), torch.randint(0, 1000, (n,), device="cuda")
for step in range(10):
    x, y = batch(4096); p = net(x).softmax(-1); kept = p[p > 0.001]
    wide = torch.zeros(kept.numel(), 256, device="cuda"); (kept.sum() + wide.sum()).backward(); opt.step(); opt.zero_grad()
