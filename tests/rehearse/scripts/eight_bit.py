"""bitsandbytes' 8-bit AdamW."""
import bitsandbytes
import torch
from torch import nn

model = nn.Sequential(*[nn.Linear(4096, 4096) for _ in range(4)]).cuda()
optimizer = bitsandbytes.optim.AdamW8bit(model.parameters(), lr=1e-4)
for step in range(20):
    loss = model(torch.randn(64, 4096, device="cuda")).square().mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    print(step, loss.item())
