# 30 steps, then an evaluation that concatenates 40 x 0.49 GiB of logits on the GPU.
# Right: does-not-fit (19.5 GiB, arithmetic)
import torch
from torch import nn
net = nn.Sequential(nn.Embedding(32000, 256), nn.Linear(256, 32000)).cuda(); opt = torch.optim.AdamW(net.parameters())
def batch(n): x = torch.randint(0, 32000, (n, 512)); return x.cuda()
for step in range(30):
    x = batch(2); loss = nn.functional.cross_entropy(net(x).flatten(0, 1), x.flatten()); opt.zero_grad(); loss.backward(); opt.step()
net.eval(); found = []
with torch.inference_mode():
    for _ in range(40):
        found.append(net(batch(8)))
print(torch.cat(found).argmax(-1).float().mean())
