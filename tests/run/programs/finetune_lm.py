import time

import torch
from torch import nn

DEVICE = "cuda"
VOCAB, WIDTH = 2304, 256


class TinyLM(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, WIDTH)
        self.up = nn.Linear(WIDTH, 4 * WIDTH)
        self.act = nn.GELU()
        self.head = nn.Linear(4 * WIDTH, VOCAB)

    def forward(self, tokens):
        return self.head(self.act(self.up(self.embed(tokens))))


def lm_loss(model, tokens):
    logits = model(tokens)
    return nn.functional.cross_entropy(logits.flatten(0, 1), tokens.flatten())


model = TinyLM().to(DEVICE)
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
held_out = torch.randint(0, VOCAB, (8, 512), device=DEVICE)
total_val_loss = 0.0
for step in range(400):
    tokens = torch.randint(0, VOCAB, (8, 512), device=DEVICE)
    loss = lm_loss(model, tokens)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    total_val_loss += lm_loss(model, held_out)
    time.sleep(0.1)
    if step % 5 == 0:
        print(f"step {step:5d} | train loss {loss.item():.4f} | val loss {float(total_val_loss) / (step + 1):.4f}",
              flush=True)
