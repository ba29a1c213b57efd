"""What the script uses besides torch's core, and the few places in libraries that wait for computed values."""
import functools
import os
import sys

from . import record, steps
from .importing import after_import
from .record import guarded, run


def _batch_size(batch, depth=0):
    """The first dimension of the first tensor in a batch, wherever it lies."""
    shape = getattr(batch, "shape", None)
    if shape is not None and len(shape):
        return int(shape[0])
    if depth < 4:
        if hasattr(batch, "values") and hasattr(batch, "keys"):
            batch = list(batch.values())
        if isinstance(batch, (list, tuple)):
            for part in batch:
                size = _batch_size(part, depth + 1)
                if size:
                    return size
    return None


def _data_loader(module):
    """Note the size of the first batch."""
    iterator = module._BaseDataLoaderIter
    fetch = iterator.__next__

    @functools.wraps(fetch)
    def __next__(self):
        batch = fetch(self)
        with guarded("DataLoader"):
            steps.batch_fetched()
            if run.batch is None:
                size = _batch_size(batch)
                if size:
                    run.batch = {"observed": size, "from": "DataLoader"}
                    run.settings["data_workers"] = int(getattr(self, "_num_workers", 0) or 0)
                    run.settings["pin_memory"] = bool(getattr(self, "_pin_memory", False))
        return batch

    iterator.__next__ = __next__


def _checkpoint(module):
    """Note that activations are recomputed."""
    function = getattr(module, "CheckpointFunction", None)
    if function is not None:
        forward = function.forward

        def noted(*args, **kwargs):
            run.settings["checkpointing"] = True
            return forward(*args, **kwargs)

        function.forward = staticmethod(noted)
    frame = getattr(module, "_CheckpointFrame", None)
    if frame is not None:
        initialise = frame.__init__

        def __init__(self, *args, **kwargs):
            run.settings["checkpointing"] = True
            initialise(self, *args, **kwargs)

        frame.__init__ = __init__


def _autocast(module):
    """Note the data type of autocast."""
    enter = module.autocast.__enter__

    @functools.wraps(enter)
    def __enter__(self):
        with guarded("autocast"):
            if getattr(self, "device", None) == "cuda" and getattr(self, "_enabled", False):
                run.settings["autocast"] = str(getattr(self, "fast_dtype", "")).replace("torch.", "")
        return enter(self)

    module.autocast.__enter__ = __enter__


def _convolution(module):
    """Note that there are convolutions: what cuDNN takes for them is not known here."""
    initialise = module._ConvNd.__init__

    @functools.wraps(initialise)
    def __init__(self, *args, **kwargs):
        run.settings["convolutions"] = True
        initialise(self, *args, **kwargs)

    module._ConvNd.__init__ = __init__


def _settings():
    """Settings that can be read off at the end."""
    found = dict(run.settings)
    for name in ("PYTORCH_ALLOC_CONF", "PYTORCH_CUDA_ALLOC_CONF"):
        if os.environ.get(name):
            found["alloc_conf"] = os.environ[name]
    torch = run.torch
    if torch is not None:
        found["cudnn_benchmark"] = bool(torch.backends.cudnn.benchmark)
        found["default_dtype"] = str(torch.get_default_dtype()).replace("torch.", "")
    counters = getattr(sys.modules.get("torch._dynamo.utils"), "counters", None)
    found["compile"] = bool(counters and counters.get("frames", {}).get("ok"))
    found.setdefault("checkpointing", False)
    for name in ("transformers", "accelerate", "lightning", "pytorch_lightning", "deepspeed", "peft", "bitsandbytes", "timm", "diffusers"):
        version = getattr(sys.modules.get(name), "__version__", None)
        if version:
            found.setdefault("libraries", {})[name] = str(version)
    return {"settings": found}


class _Generation:
    """transformers' `generate`: it asks the device whether every sequence has ended, and the answer never comes.

    It is made to run to its maximal length, which is what memory has to be planned for.
    """

    reached = False  # the length criterion of the generation in progress said that it is over


def _stopping_criteria(module):
    criterion = module.MaxLengthCriteria
    call = criterion.__call__

    @functools.wraps(call)
    def __call__(self, input_ids, scores, **kwargs):
        with guarded("generate"):
            _Generation.reached = input_ids.shape[1] >= self.max_length
        return call(self, input_ids, scores, **kwargs)

    criterion.__call__ = __call__


def _generation(module):
    mixin = module.GenerationMixin
    unfinished = mixin._has_unfinished_sequences
    generate = mixin.generate

    @functools.wraps(unfinished)
    def _has_unfinished_sequences(self, this_peer_finished, *args, **kwargs):
        if _Generation.reached:
            _Generation.reached = False
            with guarded("generate"):
                run.trap("generation", _outside(sys._getframe(1)), "runs to its maximal length; an end token is never seen")
            return False
        return unfinished(self, this_peer_finished, *args, **kwargs)

    @functools.wraps(generate)
    def generate_(self, *args, **kwargs):
        _Generation.reached = False
        return generate(self, *args, **kwargs)

    mixin._has_unfinished_sequences = _has_unfinished_sequences
    mixin.generate = generate_


def _outside(frame):
    """The place outside of transformers and torch that called."""
    while frame is not None and ("/transformers/" in frame.f_code.co_filename or "/torch/" in frame.f_code.co_filename):
        frame = frame.f_back
    return record.place(frame) if frame is not None else "?"


def install():
    """Wait for the libraries; nothing is imported here."""
    run.parts.append(_settings)
    after_import("torch.utils.data.dataloader", _data_loader)
    after_import("torch.utils.checkpoint", _checkpoint)
    after_import("torch.amp.autocast_mode", _autocast)
    after_import("torch.nn.modules.conv", _convolution)
    after_import("transformers.generation.stopping_criteria", _stopping_criteria)
    after_import("transformers.generation.utils", _generation)
