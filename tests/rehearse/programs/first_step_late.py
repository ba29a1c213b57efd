# 64 batches are accumulated before the first step makes AdamW's two moments: 4 x 2.9 GiB.
# Right: does-not-fit (12 GiB at the 64th batch, arithmetic)
import torch
from torch import nn
with torch.device("cuda"):
    net = nn.Sequential(*[nn.Linear(8192, 8192) for _ in range(12)])
opt = torch.optim.AdamW(net.parameters())
for i in range(640):
    net(torch.randn(4, 8192, device="cuda")).mean().div(64).backward()
    if (i + 1) % 64 == 0:
        opt.step(); opt.zero_grad()
