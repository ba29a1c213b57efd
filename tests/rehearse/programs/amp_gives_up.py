# Half precision; after four overflows the training goes on in single precision with a batch of the same size.
# Right: unknown (8.2 GiB in half precision, 13 GiB and more in single)
import torch
from torch import nn
net = nn.Sequential(*[nn.Sequential(nn.Linear(4096, 4096), nn.GELU()) for _ in range(12)]).cuda()
opt = torch.optim.AdamW(net.parameters(), 1e-3)
scaler, half, overflows = torch.amp.GradScaler("cuda"), True, 0
x = torch.randn(16384, 4096)
for step in range(30):
    with torch.autocast("cuda", torch.float16, enabled=half):
        loss = net(x.cuda()).float().square().mean()
    before = scaler.get_scale()
    opt.zero_grad(); scaler.scale(loss).backward(); scaler.step(opt); scaler.update()
    overflows += scaler.get_scale() < before
    half = overflows < 4
