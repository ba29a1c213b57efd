"""A model split over two GPUs of one process."""
import torch
from torch import nn

first = nn.Sequential(*[nn.Linear(2048, 2048) for _ in range(4)]).to("cuda:0")
second = nn.Sequential(*[nn.Linear(2048, 2048) for _ in range(8)]).to("cuda:1")
optimizer = torch.optim.AdamW([*first.parameters(), *second.parameters()])
for step in range(20):
    loss = second(first(torch.randn(512, 2048, device="cuda:0")).to("cuda:1")).square().mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    print(step, loss.item())
