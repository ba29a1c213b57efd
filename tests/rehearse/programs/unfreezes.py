# The head alone for 20 steps, then all 800 million parameters: 12 GiB of weights, gradients and moments.
# Right: does-not-fit (12 GiB at step 21, arithmetic)
import torch
from torch import nn
with torch.device("cuda"):
    body = nn.Sequential(*[nn.Linear(8192, 8192) for _ in range(12)]); head = nn.Linear(8192, 10)
body.requires_grad_(False); opt = torch.optim.AdamW(head.parameters())
for step in range(40):
    if step == 20:
        body.requires_grad_(True); opt.add_param_group({"params": body.parameters()})
    head(body(torch.randn(8, 8192, device="cuda"))).square().mean().backward(); opt.step(); opt.zero_grad()
