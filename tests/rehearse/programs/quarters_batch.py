# Catches the failure and quarters its batch until it fits.
# Right: fits (it ends at a batch that fits)
import gc, torch
from torch import nn
n = 1 << 20
while True:
    try:
        net = nn.Sequential(*[nn.Linear(2048, 2048) for _ in range(4)]).cuda(); opt = torch.optim.AdamW(net.parameters())
        for step in range(5):
            net(torch.randn(n, 2048, device="cuda")).mean().backward(); opt.step(); opt.zero_grad()
        break
    except torch.cuda.OutOfMemoryError:
        n //= 4; net = opt = None; gc.collect(); torch.cuda.empty_cache()
print("batch", n)
