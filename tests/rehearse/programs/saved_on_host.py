# 40 activations of 512 MiB wait on the host for the backward pass.
# Right: fits (2 to 3 GiB; 18 GiB if it were kept on the GPU)
import torch
from torch import nn
net = nn.ModuleList(nn.Linear(1024, 1024) for _ in range(6)).cuda(); opt = torch.optim.SGD(net.parameters(), 0.1)
x = torch.randn(1024, 1024).cuda().repeat(128, 1)
for step in range(3):
    with torch.autograd.graph.save_on_cpu(pin_memory=True):
        h = x
        for layer in net:
            for _ in range(5):
                h = h.sin()
            h = layer(h)
        loss = h.square().mean()
    opt.zero_grad(); loss.backward(); opt.step()
