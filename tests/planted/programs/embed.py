"""Features of documents, shortest first, kept until all are done."""
import torch
import torch.nn as nn
#@imports

BATCH, SEQ, WIDTH, LAYERS, STEPS = $BATCH, $SEQ, $WIDTH, $LAYERS, $STEPS
device = torch.device("cuda")
#@memory


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.up, self.down = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x):
        return x + self.down(nn.functional.gelu(self.up(self.norm(x))))


with torch.device(device):
    model = nn.Sequential(*(Layer() for _ in range(LAYERS))).eval()
#@after_model
print(f"encoding {STEPS} batches of {BATCH} documents, sorted by length", flush=True)
features = []
for step in range(STEPS):
    length = SEQ + step * SEQ // 16
    #@batch
    with torch.inference_mode():
        hidden = model(torch.zeros(BATCH, length, WIDTH, device=device))
        features.append(hidden[:, ::8].contiguous())
        del hidden
    print(f"batch {step}: length {length}{memory()}", flush=True)
print("features written")
