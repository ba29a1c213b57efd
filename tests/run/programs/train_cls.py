import logging
import time

import torch
from torch import nn

logging.basicConfig(level=logging.INFO, format="[%(asctime)s][%(levelname)s] %(message)s")
log = logging.getLogger(__name__)
device = torch.device("cuda:0")


def build_model():
    layers = []
    for _ in range(7):
        layers += [nn.Linear(4096, 4096), nn.ReLU()]
    return nn.Sequential(*layers, nn.Linear(4096, 100))


def main():
    model = build_model().to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9, foreach=False)
    best, best_state = float("inf"), None
    for epoch in range(4):
        for step in range(12):
            x = torch.randn(16, 4096, device=device)
            y = torch.randint(0, 100, (16,), device=device)
            loss = nn.functional.cross_entropy(model(x), y)
            optimizer.zero_grad(set_to_none=False)
            loss.backward()
            optimizer.step()
            time.sleep(0.06)
        log.info("epoch %d done, loss %.4f", epoch, loss.item())
        if best_state is None or loss.item() < best:
            best = loss.item()
            best_state = {name: value.cpu() for name, value in model.state_dict().items()}
    log.info("testing the best model")
    best_model = build_model()
    best_model.load_state_dict(best_state)
    best_model = best_model.to(device).eval()
    with torch.no_grad():
        hits = (best_model(torch.randn(64, 4096, device=device)).argmax(1) == 0).float().mean().item()
    log.info("test accuracy %.3f", hits)


if __name__ == "__main__":
    main()
