"""Values read from the simulated device.

Kernels do nothing there, so what the script reads is what was copied in, or the value unknown memory is set to. Each place
that reads is counted; where the answer would stop a sound script, or send it round for ever, a sound answer is given and the
trap says which. `--answers none` turns all given answers off.

The reads are seen below Python, by kernels of our own for the operators that carry a value from the device to the host:
`aten::_local_scalar_dense` (item, bool, float, int) and `aten::nonzero` (masks, where).
"""
import functools
import warnings

from . import memory, record, settings
from .record import guarded, on_fork, run

LOOP_READS = 400  # reads at one place within one step that are taken for a loop waiting for a value
_ANSWER = "_oomdoc_answer"  # attribute of a tensor whose value we know better than the device

_ONES = settings.text("values") == "ones"  # what unknown memory reads as
_LARGE = settings.text("values") == "large"
_PATTERNS = {int("42" * size, 16) for size in (1, 2, 4, 8)}  # what the device gives for unknown integers then
_ASSUMED = 1000  # a number in their place that a size can have
_LINEAR_ALGEBRA = (
    "qr svd svdvals eigh eigvalsh eig eigvals inv inv_ex solve solve_ex cholesky cholesky_ex lstsq det slogdet pinv matrix_rank"
    " lu lu_factor ldl_factor solve_triangular matrix_exp"
).split()

_library = None  # keeps the kernels registered
_reads = {}  # (step, place) -> reads


def _known(tensor):
    return getattr(tensor, _ANSWER, None)


def _read(tensor):
    """In place of the CUDA kernel of `aten::_local_scalar_dense`."""
    answer = _known(tensor)
    if answer is None:
        answer = tensor.detach().to("cpu").item()
        if run.answers and isinstance(answer, float) and not _plausible(answer):
            answer = 0.0
        if _LARGE and isinstance(answer, int) and answer in _PATTERNS:
            answer = _ASSUMED
        with guarded("value read"):
            _note_read(answer)
    return answer


def _plausible(value):
    """False for a number that no script copied in: bytes of integers that lay at this address before."""
    return value == 0.0 or 1e-30 < abs(value) < 1e38


def _note_read(answer):
    where = record.place()
    run.trap("value-read", where, "a value of the device was read; the simulation answered %r" % (answer,))
    key = (memory.position.step, where)
    count = _reads.get(key, 0) + 1
    if count > 1 or len(_reads) < 10000:
        _reads[key] = count
    if count == LOOP_READS:
        run.trap("loop", where, "read %d times within one step: a loop that waits for a value does not end here" % count, 0, "lower")


def _nonzero(tensor):
    """In place of the CUDA kernel of `aten::nonzero`: torch's own through its other entry, and a note of the rows."""
    torch = run.torch
    rows = torch.empty(0, dtype=torch.int64, device=tensor.device)
    torch.ops.aten.nonzero.out(tensor, out=rows)
    if _ONES:  # a mask of unknown values keeps everything: the most that it can need
        rows = torch.empty((tensor.numel(), tensor.dim()), dtype=torch.int64, device=tensor.device)
    with guarded("nonzero"):
        if tensor.numel():
            _note_rows("nonzero", int(rows.shape[0]), int(tensor.numel()))
    return rows


def _note_rows(operator, rows, possible):
    where = record.place()
    if rows == possible and _ONES:
        return run.trap("data-dependent-shape", where, "%s is taken to give all %d rows" % (operator, rows))
    run.trap(
        "zero-rows" if rows == 0 else "data-dependent-shape",
        where,
        "%s gave %d of at most %d rows because values are not computed; the real run may need more memory from here on"
        % (operator, rows, possible),
        memory="lower",
    )


def _count_rows(torch, name, owner):
    """Wrap a Python-level function whose result's size depends on values."""
    original = getattr(owner, name, None)
    if original is None:
        return

    @functools.wraps(original)
    def counted(*args, **kwargs):
        result = original(*args, **kwargs)
        with guarded(name):
            source = args[0] if args else kwargs.get("input")
            first = result[0] if isinstance(result, tuple) else result
            if type(source) in _plain and source.is_cuda and source.numel():
                _note_rows(name, int(first.shape[0]) if first.dim() else 0, int(source.numel()))
        return result

    setattr(owner, name, counted)


_plain = ()  # the exact tensor types that hold real memory: no fake tensor of a compiler is answered for


def _tell_copies(torch):
    """Values that the script takes to the host as a whole: it may decide by them."""

    def told(name, original):
        @functools.wraps(original)
        def copied(self, *args, **kwargs):
            if type(self) in _plain and self.is_cuda and self.numel() <= _FEW and not _known(self):
                with guarded(name):
                    run.trap("value-read", record.place(), "values of the device were copied to the host (%s)" % name)
            return original(self, *args, **kwargs)

        return copied

    for name in ("tolist", "cpu"):
        setattr(torch.Tensor, name, told(name, getattr(torch.Tensor, name)))


_FEW = 1 << 16  # what is more than that is saved or offloaded, not decided by


