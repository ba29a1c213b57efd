"""ZeroRedundancyOptimizer under DistributedDataParallel, started over an address."""
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.optim import ZeroRedundancyOptimizer
from torch.nn.parallel import DistributedDataParallel

rank, world = int(os.environ.get("RANK", 0)), int(os.environ.get("WORLD_SIZE", 1))
dist.init_process_group("cpu:gloo,cuda:nccl", init_method="tcp://127.0.0.1:23456", rank=rank, world_size=world)
model = DistributedDataParallel(nn.Sequential(*[nn.Linear(2048, 2048) for _ in range(16)]).cuda())
optimizer = ZeroRedundancyOptimizer(model.parameters(), optimizer_class=torch.optim.AdamW, lr=1e-3)
for step in range(20):
    loss = model(torch.randn(64, 2048, device="cuda")).square().mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    objects = [{"step": step}]
    dist.broadcast_object_list(objects, src=0)
    dist.all_reduce(torch.ones(1))
