"""Lazy initialisation as torch.cuda does it, one device."""
from . import _C

_initialised = False
_queued = []


def _lazy_call(function):
    if _initialised:
        function()
    else:
        _queued.append(function)


def _lazy_init():
    global _initialised
    if not _initialised:
        _initialised = True
        for function in _queued:
            function()


def is_initialized():
    return _initialised


def current_device():
    return 0


def device_count():
    return 1


def max_memory_allocated():
    return _C._cuda_memoryStats(0)["allocated_bytes"]["all"]["peak"]


def reset_peak_memory_stats():
    _C._cuda_resetPeakMemoryStats(0)


class get_device_properties:
    def __init__(self, device):
        self.total_memory = _C.state["total"]


class memory:
    @staticmethod
    def _record_memory_history(enabled, context=None, stacks=None, max_entries=None):
        _C.state["recording"] = (enabled, context, stacks)

    @staticmethod
    def _dump_snapshot(path):
        with open(path, "w") as file:
            file.write(repr(_C.state["recording"]))
