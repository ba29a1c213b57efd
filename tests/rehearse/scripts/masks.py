"""Data-dependent shapes: boolean masks, nonzero, unique."""
import torch
from torch import nn

embed = nn.Embedding(1000, 256).cuda()
head = nn.Linear(256, 1000).cuda()
optimizer = torch.optim.SGD([*embed.parameters(), *head.parameters()], lr=0.1)
for step in range(10):
    tokens = torch.randint(0, 1000, (64, 128), device="cuda")
    chosen = torch.rand(64, 128, device="cuda") < 0.15
    logits = head(embed(tokens)[chosen])
    loss = nn.functional.cross_entropy(logits, tokens[chosen])
    kinds = torch.unique(tokens)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
