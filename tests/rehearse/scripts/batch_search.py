"""A batch-size search that catches the out-of-memory error and tries half."""
import torch
from torch import nn

batch = 1 << 17
while batch:
    try:
        model = nn.Sequential(*[nn.Linear(2048, 2048) for _ in range(16)]).cuda()
        optimizer = torch.optim.AdamW(model.parameters())
        for step in range(10):
            model(torch.randn(batch, 2048, device="cuda")).square().mean().backward()
            optimizer.step()
            optimizer.zero_grad()
        break
    except RuntimeError as error:
        if "out of memory" not in str(error):
            raise
        model = optimizer = None
        torch.cuda.empty_cache()
        batch //= 2
print("batch", batch)
