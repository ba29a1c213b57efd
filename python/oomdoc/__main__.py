"""`python -m oomdoc` is `oomdoc`."""

import os
import subprocess
import sys

from ._binary import find

if __name__ == "__main__":
    command = [find(), *sys.argv[1:]]
    if sys.platform == "win32":
        sys.exit(subprocess.run(command, check=False).returncode)
    os.execv(command[0], command)
