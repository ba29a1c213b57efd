import argparse
import time

import torch
from torch import nn


class MLPBlock(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.up = nn.Linear(width, 4 * width)
        self.down = nn.Linear(4 * width, width)

    def forward(self, x):
        return x + self.down(torch.nn.functional.silu(self.up(self.norm(x))))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--layers", type=int, default=8)
    parser.add_argument("--width", type=int, default=2048)
    parser.add_argument("--micro-batch", type=int, default=2)
    args = parser.parse_args()
    model = nn.Sequential(*(MLPBlock(args.width) for _ in range(args.layers))).cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    print(f"parameters: {sum(p.numel() for p in model.parameters()) / 1e6:.1f}M", flush=True)
    for step in range(100):
        started = time.time()
        x = torch.randn(args.micro_batch, 128, args.width, device="cuda")
        loss = (model(x) - x).pow(2).mean()
        print(f"step {step}: forward done", flush=True)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        print(f"step {step}: loss {loss.item():.4f}, {time.time() - started:.2f} s", flush=True)


if __name__ == "__main__":
    main()
