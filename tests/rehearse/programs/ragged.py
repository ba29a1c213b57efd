# 1003 samples in batches of 32, accumulated by 4; the last batch and the last group are short.
# Right: fits (small, run to its end)
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
net = nn.Sequential(nn.Linear(256, 4096), nn.ReLU(), nn.Linear(4096, 10)).cuda(); opt = torch.optim.AdamW(net.parameters())
data = DataLoader(TensorDataset(torch.randn(1003, 256), torch.randint(0, 10, (1003,))), 32, shuffle=True)
for epoch in range(2):
    for i, (x, y) in enumerate(data):
        (nn.functional.cross_entropy(net(x.cuda()), y.cuda()) / 4).backward()
        if (i + 1) % 4 == 0 or i + 1 == len(data):
            opt.step(); opt.zero_grad()
