import random
import time

import torch
from torch import nn

random.seed(3)
HEADS, WIDTH = 4, 256


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH)
        self.out = nn.Linear(WIDTH, WIDTH)

    def forward(self, x):
        b, t, _ = x.shape
        q, k, v = self.qkv(x).view(b, t, 3, HEADS, WIDTH // HEADS).permute(2, 0, 3, 1, 4)
        scores = q @ k.transpose(-2, -1) * (WIDTH // HEADS) ** -0.5
        weights = scores.softmax(-1)
        return x + self.out((weights @ v).transpose(1, 2).reshape(b, t, WIDTH))


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(5000, WIDTH)
        self.layers = nn.ModuleList(Layer() for _ in range(4))
        self.head = nn.Linear(WIDTH, 2)

    def forward(self, tokens):
        x = self.embed(tokens)
        for layer in self.layers:
            x = layer(x)
        return self.head(x.mean(1))


def collate(lengths):
    tokens = torch.zeros(len(lengths), max(lengths), dtype=torch.long)
    for row, length in enumerate(lengths):
        tokens[row, :length] = torch.randint(1, 5000, (length,))
    return tokens


def main():
    lengths = [random.randint(100, 400) for _ in range(160)]
    lengths[97] = 9000
    model = Model().cuda()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4)
    for step in range(len(lengths) // 2):
        tokens = collate(lengths[2 * step: 2 * step + 2]).cuda()
        loss = nn.functional.cross_entropy(model(tokens), torch.zeros(len(tokens), dtype=torch.long, device="cuda"))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        time.sleep(0.08)
        if step % 4 == 0:
            print(f"{step:4d}/{len(lengths) // 2} loss={loss.item():.3f} lr=1.0e-04", flush=True)


if __name__ == "__main__":
    main()
