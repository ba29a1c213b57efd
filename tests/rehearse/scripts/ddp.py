"""DistributedDataParallel as torchrun starts it."""
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler


def main():
    dist.init_process_group("nccl")
    rank, local = dist.get_rank(), int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(local)
    model = nn.Sequential(*[nn.Linear(2048, 2048) for _ in range(8)]).cuda()
    model = DistributedDataParallel(model, device_ids=[local])
    optimizer = torch.optim.AdamW(model.parameters())
    data = TensorDataset(torch.randn(4096, 2048))
    loader = DataLoader(data, batch_size=64, sampler=DistributedSampler(data))
    for epoch in range(10):
        loader.sampler.set_epoch(epoch)
        for (x,) in loader:
            loss = model(x.cuda(local)).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        metrics = [None] * dist.get_world_size()
        dist.all_gather_object(metrics, {"rank": rank, "loss": loss.item()})
        dist.barrier()
        if rank == 0:
            print(epoch, sum(m["loss"] for m in metrics))
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
