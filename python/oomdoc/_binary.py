"""Where the program lies that this package came with, and how it is asked."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig

NAME = "oomdoc.exe" if sys.platform == "win32" else "oomdoc"


def find() -> str:
    """The program beside this package; else the first on the path."""
    folders = [sysconfig.get_path("scripts")]
    user = sysconfig.get_preferred_scheme("user")
    folders.append(sysconfig.get_path("scripts", scheme=user))
    # `pip install --target` puts a folder `bin` beside the package.
    here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    folders.append(os.path.join(here, "bin"))
    for folder in folders:
        if folder and os.path.isfile(os.path.join(folder, NAME)):
            return os.path.join(folder, NAME)
    found = shutil.which(NAME)
    if found is None:
        raise FileNotFoundError(f"{NAME} is neither beside this package nor on the path: pip install --force-reinstall oomdoc")
    return found


def ask(arguments: list[str], text: str | None = None, asked: str = "module") -> subprocess.CompletedProcess[str]:
    """Runs the program; what it is given to read it gets as UTF-8. `asked` is where: the report says how more is had."""
    return subprocess.run(
        [find(), *arguments],
        input=text,
        stdin=subprocess.DEVNULL if text is None else None,
        env={**os.environ, "OOMDOC_ASKED": asked},
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        check=False,
    )
