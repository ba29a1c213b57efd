# Pads to the longest of lengths that NumPy reads.
# Right: unknown (the lengths are computed)
import torch
from torch import nn
net = nn.Sequential(nn.Linear(1024, 4096), nn.ReLU(), nn.Linear(4096, 1000)).cuda(); opt = torch.optim.AdamW(net.parameters())
judge = nn.CrossEntropyLoss()
def batch(n=64): return torch.randn(n, 1024, device="cuda"), torch.randint(0, 1000, (n,), device="cuda")
for step in range(10):
    lengths = (torch.rand(64, device="cuda") * 8000).long(); longest = lengths.cpu().numpy().max()
    rows = torch.zeros(64, int(longest) + 1, 1024, device="cuda"); net(rows).mean().backward(); opt.step(); opt.zero_grad()
