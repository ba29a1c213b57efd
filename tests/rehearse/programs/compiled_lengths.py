# Compiled, with sequences of many lengths.
# Right: fits (small, run to its end)
import random, torch
from torch import nn
torch.manual_seed(0); random.seed(0)
net = torch.compile(nn.Sequential(nn.Linear(256, 1024), nn.GELU(), nn.Linear(1024, 256)).cuda()); opt = torch.optim.SGD(net.parameters(), 0.1)
for step in range(12):
    loss = net(torch.randn(8, random.randint(64, 512), 256, device="cuda")).square().mean(); opt.zero_grad(); loss.backward(); opt.step()
