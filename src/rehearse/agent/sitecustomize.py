"""Entry point of this program's modules inside the user's Python process.

Python imports a module of this name when it starts, before the user's script. The folder that holds it stands first on
PYTHONPATH, so that child processes get it too. Two things happen here: our module starts, and a `sitecustomize` of the
user's own, which this one hides, is run as it would have been. Neither may ever break the user's script. `oomdoc run` uses
this file with its own module's name in place of the rehearsal's.
"""
import sys


def _start(folder):
    """Start the agent, then hide its folder from the script's own imports."""
    try:
        import oomdoc_rehearsal

        oomdoc_rehearsal.start()
    except Exception as error:  # the script must run even if we cannot
        try:
            sys.stderr.write("oomdoc rehearse: the agent could not start: %r\n" % (error,))
        except Exception:
            pass
    sys.path[:] = [entry for entry in sys.path if entry != folder]


def _run_hidden_sitecustomize():
    """Import the `sitecustomize` that stands next on the path, under its own name."""
    from importlib.machinery import PathFinder
    from importlib.util import module_from_spec

    spec = PathFinder.find_spec("sitecustomize", sys.path)
    if spec is None or spec.loader is None:
        return
    module = module_from_spec(spec)
    sys.modules["sitecustomize"] = module
    spec.loader.exec_module(module)


_start(__file__.replace("\\", "/").rpartition("/")[0])
# An error in the user's own module is theirs: `site` reports it and goes on, as without the rehearsal.
_run_hidden_sitecustomize()
