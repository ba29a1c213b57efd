"""Shards of one evaluation, a process each; the machine has a card for every one of them."""
import os
import torch
import torch.nn as nn
#@imports

shard, shards = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
BATCH, SEQ, WIDTH, LAYERS, STEPS = $BATCH, $SEQ, $WIDTH, $LAYERS, $STEPS
device = torch.device($DEVICE)
#@memory


def build():
    with torch.device(device):
        return nn.Sequential(*(nn.TransformerEncoderLayer(WIDTH, 16, 4 * WIDTH, batch_first=True) for _ in range(LAYERS)))


def say(text):
    print(f"[{shard}/{shards}] {text}", flush=True)


say(f"worker on {device}, {torch.cuda.device_count()} GPUs visible")
#@before_model
model = build()
#@after_model
say(f"model ready{memory()}")
#@after_optimizer
for step in range(STEPS):
    x = torch.zeros(BATCH, SEQ, WIDTH, device=device)
    #@batch
    out = model(x)
    #@after_out
    del out
    if step % $EVERY == 0:
        say(f"batch {step} of {STEPS}{memory()}")
    #@after_step
say("shard finished")
