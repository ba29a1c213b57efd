"""Evaluation only: no optimizer; ends by itself."""
import torch
from torch import nn

model = nn.TransformerEncoder(nn.TransformerEncoderLayer(512, 8, 2048, batch_first=True), 4).cuda().eval()
correct = 0
with torch.inference_mode():
    for batch in range(5):
        out = model(torch.randn(64, 256, 512, device="cuda"))
        correct += (out.argmax(-1) == 3).sum().item()
print("correct", correct)
