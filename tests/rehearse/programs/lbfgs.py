# L-BFGS keeps up to 2 x 100 vectors of the size of the model, as many as iterations have passed.
# Right: unknown (up to 2 x 100 vectors of 64 MiB)
import torch
from torch import nn
net = nn.Sequential(nn.Linear(4096, 4096), nn.Tanh(), nn.Linear(4096, 1)).cuda()
opt = torch.optim.LBFGS(net.parameters(), lr=0.5, max_iter=20, history_size=100, line_search_fn="strong_wolfe")
x, y = torch.randn(512, 4096).cuda(), torch.randn(512, 1).cuda()
def closure():
    opt.zero_grad(); loss = (net(x) - y).square().mean(); loss.backward(); return loss
for epoch in range(12):
    print(epoch, float(opt.step(closure)))
