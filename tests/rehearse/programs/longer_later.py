# Sequences of 256 for 300 steps, then of 16384: 8 GiB for each of the scores and their softmax.
# Right: does-not-fit (8 GiB three times at step 301, arithmetic)
import torch
from torch import nn
qkv = nn.Linear(64, 192).cuda(); opt = torch.optim.SGD(qkv.parameters(), 0.1)
for step in range(400):
    q, k, v = qkv(torch.randn(8, 256 if step < 300 else 16384, 64, device="cuda")).chunk(3, -1)
    loss = ((q @ k.transpose(1, 2)).softmax(-1) @ v).mean(); opt.zero_grad(); loss.backward(); opt.step()
