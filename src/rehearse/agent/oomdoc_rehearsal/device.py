"""The stand-ins for NVIDIA's libraries.

Where NVIDIA's own packages are installed, torch finds them beside itself before it looks at LD_LIBRARY_PATH. A library that
is loaded already is taken without a search, so the stand-ins are loaded here, by their paths, before torch is imported.
"""
import os

from .record import guarded


def load():
    folder = os.environ.get("OOMDOC_SIM_LIBRARIES")
    if not folder:
        return
    import ctypes

    with guarded("stand-in libraries"):
        for name in sorted(os.listdir(folder)):
            path = os.path.join(folder, name)
            if ".so" in name and not os.path.islink(path):
                with guarded("stand-in library " + name):
                    ctypes.CDLL(path, mode=ctypes.RTLD_GLOBAL)
