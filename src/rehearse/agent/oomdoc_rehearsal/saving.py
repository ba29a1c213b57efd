"""Checkpoints are not written.

Their values would be those of a device that computes nothing: a file in place of a good checkpoint, or one that the next real
run picks up to resume from. What is saved is copied to the host as always, and goes nowhere. Data that a script prepares on
the host before it trains is written.
"""
import functools
import os
import sys

from . import memory, record
from .record import guarded, run


def _holds_device_memory(value, depth=0):
    """Whether a tensor of the simulated GPU lies somewhere in a nest of containers."""
    if getattr(value, "is_cuda", False):
        return True
    if depth > 5:
        return False
    if hasattr(value, "state_dict") and not isinstance(value, type):
        value = value.state_dict()
    if isinstance(value, dict):
        value = value.values()
    elif not isinstance(value, (list, tuple)):
        return False
    return any(_holds_device_memory(part, depth + 1) for part in value)


def _is_result(value):
    """Whether this may hold results of the simulated run: from the device, or anything once training has begun."""
    with guarded("checkpoint"):
        return run.uses_cuda and (memory.position.phase != "setup" or _holds_device_memory(value))
    return False


def _told(path):
    run.trap("checkpoint", record.place(), "not written: %s" % (path,))


def hook_torch(module):
    """torch.save to a path."""
    save = module.save

    @functools.wraps(save)
    def guarded_save(obj, f, *args, **kwargs):
        if not isinstance(f, (str, os.PathLike)) or not _is_result(obj):
            return save(obj, f, *args, **kwargs)
        _told(f)
        with open(os.devnull, "wb") as nowhere:
            return save(obj, nowhere, *args, **kwargs)

    module.save = guarded_save
    torch = run.torch or sys.modules.get("torch")
    if torch is not None and getattr(torch, "save", None) is save:
        torch.save = guarded_save


def hook_safetensors(module):
    """safetensors' save_file; save_model goes through it."""
    save_file = module.save_file

    @functools.wraps(save_file)
    def guarded_save_file(tensors, filename, *args, **kwargs):
        if not _is_result(tensors):
            return save_file(tensors, filename, *args, **kwargs)
        _told(filename)
        return None

    module.save_file = guarded_save_file
