"""Lightning's fit."""
import torch
import torch.nn as nn
import torch.nn.functional as F
import lightning as L
#@imports

BATCH, SEQ, WIDTH, LAYERS, STEPS = $BATCH, $SEQ, $WIDTH, $LAYERS, $STEPS
device = torch.device("cuda")
#@memory


def build():
    with torch.device(device):
        model = nn.Sequential(nn.Linear(1024, WIDTH), *(nn.TransformerEncoderLayer(WIDTH, 16, 4 * WIDTH, batch_first=True)
                                                      for _ in range(LAYERS)), nn.Linear(WIDTH, 1024))
    return model


def sample(n=BATCH):
    return torch.zeros(n, SEQ, 1024, device=device)


class Forecaster(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = build()

    def training_step(self, batch, batch_idx):
        model, optimizer, step = self.net, self.optimizers(), batch_idx
        x = batch
        #@batch
        out = model(x)
        loss = F.mse_loss(out, x)
        #@after_out
        self.latest = out.detach()
        self.log("train_loss", loss, prog_bar=True)
        return loss

    def on_train_batch_end(self, outputs, batch, step):
        model, optimizer, x, out = self.net, self.optimizers(), batch, self.latest
        if step % $EVERY == 0 and memory():
            self.print(f"batch {step}{memory()}")
        #@after_step

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=1e-4)


data = torch.utils.data.DataLoader(torch.zeros(BATCH * STEPS, 1, 1).expand(-1, SEQ, 1024), batch_size=BATCH)
#@before_model
module = Forecaster()
model = module.net
#@after_model
fitter = L.Trainer(max_steps=STEPS, accelerator="gpu", devices=1, logger=False, enable_checkpointing=False,
                   log_every_n_steps=$EVERY)
#@after_optimizer
fitter.fit(module, data)
print("fit finished")
