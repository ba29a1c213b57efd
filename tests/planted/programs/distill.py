"""Speech encoder training with JSON lines, as log collectors want them."""
import json
import sys
import time
import torch
import torch.nn as nn
#@imports

BATCH, SEQ, WIDTH, LAYERS, STEPS = $BATCH, $SEQ, $WIDTH, $LAYERS, $STEPS
device = torch.device("cuda")
#@memory


def emit(event, **fields):
    print(json.dumps({"ts": round(time.time(), 3), "event": event, **fields}), flush=True)


def build():
    with torch.device(device):
        model = nn.Sequential(nn.Conv1d(80, WIDTH, 3, 2, 1), nn.GELU(), nn.Conv1d(WIDTH, WIDTH, 3, 2, 1), nn.GELU())
        model.append(Encoder())
    emit("model_loaded", parameters=sum(p.numel() for p in model.parameters()))
    return model


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.ModuleList(nn.TransformerEncoderLayer(WIDTH, 8, 4 * WIDTH, batch_first=True) for _ in range(LAYERS))
        self.head = nn.Linear(WIDTH, 5000)

    def forward(self, x):
        x = x.transpose(1, 2)
        for layer in self.rnn:
            x = layer(x)
        return self.head(x)


def sample(n=BATCH, t=SEQ):
    return torch.zeros(n, 80, t, device=device)


#@before_model
model = build()
#@after_model
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
#@after_optimizer
for step in range(STEPS):
    x = sample()
    #@batch
    out = model(x)
    loss = out.float().log_softmax(-1).mean()
    #@after_out
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    if step % $EVERY == 0:
        emit("step", step=step, loss=round(loss.item(), 4), seconds_of_audio=x.shape[-1] // 100, memory=memory().strip(" ,|") or None)
    #@after_step
emit("finished")
