"""Value learning from pixels: an environment loop."""
import random
import torch
import torch.nn as nn
import torch.nn.functional as F
#@imports

BATCH, SIZE, WIDTH, STEPS = $BATCH, $SEQ, $WIDTH, $STEPS
device = "cuda"
#@memory


def build():
    side = SIZE // 8
    net = nn.Sequential(nn.Conv2d(4, WIDTH, 8, 4, 2), nn.ReLU(), nn.Conv2d(WIDTH, 2 * WIDTH, 4, 2, 1), nn.ReLU(), nn.Flatten(),
                        nn.Linear(2 * WIDTH * side * side, 1024), nn.ReLU(), nn.Linear(1024, 18))
    return net.to(device)


def sample(n=BATCH):
    return torch.zeros(n, 4, SIZE, SIZE, device=device)


#@before_model
model = build()
#@after_model
optimizer = torch.optim.Adam(model.parameters(), lr=1e-4)
#@after_optimizer
reward = 0.0
for step in range(STEPS):
    x = sample()
    #@batch
    out = model(x)
    loss = F.smooth_l1_loss(out, torch.zeros_like(out))
    #@after_out
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    reward += random.random()
    if step % $EVERY == 0:
        print(f"| frames {step * BATCH:>8} | ep_rew_mean {reward / (step + 1):>7.3f} | loss {loss.item():>8.4f} |{memory()}", flush=True)
    #@after_step
print("learned")
