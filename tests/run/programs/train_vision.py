import time

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Pictures(Dataset):
    def __len__(self):
        return 16 * 2000

    def __getitem__(self, index):
        picture = torch.full((3, 256, 256), float(index % 255) / 255)
        return picture, index % 10


def main():
    torch.manual_seed(0)
    torch.set_num_threads(1)
    model = nn.Sequential(nn.AdaptiveAvgPool2d(8), nn.Flatten(), nn.Linear(192, 64), nn.ReLU(), nn.Linear(64, 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    criterion = nn.CrossEntropyLoss()
    loader = DataLoader(Pictures(), batch_size=16, shuffle=True, num_workers=2)
    history = []
    print(f"training on {len(loader.dataset)} pictures, {len(loader)} steps an epoch", flush=True)
    for step, (pictures, labels) in enumerate(loader):
        started = time.time()
        logits = model(pictures)
        loss = criterion(logits, labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        history.append((step, pictures, labels, loss.item()))
        time.sleep(0.04)
        if step % 10 == 0:
            mean = sum(entry[-1] for entry in history[-10:]) / len(history[-10:])
            print(f"[epoch 0] step {step:4d}  loss {mean:.4f}  {time.time() - started:.3f} s/step", flush=True)


if __name__ == "__main__":
    main()
