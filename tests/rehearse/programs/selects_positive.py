# masked_select of outputs, widened 64 times.
# Right: unknown (how many are positive is computed)
import torch
from torch import nn
net = nn.Sequential(nn.Linear(1024, 4096), nn.ReLU(), nn.Linear(4096, 1000)).cuda(); opt = torch.optim.AdamW(net.parameters())
judge = nn.CrossEntropyLoss()
def batch(n=64): return torch.randn(n, 1024, device="cuda"), torch.randint(0, 1000, (n,), device="cuda")
for step in range(5):
    x, y = batch(4096); out = net(x); kept = torch.masked_select(out, out > 0)
    kept.unsqueeze(1).expand(-1, 64).contiguous().mean().backward(); opt.step(); opt.zero_grad()
