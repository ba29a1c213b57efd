"""Accelerate with a tqdm bar."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from accelerate import Accelerator
from accelerate.logging import get_logger
from tqdm.auto import tqdm
from transformers import GPT2Config, GPT2LMHeadModel
#@imports

BATCH, SEQ, STEPS = $BATCH, $SEQ, $STEPS
accelerator = Accelerator(mixed_precision="$PRECISION")
device = accelerator.device
#@memory


def build():
    config = GPT2Config(vocab_size=32000, n_positions=max(SEQ, 1024), n_embd=$WIDTH, n_layer=$LAYERS, n_head=16)
    with torch.device(device):
        return GPT2LMHeadModel(config)


def sample(n=BATCH, t=SEQ):
    return torch.zeros(n, t, dtype=torch.long, device=device)


accelerator.print("***** Running training *****")
accelerator.print(f"  Instantaneous batch size per device = {BATCH}")
accelerator.print(f"  Total optimization steps = {STEPS}")
#@before_model
model = build()
#@after_model
optimizer = torch.optim.AdamW(model.parameters(), lr=5e-5)
model, optimizer = accelerator.prepare(model, optimizer)
#@after_optimizer
bar = tqdm(range(STEPS), disable=not accelerator.is_local_main_process)
for step in bar:
    x = sample()
    #@batch
    outputs = model(x, labels=x)
    out, loss = outputs.logits, outputs.loss
    #@after_out
    accelerator.backward(loss)
    optimizer.step()
    optimizer.zero_grad()
    if step % $EVERY == 0:
        bar.set_description(f"loss {loss.item():.4f}{memory()}")
    #@after_step
accelerator.print("saved to out/")
