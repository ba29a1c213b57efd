# Three epochs with an evaluation each.
# Right: fits (0.4 GiB, arithmetic)
import torch
from torch import nn
net = nn.Sequential(nn.Linear(1024, 4096), nn.ReLU(), nn.Linear(4096, 1000)).cuda(); opt = torch.optim.AdamW(net.parameters())
judge = nn.CrossEntropyLoss()
def batch(n=64): return torch.randn(n, 1024, device="cuda"), torch.randint(0, 1000, (n,), device="cuda")
for epoch in range(3):
    net.train()
    for step in range(10):
        x, y = batch(); loss = judge(net(x), y); opt.zero_grad(); loss.backward(); opt.step()
    net.eval(); total = 0.0
    with torch.no_grad():
        for step in range(5):
            x, y = batch(4096); total += judge(net(x), y).item()
    print(epoch, total / 5)
