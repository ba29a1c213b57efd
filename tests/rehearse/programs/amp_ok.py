# GradScaler with clipping; counts how many steps were skipped and prints it.
# Right: fits (0.5 GiB, arithmetic)
import torch
from torch import nn
net = nn.Sequential(*[nn.Sequential(nn.Linear(2048, 2048), nn.GELU()) for _ in range(6)]).cuda()
opt = torch.optim.AdamW(net.parameters(), 1e-3); scaler, skipped = torch.amp.GradScaler("cuda"), 0
for step in range(20):
    with torch.autocast("cuda", torch.float16):
        loss = net(torch.randn(1024, 2048).cuda()).float().square().mean()
    scale = scaler.get_scale()
    opt.zero_grad(); scaler.scale(loss).backward(); scaler.unscale_(opt)
    nn.utils.clip_grad_norm_(net.parameters(), 1.0); scaler.step(opt); scaler.update()
    skipped += scaler.get_scale() < scale
print(skipped)
