import argparse
import time

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset
from tqdm import tqdm


class Clips(Dataset):
    """Ten seconds of audio a clip, decoded when first needed."""

    def __init__(self, count):
        self.count = count
        self._cache = {}

    def __len__(self):
        return self.count

    def decode(self, index):
        t = np.arange(160_000, dtype=np.float32)
        return np.sin(t * np.float32(0.001 * (index % 97 + 1)))

    def __getitem__(self, index):
        if index not in self._cache:
            self._cache[index] = self.decode(index)
        wave = self._cache[index]
        return torch.from_numpy(np.abs(wave).reshape(200, 800).mean(1)), index % 5


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--workers", type=int, default=8)
    parser.add_argument("--batch-size", type=int, default=16)
    args = parser.parse_args()
    torch.set_num_threads(1)
    model = nn.Sequential(nn.Linear(200, 64), nn.ReLU(), nn.Linear(64, 5))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    loader = DataLoader(Clips(20_000), batch_size=args.batch_size, shuffle=True, num_workers=args.workers,
                        persistent_workers=True)
    for epoch in range(2):
        for step, (features, label) in enumerate(tqdm(loader, desc=f"epoch {epoch}", mininterval=1.0)):
            loss = nn.functional.cross_entropy(model(features), label)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            time.sleep(0.03)
            if step % 50 == 0:
                tqdm.write(f"epoch {epoch} step {step} loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
