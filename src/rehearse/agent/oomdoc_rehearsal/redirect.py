"""Writes of Python code, turned away from the user's files where no namespace does it.

What is written goes into a folder of the rehearsal, under its own full path; what is removed is put on a list beside it. Both
are looked at before the real file, so the script sees its own writes and removals, and so do its children. Operations that
are not redirected (by descriptor, or from C) reach the kernel's refusal (Landlock) or, where there is none, the audit hook
at the end, which refuses them.
"""
import builtins
import errno
import functools
import io
import os
import shutil
import sys
import threading

from . import settings

_LEVEL = settings.text("view")
_FOLDER = settings.folder if _LEVEL in ("landlock", "agent") else ""
_UPPER = os.path.join(_FOLDER, "view", "0", "upper")
_REMOVED = os.path.join(_FOLDER, "view", "0", "removed")
_FREE = (_FOLDER + "/", "/dev/", "/proc/")  # where a write is no concern of the user's
# Programs that a child may be where nothing refuses its writes: they compile, or only tell.
_HARMLESS = (
    "gcc g++ cc c++ clang clang++ ld as ar nvcc ptxas ninja cmake uname hostname getconf ldconfig lscpu nvidia-smi rocm-smi which"
    " nproc free df stty tput ldd file locale true false sleep cat head tail ls echo test pwd"
).split()

_stat, _lstat, _listdir, _scandir, _makedirs = os.stat, os.lstat, os.listdir, os.scandir, os.makedirs
_open, _os_open, _rename, _readlink = io.open, os.open, os.rename, os.readlink
_unlink, _rmdir, _mkdir, _realpath, _getcwd = os.unlink, os.rmdir, os.mkdir, os.path.realpath, os.getcwd

_gone = {"size": -1, "paths": frozenset()}
_state = threading.local()  # what a stand-in does itself is not redirected again


def _exists(path):
    try:
        _lstat(path)
        return True
    except OSError:
        return False


def _removed():
    """The paths that were removed, by this process or a relative."""
    try:
        size = _stat(_REMOVED).st_size
    except OSError:
        return _gone["paths"]
    if size != _gone["size"]:
        with _open(_REMOVED, "rb") as file:
            names = file.read().split(b"\0")
        _gone["paths"], _gone["size"] = frozenset(os.fsdecode(name) for name in names if name), size
    return _gone["paths"]


def _is_gone(path):
    removed = _removed()
    while removed and path != "/":
        if path in removed:
            return True
        path = os.path.dirname(path)
    return False


def _mark_gone(path):
    with _open(_REMOVED, "ab") as file:
        file.write(os.fsencode(path) + b"\0")


def _absolute(path):
    """The full path of a name, links on the way followed; None for descriptors and for places that are no concern."""
    if isinstance(path, int) or path is None:
        return None
    path = os.fsdecode(os.fspath(path))
    if not path:
        return None
    here = _getcwd()
    if here.startswith(_UPPER):
        here = here[len(_UPPER):] or "/"
    path = os.path.normpath(os.path.join(here, path))
    if path.startswith(_UPPER + "/"):
        path = path[len(_UPPER):]
    path = "/" + path.lstrip("/")
    head, tail = os.path.split(path)
    if tail and not _exists(_UPPER + head):
        path = os.path.join(_realpath(head), tail)
    return None if path.startswith(_FREE) or path == _FOLDER else path


def _seen(path):
    """Where what the script sees under this name lies; a name that does not exist where it was removed."""
    whole = _absolute(path)
    if whole is None:
        return path
    if _exists(_UPPER + whole):
        return _UPPER + whole
    return _UPPER + whole if _is_gone(whole) else path


def _is_there(path):
    return _exists(_seen(path))


def _target(path, copy=True):
    """Where to write what the script writes under this name: the copy of what is there, if it is to be changed in part."""
    whole = _absolute(path)
    if whole is None:
        return path
    mine = _UPPER + whole
    if not _exists(mine):
        parent = os.path.dirname(whole)
        if not _is_there(parent):
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), os.fsdecode(os.fspath(path)))
        _makedirs(os.path.dirname(mine), exist_ok=True)
        there = _seen(path)
        if copy and there != mine and _exists(there):
            if os.path.isdir(there):
                _makedirs(mine, exist_ok=True)
            else:
                shutil.copy2(there, mine, follow_symlinks=False)
    if os.path.islink(mine):
        return _target(_readlink(mine), copy)
    return mine


def for_writing(path):
    """The file to hand to code that writes by itself."""
    return _target(path, copy=False) if _FOLDER else path


def _redirecting(function):
    """Run a stand-in once; what it calls is not redirected again."""

    def decorate(stand_in):
        @functools.wraps(function)
        def called(*args, **kwargs):
            named = any(kwargs.get(name) is not None for name in ("dir_fd", "src_dir_fd", "dst_dir_fd"))
            if getattr(_state, "inside", False) or named:
                return function(*args, **kwargs)
            _state.inside = True
            try:
                return stand_in(*args, **kwargs)
            finally:
                _state.inside = False

        return called

    return decorate


