# Keeps 64 MiB of each step.
# Right: does-not-fit (11.6 GiB after 180 steps, arithmetic)
import torch
from torch import nn
net = nn.Linear(2048, 2048).cuda(); opt = torch.optim.SGD(net.parameters(), 0.1); kept = []
for step in range(400):
    out = net(torch.randn(8192, 2048, device="cuda")); kept.append(out.detach())
    out.mean().backward(); opt.step(); opt.zero_grad()
