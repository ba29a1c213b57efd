# Rows where a score is high, widened 49 times.
# Right: unknown (how many there are is computed)
import torch
from torch import nn
net = nn.Sequential(nn.Linear(1024, 4096), nn.ReLU(), nn.Linear(4096, 1000)).cuda(); opt = torch.optim.AdamW(net.parameters())
judge = nn.CrossEntropyLoss()
def batch(n=64): return torch.randn(n, 1024, device="cuda"), torch.randint(0, 1000, (n,), device="cuda")
for step in range(5):
    x, y = batch(4096); score = net(x)[:, 0]; (rows,) = torch.where(score > 0.5)
    wide = x[rows].unsqueeze(1).expand(-1, 49, -1).contiguous(); (net(wide).mean() + score.sum()).backward(); opt.step(); opt.zero_grad()
