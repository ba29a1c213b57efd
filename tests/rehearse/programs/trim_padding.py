# Padding is trimmed to the longest sequence that a mask on the GPU shows; the mask comes from a network.
# Right: unknown (0 to 2048 positions)
import torch
from torch import nn
gate = nn.Linear(64, 1).cuda(); layer = nn.TransformerEncoderLayer(64, 4, 256, batch_first=True).cuda()
opt = torch.optim.Adam([*gate.parameters(), *layer.parameters()])
for step in range(6):
    x = torch.randn(16, 2048, 64, device="cuda")
    keep = gate(x).squeeze(-1) > 0
    longest = keep.to("cpu").sum(1).max().item()
    h = x[:, :longest]
    s = (h @ h.transpose(1, 2)).softmax(-1)
    loss = layer(s @ h).mean(); opt.zero_grad(); loss.backward(); opt.step()
