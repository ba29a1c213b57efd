# Batches that run out of memory are skipped, as many training loops do; every tenth one needs 16 GiB and more.
# Right: fits or does-not-fit (survives by skipping; to be told)
import torch
from torch import nn
net = nn.Sequential(nn.Linear(1024, 4096), nn.ReLU(), nn.Linear(4096, 1024)).cuda(); opt = torch.optim.Adam(net.parameters()); skipped = 0
for step in range(40):
    n = 1 << 20 if step % 10 == 9 else 1024
    try:
        x = torch.randn(n, 1024, device="cuda"); loss = net(x).square().mean(); opt.zero_grad(); loss.backward(); opt.step()
    except RuntimeError as error:
        if "out of memory" not in str(error):
            raise
        skipped += 1; x = loss = None; opt.zero_grad(); torch.cuda.empty_cache()
print("skipped", skipped)
