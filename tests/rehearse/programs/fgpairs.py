# Similarities between all foreground pixels; which pixels those are a network says.
# Right: unknown (how many pixels are in front is computed)
import torch
from torch import nn
net = nn.Sequential(nn.Conv2d(3, 32, 3, padding=1), nn.ReLU(), nn.Conv2d(32, 33, 1)).cuda()
opt = torch.optim.Adam(net.parameters(), 1e-3)
for step in range(8):
    image = torch.randn(2, 3, 224, 224).cuda()
    out = net(image)
    score, feature = out[:, 0], out[:, 1:].permute(0, 2, 3, 1)
    rows = feature[score.sigmoid() > 0.5]
    loss = (rows @ rows.t()).softmax(-1).mean() + score.mean()
    opt.zero_grad(); loss.backward(); opt.step()
