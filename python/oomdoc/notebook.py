"""IPython and Jupyter: `%load_ext oomdoc`."""

from __future__ import annotations

import sys
from typing import Any

from . import diagnosis, explain
from .recorder import Recorder


def _show(found: Any) -> None:
    from IPython.display import display

    display(found)


def _on_error(shell: Any, kind: type[BaseException], error: BaseException, where: Any, tb_offset: int | None = None):
    shell.showtraceback((kind, error, where), tb_offset=tb_offset)
    found = diagnosis(error)
    if found:
        found.asked = "notebook"
        _show(found)
        # The frames of a traceback keep every tensor alive that they name.
        print("After this: %oomdoc free  drops what the traceback keeps alive.")


def _line(line: str) -> Any:
    """`%oomdoc` explains the last exception again, `%oomdoc FILE` a file, `%oomdoc free` lets go of its tensors.

    With `-v` in front: everything behind the answer.
    """
    from pathlib import Path

    first, _, rest = line.strip().partition(" ")
    asked = rest.strip() if first == "-v" else line.strip()
    if asked == "free":
        return _free()
    error = getattr(sys, "last_value", None)
    if not asked and error is None:
        print("No exception so far.")
        return None
    found = explain(Path(asked) if asked else error)
    found.asked = "notebook"
    if first != "-v":
        return found
    print(found.text(verbose=True))
    return None


def _free() -> None:
    error = getattr(sys, "last_value", None)
    while error is not None:
        error.__traceback__ = None
        error = error.__context__
    for name in ("last_value", "last_traceback", "last_exc", "last_type"):
        if hasattr(sys, name):
            delattr(sys, name)
    import gc

    gc.collect()
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_available():
        torch.cuda.empty_cache()


def _cell(line: str, cell: str) -> None:
    """`%%oomdoc [RECORD]` runs a cell and prints its peak of memory; a record of it is written where one is named."""
    from IPython import get_ipython

    with Recorder(line.strip() or None) as recorder:
        with recorder.phase("cell"):
            done = get_ipython().run_cell(cell)
        if done.error_in_exec is not None:
            recorder.failed(done.error_in_exec)
    print(recorder.table())


def load(shell: Any) -> None:
    shell.set_custom_exc((Exception,), _on_error)
    shell.register_magic_function(_line, "line", "oomdoc")
    shell.register_magic_function(_cell, "cell", "oomdoc")


def unload(shell: Any) -> None:
    shell.set_custom_exc((), None)
