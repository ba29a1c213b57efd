# Prints its loss as a share of the first one.
# Right: fits (0.2 GiB, arithmetic)
import torch
from torch import nn
net = nn.Sequential(nn.Linear(1024, 4096), nn.ReLU(), nn.Linear(4096, 1000)).cuda(); opt = torch.optim.AdamW(net.parameters())
judge = nn.CrossEntropyLoss()
def batch(n=64): return torch.randn(n, 1024, device="cuda"), torch.randint(0, 1000, (n,), device="cuda")
first = None
for step in range(20):
    x, y = batch(); loss = judge(net(x), y); opt.zero_grad(); loss.backward(); opt.step()
    first = loss.item() if first is None else first
    print(step, loss.item() / first)
