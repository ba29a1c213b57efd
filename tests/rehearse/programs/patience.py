# Early stopping; the predictions of every epoch are kept to average the best ones in the end.
# Right: unknown (4 epochs of predictions or 100: 1.5 to 38 GiB)
import torch
from torch import nn
net = nn.Linear(1024, 512).cuda(); opt = torch.optim.SGD(net.parameters(), 0.1)
train, val = torch.randn(64, 1024).cuda(), torch.randn(200000, 1024).cuda()
best, bad, kept = float("inf"), 0, []
for epoch in range(100):
    for _ in range(4):
        loss = net(train).square().mean(); opt.zero_grad(); loss.backward(); opt.step()
    with torch.no_grad():
        out = net(val)
    kept.append(out)
    now = out.square().mean().item()
    best, bad = (now, 0) if now < best else (best, bad + 1)
    if bad >= 3:
        break
print(torch.stack(kept[-3:]).mean())
