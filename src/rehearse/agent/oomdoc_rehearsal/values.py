"""Values read from the simulated device.

Kernels do nothing there, so what the script reads is what was copied in, or the value unknown memory is set to. Each place
that reads is counted; where the answer would stop a sound script, or send it round for ever, a sound answer is given and the
trap says which. `--answers none` turns all given answers off.

The reads are seen below Python, by kernels of our own for the operators that carry a value from the device to the host:
`aten::_local_scalar_dense` (item, bool, float, int) and `aten::nonzero` (masks, where).
"""
import functools
import itertools
import operator
import warnings
import weakref

from . import memory, record, settings
from .record import guarded, on_fork, run

LOOP_READS = 400  # reads at one place within one step that are taken for a loop waiting for a value
_ANSWER = "_oomdoc_answer"  # attribute of a tensor whose value we know better than the device
_SOURCE = "_oomdoc_source"  # attribute of a tensor that the host copied: what it was copied from, and its version then
_VERSION = "_oomdoc_version"  # of such a tensor when that was said
_FOLLOWED = 1 << 20  # elements of a copy that is followed

_VALUES = "zeros"  # what unknown memory reads as
# The highest byte of what the device gives for unknown integers then.
_HIGHEST = {"large": 0x42, "negative": 0xC2, "huge": 0x4E, "mixed": 0x3F, "unit": 0x3F}
# Where unknown values are these, a mask of them keeps everything, the most that it can need, or every second row.
_SELECTED = {"ones": 1, "large": 1, "negative": 1, "huge": 1, "mixed": 2, "unit": 1}
_OVERFLOWS = 16  # times that the scale of the gradients is halved where the values of the device are assumed to be large
_LINEAR_ALGEBRA = (
    "qr svd svdvals eigh eigvalsh eig eigvals inv inv_ex solve solve_ex cholesky cholesky_ex lstsq det slogdet pinv matrix_rank"
    " lu lu_factor ldl_factor solve_triangular matrix_exp"
).split()

_sizes = itertools.count()  # integers that were read in place of unknown ones
_library = None  # keeps the kernels registered
_reads = {}  # (step, place) -> reads


def _known(tensor):
    version = getattr(tensor, _VERSION, None)
    if version is not None and version != tensor._version:
        return None  # written since
    return getattr(tensor, _ANSWER, None)


def _read(tensor):
    """In place of the CUDA kernel of `aten::_local_scalar_dense`."""
    answer = _known(tensor)
    if answer is None:
        answer = tensor.detach().to("cpu").item()
        if run.answers and isinstance(answer, float) and not _plausible(answer):
            answer = 0.0
        if type(answer) is int and answer >> 8 * (tensor.element_size() - 1) & 0xFF == _HIGHEST.get(_VALUES):
            answer = _as_size()
        with guarded("value read"):
            _note_read(answer)
    return answer


def _as_size():
    """An integer in place of an unknown one, such as a size can be: they fall, or rise, from read to read as other numbers do."""
    count = next(_sizes)
    if _VALUES in ("mixed", "unit"):
        return 1
    first = {"large": 1000, "huge": 1000000}.get(_VALUES)
    return max(1, first - count) if first else min(1000, 1 + count)


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


def drop_ended_loops():
    """A place that was read often and left by itself waited for nothing."""
    for key in [key for key in run.traps if key[0] == "loop"]:
        del run.traps[key]


def _host(tensor):
    """What a tensor was copied from, where that is known and it was not written since."""
    source, version = getattr(tensor, _SOURCE, (None, 0))
    return source if source is not None and tensor._version == version else None


def _follow_copies(torch):
    """Numbers that the host copies to the device are known: what is asked of them there is computed on the host."""

    def followed(original):
        @functools.wraps(original)
        def copied(self, *args, **kwargs):
            result = original(self, *args, **kwargs)
            if type(self) in _plain and not self.is_cuda and type(result) in _plain and result.is_cuda:
                with guarded("copies"):
                    if not self.is_floating_point() and self.numel() <= _FOLLOWED:
                        setattr(result, _SOURCE, (self, result._version))
            return result

        return copied

    for name in ("to", "cuda"):
        setattr(torch.Tensor, name, followed(getattr(torch.Tensor, name)))

    def answered(original):
        @functools.wraps(original)
        def asked(self, *args, **kwargs):
            result = original(self, *args, **kwargs)
            if not args and not kwargs and type(self) in _plain and self.is_cuda and type(result) in _plain:
                with guarded("known numbers"):
                    source = _host(self)
                    if source is not None and source.numel():
                        setattr(result, _ANSWER, original(source).item())
                        setattr(result, _VERSION, result._version)
            return result

        return asked

    # Not the functions of the same names: TorchScript knows those by themselves.
    for name in ("max", "min", "amax", "amin", "sum", "any", "all"):
        setattr(torch.Tensor, name, answered(getattr(torch.Tensor, name)))


