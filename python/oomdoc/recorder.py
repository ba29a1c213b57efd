"""The peaks of each phase of a training loop, and a record that `oomdoc explain` reads like one of `oomdoc run`."""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import socket
import sys
import time
import traceback
import weakref
from dataclasses import dataclass
from typing import Any, Iterator

SCHEMA = "oomdoc.record/1"

_active: "weakref.WeakSet[Recorder]" = weakref.WeakSet()


def active() -> "list[Recorder]":
    """Recorders that are not closed."""
    return list(_active)


@dataclass
class Peak:
    """The most that a phase ever took. Bytes; `None` where nobody can tell."""

    phase: str
    #: Of the tensors, by PyTorch's allocator.
    allocated: int | None = None
    #: Of the segments that it holds.
    reserved: int | None = None
    #: Resident memory of this process.
    host: int | None = None
    #: The step with the peak.
    step: int | None = None
    times: int = 0


def _host_bytes() -> int | None:
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError, AttributeError):
        return None


def _size(count: int | None) -> str:
    if count is None:
        return "-"
    amount, unit = float(count), "B"
    for larger in ("KiB", "MiB", "GiB", "TiB"):
        if amount < 1024:
            break
        amount, unit = amount / 1024, larger
    return f"{amount:.0f} B" if unit == "B" else f"{amount:.2f} {unit}"


class Recorder:
    """Keeps the peak of each phase; with a path it also writes a record, a line for each phase.

        with oomdoc.Recorder("train.record") as memory:
            for step, batch in enumerate(loader):
                memory.step(step)
                with memory.phase("forward"):
                    loss = model(batch).loss
                with memory.phase("backward"):
                    loss.backward()

    It resets PyTorch's own peak counters (`torch.cuda.reset_peak_memory_stats`) at the beginning of each phase.
    """

    def __init__(self, path: str | os.PathLike[str] | None = None, *, device: int | None = None) -> None:
        self.peaks: dict[str, Peak] = {}
        self._device = device
        self._began = time.time()
        self._step: int | None = None
        self._phase: str | None = None
        self._closed = False
        self._file = None
        if path is not None:
            rank = os.environ.get("RANK", "0")
            name = os.fspath(path).replace("{rank}", rank).replace("{pid}", str(os.getpid()))
            # A line is written at once: what the job did last is what counts.
            self._file = open(name.replace("{host}", socket.gethostname()), "w", encoding="utf-8", buffering=1)
            self._write(self._header())
        _active.add(self)
        atexit.register(self.close)

    # -- what PyTorch says

    def _cuda(self) -> Any:
        torch = sys.modules.get("torch")
        try:
            # Asking must not create a context in a process that has none.
            return torch.cuda if torch is not None and torch.cuda.is_available() and torch.cuda.is_initialized() else None
        except Exception:
            return None

    def _index(self, cuda: Any) -> int:
        return cuda.current_device() if self._device is None else self._device

    def _header(self) -> dict[str, Any]:
        header: dict[str, Any] = {
            "schema": SCHEMA,
            "version": "python",
            "began": self._began,
            "pid": os.getpid(),
            "command": list(getattr(sys, "orig_argv", sys.argv)),
            "host": socket.gethostname(),
            "devices": [],
        }
        if os.environ.get("RANK", "").isdigit():
            header["rank"] = int(os.environ["RANK"])
        with contextlib.suppress(OSError, ValueError, AttributeError):
            header["ram"] = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        cuda = self._cuda()
        if cuda is not None:
            header["devices"] = [[self._index(cuda), cuda.mem_get_info(self._index(cuda))[1]]]
        return header

    def _write(self, line: dict[str, Any]) -> None:
        if self._file is None:
            return
        try:
            self._file.write(json.dumps(line, ensure_ascii=False) + "\n")
        except (OSError, ValueError):
            # A full disk is no reason to stop the job.
            self._file = None

    # -- what the loop says

    def step(self, number: int) -> None:
        """The step that begins."""
        self._step = number

    def begin(self, phase: str) -> None:
        """A phase begins; the one before it ends."""
        self.end()
        self._phase = phase
        cuda = self._cuda()
        if cuda is not None:
            cuda.reset_peak_memory_stats(self._index(cuda))

    def end(self) -> None:
        """The phase ends. Without one, nothing happens."""
        phase, self._phase = self._phase, None
        if phase is None:
            return
        peak = self.peaks.setdefault(phase, Peak(phase))
        peak.times += 1
        sample: dict[str, Any] = {"t": round(time.time() - self._began, 3), "phase": phase}
        host = _host_bytes()
        if host is not None:
            sample["j"] = host
            peak.host = max(peak.host or 0, host)
        if self._step is not None:
            sample["n"] = float(self._step)
        cuda = self._cuda()
        if cuda is not None:
            index = self._index(cuda)
            allocated, reserved = cuda.max_memory_allocated(index), cuda.max_memory_reserved(index)
            free, total = cuda.mem_get_info(index)
            sample["g"] = [{"i": index, "u": total - free, "o": cuda.memory_reserved(index)}]
            sample["peak"] = {"allocated": allocated, "reserved": reserved}
            if peak.allocated is None or allocated > peak.allocated:
                peak.allocated, peak.step = allocated, self._step
            peak.reserved = max(peak.reserved or 0, reserved)
        self._write(sample)

    @contextlib.contextmanager
    def phase(self, name: str) -> Iterator[None]:
        self.begin(name)
        try:
            yield
        finally:
            self.end()

    def failed(self, error: BaseException, text: str | None = None) -> None:
        """The job ends with this exception: the record gets its traceback."""
        if self._closed:
            return
        self.end()
        if text is None:
            text = "".join(traceback.format_exception(type(error), error, error.__traceback__))
        at = round(time.time() - self._began, 3)
        self._write({"t": at, "o": text})
        self.close(code=1)

    def close(self, code: int = 0) -> None:
        """Ends the record."""
        if self._closed:
            return
        self.end()
        self._closed = True
        self._write({"t": round(time.time() - self._began, 3), "end": {"code": code}})
        if self._file is not None:
            self._file.close()
        atexit.unregister(self.close)

    def __enter__(self) -> "Recorder":
        return self

    def __exit__(self, kind: Any, error: BaseException | None, where: Any) -> None:
        if error is not None:
            self.failed(error)
        self.close()
        _active.discard(self)

    def table(self) -> str:
        """Peaks by phase, the largest first."""
        head = ("phase", "allocated", "reserved", "host", "step", "times")
        order = sorted(self.peaks.values(), key=lambda peak: (peak.allocated or 0, peak.host or 0), reverse=True)
        rows = [
            (
                peak.phase,
                _size(peak.allocated),
                _size(peak.reserved),
                _size(peak.host),
                "-" if peak.step is None else str(peak.step),
                str(peak.times),
            )
            for peak in order
        ]
        widths = [max(len(row[i]) for row in [head, *rows]) for i in range(len(head))]
        lines = []
        for row in [head, *rows]:
            cells = [row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:]))]
            lines.append("  ".join(cells).rstrip())
        return "\n".join(lines)
