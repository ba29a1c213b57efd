"""The same random numbers in every run of one rehearsal, unless the script chooses its own.

Runs are compared: with other values in place of those that are not computed, with other addresses, with other batches. What
differs by chance alone, such as the lengths of random samples, would be taken for a difference that they make. Where the
script has a network, runs at the same time would choose the same port by chance: it keeps its own numbers there.
"""
import itertools
import sys

from . import settings
from .importing import after_import

SEED = 20240229
_names = ("random", "numpy.random")


def _python(random):
    random.seed(SEED)


def _numpy(random):
    random.seed(SEED)
    if hasattr(random, "default_rng"):
        make, numbers = random.default_rng, itertools.count(SEED)

        def default_rng(seed=None):
            return make(next(numbers) if seed is None else seed)

        default_rng.__doc__ = make.__doc__
        random.default_rng = default_rng


def begin_again():
    """In a child that was forked from a process which had imported them."""
    for name in _names if settings.text("offline") == "1" else ():
        module = sys.modules.get(name)
        if module is not None:
            module.seed(SEED)


def install():
    if settings.text("offline") == "1":
        for name, seed in zip(_names, (_python, _numpy)):
            after_import(name, seed)