@_redirecting(_open)
def _open_file(file, mode="r", *args, **kwargs):
    if isinstance(file, int):
        return _open(file, mode, *args, **kwargs)
    if not any(letter in mode for letter in "wax+"):
        return _open(_seen(file), mode, *args, **kwargs)
    if "x" in mode and _is_there(file):
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), os.fspath(file))
    if mode.startswith("r") and not _is_there(file):
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), os.fspath(file))
    return _open(_target(file, copy="w" not in mode), mode, *args, **kwargs)


@_redirecting(_os_open)
def _open_descriptor(path, flags, *args, **kwargs):
    if not flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC):
        return _os_open(_seen(path), flags, *args, **kwargs)
    if not flags & os.O_CREAT and not _is_there(path):
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), os.fspath(path))
    if flags & os.O_EXCL and _is_there(path):
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), os.fspath(path))
    return _os_open(_target(path), flags, *args, **kwargs)


@_redirecting(_mkdir)
def _make_folder(path, mode=0o777, **kwargs):
    if _is_there(path):
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), os.fspath(path))
    return _mkdir(_target(path, copy=False), mode)


@_redirecting(_unlink)
def _remove_file(path, **kwargs):
    whole = _absolute(path)
    if whole is None:
        return _unlink(path)
    there = _seen(path)
    if os.path.isdir(there) and not os.path.islink(there):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), os.fspath(path))
    if there.startswith(_UPPER) if isinstance(there, str) else False:
        _unlink(there)
    elif not _exists(there):
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), os.fspath(path))
    if _exists(whole):
        _mark_gone(whole)


@_redirecting(_rmdir)
def _remove_folder(path, **kwargs):
    whole = _absolute(path)
    if whole is None:
        return _rmdir(path)
    if not _is_there(path):
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), os.fspath(path))
    if _names(path):
        raise OSError(errno.ENOTEMPTY, os.strerror(errno.ENOTEMPTY), os.fspath(path))
    if _exists(_UPPER + whole):
        shutil.rmtree(_UPPER + whole)
    if _exists(whole):
        _mark_gone(whole)


def _rename_function(original):
    @_redirecting(original)
    def rename(src, dst, **kwargs):
        old, new = _absolute(src), _absolute(dst)
        if old is None and new is None:
            return original(src, dst)
        there = _seen(src)
        if not _exists(there):
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), os.fspath(src))
        if new is not None and os.path.isdir(_seen(dst)) and (not os.path.isdir(there) or _names(dst)):
            number = errno.ENOTEMPTY if os.path.isdir(there) else errno.EISDIR
            raise OSError(number, os.strerror(number), os.fspath(dst))
        target = _target(dst, copy=False)
        if os.path.isdir(target) and not os.path.islink(target):
            shutil.rmtree(target)
        if old is not None and os.fsdecode(there) != _UPPER + old:
            # the original stays where it is
            if os.path.isdir(there) and not os.path.islink(there):
                shutil.copytree(there, target, symlinks=True)
            else:
                shutil.copy2(there, target, follow_symlinks=False)
        else:
            if old is not None and os.path.isdir(there) and _exists(old) and not _is_gone(old):
                shutil.copytree(old, target, symlinks=True)  # what lies below a folder that is written into
                shutil.copytree(there, target, symlinks=True, dirs_exist_ok=True)
                shutil.rmtree(there)
            else:
                original(there, target)
        if old is not None and _exists(old):
            _mark_gone(old)

    return rename


def _names(path):
    """The names in a folder as the script sees it."""
    whole = _absolute(path)
    if whole is None:
        return _listdir(path)
    names, mine = [], _UPPER + whole
    if not _is_gone(whole) and os.path.isdir(whole):
        removed = _removed()
        names = [name for name in _listdir(whole) if os.path.join(whole, name) not in removed]
    if os.path.isdir(mine):
        names += [name for name in _listdir(mine) if name not in names]
    elif not os.path.isdir(_seen(path)):
        return _listdir(_seen(path))  # the error that belongs to it
    return names


@_redirecting(_listdir)
def _list(path="."):
    if isinstance(path, int):
        return _listdir(path)
    names = _names(path if path is not None else ".")
    return [os.fsencode(name) for name in names] if isinstance(path, bytes) else names


class _Entry:
    """What `os.scandir` gives for a name."""

    def __init__(self, folder, name):
        self.name, self.path = name, os.path.join(folder, name)
        self._there = None

    def __fspath__(self):
        return self.path

    def __repr__(self):
        return "<DirEntry %r>" % (self.name,)

    def stat(self, follow_symlinks=True):
        return os.stat(self.path, follow_symlinks=follow_symlinks)

    def inode(self):
        return os.lstat(self.path).st_ino

    def is_symlink(self):
        return os.path.islink(self.path)

    def is_junction(self):
        return False

    def is_dir(self, follow_symlinks=True):
        return os.path.isdir(self.path) and (follow_symlinks or not self.is_symlink())

    def is_file(self, follow_symlinks=True):
        return os.path.isfile(self.path) and (follow_symlinks or not self.is_symlink())


