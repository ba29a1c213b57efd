"""Data parallel over the ranks of one node."""
import os
import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel
#@imports

rank, world = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
BATCH, SEQ, WIDTH, LAYERS, STEPS = $BATCH, $SEQ, $WIDTH, $LAYERS, $STEPS
device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
#@device
torch.cuda.set_device(device)
dist.init_process_group("nccl")
#@memory


def say(text):
    print(f"[rank {rank}] {text}", flush=True)


def build():
    with torch.device(device):
        return nn.Sequential(nn.Linear(512, WIDTH), *(nn.TransformerEncoderLayer(WIDTH, 16, 4 * WIDTH, batch_first=True)
                                                     for _ in range(LAYERS)), nn.Linear(WIDTH, 512))


def sample(n=BATCH, t=SEQ):
    return torch.zeros(n, t, 512, device=device)


say(f"device {device} of {torch.cuda.device_count()}, batch {BATCH} per rank, {BATCH * world} in total")
#@before_model
model = build()
#@after_model
model = DistributedDataParallel(model, device_ids=[device.index])
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
#@after_optimizer
for step in range(STEPS):
    x = sample()
    #@batch
    out = model(x)
    loss = F.mse_loss(out, x)
    #@after_out
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    if step % $EVERY == 0:
        say(f"step {step} loss {loss.item():.4f}{memory()}")
    #@after_step
say("finished")
