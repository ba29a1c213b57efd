"""What one process knows about its rehearsal, and the writing of its result file."""
from __future__ import annotations

import json
import os
import sys
import threading
import time

from . import settings

SCHEMA = "oomdoc.rehearsal-process/1"
MAX_FAILURES = 50  # a hook that fails at every call must not fill the file
MAX_TRAPS = 200
MAX_STACK = 40
MAX_STEP_ROWS = 2000
_FOLDER = os.path.dirname(os.path.abspath(__file__))


def _launched_world():
    """(rank, size) as launchers such as torchrun tell them to each process; None in a job of one."""
    rank, size = os.environ.get("RANK", ""), os.environ.get("WORLD_SIZE", "")
    return (int(rank), int(size)) if rank.isdigit() and size.isdigit() and int(size) > 1 else None


class Run:
    """The state of one process. Reset in a forked child, which is a process of its own."""

    def __init__(self):
        self.torch = None
        self.import_seconds = None
        self.is_first = False
        self.configure()

    def configure(self):
        """Take over what the settings ask for."""
        self.folder = settings.path("results")
        self.wanted_steps = int(settings.number("steps"))
        self.wants_snapshot = settings.text("snapshot") == "1"
        self.time_limit = settings.number("time")
        self.ahead = settings.number("ahead")  # seconds to go on after the steps asked for
        self.answers = settings.text("answers") != "none"
        self.world_size = int(settings.number("world"))  # 0: nothing to pretend
        self.rank = int(settings.number("rank"))
        self.started = time.time()
        self._reset()

    def _reset(self):
        self.pid = os.getpid()
        self.uses_cuda = False
        self.finished = False
        self.ended = None
        self.exit_code = None
        self.error = None
        self.oom = None
        self.stopped_at = None
        self.snapshot = None
        self.saved = False  # a checkpoint was written
        self.evaluated = False  # a pass without gradients lay after the first step
        self.complete_at = None  # when the steps asked for were done
        self.complete = None  # the peaks until then
        self.began_cuda = None
        self.traps = {}
        self.failures = {}
        self.settings = {}
        self.batch = None
        self.world = None  # (rank, size) once a process group exists
        self.parts = []  # functions that add their fields to the result

    def begin(self):
        """Called once when Python starts: is this the first Python of the command, and what to do after a fork."""
        self.is_first = self._leave_mark()
        os.register_at_fork(after_in_child=self._after_fork)

    def _leave_mark(self):
        """Note this process among the command's Pythons; True unless an ancestor did, or this one before it became another."""
        marks = settings.path("pythons")
        first, pid = True, self.pid
        with guarded("ancestors"):
            while first and pid > 1:
                first = not os.path.exists(os.path.join(marks, str(pid)))
                with open("/proc/%d/stat" % pid) as file:
                    pid = int(file.read().rpartition(")")[2].split()[1])
        with guarded("mark"):
            os.makedirs(marks, exist_ok=True)
            with open(os.path.join(marks, str(self.pid)), "w"):
                pass
        return first

    def _after_fork(self):
        parts = self.parts
        self._reset()
        self.parts = parts
        self.is_first = False
        self.started = time.time()
        for reset in _fork_resets:
            with guarded("after fork"):
                reset()

    def trap(self, kind, where, detail, count=1, memory="same"):
        """Note a place where the simulation may differ from the real run. Counted per kind and place.

        `memory` says which way the memory seen here errs: "lower" than the real run's, or the "same".
        """
        known = self.traps.get((kind, where))
        if known is not None:
            known["count"] += count
        elif len(self.traps) < MAX_TRAPS:
            self.traps[(kind, where)] = {"kind": kind, "where": where, "count": count, "detail": detail, "memory": memory}

    def fail(self, hook, error):
        """Note a hook of ours that failed."""
        text = "%s: %s: %s" % (hook, type(error).__name__, str(error)[:300])
        if text in self.failures or len(self.failures) < MAX_FAILURES:
            self.failures[text] = self.failures.get(text, 0) + 1

    def result(self):
        """The result as it stands now, in the form of the file."""
        fields = {
            "schema": SCHEMA,
            "python": "%d.%d.%d" % sys.version_info[:3],
            "pid": self.pid,
            "argv": [str(word) for word in getattr(sys, "argv", [])],
            "seconds": round(time.time() - self.started, 3),
            "import_seconds": self.import_seconds,
            "ended": self.ended,
            "exit_code": self.exit_code,
            "oom": self.oom,
            "error": self.error,
            "stopped_at": self.stopped_at,
            "batch": self.batch,
            "settings": self.settings,
            "snapshot": self.snapshot,
            "saved": self.saved or None,
            "evaluated": self.evaluated or None,
            "complete": self.complete,
            "used_from": self.began_cuda,
            "used_until": time.time() if self.began_cuda else None,
        }
        if self.torch is not None:
            fields["torch"] = str(getattr(self.torch, "__version__", ""))
        world = self.world or _launched_world()
        if world is not None:
            fields["rank"], fields["world_size"] = world
        for part in self.parts:
            with guarded("result." + part.__name__):
                fields.update(part())
        fields["traps"] = list(self.traps.values())
        fields["failures"] = ["%s (%d times)" % item if item[1] > 1 else item[0] for item in self.failures.items()]
        return {name: value for name, value in fields.items() if value is not None}

    def write(self):
        """Write the result file so that a reader sees the old one or the new one, never a part."""
        if not self.folder or self.pid != os.getpid() or not (self.uses_cuda or self.is_first):
            return
        path = os.path.join(self.folder, "process-%d.json" % self.pid)
        partial = "%s.%d.tmp" % (path, time.monotonic_ns())
        with open(partial, "w", encoding="utf-8", errors="backslashreplace") as file:
            json.dump(self.result(), file, default=str)
        os.replace(partial, path)


