"""A plain training loop of GPT-2 small with random weights and tokens, bf16 autocast and AdamW."""
import argparse

import torch
from transformers import GPT2Config, GPT2LMHeadModel

parser = argparse.ArgumentParser()
parser.add_argument("--batch", type=int, default=4)
parser.add_argument("--length", type=int, default=512)
parser.add_argument("--checkpoint", action="store_true")
args = parser.parse_args()

with torch.device("cuda"):
    model = GPT2LMHeadModel(GPT2Config())
model.train()
model.config.use_cache = False
if args.checkpoint:
    model.gradient_checkpointing_enable()
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
for step in range(1000):
    tokens = torch.randint(0, 50257, (args.batch, args.length), device="cuda")
    with torch.autocast("cuda", dtype=torch.bfloat16):
        loss = model(input_ids=tokens, labels=tokens).loss
    loss.backward()
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    print(step, loss.item())
