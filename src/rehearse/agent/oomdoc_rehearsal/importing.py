"""Call a function once a module has been imported, without importing it."""
import sys
import time

from .record import guarded, run

_waiting = {}
_before = {}


def before_import(name, function):
    """Call `function()` when the import of `name` begins."""
    _before.setdefault(name, []).append(function)


def after_import(name, function):
    """Call `function(module)` when `name` has been imported; at once if it has been already."""
    module = sys.modules.get(name)
    if module is not None and getattr(getattr(module, "__spec__", None), "_initializing", False) is False:
        with guarded("after import of " + name):
            function(module)
        return
    _waiting.setdefault(name, []).append(function)


class _Finder:
    """A finder that finds nothing itself: it lets the others find a module and wraps the loader's last step."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        if name not in _waiting:
            return None
        for finder in sys.meta_path:
            find = getattr(finder, "find_spec", None)
            if finder is _Finder or find is None:
                continue
            spec = find(name, path, target)
            if spec is not None:
                with guarded("import of " + name):
                    _wrap(name, spec)
                return spec
        return None


def _wrap(name, spec):
    execute = getattr(spec.loader, "exec_module", None)
    if execute is None:
        return

    def exec_module(module):
        functions = _waiting.get(name, [])
        for function in _before.get(name, ()):
            with guarded("before import of " + name):
                function()
        began = time.time()
        execute(module)
        _waiting.pop(name, None)
        if name == "torch":
            run.import_seconds = round(time.time() - began, 3)
        for function in functions:
            with guarded("after import of " + name):
                function(module)

    # The loader object belongs to this one module, so an attribute on it reaches nothing else.
    spec.loader.exec_module = exec_module


def install():
    sys.meta_path.insert(0, _Finder)
