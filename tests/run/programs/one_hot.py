import logging

import torch

logging.basicConfig(level=logging.INFO, format="%(levelname)s %(message)s")


def load_interactions(count):
    generator = torch.Generator().manual_seed(1)
    users = torch.randint(70_000_000_000, 81_339_124_551, (count,), generator=generator)
    clicks = torch.randint(0, 2, (count,), generator=generator)
    return users, clicks


def encode(ids):
    width = int(ids.max()) + 1
    encoded = torch.zeros(len(ids), width)
    encoded.scatter_(1, ids.unsqueeze(1), 1.0)
    return encoded


users, clicks = load_interactions(4096)
logging.info("read %d interactions of %d users", len(users), len(users.unique()))
for epoch in range(3):
    features = encode(users)
    logging.info("epoch %d features %s positives %d", epoch, tuple(features.shape), int(clicks.sum()))
