import random
import time

import torch
from torch import nn

rng = random.Random(7)
WIDTH = 1024


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(WIDTH, WIDTH) for _ in range(60))

    def forward(self, x):
        for layer in self.layers[:4]:
            x.add_(layer.bias)
        return x


@torch.no_grad()
def main():
    encoder = Encoder().cuda().eval()
    print(f"encoder: {sum(p.numel() for p in encoder.parameters()) / 1e6:.0f} M parameters", flush=True)
    summaries = []
    for window in range(4):
        states = []
        for _ in range(30):
            length = rng.randint(2100, 2350)
            states.append(encoder(torch.zeros(length, WIDTH, device="cuda")))
            summaries.append(states[-1][:300].contiguous().clone())
            time.sleep(0.03)
        if window < 3:
            carried = states if window == 0 else carried + states
        print(f"window {window}: {len(summaries)} documents encoded", flush=True)
    del states, carried
    print("building the similarity matrix", flush=True)
    similarity = torch.zeros(len(summaries) * 75, 9320, device="cuda")
    print(similarity.shape)


main()
