# Inference alone.
# Right: fits (0.2 GiB, arithmetic)
import torch
from torch import nn
net = nn.TransformerEncoder(nn.TransformerEncoderLayer(512, 8, batch_first=True), 6).cuda().eval()
with torch.no_grad():
    for step in range(30):
        net(torch.randn(16, 256, 512, device="cuda"))
