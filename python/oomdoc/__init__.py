"""A doctor for out-of-memory failures of machine-learning jobs.

    oomdoc.explain(log)            what ran out, where every byte was, why, what to change
    oomdoc.install()               the same under the traceback of a program that dies of it
    %load_ext oomdoc               the same in IPython and Jupyter
    oomdoc.Recorder                peaks of each phase of a training loop; oomdoc.callbacks for Trainer and Lightning

Nothing here imports PyTorch or any other package: where PyTorch has been imported, it is asked.
"""

from __future__ import annotations

import contextlib
import html
import json
import os
import shutil
import sys
import threading
import traceback
from typing import Any

from ._binary import ask
from .recorder import Recorder, active

__all__ = ["Explanation", "Recorder", "explain", "install", "uninstall"]


class Explanation:
    """What `oomdoc explain` says of a text."""

    def __init__(self, source: list[str], text: str | None, lang: str | None) -> None:
        self._source = source
        self._text = text
        self._language = ["--lang", lang] if lang else []
        #: Where its text is read; the last line says how everything behind it is had there.
        self.asked = "module"
        done = self._ask(["--json"])
        if done.returncode not in (0, 1):
            raise ValueError(done.stderr.strip() or f"oomdoc ended with {done.returncode}")
        #: The document of docs/explain.schema.json.
        self.data: dict[str, Any] = json.loads(done.stdout)

    def _ask(self, more: list[str], asked: str | None = None):
        return ask(["explain", *self._source, *self._language, *more], self._text, asked or self.asked)

    @property
    def found(self) -> bool:
        """Whether there is an out-of-memory failure in it."""
        return bool(self.data.get("incidents"))

    def __bool__(self) -> bool:
        return self.found

    @property
    def primary(self) -> dict[str, Any] | None:
        """The incident that the job died of."""
        incidents = self.data.get("incidents") or []
        return next((one for one in incidents if one.get("primary")), incidents[0] if incidents else None)

    @property
    def cause(self) -> str | None:
        """The id of the likeliest cause; `conclusion` in `primary` says how sure that is."""
        causes = (self.primary or {}).get("causes") or []
        return causes[0]["id"] if causes else None

    def text(self, *, width: int | None = None, color: bool = False, verbose: bool = False) -> str:
        """The report for people."""
        columns = width or min(max(shutil.get_terminal_size((80, 24)).columns, 40), 120)
        more = ["--width", str(columns), "--color", "always" if color else "never"]
        return self._ask(more + (["--verbose"] if verbose else [])).stdout

    def _on_a_page(self, *more: str) -> str:
        report = self._ask(["--width", "100", "--color", "never", *more], "page").stdout
        return f"<pre>{html.escape(report)}</pre>"

    def markdown(self) -> str:
        """To paste into an issue: users, machines and folders are left out."""
        return self._ask(["--format", "markdown"]).stdout

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        return f"<oomdoc.Explanation: {self.cause or 'no out-of-memory failure'}>"

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(repr(self) if cycle else self.text())

    def _repr_html_(self) -> str:
        incident = self.primary
        if incident is None:
            return self._on_a_page()
        parts = [self._on_a_page()]
        rows = []
        for fix in incident.get("fixes") or []:
            lines = (fix.get("how") or [{}])[0].get("do") or ""
            title = html.escape(fix["title"])
            rows.append(
                f"<tr><td style='text-align:left'>{title}</td>"
                f"<td style='text-align:left'><code style='white-space:pre-wrap'>{html.escape(lines)}</code></td></tr>"
            )
        if rows:
            parts.append("<table>" + "".join(rows) + "</table>")
        parts.append(f"<details><summary>-v, --verbose</summary>{self._on_a_page('--verbose')}</details>")
        return "\n".join(parts)


def _traceback(error: BaseException) -> str:
    return "".join(traceback.format_exception(type(error), error, error.__traceback__))


def explain(what: str | os.PathLike[str] | BaseException, *, lang: str | None = None) -> Explanation:
    """Explains an exception, the text of a log, or the file of a path.

    A `str` is always text, a file needs a `pathlib.Path`: a log of one line could be the name of a file.
    """
    if isinstance(what, BaseException):
        return Explanation(["-"], _traceback(what), lang)
    if isinstance(what, os.PathLike):
        return Explanation([os.fspath(what)], None, lang)
    return Explanation(["-"], what, lang)


# What an exception of memory is at least; whether it is one, the program decides.
_NEVER = (KeyboardInterrupt, SystemExit, GeneratorExit)

# The mark of an exception that was explained. Kept on it: an id belongs to the next one as soon as it is gone.
_SAID = "_oomdoc_said"

_lock = threading.Lock()
_before: Any = None
_verbose = False


def diagnosis(error: BaseException | None) -> Explanation | None:
    """The explanation of an exception, once; `None` where it is not of memory or was explained before."""
    if error is None or isinstance(error, _NEVER):
        return None
    with _lock:
        if getattr(error, _SAID, False):
            return None
        # One without room for it is explained as often as it comes.
        with contextlib.suppress(AttributeError):
            setattr(error, _SAID, True)
    try:
        found = explain(error)
    except (OSError, ValueError):
        # A diagnosis that fails must not hide the failure.
        return None
    for recorder in active():
        recorder.failed(error, _traceback(error))
    return found if found else None


def _hook(kind: type[BaseException], error: BaseException, where: Any) -> None:
    _before(kind, error, where)
    found = diagnosis(error)
    if found:
        color = sys.stderr is not None and sys.stderr.isatty()
        found.asked = "traceback"
        print("\n" + found.text(color=color, verbose=_verbose), file=sys.stderr)
        for recorder in active():
            print(recorder.table(), file=sys.stderr)


def install(*, verbose: bool = False) -> None:
    """From now on a program that dies for want of memory prints the diagnosis under its traceback. Twice is once.

    `verbose` prints everything behind it, too.
    """
    global _before, _verbose
    _verbose = verbose
    if sys.excepthook is not _hook:
        _before = sys.excepthook
        sys.excepthook = _hook


def uninstall() -> None:
    """Undoes `install`, unless somebody else has put a hook of their own above it."""
    if sys.excepthook is _hook:
        sys.excepthook = _before


def load_ipython_extension(shell: Any) -> None:
    from .notebook import load

    load(shell)


def unload_ipython_extension(shell: Any) -> None:
    from .notebook import unload

    unload(shell)
