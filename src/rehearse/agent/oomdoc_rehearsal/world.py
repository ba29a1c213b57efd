"""One rank of a distributed job, without the other ranks.

Process groups are made with a store of our own, so that nothing waits for another process. GPU tensors go through torch's
real NCCL process group (over the simulated library), which allocates what it allocates in a real job; CPU tensors go through
torch's "fake" group. Collectives of Python objects read sizes from the device, so they are answered here.
"""
import functools
import os
import pickle
import sys

from . import record, settings
from .record import guarded, run


def set_environment():
    """What torchrun would tell this rank, unless a launcher inside the command tells it."""
    if run.world_size <= 1 or not run.is_first:
        return
    devices = max(1, int(settings.number("devices", 1)))
    local_size = min(devices, run.world_size)
    os.environ.update(
        RANK=str(run.rank),
        WORLD_SIZE=str(run.world_size),
        LOCAL_RANK=str(run.rank % local_size),
        LOCAL_WORLD_SIZE=str(local_size),
    )
    os.environ.setdefault("MASTER_ADDR", "127.0.0.1")
    os.environ.setdefault("MASTER_PORT", "29500")


def _replace(old, new):
    """Put `new` wherever a module of torch holds `old`; many take the function by name when imported."""
    for name, module in list(sys.modules.items()):
        if name.startswith(("torch.distributed", "torch.nn.parallel")):
            for attribute, value in list(getattr(module, "__dict__", {}).items()):
                if value is old:
                    setattr(module, attribute, new)


def _backend(torch, wanted):
    """The backend for a group: real NCCL where NCCL was meant, torch's fake group for everything that waits for others."""
    import torch.testing._internal.distributed.fake_pg  # noqa: F401 - registers the backend "fake"

    gpu = "nccl" if run.rank == 0 else "fake"  # another rank waits for rank 0's NCCL identifier
    wanted = str(wanted).lower() if wanted else ""
    if ":" in wanted:
        pairs = dict(part.split(":", 1) for part in wanted.split(","))
        return ",".join("%s:%s" % (device, gpu if backend == "nccl" else "fake") for device, backend in pairs.items())
    if wanted == "nccl":
        return gpu
    if wanted in ("gloo", "mpi", "ucc", "fake"):
        return "fake"
    return "cpu:fake,cuda:" + gpu


def _pretend(torch, distributed):
    """Wrap `init_process_group` and `new_group`."""
    import inspect

    c10d = distributed.distributed_c10d
    initialise = c10d.init_process_group
    signature = inspect.signature(initialise)

    @functools.wraps(initialise)
    def init_process_group(*args, **kwargs):
        call = signature.bind(*args, **kwargs)
        given = call.arguments
        rank = given.get("rank", -1)
        if not isinstance(rank, int) or rank < 0:
            rank = int(os.environ.get("RANK", run.rank))
        if rank != run.rank and (given.get("world_size") or os.environ.get("WORLD_SIZE")):
            _leave_other_rank()
        given["store"] = distributed.HashStore()
        given["rank"], given["world_size"] = run.rank, run.world_size
        given.pop("init_method", None)
        given["backend"] = _backend(torch, given.get("backend"))
        run.world = (run.rank, run.world_size)
        return initialise(*call.args, **call.kwargs)

    new_group = c10d.new_group
    new_signature = inspect.signature(new_group)

    @functools.wraps(new_group)
    def new_group_(*args, **kwargs):
        call = new_signature.bind(*args, **kwargs)
        if call.arguments.get("backend") is not None:
            call.arguments["backend"] = _backend(torch, call.arguments["backend"])
        return new_group(*call.args, **call.kwargs)

    _replace(initialise, init_process_group)
    _replace(new_group, new_group_)


def _leave_other_rank():
    """A launcher started the other ranks too: one of them is enough."""
    from . import ending

    run.uses_cuda = run.is_first = False  # so that it leaves no result
    ending.stop("exit")


def _no_waiting(distributed):
    """Nothing waits for the other ranks."""
    c10d = distributed.distributed_c10d
    if hasattr(c10d, "_store_based_barrier"):
        c10d._store_based_barrier = lambda *args, **kwargs: None
    monitored = getattr(c10d, "monitored_barrier", None)
    if monitored is not None:
        _replace(monitored, functools.wraps(monitored)(lambda *args, **kwargs: None))
    os.environ.setdefault("TORCH_NCCL_ENABLE_MONITORING", "0")  # its thread would wait for the other ranks' marks


def _copy(value):
    """What arrives from another rank is a copy."""
    try:
        return pickle.loads(pickle.dumps(value))
    except Exception:
        return value


def _answer_objects(distributed):
    """Collectives of Python objects: the other ranks say what this one says."""
    c10d = distributed.distributed_c10d

    def size(group):
        return distributed.get_world_size(group)

    def told(what):
        with guarded("object collectives"):
            run.trap("synchronised-values", record.place(), what)

    def all_gather_object(object_list, obj, group=None):
        told("all_gather_object: the other ranks are taken to hold the same")
        for index in range(size(group)):
            object_list[index] = obj if index == distributed.get_rank(group) else _copy(obj)

    def gather_object(obj, object_gather_list=None, dst=None, group=None, group_dst=None):
        told("gather_object: the other ranks are taken to hold the same")
        if object_gather_list is not None:
            for index in range(size(group)):
                object_gather_list[index] = _copy(obj)

    def broadcast_object_list(object_list, src=None, group=None, device=None, group_src=None):
        sender = src if src is not None else group_src
        if sender is not None and sender != distributed.get_rank(group):
            told("broadcast_object_list: rank %s does not exist; the objects stay as they were" % sender)

    def scatter_object_list(scatter_object_output_list, scatter_object_input_list=None, src=None, group=None, group_src=None):
        if scatter_object_input_list:
            scatter_object_output_list[0] = scatter_object_input_list[distributed.get_rank(group)]
        else:
            told("scatter_object_list: the sending rank does not exist; nothing arrives")

    for answer in (all_gather_object, gather_object, broadcast_object_list, scatter_object_list):
        original = getattr(c10d, answer.__name__, None)
        if original is not None:
            _replace(original, functools.wraps(original)(answer))


def _tolerate_shape_checks(distributed):
    """DDP compares its parameters' shapes with the other ranks': read from the device, so they may not agree."""
    from torch.distributed import utils

    verify = getattr(utils, "_verify_param_shape_across_processes", None)
    if verify is None:
        return

    @functools.wraps(verify)
    def verified(*args, **kwargs):
        try:
            return verify(*args, **kwargs)
        except RuntimeError as error:
            from .ending import is_out_of_memory

            if is_out_of_memory(error):
                raise
            return None

    _replace(verify, verified)


def install(torch):
    """Place the hooks of this module, if there is a world to pretend."""
    if run.world_size <= 1:
        return
    import torch.distributed as distributed

    if not distributed.is_available():
        return
    _pretend(torch, distributed)
    for hook in (_no_waiting, _answer_objects, _tolerate_shape_checks):
        with guarded("world." + hook.__name__):
            hook(distributed)
