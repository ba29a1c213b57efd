"""What the script uses besides torch's core, and the few places in libraries that wait for computed values."""
import functools
import inspect
import os
import sys

from . import longest, record, saving, settings, steps, values
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
            _Masks.see_batch(batch)
            if run.batch is None:
                size = _batch_size(batch)
                if size:
                    run.batch = {"observed": size, "from": "DataLoader"}
                    run.settings["data_workers"] = int(getattr(self, "_num_workers", 0) or 0)
                    run.settings["pin_memory"] = bool(getattr(self, "_pin_memory", False))
        return batch

    iterator.__next__ = __next__
    _smaller_batch(module.DataLoader)


def _smaller_batch(loader):
    """A fix that is tried: loaders of one batch are made with another."""
    wanted = settings.text("loader_batch").split(":")
    if len(wanted) != 2:
        return
    initialise = loader.__init__
    signature = inspect.signature(initialise)

    @functools.wraps(initialise)
    def __init__(self, *args, **kwargs):
        with guarded("batch of the loader"):
            call = signature.bind(self, *args, **kwargs)
            if call.arguments.get("batch_size") == int(wanted[0]):
                call.arguments["batch_size"] = int(wanted[1])
                args, kwargs = call.args[1:], call.kwargs
        initialise(self, *args, **kwargs)

    loader.__init__ = __init__


def _recompute(module):
    """A fix that is tried: transformers' models recompute their activations."""
    made = module.PreTrainedModel.post_init

    @functools.wraps(made)
    def post_init(self):
        made(self)
        with guarded("checkpointing"):
            if self.supports_gradient_checkpointing:
                self.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
                self.config.use_cache = False

    module.PreTrainedModel.post_init = post_init


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


class _Masks:
    """Whether a batch holds padding decides which attention kernel runs, and with it how much memory.

    transformers asks the device. The mask that came with the batch is known; what was computed on the device is not, and is
    taken to be what it nearly always is: one sequence per row, nothing padded.
    """

    in_batch_full = None  # the mask of the last batch of a DataLoader: does it keep every token?
    given = None  # on the host: the mask handed to the model

    @classmethod
    def see_batch(cls, batch):
        mask = batch.get("attention_mask") if hasattr(batch, "get") and hasattr(batch, "keys") else None
        if mask is not None and not mask.is_cuda:
            cls.in_batch_full = bool((mask != 0).all())

    @classmethod
    def on_host(cls, mask):
        """The mask as the host knows it, or a stand-in of the same shape."""
        known = mask.detach().to("cpu") != 0
        if not known.any():
            known = run.torch.ones(mask.shape, dtype=run.torch.bool)
            padded = cls.in_batch_full is False
            if padded:
                known[..., -1:] = False
            run.trap(
                "attention-mask",
                _outside(sys._getframe(1)),
                "the attention mask is computed on the device; taken to be %s padding" % ("with" if padded else "without"),
            )
        return known


def _on_device(tensor):
    """A tensor with real memory on the (simulated) GPU: not a compiler's fake one."""
    torch = run.torch
    return type(tensor) in (torch.Tensor, torch.nn.Parameter) and tensor.is_cuda and tensor.numel() > 0


def _masking(module):
    """transformers.masking_utils (4.53 and later)."""
    find = getattr(module, "find_packed_sequence_indices", None)
    if find is not None:

        @functools.wraps(find)
        def find_packed_sequence_indices(position_ids):
            if _on_device(position_ids):
                with guarded("packed sequences"):
                    known = position_ids.detach().to("cpu")
                    if not known.any():
                        detail = "positions are computed on the device; taken to be one sequence per row"
                        run.trap("attention-mask", _outside(sys._getframe(1)), detail)
                        return None
                    if find(known) is None:
                        return None
            return find(position_ids)

        module.find_packed_sequence_indices = find_packed_sequence_indices
    prepare = getattr(module, "_preprocess_mask_arguments", None)
    if prepare is not None:

        @functools.wraps(prepare)
        def _preprocess_mask_arguments(*args, **kwargs):
            mask = kwargs.get("attention_mask", args[2] if len(args) > 2 else None)
            _Masks.given = mask if _on_device(mask) else None
            return prepare(*args, **kwargs)

        module._preprocess_mask_arguments = _preprocess_mask_arguments
    for name in ("_ignore_causal_mask_sdpa", "_ignore_bidirectional_mask_sdpa"):
        _ask_host(module, name)


