"""Segmentation: a U-Net over volumes, tqdm epochs."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from tqdm import tqdm
#@imports

BATCH, SIZE, WIDTH, STEPS = $BATCH, $SEQ, $WIDTH, $STEPS
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
#@memory


def double(i, o):
    return nn.Sequential(nn.Conv3d(i, o, 3, padding=1), nn.InstanceNorm3d(o), nn.LeakyReLU(),
                         nn.Conv3d(o, o, 3, padding=1), nn.InstanceNorm3d(o), nn.LeakyReLU())


class UNet(nn.Module):
    def __init__(self, width=WIDTH, depth=4):
        super().__init__()
        sizes = [width * 2 ** i for i in range(depth)]
        self.down = nn.ModuleList(double(a, b) for a, b in zip([1] + sizes[:-1], sizes))
        self.up = nn.ModuleList(nn.ConvTranspose3d(b, a, 2, 2) for a, b in zip(sizes[:-1], sizes[1:]))
        self.merge = nn.ModuleList(double(2 * a, a) for a in sizes[:-1])
        self.last = nn.Conv3d(width, 4, 1)

    def forward(self, x):
        kept = []
        for place, block in enumerate(self.down):
            x = block(x if place == 0 else F.max_pool3d(x, 2))
            kept.append(x)
        for up, merge, skip in zip(reversed(self.up), reversed(self.merge), reversed(kept[:-1])):
            x = merge(torch.cat([skip, up(x)], dim=1))
        return self.last(x)


def build():
    return UNet().to(device)


def sample(n=BATCH, size=SIZE):
    return torch.zeros(n, 1, size, size, size, device=device)


print(f"patch size {SIZE}^3, batch {BATCH}, base features {WIDTH}")
#@before_model
model = build()
#@after_model
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
#@after_optimizer
step = 0
for epoch in range(1, 1 + STEPS // 20):
    bar = tqdm(range(20), desc=f"epoch {epoch:3d}", ncols=100, mininterval=0.5)
    for _ in bar:
        x = sample()
        #@batch
        out = model(x)
        loss = F.cross_entropy(out, x[:, 0].long())
        #@after_out
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        step += 1
        if step % $EVERY == 0:
            bar.set_postfix_str(f"loss={loss.item():.3f}{memory()}")
        #@after_step
    if memory():
        print(f"epoch {epoch} finished{memory()}")
print("training finished")
