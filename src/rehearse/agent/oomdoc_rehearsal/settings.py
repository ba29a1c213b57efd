"""What the launcher asks for: the file that it left beside the agent. Nothing of it shows in the environment.

The folder is that of this rehearsal; a process that a warm parent forked belongs to another one (see `warm`).
"""
import os

folder = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
_values = {}


def load(of=None):
    """Read the settings of a rehearsal's folder."""
    global folder
    folder = of or folder
    _values.clear()
    try:
        with open(os.path.join(folder, "settings"), encoding="utf-8", errors="surrogateescape") as file:
            _values.update(line.rstrip("\n").split("=", 1) for line in file if "=" in line)
    except OSError:
        pass


def known():
    """Whether this process belongs to a rehearsal."""
    return bool(_values)


def text(name, default=""):
    return _values.get(name, default)


def number(name, default=0.0):
    """The number that a setting holds; the default where it is absent or no number."""
    try:
        return float(_values.get(name, ""))
    except ValueError:
        return default


def path(name):
    """A place in the rehearsal's folder."""
    return os.path.join(folder, name)


load()