run = Run()
_fork_resets = []


def on_fork(reset):
    """Register what a module has to forget in a forked child."""
    _fork_resets.append(reset)


class guarded:
    """`with guarded("name"):` - an exception inside is noted as a failure and does not leave the block."""

    def __init__(self, name):
        self.name = name

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        if error is None or not isinstance(error, Exception):
            return False
        run.fail(self.name, error)
        return True


def _short(path):
    """A path as a reader knows it: from the package on for installed code, relative to the working folder for their own."""
    path = path.replace("\\", "/")
    for mark in ("/site-packages/", "/dist-packages/"):
        if mark in path:
            return path.rpartition(mark)[2]
    try:
        here = os.getcwd().replace("\\", "/").rstrip("/") + "/"
    except OSError:
        here = None
    if here and path.startswith(here):
        return path[len(here):]
    return path


def _torch_folder():
    where = getattr(run.torch, "__file__", None)
    return os.path.dirname(where) if where else None


def stack(frame=None):
    """The Python stack, innermost first, as "file:line function", without the agent's own frames."""
    rows = []
    if frame is None:
        frame = sys._getframe(1)
    while frame is not None and len(rows) < MAX_STACK:
        code = frame.f_code
        if not code.co_filename.startswith((_FOLDER, "<frozen")):
            rows.append("%s:%d %s" % (_short(code.co_filename), frame.f_lineno or 0, code.co_name))
        frame = frame.f_back
    return rows


def traceback_stack(trace):
    """The frames of a traceback, innermost first, in the same form."""
    rows = []
    while trace is not None:
        code = trace.tb_frame.f_code
        if not code.co_filename.startswith((_FOLDER, "<frozen")):
            rows.append("%s:%d %s" % (_short(code.co_filename), trace.tb_lineno or 0, code.co_name))
        trace = trace.tb_next
    rows.reverse()
    return rows[:MAX_STACK]


def place(frame=None):
    """The innermost frame that is neither ours nor torch's: the line that asked. "?" where there is none.

    A thread of the autograd engine has no Python frames of its own; there the main thread's line counts.
    """
    found = _place(sys._getframe(1) if frame is None else frame)
    if found is None:
        found = _place(sys._current_frames().get(threading.main_thread().ident))
    return found or "?"


def _place(frame):
    torch_folder = _torch_folder()
    while frame is not None:
        code = frame.f_code
        name = code.co_filename
        if not name.startswith((_FOLDER, "<frozen")) and not (torch_folder and name.startswith(torch_folder)):
            return "%s:%d %s" % (_short(name), frame.f_lineno or 0, code.co_name)
        frame = frame.f_back
    return None
