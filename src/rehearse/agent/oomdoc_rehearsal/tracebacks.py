"""The agent's frames leave the tracebacks that the script prints, and those of Python's import with them, as it hides them itself."""
import functools
import os
import sys

from .importing import after_import
from .record import guarded

_FOLDER = os.path.dirname(os.path.abspath(__file__))
_HIDDEN = (_FOLDER, "<frozen importlib")


def _is_ours(frame):
    return frame.f_code.co_filename.startswith(_HIDDEN)


def _clean(trace):
    """The traceback without those frames; a failure wholly inside stays as it is."""
    first = trace
    while first is not None and _is_ours(first.tb_frame):
        first = first.tb_next
    last = first
    while last is not None and last.tb_next is not None:
        if _is_ours(last.tb_next.tb_frame):
            last.tb_next = last.tb_next.tb_next
        else:
            last = last.tb_next
    return first or trace


def _clean_all(error):
    """The same for an error and those that it was raised from."""
    seen = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        error.__traceback__ = _clean(error.__traceback__)
        error = error.__cause__ or error.__context__


def _uncaught():
    hook = sys.excepthook

    @functools.wraps(hook)
    def excepthook(kind, error, trace):
        with guarded("traceback"):
            _clean_all(error)
            trace = _clean(trace)
        return hook(kind, error, trace)

    sys.excepthook = excepthook


def _printed(module):
    """`traceback`, and with it `logging`: it walks frame by frame."""

    def filtered(walk):
        @functools.wraps(walk)
        def walked(*args, **kwargs):
            for entry in walk(*args, **kwargs):
                if not _is_ours(entry[0]):
                    yield entry

        return walked

    for name in ("walk_tb", "_walk_tb_with_full_positions"):
        walk = getattr(module, name, None)
        if walk is not None:
            setattr(module, name, filtered(walk))


def install():
    with guarded("tracebacks"):
        _uncaught()
    after_import("traceback", _printed)
