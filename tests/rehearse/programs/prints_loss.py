# Prints its loss.
# Right: fits (0.2 GiB, arithmetic)
import torch
from torch import nn
net = nn.Sequential(nn.Linear(1024, 4096), nn.ReLU(), nn.Linear(4096, 1000)).cuda(); opt = torch.optim.AdamW(net.parameters())
judge = nn.CrossEntropyLoss()
def batch(n=64): return torch.randn(n, 1024, device="cuda"), torch.randint(0, 1000, (n,), device="cuda")
for step in range(50):
    x, y = batch(); loss = judge(net(x), y); opt.zero_grad(); loss.backward(); opt.step(); print(f"{step} {loss.item():.3f}")
