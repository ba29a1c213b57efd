"""Lightning's Trainer with mixed precision, validation and accumulation."""
import lightning
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Classifier(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(1024, 4096), nn.ReLU(), nn.Linear(4096, 4096), nn.ReLU(), nn.Linear(4096, 10))

    def training_step(self, batch, index):
        loss = nn.functional.cross_entropy(self.net(batch[0]), batch[1])
        self.log("loss", loss)
        return loss

    def validation_step(self, batch, index):
        self.log("val_loss", nn.functional.cross_entropy(self.net(batch[0]), batch[1]))

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters())


def loader():
    return DataLoader(TensorDataset(torch.randn(8192, 1024), torch.randint(0, 10, (8192,))), batch_size=256)


if __name__ == "__main__":
    trainer = lightning.Trainer(accelerator="gpu", devices=1, precision="16-mixed", max_epochs=5, accumulate_grad_batches=2,
                                logger=False, enable_checkpointing=False, enable_progress_bar=False)
    trainer.fit(Classifier(), loader(), loader())
