"""A script that reads and resets the peak counters itself, and saves a checkpoint."""
import os
import tempfile

import torch
from torch import nn

torch.cuda.memory.reset_peak_memory_stats()
big = torch.empty(256 << 20, dtype=torch.uint8, device="cuda")
del big
assert torch.cuda.max_memory_allocated() == 256 << 20
torch.cuda.reset_peak_memory_stats()
assert torch.cuda.max_memory_allocated() == 0
model = nn.Linear(4096, 4096).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model(torch.randn(64, 4096, device="cuda")).sum().backward()
peak = torch.cuda.max_memory_allocated()
optimizer.step()
assert torch.cuda.max_memory_allocated() >= peak > 128 << 20, peak
assert peak < 256 << 20, peak
path = os.path.join(tempfile.mkdtemp(), "model.pt")
torch.save(model.state_dict(), path)
print("peak", peak)