def _carry_comparisons(torch):
    """What is known of a number on the device answers how it compares with one of the host's."""

    def carried(original, compare):
        @functools.wraps(original)
        def asked(self, other):
            result = original(self, other)
            if type(other) in (int, float, bool) and type(self) in _plain and self.is_cuda and type(result) in _plain:
                known = _known(self)
                if known is not None:
                    with guarded("comparison"):
                        setattr(result, _ANSWER, compare(known, other))
                        setattr(result, _VERSION, result._version)
            return result

        return asked

    for name in ("lt", "le", "gt", "ge", "eq", "ne"):
        method = "__%s__" % name
        setattr(torch.Tensor, method, carried(getattr(torch.Tensor, method), getattr(operator, name)))


def _answer(result, source, answer, kind, detail):
    """Give the outcome of a check on values of the device the answer that a real one is known to give."""
    if type(source) in _plain and source.is_cuda:
        with guarded(kind):
            setattr(result, _ANSWER, answer)
            run.trap(kind, record.place(), detail)


def answer_constraints(module):
    """torch.distributions refuses arguments that break a constraint: whether they do is computed on the device."""

    def answered(check):
        @functools.wraps(check)
        def valid(self, value):
            result = check(self, value)
            _answer(result, result, True, "distributions", "values are not computed; they are taken to be valid")
            return result

        return valid

    for kind in list(vars(module).values()):
        if isinstance(kind, type) and issubclass(kind, module.Constraint) and "check" in vars(kind):
            kind.check = answered(kind.check)


def _nonzero(tensor):
    """In place of the CUDA kernel of `aten::nonzero`: torch's own through its other entry, and a note of the rows."""
    torch = run.torch
    source = _host(tensor)
    if source is not None:
        return torch.empty((int(source.count_nonzero()), source.dim()), dtype=torch.int64, device=tensor.device)
    if _VALUES in _SELECTED:  # of unknown values; a count among them could be larger than any that there can be
        count = tensor.numel() // _SELECTED[_VALUES]
        rows = torch.empty((count, tensor.dim()), dtype=torch.int64, device=tensor.device)
    else:
        rows = torch.empty(0, dtype=torch.int64, device=tensor.device)
        torch.ops.aten.nonzero.out(tensor, out=rows)
    with guarded("nonzero"):
        if tensor.numel():
            _note_rows("nonzero", int(rows.shape[0]), int(tensor.numel()))
    return rows


def _note_rows(operator, rows, possible):
    where = record.place()
    if rows == possible and _VALUES == "ones":
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
            _answer(result, source, False, "isfinite", "values are not computed; the check is answered with no")
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
    _halve_scale(scaler)


def _halve_scale(scaler):
    """The other extreme, where unknown values are assumed to be large: a script that asks for the scale sees it fall.

    As after overflows; but no step is skipped, since one that is needs no more than one that is made.
    """
    update = scaler.update
    halved = weakref.WeakKeyDictionary()

    @functools.wraps(update)
    def updated(self, *args, **kwargs):
        update(self, *args, **kwargs)
        with guarded("GradScaler"):
            count = halved.get(self, 0)
            if _VALUES == "large" and count < _OVERFLOWS and _known(self._scale) is not None:
                halved[self] = count + 1
                setattr(self._scale, _ANSWER, _known(self._scale) / 2)

    scaler.update = updated
    ask = scaler.get_scale

    @functools.wraps(ask)
    def get_scale(self):
        with guarded("GradScaler"):
            if self._scale is not None:
                run.trap("scale-read", record.place(), "the scale of the gradients was read, which no overflow lowers here")
        return ask(self)

    scaler.get_scale = get_scale


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


def configure():
    """Take over what the settings ask for."""
    global _VALUES
    _VALUES = settings.text("values", "zeros")


def install(torch):
    """Place the hooks of this module."""
    global _library, _plain
    configure()
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
    for hook in (_follow_copies, _carry_comparisons, _answer_finite, _answer_nan, _answer_grad_scaler) if run.answers else ():
        with guarded("values." + hook.__name__):
            hook(torch)
