import time

import torch
from torch import nn


class Ranker(nn.Module):
    def __init__(self, width=2048, depth=6):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(width, width) for _ in range(depth))

    def forward(self, x):
        for layer in self.layers:
            x = torch.relu(layer(x))
        return x.mean()


def train_epoch(model, optimizer, epoch):
    for step in range(20):
        loss = model(torch.rand(147456, 2048, device="cuda"))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        time.sleep(0.12)
        if step % 10 == 0:
            print(f"epoch {epoch} step {step} loss {loss.item():.4f} "
                  f"mem {torch.cuda.max_memory_allocated() / 2**20:.0f}MB", flush=True)


def main():
    model = Ranker().cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    for epoch in range(20):
        train_epoch(model, optimizer, epoch)
        optimizer.zero_grad()
        torch.cuda.empty_cache()
        print(f"epoch {epoch}: exporting metrics", flush=True)
        time.sleep(1.5)


if __name__ == "__main__":
    main()
