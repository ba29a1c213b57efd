# Sizes a tensor by a count of random values that int() reads.
# Right: unknown (the count is computed)
import torch
from torch import nn
net = nn.Sequential(nn.Linear(1024, 4096), nn.ReLU(), nn.Linear(4096, 1000)).cuda(); opt = torch.optim.AdamW(net.parameters())
judge = nn.CrossEntropyLoss()
def batch(n=64): return torch.randn(n, 1024, device="cuda"), torch.randint(0, 1000, (n,), device="cuda")
for step in range(10):
    n = int((torch.rand(100, device="cuda") > 0.5).sum()); room = torch.zeros(n, 1000000, device="cuda")
    x, y = batch(); judge(net(x), y).backward(); opt.step(); opt.zero_grad()
