"""nn.DataParallel over all GPUs of the machine."""
import torch
from torch import nn

model = nn.DataParallel(nn.Sequential(*[nn.Linear(2048, 2048) for _ in range(8)]).cuda())
optimizer = torch.optim.AdamW(model.parameters())
for step in range(20):
    loss = model(torch.randn(256, 2048).cuda()).square().mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    print(step, loss.item())
