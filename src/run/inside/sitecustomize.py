"""Entry point of `oomdoc run --snapshot` inside the job's Python processes.

Python imports a module of this name when it starts, before the job's script. The folder that holds it stands first on
PYTHONPATH, so that child processes get it too. A `sitecustomize` of the job's own, which this one hides, is run as it would
have been. Neither may ever break the job.
"""
import sys


def _watch(folder):
    try:
        import oomdoc_inside

        oomdoc_inside.start()
    except Exception:  # the job must run even if nobody can watch it
        pass
    # Hidden from the script's own imports.
    sys.path[:] = [entry for entry in sys.path if entry != folder]


def _run_hidden_sitecustomize():
    from importlib.machinery import PathFinder
    from importlib.util import module_from_spec

    spec = PathFinder.find_spec("sitecustomize", sys.path)
    if spec is None or spec.loader is None:
        return
    module = module_from_spec(spec)
    sys.modules["sitecustomize"] = module
    spec.loader.exec_module(module)


_watch(__file__.replace("\\", "/").rpartition("/")[0])
# An error in the job's own module is theirs: `site` reports it and goes on, as without us.
_run_hidden_sitecustomize()
