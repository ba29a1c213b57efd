"""Optimizer steps, backward passes and phases, seen through torch's own hooks.

A step is over when every optimizer of the script has stepped once more: a GAN has two, and one may step less often. Steps
are what the script's optimizers do, so Lightning, Accelerate, the HF Trainer, DeepSpeed and gradient accumulation need no
special case. The phases are told apart by the calls between them: what ends with a backward pass was a forward pass.
"""
import functools
import os
import time
import weakref

from . import ending, memory
from .record import guarded, on_fork, run

# Seconds after a distributed step: NCCL's watchdog looks every 100 ms for finished collectives and lets go of their buffers
# then. Steps of a real GPU take longer than that; here three of them would be over before it looks once.
COLLECTED = 0.25
# An optimizer that steps this many times more often than asked for ends the wait for the others. The same number of backward
# passes for each step asked for is enough where the script has no optimizer at all but changes its parameters by hand.
PATIENCE = 10


class _Steps:
    def __init__(self):
        self.counts = {}  # id of an optimizer -> its steps
        self.alive = {}  # id -> weak reference, in the order of construction
        self.backwards = 0
        self.evaluating = False
        self.in_train_call = False
        self.written = 0.0
        self.depth = 0  # backward passes nest (double backward, checkpointing)


_state = _Steps()


def _result():
    """The fields "steps", "micro_steps" and "optimizers" of the result."""
    rows = []
    for key, reference in _state.alive.items():
        optimizer = reference()
        if optimizer is not None and len(rows) < 20:
            rows.append(_describe(optimizer, _state.counts.get(key, 0)))
    by_hand = 0 if _state.alive else _state.backwards
    return {
        "steps": max(_state.counts.values(), default=by_hand),
        "micro_steps": _state.backwards,
        "optimizers": rows,
    }


def _describe(optimizer, steps):
    row = {"class": type(optimizer).__name__, "module": type(optimizer).__module__, "steps": steps}
    with guarded("optimizer options"):
        for name in ("fused", "foreach", "capturable", "amsgrad"):
            value = getattr(optimizer, "defaults", {}).get(name)
            if isinstance(value, bool):
                row[name] = value
    return row


def _remember(optimizer):
    key = id(optimizer)
    if key not in _state.alive or _state.alive[key]() is None:
        _state.alive[key] = weakref.ref(optimizer)
        _state.counts.pop(key, None)


def _before_step(optimizer, args, kwargs):
    with guarded("optimizer step"):
        # what lies between the backward pass and here (clipping, unscaling) belongs to the update
        memory.peaks.close("optimizer" if memory.position.phase != "setup" else "setup")
        memory.position.phase = "optimizer"


def _after_step(optimizer, args, kwargs):
    stop = False
    with guarded("optimizer step"):
        memory.peaks.close("optimizer")
        memory.position.phase = "forward"
        _remember(optimizer)
        key = id(optimizer)
        done = _state.counts.get(key, 0) + 1
        _state.counts[key] = done
        others = [_state.counts.get(other, 0) for other, reference in _state.alive.items() if reference() is not None]
        if min(others, default=done) >= done:
            memory.position.step = done + 1
        else:
            memory.position.step = max(memory.position.step, done)
        wanted = run.wanted_steps
        stop = wanted > 0 and (min(others, default=done) >= wanted or done >= PATIENCE * wanted)
        if stop and run.ahead > 0:
            stop = ending.look_ahead()
        memory.peaks.end_step(max(others, default=done))
        if not stop and (run.complete_at is None or time.time() - _state.written > 0.5):
            _state.written = time.time()
            run.write()
            if run.world is not None and run.complete_at is None:
                time.sleep(COLLECTED)
    if stop and run.pid == os.getpid():
        ending.stop("steps")


def _optimizer_made(optimizer):
    _remember(optimizer)
    if memory.position.phase in ("setup", "evaluation") and not _state.backwards:
        memory.peaks.close("setup")
        memory.position.phase = "forward"


def batch_fetched():
    """The script took a batch: what follows is no set-up any more."""
    if memory.position.phase == "setup":
        memory.peaks.close("setup")
        memory.position.phase = "evaluation" if _state.evaluating else "forward"


def _hook_optimizers(torch):
    from torch.optim import optimizer as module

    initialise = module.Optimizer.__init__

    @functools.wraps(initialise)
    def __init__(self, *args, **kwargs):
        initialise(self, *args, **kwargs)
        with guarded("optimizer made"):
            _optimizer_made(self)

    module.Optimizer.__init__ = __init__
    # Dynamo would trace the hooks into a compiled step
    _before_step._torchdynamo_disable = True
    _after_step._torchdynamo_disable = True
    module.register_optimizer_step_pre_hook(_before_step)
    module.register_optimizer_step_post_hook(_after_step)


def _enough_by_hand():
    """Whether a script without any optimizer went through enough backward passes, and what it does after each of them."""
    wanted = run.wanted_steps
    return wanted > 0 and not _state.alive and _state.backwards >= PATIENCE * wanted and run.pid == os.getpid()


def _hook_backward(torch):
    backward = torch.autograd.backward

    @functools.wraps(backward)
    def entered(*args, **kwargs):
        outermost = _state.depth == 0
        if outermost and _enough_by_hand() and (run.ahead <= 0 or ending.look_ahead()):
            ending.stop("steps")
        _state.depth += 1
        if outermost:
            with guarded("backward"):
                memory.peaks.close("forward")
                memory.position.phase = "backward"
        try:
            return backward(*args, **kwargs)
        finally:
            _state.depth -= 1
            if outermost:
                with guarded("backward"):
                    _state.backwards += 1
                    memory.peaks.close("backward")
                    if memory.position.phase == "backward":  # an optimizer may have stepped inside
                        memory.position.phase = "forward"

    torch.autograd.backward = entered


def _hook_modes(torch):
    train = torch.nn.Module.train

    @functools.wraps(train)
    def switched(self, mode=True):
        outermost = not _state.in_train_call  # train() calls itself for every child
        _state.in_train_call = True
        try:
            return train(self, mode)
        finally:
            if outermost:
                _state.in_train_call = False
                with guarded("train and eval"):
                    _mode_switched(bool(mode))

    torch.nn.Module.train = switched


def _mode_switched(training):
    position = memory.position
    if not training and _state.backwards:
        run.evaluated = True
    if _state.evaluating == (not training):
        return
    _state.evaluating = not training
    if position.phase in ("setup", "forward") and not training:
        memory.peaks.close(position.phase)
        position.phase = "evaluation"
    elif position.phase == "evaluation" and training:
        memory.peaks.close("evaluation")
        position.phase = "forward"


def install(torch):
    """Place the hooks of this module."""
    run.parts.append(_result)
    on_fork(_state.__init__)
    for hook in (_hook_optimizers, _hook_backward, _hook_modes):
        with guarded("steps." + hook.__name__):
            hook(torch)