def _answer_nan(torch):
    """`isnan` and `isinf` as `isfinite` below: no."""

    def answered(function):
        @functools.wraps(function)
        def asked(*args, **kwargs):
            result = function(*args, **kwargs)
            source = args[0] if args else kwargs.get("input")
            if type(source) in _plain and source.is_cuda:
                with guarded("isnan"):
                    setattr(result, _ANSWER, False)
                    run.trap("isfinite", record.place(), "values are not computed; the check is answered with no")
            return result

        return asked

    def carried(function):
        @functools.wraps(function)
        def asked(*args, **kwargs):
            result = function(*args, **kwargs)
            tensors = [value for value in args if isinstance(value, torch.Tensor)]
            if tensors and all(_known(value) is False for value in tensors):
                with guarded("isnan"):
                    setattr(result, _ANSWER, False)
            return result

        return asked

    for owner in (torch, torch.Tensor):
        for name in ("isnan", "isinf"):
            setattr(owner, name, answered(getattr(owner, name)))
        for name in ("any", "logical_or"):
            setattr(owner, name, carried(getattr(owner, name)))
    for name in ("__or__",):
        setattr(torch.Tensor, name, carried(getattr(torch.Tensor, name)))


def _answer_finite(torch):
    """`isfinite` is computed by kernels, so everything would be infinite: guards get True, and are told."""
    tensor_all, torch_all = torch.Tensor.all, torch.all
    tensor_finite, torch_finite = torch.Tensor.isfinite, torch.isfinite

    def answered(result, source, what):
        if type(source) in _plain and source.is_cuda:
            with guarded("isfinite"):
                setattr(result, _ANSWER, True)
                if what:
                    run.trap("isfinite", record.place(), "values are not computed; the check is answered with True")
        return result

    def isfinite(self):
        return answered(tensor_finite(self), self, True)

    def function_isfinite(input):
        return answered(torch_finite(input), input, True)

    def all_(self, *args, **kwargs):
        result = tensor_all(self, *args, **kwargs)
        return answered(result, self, False) if _known(self) is True else result

    def function_all(input, *args, **kwargs):
        result = torch_all(input, *args, **kwargs)
        return answered(result, input, False) if _known(input) is True else result

    torch.Tensor.isfinite, torch.isfinite = isfinite, function_isfinite
    torch.Tensor.all, torch.all = all_, function_all


def _answer_grad_scaler(torch):
    """The scale lives on the device; reading it answers what it was set to."""
    scaler = torch.amp.grad_scaler.GradScaler if hasattr(torch.amp, "grad_scaler") else torch.cuda.amp.GradScaler
    lazy = scaler._lazy_init_scale_growth_tracker

    @functools.wraps(lazy)
    def initialised(self, device):
        result = lazy(self, device)
        with guarded("GradScaler"):
            setattr(self._scale, _ANSWER, float(self._init_scale))
            run.trap(
                "grad-scaler",
                record.place(),
                "the scale stays at %g and no step is skipped: overflows cannot be seen" % self._init_scale,
            )
        return result

    scaler._lazy_init_scale_growth_tracker = initialised
    unscale = scaler._unscale_grads_

    @functools.wraps(unscale)
    def unscaled(self, *args, **kwargs):
        found = unscale(self, *args, **kwargs)
        with guarded("GradScaler"):
            for flag in found.values():
                setattr(flag, _ANSWER, 0.0)
        return found

    scaler._unscale_grads_ = unscaled


def _tell_linear_algebra(torch):
    """What cuSOLVER and MAGMA take as workspace is not known here."""

    def told(name, original):
        @functools.wraps(original)
        def function(*args, **kwargs):
            with guarded("linalg"):
                if args and type(args[0]) in _plain and args[0].is_cuda:
                    detail = "torch.linalg.%s: its workspace is not simulated" % name
                    run.trap("linalg", record.place(), detail, memory="lower")
            return original(*args, **kwargs)

        return function

    for name in _LINEAR_ALGEBRA:
        original = getattr(torch.linalg, name, None)
        if original is not None:
            setattr(torch.linalg, name, told(name, original))


def install(torch):
    """Place the hooks of this module."""
    global _library, _plain
    _plain = (torch.Tensor, torch.nn.Parameter)
    on_fork(_reads.clear)
    with guarded("values.kernels"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch warns that a kernel is replaced
        _library = torch.library.Library("aten", "IMPL")
        _library.impl("_local_scalar_dense", _read, "CUDA")
        _library.impl("nonzero", _nonzero, "CUDA")
    with guarded("values.unique"):
        for name in ("unique", "unique_consecutive"):
            _count_rows(torch, name, torch)
            _count_rows(torch, name, torch.Tensor)
    with guarded("values.linear_algebra"):
        _tell_linear_algebra(torch)
    with guarded("values.copies"):
        _tell_copies(torch)
    for hook in (_answer_finite, _answer_nan, _answer_grad_scaler) if run.answers else ():
        with guarded("values." + hook.__name__):
            hook(torch)
