"""Image classification in the manner of timm's train script: logging, meters."""
import logging
import time
import torch
import torch.nn as nn
import timm
#@imports

logging.basicConfig(level=logging.INFO, format="%(message)s")
_logger = logging.getLogger("train")
BATCH, SIZE, STEPS = $BATCH, $SEQ, $STEPS
device = torch.device("cuda:0")
#@memory


def build():
    with device:
        model = timm.create_model("$MODEL", pretrained=False, num_classes=1000, img_size=SIZE)
    _logger.info(f"Model $MODEL created, param count:{sum(p.numel() for p in model.parameters())}")
    return model


def sample(n=BATCH):
    return torch.zeros(n, 3, SIZE, SIZE, device=device)


_logger.info(f"Training with a single process on 1 device ({device}).")
#@before_model
model = build()
#@after_model
criterion = nn.CrossEntropyLoss().to(device)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.05)
#@after_optimizer
_logger.info(f"Scheduled epochs: 300. LR stepped per epoch. Batch size {BATCH}, image size {SIZE}.")
began = time.time()
for step in range(STEPS):
    x = sample()
    y = torch.zeros(len(x), dtype=torch.long, device=device)
    #@batch
    out = model(x)
    loss = criterion(out, y)
    #@after_out
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % $EVERY == 0:
        spent = (time.time() - began) / (step + 1)
        _logger.info(f"Train: 0 [{step:>4d}/{STEPS} ({100 * step // STEPS:>3d}%)]  Loss: {loss.item():>6.4f}  "
                     f"Time: {spent:.3f}s, {len(x) / spent:>7.2f}/s  LR: 1.000e-03{memory()}")
    #@after_step
_logger.info("*** Best metric: 0.1 (epoch 0)")
