"""A timm vision transformer with fp16 autocast and GradScaler."""
import timm
import torch

model = timm.create_model("vit_small_patch16_224", num_classes=100).cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
scaler = torch.amp.GradScaler("cuda")
for step in range(20):
    images, labels = torch.randn(32, 3, 224, 224, device="cuda"), torch.randint(0, 100, (32,), device="cuda")
    optimizer.zero_grad()
    with torch.autocast("cuda", dtype=torch.float16):
        loss = torch.nn.functional.cross_entropy(model(images), labels)
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    scaler.step(optimizer)
    scaler.update()
    print(step, loss.item(), scaler.get_scale())
