# The batch follows the noise of the gradients.
# Right: unknown (batches from 256 to a million rows)
import torch
from torch import nn
net = nn.Sequential(nn.Linear(2048, 8192), nn.ReLU(), nn.Linear(8192, 2048)).cuda()
opt = torch.optim.SGD(net.parameters(), 0.01)
batch = 256
for step in range(40):
    x = torch.randn(batch, 2048, device="cuda")
    loss = (net(x) - x).square().mean()
    opt.zero_grad(); loss.backward(); opt.step()
    flat = torch.cat([p.grad.flatten() for p in net.parameters()])
    noise = (flat.var() / flat.mean().square().clamp_min(1e-12)).cpu().item()
    batch = int(min(1 << 20, max(256, noise)))
