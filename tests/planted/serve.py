"""Runs programs one after another in forks of one process that has imported their libraries: seconds each, not half a minute.

    serve.py JOBS.json

Started by make.py under `oomdoc rehearse`, once for each interpreter. Every job is a program of its own: its own main module,
arguments, environment, folder, output. What the fork leaves behind in the output is nothing: the frames of this file are cut
off tracebacks, as they would not be there.
"""
import atexit
import ctypes
import json
import os
import resource
import signal
import sys
import time
import types


def preload(names):
    """Import what programs will import, without touching the device: a CUDA context does not survive a fork."""
    for name in names:
        try:
            __import__(name)
        except ImportError as error:
            print("not imported: %s (%s)" % (name, error), file=sys.stderr, flush=True)


def run_program(job, environment):
    """In a fresh fork: become `python SCRIPT ARGUMENTS`. Does not return."""
    os.environ.update(environment)
    os.chdir(job["cwd"])
    sys.argv = [job["script"], *job.get("argv", ())]
    sys.path.insert(0, job["cwd"])
    for name in ("stdout", "stderr"):
        stream = open(1 if name == "stdout" else 2, "w", buffering=1, closefd=False)
        setattr(sys, name, stream)
        setattr(sys, "__%s__" % name, stream)
    for what, limit in job.get("limits", {}).items():
        resource.setrlimit(getattr(resource, what), (limit, limit))
    path = os.path.join(job["cwd"], job["script"])
    main = types.ModuleType("__main__")
    main.__file__ = path
    sys.modules["__main__"] = main
    status = 0
    try:
        with open(path) as source:
            code = compile(source.read(), path, "exec")
        exec(code, main.__dict__)
    except SystemExit as error:
        status = error.code if isinstance(error.code, int) else 0 if error.code is None else 1
        if isinstance(error.code, str):
            print(error.code, file=sys.stderr)
    except BaseException as error:
        trace = error.__traceback__.tb_next
        sys.excepthook(type(error), error.with_traceback(trace), trace)
        status = 1
    try:
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        ctypes.CDLL(None)._exit(status)


def fork(job, environment, output):
    pid = os.fork()
    if pid:
        return pid
    try:
        os.setsid()
        os.dup2(output, 1)
        os.dup2(output, 2)
        if job.get("cgroup"):
            with open(os.path.join(job["cgroup"], "cgroup.procs"), "w") as procs:
                procs.write(str(os.getpid()))
        run_program(job, environment)
    finally:
        ctypes.CDLL(None)._exit(99)


def end(pids):
    for pid in pids:
        try:
            os.killpg(pid, signal.SIGKILL)
        except OSError:
            pass


def wait(pids, seconds, first):
    """Statuses by pid. `first`: the others get two seconds once one has failed, as a launcher would have it."""
    statuses, until = {}, time.time() + seconds
    while len(statuses) < len(pids) and time.time() < until:
        for pid in pids:
            if pid not in statuses:
                done, status = os.waitpid(pid, os.WNOHANG)
                if done:
                    statuses[pid] = os.waitstatus_to_exitcode(status)
                    if statuses[pid] and first:
                        until = min(until, time.time() + 2)
        time.sleep(0.02)
    missing = [pid for pid in pids if pid not in statuses]
    end(pids)
    for pid in missing:
        os.waitpid(pid, 0)
        statuses[pid] = "stopped"
    return [statuses[pid] for pid in pids]


def run(job, number):
    os.makedirs(job["report"], exist_ok=True)
    environment = {"OOMDOC_SIM_REPORT": job["report"], **job.get("env", {})}
    log = os.open(job["log"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND, 0o644)
    strangers = []
    for stranger in job.get("strangers", ()):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        strangers.append(fork({**stranger, "cwd": job["cwd"]}, environment, nowhere))
        os.close(nowhere)
    if strangers and job.get("head_start"):
        time.sleep(job["head_start"])
    world = job.get("world", 1)
    pids = []
    for rank in range(world):
        own = dict(environment)
        if world > 1 or job.get("distributed"):
            own.update(RANK=str(rank), LOCAL_RANK=str(rank), WORLD_SIZE=str(world), LOCAL_WORLD_SIZE=str(world),
                       MASTER_ADDR="127.0.0.1", MASTER_PORT=str(20000 + number % 20000))
        pids.append(fork(job, own, log))
    statuses = wait(pids, job.get("seconds", 90), world > 1)
    end(strangers)
    for pid in strangers:
        os.waitpid(pid, 0)
    os.close(log)
    return statuses


def main():
    with open(sys.argv[1]) as file:
        task = json.load(file)
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry or ".") != os.path.dirname(os.path.abspath(__file__))]
    preload(task["preload"])
    if "torch" in sys.modules and sys.modules["torch"].cuda.is_initialized():
        sys.exit("an import has touched the device")
    # One line of a job at a time, so that make.py can choose the next by what came of the last.
    print("ready", flush=True)
    pipe_in, pipe_out = task["pipes"]
    with open(pipe_in) as orders, open(pipe_out, "w") as answers:
        for number, line in enumerate(orders):
            statuses = run(json.loads(line), os.getpid() + number * 7)
            answers.write(json.dumps(statuses) + "\n")
            answers.flush()


if __name__ == "__main__":
    main()
