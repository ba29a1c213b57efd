# Needs a download before it trains.
# Right: unknown (there is no network)
import urllib.request
data = urllib.request.urlopen("http://example.com/lines.txt", timeout=5).read()
import torch
from torch import nn
net = nn.Sequential(nn.Linear(1024, 4096), nn.ReLU(), nn.Linear(4096, 1000)).cuda(); opt = torch.optim.AdamW(net.parameters())
judge = nn.CrossEntropyLoss()
def batch(n=64): return torch.randn(n, 1024, device="cuda"), torch.randint(0, 1000, (n,), device="cuda")
x, y = batch(); judge(net(x), y).backward(); opt.step()
