"""What a search of batches costs beside one run: processor seconds of all processes, and seconds on the clock.

    python cost.py OOMDOC PYTHON [SCRIPT]

The program is gpt2.py with its own default of steps to go on (`--ahead`), and without; SCRIPT takes --batch likewise.
"""
import pathlib
import resource
import subprocess
import sys
import time


def cost(command):
    """(processor seconds, seconds) of a command and its children."""
    def used():
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime

    before, began = used(), time.time()
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode not in (0, 1):
        raise SystemExit(done.stderr or done.stdout)
    return used() - before, time.time() - began


def main():
    oomdoc, python = sys.argv[1:3]
    script = sys.argv[3] if len(sys.argv) > 3 else str(pathlib.Path(__file__).with_name("gpt2.py"))
    for ahead in ("15s", "0s"):
        plain = [oomdoc, "rehearse", "--like", "A100 80GB", "--ahead", ahead]
        program = ["--", python, script, "--batch"]
        asked = {
            "one run, one order of addresses": plain + ["--addresses", "up"] + program + ["4"],
            "one run, both orders": plain + program + ["4"],
            "four batches, both orders": plain + ["--batch", "2,4,6,8"] + program + ["{batch}"],
            "the largest of 1 to 64, both orders": plain + ["--batch", "1..64"] + program + ["{batch}"],
        }
        one = None
        for name, command in asked.items():
            processor, seconds = cost(command)
            one = one or processor
            print("--ahead %-3s  %-36s %6.1f s of processors, %.2f times one run; %6.1f s" % (ahead, name, processor, processor / one, seconds))


if __name__ == "__main__":
    main()
