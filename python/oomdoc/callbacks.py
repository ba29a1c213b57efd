"""Callbacks that keep the peaks of each phase: for the Trainer of Hugging Face, and for Lightning.

    trainer = Trainer(..., callbacks=[oomdoc.callbacks.TrainerMemory("train.record")])
    trainer = lightning.Trainer(..., callbacks=[oomdoc.callbacks.LightningMemory("train.record")])

A class is made when it is asked for, so that neither package is imported for the other's sake.
"""

from __future__ import annotations

from typing import Any

from .recorder import Recorder


def _trainer_memory() -> type:
    from transformers import TrainerCallback

    class TrainerMemory(TrainerCallback):
        """Peaks of the forward and backward pass, the optimizer's step, evaluation, and what lies between steps."""

        def __init__(self, path: Any = None) -> None:
            self.recorder = Recorder(path)

        def on_step_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            self.recorder.step(state.global_step)
            self.recorder.begin("forward and backward")

        def on_pre_optimizer_step(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            self.recorder.begin("optimizer step")

        def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            self.recorder.begin("between steps")

        def on_prediction_step(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            # It is called behind each step: the first of them counts as "between steps".
            self.recorder.begin("evaluation")

        def on_evaluate(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            self.recorder.begin("between steps")

        def on_train_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            self.recorder.close()

    return TrainerMemory


def _lightning_memory() -> type:
    try:
        from lightning.pytorch.callbacks import Callback
    except ImportError:
        from pytorch_lightning.callbacks import Callback

    class LightningMemory(Callback):
        """Peaks of forward and backward pass, the optimizer's step, validation, and what lies between steps."""

        def __init__(self, path: Any = None) -> None:
            self.recorder = Recorder(path)

        def on_train_batch_start(self, trainer: Any, pl_module: Any, batch: Any, batch_idx: int) -> None:
            self.recorder.step(trainer.global_step)
            self.recorder.begin("forward")

        def on_before_backward(self, trainer: Any, pl_module: Any, loss: Any) -> None:
            self.recorder.begin("backward")

        def on_before_optimizer_step(self, trainer: Any, pl_module: Any, optimizer: Any) -> None:
            self.recorder.begin("optimizer step")

        def on_train_batch_end(self, *_: Any, **__: Any) -> None:
            self.recorder.begin("between steps")

        def on_validation_start(self, trainer: Any, pl_module: Any) -> None:
            self.recorder.begin("validation")

        def on_validation_end(self, trainer: Any, pl_module: Any) -> None:
            self.recorder.begin("between steps")

        def on_exception(self, trainer: Any, pl_module: Any, exception: BaseException) -> None:
            self.recorder.failed(exception)

        def teardown(self, trainer: Any, pl_module: Any, stage: str) -> None:
            self.recorder.close()

    return LightningMemory


_MADE = {"TrainerMemory": _trainer_memory, "LightningMemory": _lightning_memory}


def __getattr__(name: str) -> Any:
    if name not in _MADE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = made = _MADE[name]()
    return made
