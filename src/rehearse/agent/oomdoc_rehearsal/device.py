"""The stand-ins for NVIDIA's libraries, and the numbers by which a script chooses its GPUs.

Where NVIDIA's own packages are installed, torch finds them beside itself before it looks at LD_LIBRARY_PATH. A library that
is loaded already is taken without a search, so the stand-ins are loaded here, by their paths, before torch is imported.
"""
import functools
import os

from . import settings
from .record import guarded, run


def load():
    folder = settings.path("lib")
    if not os.path.isdir(folder):
        return
    import ctypes

    with guarded("stand-in libraries"):
        for name in sorted(os.listdir(folder)):
            path = os.path.join(folder, name)
            if ".so" in name and not os.path.islink(path):
                with guarded("stand-in library " + name):
                    ctypes.CDLL(path, mode=ctypes.RTLD_GLOBAL)


def settle_visible():
    """Renumber CUDA_VISIBLE_DEVICES: a script that chooses the fourth GPU of its machine gets the first one simulated.

    An empty list, or one that begins with -1, hides all GPUs and stays as it is.
    """
    chosen = os.environ.get("CUDA_VISIBLE_DEVICES")
    there = settings.text("devices")
    if not chosen or not there.isdigit() or chosen.strip().startswith("-"):
        return
    entries = [entry.strip() for entry in chosen.split(",") if entry.strip()]
    if all(entry.isdigit() and int(entry) < int(there) for entry in entries):
        return
    run.settings["visible_devices"] = chosen
    os.environ["CUDA_VISIBLE_DEVICES"] = ",".join(str(index) for index in range(min(len(entries), int(there))))


def install(torch):
    """Renumber again where torch is about to read the variable: a script may set it after the import."""

    def settled(original):
        @functools.wraps(original)
        def function(*args, **kwargs):
            with guarded("CUDA_VISIBLE_DEVICES"):
                settle_visible()
            return original(*args, **kwargs)

        return function

    for owner, name in ((torch._C, "_cuda_getDeviceCount"), (torch._C, "_cuda_init"), (torch.cuda, "_parse_visible_devices")):
        original = getattr(owner, name, None)
        if original is not None:
            setattr(owner, name, settled(original))
    with guarded("cuDNN version"):  # torch refuses another version than its own; the stand-in is all of them
        torch._C._cudnn.getRuntimeVersion = torch._C._cudnn.getCompileVersion
