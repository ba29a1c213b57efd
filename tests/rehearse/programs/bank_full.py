# A bank of features on the GPU that grows in the first epoch and stays: 60 x 40 MiB.
# Right: fits (2.5 GiB, arithmetic)
import torch
from torch import nn
net = nn.Linear(1024, 10240).cuda(); opt = torch.optim.SGD(net.parameters(), 0.1); bank = {}
for epoch in range(5):
    for i in range(60):
        out = net(torch.randn(1024, 1024).cuda()); bank[i] = out.detach()
        loss = out.square().mean(); opt.zero_grad(); loss.backward(); opt.step()
