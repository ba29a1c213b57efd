"""The ends of a process: enough steps, time over, the script's own exit, an error."""
import atexit
import os
import sys
import threading
import time

from . import record, settings
from .record import guarded, run

_exit = os._exit
_lock = threading.RLock()  # who comes second waits until the result is written, and may then leave
_before = []  # functions to call before the last writing of the result


def before_end(function):
    """Register what has to happen before the result is written for the last time (the snapshot, the last phase)."""
    _before.append(function)


def finish(ended, exit_code=None):
    """Complete and write the result, once per process; later calls do nothing."""
    with _lock:
        if run.finished or run.pid != os.getpid():
            return
        run.finished = True
        if run.uses_cuda or run.is_first:
            _complete_result(ended, exit_code)


def _complete_result(ended, exit_code):
    with guarded("end"):
        run.ended = ended
        if exit_code is not None:
            run.exit_code = exit_code
        for function in _before:
            with guarded("end." + function.__name__):
                function()
            with guarded("writing of the result"):  # the next may take longer than the process has left
                run.write()
    with guarded("writing of the result"):
        run.write()


def look_ahead():
    """The steps asked for are done. True when the time is over in which the program may go on to what comes later."""
    if run.complete_at is None:
        run.complete_at = time.time()
        for function in _complete:
            with guarded("complete." + function.__name__):
                function()
        deadline = run.complete_at + run.ahead
        threading.Thread(target=_watch, args=(deadline, os.getpid(), "steps"), name="oomdoc-ahead", daemon=True).start()
    return time.time() - run.complete_at >= run.ahead


_complete = []  # functions to call when the steps asked for are done and the program goes on


def when_complete(function):
    """Register what belongs to the steps asked for alone."""
    _complete.append(function)


def stop(ended):
    """Finish and leave at once. The script needs no change: daemon workers end with their parent, exit code 0."""
    finish(ended, 0)
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except Exception:
            pass
    _end_children()
    _exit(0)


def _end_children():
    """End the workers that `multiprocessing` started: os._exit skips the handler that would do it."""
    process = sys.modules.get("multiprocessing.process")
    if process is None:
        return
    try:
        for child in list(getattr(process, "_children", ())):
            if getattr(child, "daemon", False):
                child.terminate()
    except Exception:
        pass


def _uncaught():
    """The exception that ends the process, if one does; the interpreter leaves it in `sys.last_value`."""
    return getattr(sys, "last_exc", None) or getattr(sys, "last_value", None)


def is_out_of_memory(error):
    """True if the error, or one it was raised from, is the allocator's out-of-memory error."""
    seen = 0
    while error is not None and seen < 20:
        if any(kind.__name__ in ("OutOfMemoryError", "_OutOfMemoryError") for kind in type(error).__mro__):
            return True
        error, seen = error.__cause__ or error.__context__, seen + 1
    return False


def _at_exit():
    error = _uncaught()
    if error is None:
        finish("exit")
        return
    with guarded("error at exit"):
        if is_out_of_memory(error):
            if run.oom is None:
                run.oom = {"message": str(error)}
            run.oom["caught"] = False
            run.oom.setdefault("stack", record.traceback_stack(error.__traceback__))
            finish("oom", 1)
        else:
            run.error = {
                "type": type(error).__name__,
                "message": str(error)[:20000],
                "stack": record.traceback_stack(error.__traceback__),
            }
            finish("error", 1)


def _script_exits(code=0):
    """In place of `os._exit`: a script, or the end of a forked child, that leaves without `atexit`."""
    try:
        finish("exit", code)
    finally:
        _exit(code)


def _watch(deadline, pid, ended="time"):
    main = threading.main_thread().ident
    while True:
        left = deadline - time.time()
        if run.finished or os.getpid() != pid:
            return
        if left <= 0:
            break
        owner = settings.text("owner")
        if owner and not os.path.exists("/proc/" + owner):
            _exit(1)  # the rehearsal was killed: nobody waits for a result
        time.sleep(min(left, 0.5))
    if ended == "time" and run.complete_at is not None:
        ended = "steps"
    with guarded("time"):
        frame = sys._current_frames().get(main)
        if frame is not None:
            run.stopped_at = {"stack": record.stack(frame)}
    stop(ended)


def watch_time(_torch=None):
    """Start the thread that stops the run when its time is over. A forked child starts its own when it uses CUDA."""
    if run.time_limit > 0:
        deadline = run.started + run.time_limit
        threading.Thread(target=_watch, args=(deadline, os.getpid()), name="oomdoc-time", daemon=True).start()


def _new_lock():
    global _lock
    _lock = threading.RLock()


def install():
    record.on_fork(_new_lock)
    # Registered first, so it runs last: what the script itself registers is still seen.
    atexit.register(_at_exit)
    os._exit = _script_exits
