"""One import for many runs: a process that has imported what the first run imported, and forks a child for each further one.

The launcher starts the command once more with the setting `warm`. Python is in the middle of its start then, in
`sitecustomize`: the script has not begun. The process imports the modules of the list that the first run left, while an
audit hook refuses every write, child and connection, and waits. A child goes on from there as if it had been started by
itself: with its own arguments, environment, settings and standard streams, in the view that another process holds open.
"""
import errno
import importlib
import json
import os
import signal
import sys

from . import settings
from .record import guarded, run

LIST = "modules.json"
_PACKAGES = ("/site-packages/", "/dist-packages/")
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC
_OF_TWO = ("os.rename",)
_OF_PATHS = ("os.remove", "os.rmdir", "os.mkdir") + _OF_TWO
_REFUSED = _OF_PATHS + tuple((
    "os.truncate os.chmod os.chown os.link os.symlink os.system os.exec os.posix_spawn os.fork subprocess.Popen"
    " socket.connect socket.bind"
).split())
_TEMPORARY = "tmp"
_importing = False
_before = dict(os.environ)


def note_environment():
    """What the script set before it imported torch: read by libraries when they are imported."""
    now = dict(os.environ)
    _changed.update({name: now.get(name) for name in set(now) | set(_before) if now.get(name) != _before.get(name)})


_changed = {}


def leave_list():
    """At the end of the first process of a run: what a warm process is to import. Nothing of the script's own."""
    base = os.path.dirname(os.__file__) + "/"
    names = []
    for name, module in list(sys.modules.items()):
        origin = str(getattr(getattr(module, "__spec__", None), "origin", None) or "")
        own = name.partition(".")[0] in ("__main__", "oomdoc_rehearsal", "sitecustomize")
        if not own and (origin.startswith(base) or any(mark in origin for mark in _PACKAGES)):
            names.append(name)
    path = os.path.join(run.folder, LIST)
    with open(path + ".tmp", "w") as file:
        json.dump({"modules": names, "environment": _changed}, file)
    os.replace(path + ".tmp", path)


def _refuse(event, args):
    """The audit hook: while modules are imported ahead, nothing is started or asked for, and nothing written but here."""
    if not _importing:
        return
    if event == "open":
        if not isinstance(args[2], int) or not args[2] & _WRITES or str(args[0]).startswith("/dev/"):
            return
    elif event not in _REFUSED:
        return
    named = args[:1 + (event in _OF_TWO)] if event == "open" or event in _OF_PATHS else ()
    if named and all(_is_ours(path) for path in named):
        return
    raise PermissionError(errno.EPERM, "not while modules are imported ahead")


def _is_ours(path):
    """Whether a path lies in the folder that libraries get for temporary files here: some try it when they are imported."""
    if not isinstance(path, (str, bytes, os.PathLike)):
        return False
    return os.path.realpath(os.fsdecode(path)).startswith(settings.path(_TEMPORARY) + "/")


def _import_all(path):
    global _importing
    with open(path) as file:
        wanted = json.load(file)
    sys.addaudithook(_refuse)
    no_bytecode, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    environment, _importing = dict(os.environ), True
    try:
        for name, value in wanted["environment"].items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
        os.environ["TMPDIR"] = settings.path(_TEMPORARY)
        for name in wanted["modules"]:
            if name not in sys.modules:
                try:
                    importlib.import_module(name)
                except BaseException:
                    # A package of which a part was imported can't be imported again; a part alone, the script imports.
                    if name.partition(".")[0] not in sys.modules:
                        return False
        return True
    finally:
        _importing = False
        sys.dont_write_bytecode = no_bytecode
        _set_environment(environment)
        if "tempfile" in sys.modules:
            sys.modules["tempfile"].tempdir = None  # each child chooses its own


def _set_environment(wanted):
    for name in [name for name in os.environ if name not in wanted]:
        del os.environ[name]
    for name, value in wanted.items():
        if os.environ.get(name) != value:
            os.environ[name] = value


def serve():
    """Import, then fork a child for each request. Returns in the children alone."""
    import ctypes
    import select
    import threading

    from . import ending

    run.time_limit = 0  # a thread would be lost to the children
    replies = os.dup(1)
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 1)

    def tell(*words):
        os.write(replies, (" ".join(str(word) for word in words) + "\n").encode())

    whole = _import_all(settings.text("warm"))
    torch = run.torch
    fit = whole and torch is not None and not torch.cuda.is_initialized() and threading.active_count() == 1
    tell("ready" if fit else "unfit")
    library = ctypes.CDLL(None, use_errno=True)
    children, pending = set(), b""
    while fit:
        for child in list(children):
            pid, status = os.waitpid(child, os.WNOHANG)
            if pid:
                children.discard(pid)
                tell("ended", pid, status)
        if not select.select([0], [], [], 0.01 if children else 1)[0]:
            continue
        read = os.read(0, 1 << 16)
        if not read:
            break
        pending += read
        while b"\n" in pending:
            line, _, pending = pending.partition(b"\n")
            request = json.loads(line)
            child = os.fork()
            if child == 0:
                os.close(replies)
                os.close(nothing)
                try:
                    _become(request, library)
                except BaseException as error:
                    os.write(2, ("the child could not begin: %r\n" % (error,)).encode())
                    ending._exit(request["broken"])
                return
            with guarded("process group"):
                os.setpgid(child, child)
            children.add(child)
            tell("started", request["folder"], child)
    ending._exit(0)


def _become(request, library):
    """In the child: be the process that the request describes."""
    from . import chance, ending, values, world

    library.prctl(1, signal.SIGKILL, 0, 0, 0)  # it ends with the process that forked it
    with guarded("process group"):
        os.setpgid(0, 0)
    for descriptor, name in ((0, os.devnull), (1, request["out"]), (2, request["err"])):
        file = os.open(name, os.O_RDONLY if descriptor == 0 else os.O_WRONLY)
        os.dup2(file, descriptor)
        os.close(file)
    if request["view"]:
        _enter(request["view"], library)
    os.chdir(request["here"])
    words = getattr(sys, "orig_argv", [])
    tail = len(sys.argv) - 1
    wanted = request["command"]
    if len(words) != len(wanted) or words[1:len(words) - tail] != wanted[1:len(wanted) - tail]:
        raise ValueError("another command")
    sys.argv[1:] = wanted[len(wanted) - tail:]
    sys.orig_argv[:] = wanted
    _set_environment(request["environment"])
    settings.load(request["folder"])
    library.oomdoc_rehearse_in(os.fsencode(request["folder"]))
    run.configure()
    run.is_first = run.leave_mark()
    values.configure()
    chance.begin_again()
    world.set_environment()
    ending.watch_time()


def _enter(holder, library):
    """The namespaces of the process that holds the view; what rights are gained on the way are given up."""
    gained = False
    for kind in ("user", "mnt", "net"):
        path = "/proc/%d/ns/%s" % (holder, kind)
        if os.readlink(path) == os.readlink("/proc/self/ns/" + kind):
            continue
        _enter_one(path, library)
        gained = gained or kind == "user"
    if gained:
        import ctypes

        header = (ctypes.c_uint32 * 2)(0x20080522, 0)  # _LINUX_CAPABILITY_VERSION_3, this process
        library.capset(header, (ctypes.c_uint32 * 6)())


def _enter_one(path, library):
    import ctypes

    descriptor = os.open(path, os.O_RDONLY)
    try:
        if library.setns(descriptor, 0) != 0:
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number), path)
    finally:
        os.close(descriptor)
