"""A model trained on the processors."""
import sys
import torch

width, layers, batch, style = int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
torch.set_num_threads(1)
model = torch.nn.Sequential(*(torch.nn.Linear(width, width) for _ in range(layers)))
print(f"parameters: {sum(p.numel() for p in model.parameters()) / 1e6:.1f}M", flush=True)
optimizer = torch.optim.AdamW(model.parameters())
kept = []
for step in range(60):
    x = torch.zeros(batch, width)
    out = model(x)
    if style in ("leak", "quiet-leak"):
        kept.append(out)
    else:
        out.sum().backward()
        optimizer.step()
    if style == "pairs":
        torch.cdist(x.repeat(400, 1)[:, :4], x.repeat(400, 1)[:, :4])
    if style != "quiet-leak":
        with open("/proc/self/statm") as file:
            print(f"step {step} resident {int(file.read().split()[1]) >> 8} MiB", flush=True)
print("trained")
