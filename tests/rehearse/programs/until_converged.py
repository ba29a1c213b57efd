# Trains until the loss is small and keeps every output.
# Right: unknown (how many steps it takes is computed)
import torch
from torch import nn
net = nn.Sequential(nn.Linear(1024, 4096), nn.ReLU(), nn.Linear(4096, 1000)).cuda(); opt = torch.optim.AdamW(net.parameters())
judge = nn.CrossEntropyLoss()
def batch(n=64): return torch.randn(n, 1024, device="cuda"), torch.randint(0, 1000, (n,), device="cuda")
kept = []
x, y = batch(4096); loss = judge(net(x), y)
while loss.item() > 0.1:
    x, y = batch(4096); out = net(x); loss = judge(out, y); opt.zero_grad(); loss.backward(); opt.step(); kept.append(out)
