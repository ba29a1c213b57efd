"""The callbacks in real trainers, on the processor; each left out where its package is missing.

Under `oomdoc rehearse --like 3090 -- python -m pytest tests/python/test_callbacks.py` they see a simulated GPU.
"""

import json

import oomdoc
import pytest

torch = pytest.importorskip("torch")


def records(path):
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    return lines, [line["phase"] for line in lines if "phase" in line]


def cuda_peaks(memory):
    """On a GPU each phase has a peak of PyTorch's allocator; without one nothing is made up."""
    for peak in memory.peaks.values():
        assert (peak.allocated is not None) == (torch.cuda.is_available() and torch.cuda.is_initialized())


def test_trainer(tmp_path):
    transformers = pytest.importorskip("transformers")
    from oomdoc.callbacks import TrainerMemory

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(64, 64)

        def forward(self, x, labels=None):
            out = self.layer(x)
            return {"loss": (out - labels).pow(2).mean(), "logits": out}

    data = [{"x": torch.ones(64), "labels": torch.zeros(64)} for _ in range(32)]
    path = tmp_path / "trainer.record"
    callback = TrainerMemory(path)
    arguments = transformers.TrainingArguments(
        output_dir=str(tmp_path), max_steps=4, per_device_train_batch_size=4, eval_strategy="steps", eval_steps=2,
        report_to=[], save_strategy="no", disable_tqdm=True,
    )
    transformers.Trainer(Net(), arguments, train_dataset=data, eval_dataset=data, callbacks=[callback]).train()
    lines, phases = records(path)
    assert lines[-1]["end"] == {"code": 0}
    assert phases.count("forward and backward") == 4 and phases.count("optimizer step") == 4
    assert "evaluation" in phases and "between steps" in phases
    assert callback.recorder.peaks["forward and backward"].times == 4
    cuda_peaks(callback.recorder)


def test_lightning(tmp_path):
    lightning = pytest.importorskip("lightning")
    from oomdoc.callbacks import LightningMemory

    class Net(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(64, 1)

        def training_step(self, batch, _):
            return self.layer(batch[0]).mean()

        def validation_step(self, batch, _):
            self.layer(batch[0])

        def configure_optimizers(self):
            return torch.optim.Adam(self.parameters())

    data = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.ones(16, 64)), batch_size=4)
    path = tmp_path / "lightning.record"
    callback = LightningMemory(path)
    trainer = lightning.Trainer(
        max_epochs=1, callbacks=[callback], logger=False, enable_checkpointing=False, enable_progress_bar=False,
        default_root_dir=tmp_path,
    )
    trainer.fit(Net(), data, data)
    lines, phases = records(path)
    assert lines[-1]["end"] == {"code": 0}
    assert [phases.count(name) for name in ("forward", "backward", "optimizer step")] == [4, 4, 4]
    assert "validation" in phases
    cuda_peaks(callback.recorder)


def test_a_trainer_that_dies_leaves_its_failure_in_the_record(tmp_path):
    lightning = pytest.importorskip("lightning")
    from oomdoc.callbacks import LightningMemory

    class Net(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(64, 1)

        def training_step(self, batch, index):
            if index == 2:
                raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.50 GiB. GPU 0 has a total "
                                             "capacity of 8.00 GiB of which 1.00 GiB is free.")
            return self.layer(batch[0]).mean()

        def configure_optimizers(self):
            return torch.optim.Adam(self.parameters())

    data = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.ones(16, 64)), batch_size=4)
    path = tmp_path / "dead.record"
    trainer = lightning.Trainer(max_epochs=1, callbacks=[LightningMemory(path)], logger=False,
                                enable_checkpointing=False, enable_progress_bar=False, default_root_dir=tmp_path)
    with pytest.raises(torch.OutOfMemoryError):
        trainer.fit(Net(), data)
    found = oomdoc.explain(path)
    assert found and found.primary["facts"]["requested_bytes"] == 2684354560
