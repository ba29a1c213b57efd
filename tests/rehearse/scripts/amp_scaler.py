"""A plain fp16 loop with GradScaler, gradient clipping and a guard against infinite losses."""
import torch
from torch import nn

model = nn.Sequential(nn.Conv2d(3, 32, 3, padding=1), nn.ReLU(), nn.Conv2d(32, 64, 3, padding=1), nn.ReLU(),
                      nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, 10)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
scaler = torch.amp.GradScaler("cuda")
for step in range(50):
    images = torch.randn(64, 3, 64, 64, device="cuda")
    labels = torch.randint(0, 10, (64,), device="cuda")
    with torch.autocast("cuda", dtype=torch.float16):
        loss = nn.functional.cross_entropy(model(images), labels)
    if not torch.isfinite(loss):
        raise RuntimeError(f"loss is {loss.item()} in step {step}")
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    norm = nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    assert torch.isfinite(norm).all(), "gradients are not finite"
    scaler.step(optimizer)
    scaler.update()
    optimizer.zero_grad(set_to_none=True)
    assert scaler.get_scale() > 1, "the scale has collapsed"
print("peak", torch.cuda.max_memory_allocated())
