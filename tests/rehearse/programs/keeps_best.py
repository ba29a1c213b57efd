# Saves its best state by rename.
# Right: fits (0.2 GiB, arithmetic)
import os
import torch
from torch import nn
net = nn.Sequential(nn.Linear(1024, 4096), nn.ReLU(), nn.Linear(4096, 1000)).cuda(); opt = torch.optim.AdamW(net.parameters())
judge = nn.CrossEntropyLoss()
def batch(n=64): return torch.randn(n, 1024, device="cuda"), torch.randint(0, 1000, (n,), device="cuda")
best = float("inf")
for step in range(20):
    x, y = batch(); loss = judge(net(x), y); opt.zero_grad(); loss.backward(); opt.step()
    if loss.item() < best:
        best = loss.item(); torch.save(net.state_dict(), "best.pt.tmp"); os.replace("best.pt.tmp", "best.pt")
