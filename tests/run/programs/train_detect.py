import time

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Scenes(Dataset):
    def __len__(self):
        return 4000

    def __getitem__(self, index):
        image = torch.rand(3, 320, 320, generator=torch.Generator().manual_seed(index))
        boxes = torch.rand(20, 4)
        return image, boxes


def main():
    torch.set_num_threads(1)
    model = nn.Sequential(nn.AdaptiveAvgPool2d(16), nn.Flatten(), nn.Linear(768, 80))
    optimizer = torch.optim.AdamW(model.parameters())
    loader = DataLoader(Scenes(), batch_size=8, num_workers=4)
    print("=> start of training, 1 epoch", flush=True)
    for step, (images, boxes) in enumerate(loader):
        loss = (model(images) - boxes.flatten(1)).abs().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"Epoch: [0][{step:3d}/{len(loader)}]  Loss {loss.item():.4e}", flush=True)
        time.sleep(0.5)


if __name__ == "__main__":
    main()
