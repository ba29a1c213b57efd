"""Checkpoints: their values are those of a device that computes nothing.

In a private view they are written, as files with holes, so that the script finds what it saved and no disk fills up with
zeros. Where the user's own files are written (`--allow-writes`), they are not: a file in place of a good checkpoint, or one
that the next real run picks up to resume from. Data that a script prepares on the host before it trains is written.
"""
import functools
import json
import os
import sys

from . import memory, record, redirect, settings
from .record import guarded, run

_PRIVATE = settings.text("view", "off") != "off"
_HOLE = 1 << 16
_ZEROS = bytes(_HOLE)
# safetensors' names of torch's types
_TYPES = {
    "float64": "F64", "float32": "F32", "float16": "F16", "bfloat16": "BF16", "int64": "I64", "int32": "I32", "int16": "I16",
    "int8": "I8", "uint8": "U8", "bool": "BOOL", "float8_e4m3fn": "F8_E4M3", "float8_e5m2": "F8_E5M2",
}


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
    run.saved = True
    if not _PRIVATE:
        run.trap("checkpoint", record.place(), "not written: %s" % (path,))


class _Sparse:
    """A file for writing in which zeros are holes."""

    def __init__(self, file):
        self._file = file

    def write(self, data):
        data = memoryview(data).cast("B")
        for start in range(0, len(data), _HOLE):
            part = data[start:start + _HOLE]
            if len(part) == _HOLE and part == _ZEROS:
                self._file.seek(_HOLE, 1)
            else:
                self._file.write(part)
        return len(data)

    def flush(self):
        self._file.flush()

    def tell(self):
        return self._file.tell()

    def seek(self, *args):
        return self._file.seek(*args)


def hook_torch(module):
    """torch.save to a path."""
    save = module.save

    @functools.wraps(save)
    def guarded_save(obj, f, *args, **kwargs):
        if not isinstance(f, (str, os.PathLike)):
            with guarded("checkpoint"):
                run.saved = run.saved or _is_result(obj)
            return save(obj, f, *args, **kwargs)
        if not _is_result(obj):
            return save(obj, redirect.for_writing(f), *args, **kwargs)
        _told(f)
        with open(f if _PRIVATE else os.devnull, "wb") as file:
            if not _PRIVATE:
                return save(obj, file, *args, **kwargs)
            result = save(obj, _Sparse(file), *args, **kwargs)
            file.truncate(file.tell())
            return result

    module.save = guarded_save
    torch = run.torch or sys.modules.get("torch")
    if torch is not None and getattr(torch, "save", None) is save:
        torch.save = guarded_save


def hook_jit(module):
    """TorchScript's save writes from C++."""
    save = module.save

    @functools.wraps(save)
    def redirected(m, f, *args, **kwargs):
        if isinstance(f, (str, os.PathLike)):
            f = redirect.for_writing(f)
        return save(m, f, *args, **kwargs)

    module.save = redirected


def hook_safetensors(module):
    """safetensors' save_file; save_model goes through it."""
    save_file = module.save_file

    @functools.wraps(save_file)
    def guarded_save_file(tensors, filename, metadata=None):
        if not _is_result(tensors):
            return save_file(tensors, redirect.for_writing(filename), metadata)
        _told(filename)
        if _PRIVATE:
            _write_safetensors(tensors, filename, metadata)
        return None

    module.save_file = guarded_save_file


def _write_safetensors(tensors, filename, metadata):
    """The header that belongs to the tensors, and a hole in place of their values."""
    header, end = ({"__metadata__": metadata} if metadata else {}), 0
    for name, tensor in tensors.items():
        size = tensor.numel() * tensor.element_size()
        kind = str(tensor.dtype).replace("torch.", "")
        header[name] = {"dtype": _TYPES.get(kind, "U8"), "shape": list(tensor.shape), "data_offsets": [end, end + size]}
        end += size
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(filename, "wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        file.truncate(8 + len(text) + end)
