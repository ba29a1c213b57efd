# A policy plays until the episode ends; observations are kept on the GPU until then.
# Right: unknown (50 to 200000 observations)
import random, torch
from torch import nn
policy = nn.Sequential(nn.Flatten(), nn.Linear(4 * 84 * 84, 256), nn.ReLU(), nn.Linear(256, 2)).cuda()
opt = torch.optim.Adam(policy.parameters())
def play():
    place, seen, logp = 50, [], []
    while 0 < place < 100 and len(seen) < 200000:
        seen.append(torch.randn(32, 4, 84, 84, device="cuda"))
        dist = torch.distributions.Categorical(logits=policy(seen[-1]))
        action = dist.sample(); logp.append(dist.log_prob(action).mean())
        place += 1 if action[0].item() == 1 else -1
    return torch.stack(logp)
for episode in range(5):
    loss = -play().sum(); opt.zero_grad(); loss.backward(); opt.step()