def _ask_host(owner, name):
    """Let a question about the mask be answered from its copy on the host."""
    question = getattr(owner, name, None)
    if question is None:
        return

    @functools.wraps(question)
    def asked(*args, **kwargs):
        named = next((key for key in ("padding_mask", "attention_mask") if key in kwargs), None)
        mask = kwargs[named] if named else (args[0] if args else None)
        if _on_device(mask) and mask.dim() == 2:
            with guarded(name):
                given = _Masks.given
                mask = _Masks.on_host(given if given is not None and given.shape == mask.shape else mask)
                if named:
                    kwargs[named] = mask
                else:
                    args = (mask,) + tuple(args[1:])
        return question(*args, **kwargs)

    setattr(owner, name, staticmethod(asked) if isinstance(owner, type) else asked)


def _older_masking(module):
    """transformers.modeling_attn_mask_utils (before 4.53)."""
    _ask_host(module.AttentionMaskConverter, "_ignore_causal_mask_sdpa")


def _benchmark(module):
    """triton.testing.do_bench repeats a kernel until it has run for a tenth of a second, which one that does nothing never has.

    One repetition is left of it, with the buffer that clears the cache in between: that is memory of the real run too.
    """
    measure = module.do_bench
    signature = inspect.signature(measure)

    @functools.wraps(measure)
    def do_bench(*args, **kwargs):
        call = signature.bind(*args, **kwargs)
        call.arguments.update(warmup=0, rep=0)
        return measure(*call.args, **call.kwargs)

    module.do_bench = do_bench


def _outside(frame):
    """The place outside of transformers and torch that called."""
    while frame is not None and ("/transformers/" in frame.f_code.co_filename or "/torch/" in frame.f_code.co_filename):
        frame = frame.f_back
    return record.place(frame) if frame is not None else "?"


def _batch_finder(module):
    """accelerate's search for a batch that fits: the one in use is noted."""
    find = module.find_executable_batch_size

    @functools.wraps(find)
    def noting(function=None, *args, **kwargs):
        if function is None:
            return functools.partial(noting, *args, **kwargs)

        @functools.wraps(function)
        def noted(batch_size, *values, **named):
            run.batch = {"observed": int(batch_size), "from": "find_executable_batch_size"}
            return function(batch_size, *values, **named)

        return find(noted, *args, **kwargs)

    module.find_executable_batch_size = noting


def _trainer(module):
    """transformers' Trainer: after the steps asked for it evaluates and saves, if it would at all, so that both are seen."""
    handler = module.CallbackHandler
    on_step_end = handler.on_step_end

    @functools.wraps(on_step_end)
    def ended(self, args, state, control):
        control = on_step_end(self, args, state, control)
        with guarded("Trainer"):
            if run.ahead > 0 and run.wanted_steps and state.global_step == run.wanted_steps:
                strategy = getattr(args, "eval_strategy", getattr(args, "evaluation_strategy", "no"))
                if str(getattr(strategy, "value", strategy)) != "no":
                    control.should_evaluate = True
                if str(getattr(args.save_strategy, "value", args.save_strategy)) != "no":
                    control.should_save = True
        return control

    handler.on_step_end = ended


def _compiler_of_deepspeed(module):
    """deepspeed asks the CUDA compiler for its version where torch sees a GPU; what it builds then is not needed here."""
    ask = module.installed_cuda_version

    @functools.wraps(ask)
    def installed_cuda_version(*args, **kwargs):
        try:
            return ask(*args, **kwargs)
        except Exception:
            major, minor = run.torch.version.cuda.split(".")[:2]
            return int(major), int(minor)

    module.installed_cuda_version = installed_cuda_version


def install():
    """Wait for the libraries; nothing is imported here."""
    run.parts.append(_settings)
    after_import("accelerate.utils.memory", _batch_finder)
    after_import("transformers.trainer_callback", _trainer)
    after_import("torch.utils.data.dataloader", _data_loader)
    after_import("torch.utils.data.dataloader", longest.hook_loader)
    after_import("torch.utils.checkpoint", _checkpoint)
    after_import("torch.amp.autocast_mode", _autocast)
    after_import("torch.nn.modules.conv", _convolution)
    after_import("torch.serialization", saving.hook_torch)
    after_import("torch.jit", saving.hook_jit)
    if settings.text("checkpointing"):
        after_import("transformers.modeling_utils", _recompute)
    after_import("safetensors.torch", saving.hook_safetensors)
    after_import("triton.testing", _benchmark)
    after_import("deepspeed.ops.op_builder.builder", _compiler_of_deepspeed)
    if not run.answers:
        return
    after_import("torch.distributions.constraints", values.answer_constraints)
    after_import("transformers.generation.stopping_criteria", _stopping_criteria)
    after_import("transformers.generation.utils", _generation)
    after_import("transformers.masking_utils", _masking)
    after_import("transformers.modeling_attn_mask_utils", _older_masking)
