# Rows of a table on the host are fetched once for each distinct id of the batch; every id is distinct.
# Right: does-not-fit or unknown (12.2 GiB of rows, arithmetic)
import torch
from torch import nn
ids = torch.arange(400000)
down = nn.Linear(8192, 16).cuda(); opt = torch.optim.Adam(down.parameters())
for step in range(3):
    distinct = torch.unique(ids.cuda())
    rows = torch.zeros(len(distinct), 8192, device="cuda")
    loss = down(rows).square().mean(); opt.zero_grad(); loss.backward(); opt.step()
