# 900 million parameters with AdamW in single precision.
# Right: does-not-fit (13.4 GiB of parameters, gradients and moments)
import torch
from torch import nn
net = nn.Linear(30000, 30000).cuda(); opt = torch.optim.AdamW(net.parameters())
for step in range(10):
    net(torch.randn(8, 30000, device="cuda")).mean().backward(); opt.step(); opt.zero_grad()
