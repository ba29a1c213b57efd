# Counts what it got right and writes it to a file.
# Right: fits (0.2 GiB, arithmetic)
import json
import torch
from torch import nn
net = nn.Sequential(nn.Linear(1024, 4096), nn.ReLU(), nn.Linear(4096, 1000)).cuda(); opt = torch.optim.AdamW(net.parameters())
judge = nn.CrossEntropyLoss()
def batch(n=64): return torch.randn(n, 1024, device="cuda"), torch.randint(0, 1000, (n,), device="cuda")
right = seen = 0
for step in range(20):
    x, y = batch(); out = net(x); loss = judge(out, y); opt.zero_grad(); loss.backward(); opt.step()
    right += (out.argmax(1) == y).sum().item(); seen += len(y)
json.dump({"accuracy": right / seen, "right": right}, open("metrics.json", "w"))
