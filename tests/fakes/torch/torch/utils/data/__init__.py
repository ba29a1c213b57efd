from .dataloader import DataLoader
