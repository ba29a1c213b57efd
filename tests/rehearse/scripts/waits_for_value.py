"""A loop that waits for a value, which no kernel computes in a rehearsal."""
import torch

x = torch.ones((), device="cuda")
while x.item() < 100:
    x = x * 1.5
print("done", x.item())
