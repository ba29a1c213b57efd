# Adds a second model once the accuracy is high.
# Right: unknown (whether it gets there is computed)
import torch
from torch import nn
net = nn.Sequential(nn.Linear(1024, 4096), nn.ReLU(), nn.Linear(4096, 1000)).cuda(); opt = torch.optim.AdamW(net.parameters())
judge = nn.CrossEntropyLoss()
def batch(n=64): return torch.randn(n, 1024, device="cuda"), torch.randint(0, 1000, (n,), device="cuda")
second = None
for step in range(30):
    x, y = batch(); out = net(x); loss = judge(out, y); opt.zero_grad(); loss.backward(); opt.step()
    accuracy = (out.argmax(1) == y).float().mean().item()
    if accuracy > 0.9 and second is None:
        second = nn.Linear(20000, 20000).cuda(); opt.add_param_group({"params": second.parameters()})
    if second is not None:
        second(torch.randn(8, 20000, device="cuda")).mean().backward()
