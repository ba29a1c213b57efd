"""What `oomdoc run --snapshot` sees inside one Python process of the job.

Once torch is imported and CUDA is in use, the allocator's history is kept, and at an out-of-memory error a memory snapshot
is written before the exception is raised. What the allocator held after each optimizer step, its peak, and what the process
did when a request failed go into a small file that `oomdoc run` reads.

Nothing that the job can read is changed: no counter is reset, no function of torch is wrapped, the optimizer's own hooks and
the allocator's own observer are used. CUDA is never initialised here. Whatever fails is left out. Python 3.7 or later.
"""
import json
import os
import sys
import time

# Allocations and frees that are kept, the newest; about 30 MB of a process.
HISTORY = 100000
# Errors with a snapshot: who tries smaller batches until one fits makes many.
SNAPSHOTS = 8
# Rows of the curve; every second one goes when there are more.
ROWS = 512
# Seconds that looking through Python's objects at a failure may take: ten million of them took 2.2 on a busy machine.
CENSUS = 3.0
# Seconds between two states of the file while all goes well.
PERIOD = 1.0

_FOLDER = os.path.dirname(os.path.abspath(__file__))
# Calls that show what the process does when a request fails, the innermost that is found counts.
_SAVING = {"save_checkpoint", "save_model", "save_pretrained", "_save_checkpoint", "state_dict"}
_LOADING = {"load_state_dict", "load_checkpoint", "from_pretrained", "_load_from_checkpoint"}
# Beginnings of words in the names of functions that validate. Switched-off gradients alone tell nothing: a teacher, a
# reference model, rollouts and the clipping of gradients run without them, too.
_VALIDATING = ("eval", "valid", "test", "predict")


class _Watch:
    def __init__(self):
        self.torch = None
        self.settings = {}
        self.reset()

    def reset(self):
        self.pid = os.getpid()
        self.steps = {}  # id of an optimizer -> its steps
        self.stepping = False
        self.rows = []  # (step, allocated after it)
        self.stride = 1
        self.peak = (0, 0)  # bytes, and the step in which it was reached
        self.raises = []  # (step, bytes) of each peak above all before it
        self.device = None  # the one that these figures are of
        self.failures = []
        self.written = 0.0
        self.began = False

    def step(self):
        return max(self.steps.values(), default=0)


_watch = _Watch()


def start():
    """Wait for torch, if the launcher left its settings."""
    with open(os.path.join(_FOLDER, "settings.json"), encoding="utf-8") as file:
        _watch.settings = json.load(file)
    # That a Python of the job came here at all.
    open(os.path.join(_watch.settings["processes"], "came"), "a").close()
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=_watch.reset)
    sys.meta_path.insert(0, _Finder)


class _Finder:
    """Finds nothing itself: lets the others find torch and wraps the last step of its import."""

    # Another tool's finder may ask all others, as this one does.
    asking = False

    @classmethod
    def find_spec(cls, name, path=None, target=None):
        if name != "torch" or cls.asking:
            return None
        cls.asking = True
        try:
            return cls._found(name, path, target)
        finally:
            cls.asking = False

    @classmethod
    def _found(cls, name, path, target):
        for finder in sys.meta_path:
            find = getattr(finder, "find_spec", None)
            spec = find(name, path, target) if find is not None and finder is not cls else None
            if spec is not None:
                execute = getattr(spec.loader, "exec_module", None)
                if execute is not None:
                    spec.loader.exec_module = lambda module: _imported(execute, module)
                return spec
        return None


def _imported(execute, module):
    execute(module)
    # Found once: from here on imports are as they were.
    sys.meta_path[:] = [finder for finder in sys.meta_path if finder is not _Finder]
    try:
        _hook(module)
    except Exception:
        pass


def _hook(torch):
    _watch.torch = torch
    # Runs when the job itself initialises CUDA, in this process only: workers and launchers never do.
    torch.cuda._lazy_call(_begin)
    from torch.optim import optimizer

    # Dynamo would trace them into a compiled step.
    _before_step._torchdynamo_disable = True
    _after_step._torchdynamo_disable = True
    optimizer.register_optimizer_step_pre_hook(_before_step)
    optimizer.register_optimizer_step_post_hook(_after_step)


def _begin():
    import atexit

    torch = _watch.torch
    _watch.began = True
    for part in (_attach, _record):
        try:
            part(torch)
        except Exception:
            pass
    atexit.register(_write)


def _attach(torch):
    torch._C._cuda_attach_out_of_memory_observer(_refused)


def _record(torch):
    # Stacks of frees are left out: taking one inside a free can lose a Python exception in flight (torch 2.11, checkpointing
    # that stops early).
    record = torch.cuda.memory._record_memory_history
    try:
        record(enabled="all", context="alloc", stacks="python", max_entries=HISTORY)
    except TypeError:  # before 2.1
        record(True, trace_alloc_max_entries=HISTORY, trace_alloc_record_context=True)


