"""The part of `oomdoc rehearse` that runs inside the user's training process.

It watches a run on the simulated GPU and leaves a result file behind: how many optimizer steps were made, how high memory
went in which phase, whether and where it ran out, and what the simulation cannot know. The map of the modules:

    settings    what the launcher asks for
    record      what is known so far, and the atomic writing of the result file
    importing   calls a function once a module (torch, transformers, ...) has been imported
    memory      allocator statistics per phase, out-of-memory errors, the memory history
    steps       optimizer steps, backward passes, phases; when to stop
    values      values read from the device: what is told, what is answered
    world       one rank of a distributed job without the other ranks
    libraries   DataLoader, checkpointing, autocast, transformers: what was used, and the few places that wait for values
    longest     the batch that needs most, asked of the loader
    device      the stand-ins for NVIDIA's libraries, loaded before torch looks for the real ones
    saving      checkpoints, whose values would be those of a GPU that computes nothing
    redirect    writes of Python code, where no namespace keeps them from the user's files
    tracebacks  takes the agent's frames out of what the script prints
    warm        one import for many runs
    chance      the same random numbers in each of them
    model       no hook but a program: a model built from its configuration, trained or asked
    ending      the ends of a process: steps done, time over, exit, error

Every hook runs under `record.guarded` or its own try/except: a hook that fails is noted in the result file under
"failures" and the script goes on. Nothing but `model` imports torch; the hooks are placed when the script has imported it.
Python 3.8 or later, no dependency.
"""
def start():
    """Place the import hooks, if this process belongs to a rehearsal."""
    from . import settings

    if not settings.known():
        return
    from . import chance, device, ending, importing, libraries, record, redirect, tracebacks, warm, world

    redirect.install()
    record.run.begin()
    device.load()
    world.set_environment()
    ending.install()
    importing.install()
    chance.install()
    importing.before_import("torch", warm.note_environment)
    importing.before_import("torch", device.settle_visible)
    importing.after_import("torch", _torch_imported)
    libraries.install()
    tracebacks.install()
    if settings.text("warm"):
        warm.serve()


def _torch_imported(torch):
    """Place all hooks of torch, each on its own, so that one that fails takes no other with it."""
    from . import device, ending, memory, record, steps, values, world

    record.run.torch = torch
    for install in (device.install, memory.install, steps.install, values.install, world.install, ending.watch_time):
        with record.guarded(install.__module__ + "." + install.__name__):
            install(torch)
