"""torch.compile of a small transformer block."""
import torch
from torch import nn

model = nn.TransformerEncoder(nn.TransformerEncoderLayer(512, 8, 2048, batch_first=True), 2).cuda()
step_model = torch.compile(model)
optimizer = torch.optim.AdamW(model.parameters(), fused=True)
for step in range(20):
    x = torch.randn(16, 256, 512, device="cuda")
    with torch.autocast("cuda", dtype=torch.bfloat16):
        loss = step_model(x).square().mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    print(step, loss.item())