def _allocated(torch, device):
    stats = torch._C._cuda_memoryStats(device)["allocated_bytes"]["all"]
    return int(stats["current"]), int(stats["peak"])


def _before_step(optimizer, args, kwargs):
    _watch.stepping = True


def _after_step(optimizer, args, kwargs):
    _watch.stepping = False
    if not _watch.began:
        return
    try:
        _count(optimizer)
    except Exception:
        pass


def _count(optimizer):
    before = _watch.step()
    _watch.steps[id(optimizer)] = _watch.steps.get(id(optimizer), 0) + 1
    step = _watch.step()
    if step == before:  # a second optimizer of the same step
        return
    _watch.device = _watch.torch.cuda.current_device()
    held, peak = _allocated(_watch.torch, _watch.device)
    if peak > _watch.peak[0]:
        _watch.peak = (peak, step)
        _watch.raises.append(_watch.peak)
        if len(_watch.raises) > ROWS:
            _watch.raises = _watch.raises[1::2]
    if step % _watch.stride == 0:
        _watch.rows.append((step, held))
        if len(_watch.rows) > ROWS:
            _watch.rows = _watch.rows[1::2]
            _watch.stride *= 2
    now = time.monotonic()
    if now - _watch.written >= PERIOD:
        _watch.written = now
        _write()


def _refused(device, requested, total, free):
    """The allocator could not serve a request; called before the exception is raised."""
    try:
        _note(device, requested, total, free)
    except Exception:
        pass


def _note(device, requested, total, free):
    torch = _watch.torch
    held, _ = _allocated(torch, int(device))
    phase = _phase(torch)
    # A step that fails is left without its hook.
    _watch.stepping = False
    failure = {
        "at": time.time(),
        "device": int(device),
        "requested": int(requested),
        "total": int(total),
        "free": int(free),
        "allocated": held,
        "step": _watch.step(),
        "phase": phase,
    }
    _watch.failures = _watch.failures[-3 * SNAPSHOTS:] + [failure]
    _write()
    if len(_watch.failures) <= SNAPSHOTS:
        try:
            _look_around(torch, int(device), failure)
        except Exception:
            pass
        folder = _watch.settings["snapshots"]
        os.makedirs(folder, exist_ok=True)
        name = os.path.join(folder, "%s%d.pickle" % (_watch.settings["prefix"], _watch.pid))
        partial = name + ".part"
        torch.cuda.memory._dump_snapshot(partial)
        os.replace(partial, name)
        failure["snapshot"] = name
        _write()


def _look_around(torch, device, failure):
    census = _census(torch)
    if census is not None:
        failure["weights"] = _weights(torch, device, *census)
        if failure["phase"] == "optimizer-step":
            failure["states"] = _states(torch, device, census[1])


def _states(torch, device, optimizers):
    """What optimizers keep on the device, the parameters for which that is complete, all that will have it, and what it
    comes to then: in bytes."""
    held = []  # (bytes of a parameter, tensors and bytes that are kept for it)
    for optimizer in optimizers:
        states = optimizer.__dict__.get("state", {})
        for group in optimizer.__dict__.get("param_groups", ()):
            for each in group["params"]:
                if not _lies_on(each, device) or each.grad is None:
                    continue
                values = (states.get(each) or {}).values()
                kept = [value for value in values if isinstance(value, torch.Tensor) and _lies_on(value, device)]
                held.append((_size(each), len(kept), sum(map(_size, kept))))
    # One that is being served has fewer.
    most = max([count for _, count, _ in held], default=0)
    complete = [each for each in held if most and each[1] == most]
    parameters, everyone = sum(each[0] for each in complete), sum(each[0] for each in held)
    return {
        "made": sum(each[2] for each in held),
        "parameters": parameters,
        "all": everyone,
        "whole": sum(each[2] for each in complete) * everyone // parameters if parameters else 0,
    }


def _size(tensor):
    return tensor.numel() * tensor.element_size()