class _Entries:
    """The iterator that `os.scandir` gives."""

    def __init__(self, entries):
        self._entries = iter(entries)

    def __iter__(self):
        return self

    def __next__(self):
        return next(self._entries)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()

    def close(self):
        self._entries = iter(())


@_redirecting(_scandir)
def _scan(path="."):
    path = "." if path is None else path
    whole = None if isinstance(path, (int, bytes)) else _absolute(path)
    if whole is None or not (_exists(_UPPER + whole) or _removed()):
        return _scandir(path)
    folder = os.fspath(path)
    return _Entries([_Entry(folder, name) for name in _names(path)])


def _reading(original):
    """A function that looks at the file of its first argument."""

    @_redirecting(original)
    def look(path, *args, **kwargs):
        return original(_seen(path), *args, **kwargs)

    return look


def _changing(original):
    """A function that changes the file of its first argument in part."""

    @_redirecting(original)
    def change(path, *args, **kwargs):
        return original(_target(path), *args, **kwargs)

    return change


def _linking(original):
    @_redirecting(original)
    def link(src, dst, *args, **kwargs):
        if _is_there(dst):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), os.fspath(dst))
        if original is _hard_link:
            return shutil.copy2(_seen(src), _target(dst, copy=False))
        return original(src, _target(dst, copy=False), *args, **kwargs)

    return link


_hard_link = os.link


def _refuse(event, args):
    """The audit hook: what was not redirected and would change the user's files, where no kernel refuses it."""
    if event == "open":
        path, mode, flags = args
        if not isinstance(flags, int) or not flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC):
            return
        paths = (path,)
    elif event == "sqlite3.connect":
        if args[0] in (":memory:", "", b":memory:"):
            return
        paths = args[:1]
    elif event in ("os.remove", "os.rmdir", "os.mkdir", "os.truncate", "os.chmod", "os.chown"):
        paths = args[:1]
    elif event in ("os.rename", "os.link", "os.symlink"):
        paths = args[1:2] if event == "os.symlink" else args[:2]
    elif event in ("subprocess.Popen", "os.exec", "os.posix_spawn"):
        name = os.path.basename(os.fsdecode(args[0] or "")) if not isinstance(args[0], (list, tuple)) else ""
        if name.startswith(("python", "pypy")) or name in _HARMLESS:
            return
        raise PermissionError(errno.EPERM, "not started by a rehearsal: its writes could not be kept from your files", name)
    elif event == "os.system":
        raise PermissionError(errno.EPERM, "not started by a rehearsal: its writes could not be kept from your files", args[0])
    else:
        return
    for path in paths:
        if isinstance(path, int) or path is None:
            continue
        path = os.path.normpath(os.path.join(_getcwd(), os.fsdecode(os.fspath(path))))
        if not (path + "/").startswith(_FREE):
            raise PermissionError(errno.EACCES, "not changed by a rehearsal", path)


def _refuse_network(event, args):
    """The audit hook: connections to other machines."""
    if event != "socket.connect":
        return
    address = args[1]
    host = address[0] if isinstance(address, tuple) and address else None
    local = ("localhost", "0.0.0.0", "::1", "::", "")
    if isinstance(host, str) and host not in local and not host.startswith("127."):
        raise OSError(errno.ENETUNREACH, "Network is unreachable")


def install():
    """Place the hooks, if this rehearsal needs them."""
    if settings.text("offline") == "1" and _LEVEL != "overlay":
        sys.addaudithook(_refuse_network)
    if not _FOLDER:
        return
    _makedirs(_UPPER, exist_ok=True)
    point = os.path.join(_FOLDER, "view", "0", "point")
    if not _exists(point):
        with _open(point, "w") as file:
            file.write("/")
    builtins.open = io.open = _open_file
    os.open, os.mkdir, os.unlink, os.remove, os.rmdir = _open_descriptor, _make_folder, _remove_file, _remove_file, _remove_folder
    os.rename, os.replace = _rename_function(_rename), _rename_function(os.replace)
    os.listdir, os.scandir = _list, _scan
    for name in ("stat", "lstat", "access", "readlink", "chdir", "statvfs", "getxattr", "listxattr"):
        setattr(os, name, _reading(getattr(os, name)))
    for name in ("chmod", "chown", "lchown", "utime", "truncate", "setxattr", "removexattr", "mkfifo"):
        setattr(os, name, _changing(getattr(os, name)))
    os.link, os.symlink = _linking(os.link), _linking(os.symlink)
    shutil._use_fd_functions = False  # so that rmtree goes by paths
    if _LEVEL == "agent":
        sys.addaudithook(_refuse)
