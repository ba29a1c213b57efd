"""A pretended torch for tests of the rehearsal's agent: the few names it hooks, over an allocator of one counter.

`torch.take(bytes)` and `torch.give(bytes)` stand for allocations. There is no library to register kernels with: those
hooks fail, which the agent has to survive and to tell.
"""
__version__ = "2.99.0+test"


class OutOfMemoryError(RuntimeError):
    pass


from . import _C, amp, autograd, backends, cuda, nn, optim, serialization, utils  # noqa: E402
from .serialization import save  # noqa: E402, F401


class Tensor:
    is_cuda = True

    def __init__(self, *shape):
        self.shape = shape

    def isfinite(self):
        return Tensor()

    def all(self):
        return Tensor()

    def backward(self):
        autograd.backward(self)


def isfinite(input):
    return Tensor()


def all(input):
    return Tensor()


def is_grad_enabled():
    return True


def get_default_dtype():
    return "torch.float32"


def take(size):
    """Allocate: CUDA starts at the first call, and a full device raises."""
    cuda._lazy_init()
    state = _C.state
    if state["current"] + size > state["total"]:
        state["ooms"] += 1
        for observer in _C.observers:
            observer(0, size, state["total"], state["total"] - state["current"])
        raise OutOfMemoryError("CUDA out of memory. Tried to allocate %d bytes." % size)
    state["current"] += size
    state["peak"] = max(state["peak"], state["current"])


def give(size):
    _C.state["current"] -= size
