"""Two optimizers, each stepping once per iteration, and a DataLoader with workers and pinned memory."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def main():
    device = torch.device("cuda")
    generator = nn.Sequential(nn.Linear(64, 512), nn.ReLU(), nn.Linear(512, 784)).to(device)
    discriminator = nn.Sequential(nn.Linear(784, 512), nn.LeakyReLU(0.2), nn.Linear(512, 1)).to(device)
    g_opt = torch.optim.Adam(generator.parameters(), lr=2e-4)
    d_opt = torch.optim.Adam(discriminator.parameters(), lr=2e-4)
    loader = DataLoader(TensorDataset(torch.rand(4096, 784)), batch_size=128, shuffle=True, num_workers=2, pin_memory=True)
    loss = nn.BCEWithLogitsLoss()
    for epoch in range(100):
        for (real,) in loader:
            real = real.to(device, non_blocking=True)
            ones, zeros = torch.ones(len(real), 1, device=device), torch.zeros(len(real), 1, device=device)
            fake = generator(torch.randn(len(real), 64, device=device))
            d_loss = loss(discriminator(real), ones) + loss(discriminator(fake.detach()), zeros)
            d_opt.zero_grad()
            d_loss.backward()
            d_opt.step()
            g_loss = loss(discriminator(fake), ones)
            g_opt.zero_grad()
            g_loss.backward()
            g_opt.step()
        print(f"epoch {epoch}: {d_loss.item():.3f} {g_loss.item():.3f}")


if __name__ == "__main__":
    main()