def _weights(torch, device, modules, optimizers, tensors):
    """The module with the most weights on the device, and how often the same weights are there besides: as modules alike,
    also such as are still on their way to the device, and as sets of loose tensors (a state dict, a moving average).
    Gradients and what belongs to the optimizer are none."""
    import collections

    inner = {id(child) for module in modules for child in module.__dict__.get("_modules", {}).values()}
    known = set()  # storages that are accounted for
    found = []  # (bytes, class, shapes)
    for module in modules:
        if id(module) in inner:
            continue
        shapes, size, waiting, met = collections.Counter(), 0, [module], set()
        while waiting:
            each = waiting.pop()
            if each is None or id(each) in met:
                continue
            met.add(id(each))
            waiting.extend(each.__dict__.get("_modules", {}).values())
            for kind in ("_parameters", "_buffers"):
                for tensor in each.__dict__.get(kind, {}).values():
                    if tensor is None or id(tensor) in met:
                        continue
                    met.add(id(tensor))
                    there = _lies_on(tensor, device)
                    if there and tensor.data_ptr() in known:
                        continue
                    if kind == "_parameters":
                        shapes[tuple(tensor.shape)] += 1
                    if not there:
                        continue
                    known.add(tensor.data_ptr())
                    if tensor.grad is not None:
                        known.add(tensor.grad.data_ptr())
                    if kind == "_parameters":
                        size += _size(tensor)
        if size:
            found.append((size, type(module).__name__, shapes))
    if not found:
        return None
    found.sort(key=lambda each: -each[0])
    size, name, shapes = found[0]
    alike = [each[0] for each in found[1:] if each[2] == shapes]
    for optimizer in optimizers:
        for state in optimizer.__dict__.get("state", {}).values():
            values = state.values() if isinstance(state, dict) else ()
            known.update(each.data_ptr() for each in values if isinstance(each, torch.Tensor) and _lies_on(each, device))
        # What it updates in place of the module's own, in full precision.
        for group in optimizer.__dict__.get("param_groups", ()):
            for each in group["params"]:
                known.update(each.data_ptr() for each in (each, each.grad) if each is not None and _lies_on(each, device))
    loose = collections.Counter()
    for each in tensors:
        if _lies_on(each, device) and each.data_ptr() not in known:
            known.add(each.data_ptr())
            loose[tuple(each.shape)] += 1
    return {
        "class": name,
        "bytes": size,
        "modules": len(alike),
        "again": sum(alike),
        # Whole sets alone, and of several shapes: anything may look like one matrix.
        "tensors": min(loose[shape] // count for shape, count in shapes.items()) if len(shapes) > 2 else 0,
    }


def _census(torch):
    """The modules, optimizers and tensors of this process, None where going through its objects takes too long: the failure
    waits for it."""
    import gc

    begun = time.monotonic()
    objects = gc.get_objects()
    found = modules, optimizers, tensors = [], [], []
    lists = {}  # id of a type -> where its objects belong
    for number, each in enumerate(objects):
        # By the type itself: asking an object for its class can run code of its own, and so can hashing a type.
        kind = type(each)
        belongs = lists.get(id(kind), lists)
        if belongs is lists:
            belongs = None
            if issubclass(kind, torch.nn.Module):
                belongs = modules
            elif issubclass(kind, torch.optim.Optimizer):
                belongs = optimizers
            elif kind in (torch.Tensor, torch.nn.Parameter):
                belongs = tensors
            lists[id(kind)] = belongs
        if belongs is not None:
            belongs.append(each)
        if not number % 65536 and time.monotonic() - begun > CENSUS:
            return None
    return found


def _lies_on(tensor, device):
    return tensor.is_cuda and tensor.device.index == device and tensor.data_ptr() != 0


def _phase(torch):
    """What the process was doing, None where that cannot be told."""
    if _watch.stepping:
        return "optimizer-step"
    current = getattr(torch._C, "_current_graph_task_id", None)
    if current is not None and current() != -1:
        return "backward"
    validating = False
    frame = sys._getframe(1)
    while frame is not None:
        code = frame.f_code
        name = code.co_name
        if name in _SAVING or name == "save" and code.co_filename.endswith("serialization.py"):
            return "checkpoint"
        if name in _LOADING:
            return "load"
        validating = validating or any(word.startswith(_VALIDATING) for word in name.lower().split("_"))
        frame = frame.f_back
    if not _watch.steps:
        return None
    if torch.is_grad_enabled():
        return None if validating else "forward"
    return "validation" if validating else None


def _write():
    if os.getpid() != _watch.pid or not _watch.began:
        return
    rank = os.environ.get("RANK", "")
    state = {
        "pid": _watch.pid,
        "rank": int(rank) if rank.isdigit() else None,
        "torch": str(getattr(_watch.torch, "__version__", "")),
        "steps": _watch.step(),
        "peak": _watch.peak[0],
        "peak_step": _watch.peak[1],
        "raises": [(step, peak) for peak, step in _watch.raises],
        "device": _watch.device,
        "rows": _watch.rows,
        "failures": _watch.failures,
    }
    path = os.path.join(_watch.settings["processes"], "%d.json" % _watch.pid)
    try:
        with open(path + ".part", "w", encoding="utf-8") as file:
            json.dump(state, file)
        os.replace(path + ".part", path)
    except OSError:  # a full disk is no reason to disturb the job
        pass
