"""What `oomdoc run` costs, and what it leaves alone, measured: writes docs/run-overhead.md.

    cargo build --release && python tests/run/overhead.py [--oomdoc FILE] [--only PART,...] [--python FILE]

Linux. The parts are throughput, sampler, inside, records, ends and programs; one that is left out keeps its table. As
root the sampler is also measured with a machine that seems to have swap. `--python` is one with a CUDA build of torch, tqdm
and rich.
"""

import argparse
import fcntl
import json
import os
import pty
import re
import select
import shlex
import shutil
import signal
import statistics
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
RESULTS = f"{HERE}/overhead.json"
PAGE = f"{ROOT}/docs/run-overhead.md"
MIB = 1 << 20

# Bytes printed, and how often each way.
PRINTED = 100 * MIB
REPEATS = 10

# Seconds in which the sampler's time is taken, after it has found all processes.
WATCHED = 20.0
SETTLED = 3.0

RECORDS = 1000

# Seconds without output after which a program waits for its user.
QUIET = 0.3


def watched(args, job, *options):
    return [args.oomdoc, "run", "-q", *options, "--", *job]


def drained(descriptor):
    """Reads until nobody writes any more; how many bytes came."""
    count = 0
    while True:
        try:
            block = os.read(descriptor, 1 << 16)
        except OSError:  # a terminal that everybody has closed
            return count
        if not block:
            return count
        count += len(block)


def through_pipe(command):
    began = time.monotonic()
    reading, writing = os.pipe()
    job = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=writing)
    os.close(writing)
    count = drained(reading)
    job.wait()
    os.close(reading)
    return time.monotonic() - began, count


def in_terminal(command, typed=(), environment=None):
    """Runs it in a terminal of 24 lines. `typed`: what is typed, and what has to be on the screen before."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))

    def own_terminal():
        os.setsid()
        fcntl.ioctl(slave, termios.TIOCSCTTY, 0)

    job = subprocess.Popen(command, stdin=slave, stdout=slave, stderr=slave, preexec_fn=own_terminal,
                           env=dict(environment or os.environ, TERM="xterm-256color"))
    os.close(slave)
    seen, waiting, ends = b"", list(typed), time.monotonic() + 60
    while time.monotonic() < ends:
        if not select.select([master], [], [], QUIET)[0]:
            # Typed when all is drawn, or what is drawn depends on the moment.
            if waiting and waiting[0][0] in seen:
                os.write(master, waiting.pop(0)[1])
            continue
        try:
            block = os.read(master, 1 << 16)
        except OSError:
            break
        if not block:
            break
        seen += block
    os.close(master)
    try:
        code = job.wait(10)
    except subprocess.TimeoutExpired:
        job.kill()
        code = job.wait()
    return code, seen


def through_terminal(command):
    began = time.monotonic()
    master, slave = pty.openpty()
    # Lines as they are: with carriage returns added it would be more than was printed.
    modes = termios.tcgetattr(slave)
    modes[1] &= ~termios.OPOST
    termios.tcsetattr(slave, termios.TCSANOW, modes)
    counted = []
    reader = threading.Thread(target=lambda: counted.append(drained(master)))
    reader.start()
    job = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=slave, stderr=slave)
    os.close(slave)
    job.wait()
    reader.join()
    took = time.monotonic() - began
    os.close(master)
    return took, counted[0]


def throughput(args, work):
    printed = f"{work}/printed"
    with open(printed, "w") as file:
        line = "step {:7d} | loss 2.7134 | lr 3.0e-04 | 12.3 samples/s | allocated 18.22 GiB\n"
        number = 0
        while file.tell() < PRINTED:
            file.write("".join(line.format(number + i) for i in range(1000)))
            number += 1000
        file.truncate(PRINTED)
    lines = ("import sys\nfor line in open(sys.argv[1]):\n    sys.stdout.write(line)\n")
    python = [sys.executable, "-I", "-c", lines, printed]
    jobs = {"nothing": (0, ["true"]), "cat": (PRINTED, ["cat", printed]), "Python, line by line": (PRINTED, python)}
    rows = []
    for name, (size, job) in jobs.items():
        for way, through in (("pipe", through_pipe), ("terminal", through_terminal)):
            times = {"without": [], "with": []}
            for _ in range(args.repeats):
                for kind, command in (("without", job), ("with", watched(args, job))):
                    took, count = through(command)
                    assert count == size, (name, way, kind, count)
                    times[kind].append(took)
            rows.append({"job": name, "way": way, **{kind: [round(t, 4) for t in took] for kind, took in times.items()}})
            print(rows[-1], flush=True)
    return rows


# A parent that forks so many, each with some memory and, if asked, a line now and then.
FORKS = """
import os, sys, time
count, mib = int(sys.argv[1]), int(sys.argv[2])
for i in range(count):
    if os.fork() == 0:
        held = bytearray(mib << 20)
        for at in range(0, len(held), 4096):
            held[at] = 1
        time.sleep(600)
held = bytearray(mib << 20)
for step in range(6000):
    print('step', step, 'loss 1.0', flush=True)
    time.sleep(0.1)
"""


def processes_of(top):
    """A process and all below it."""
    found, waiting = [], [top]
    while waiting:
        pid = waiting.pop()
        found.append(pid)
        try:
            for thread in os.listdir(f"/proc/{pid}/task"):
                with open(f"/proc/{pid}/task/{thread}/children") as file:
                    waiting += map(int, file.read().split())
        except OSError:
            pass
    return found



def own_time(top, binary):
    """Seconds of processor time of oomdoc's own processes, with all of their threads."""
    seconds = 0.0
    for pid in processes_of(top):
        try:
            if os.path.samefile(f"/proc/{pid}/exe", binary):
                seconds += sum(int(open(f"/proc/{pid}/task/{thread}/schedstat").read().split()[0])
                               for thread in os.listdir(f"/proc/{pid}/task")) / 1e9
        except OSError:
            pass
    return seconds


def looks(record):
    """Moments of the looks that were written down."""
    moments = []
    with open(record) as file:
        for line in file:
            try:
                moments.append(json.loads(line)["t"])
            except (KeyError, ValueError):
                pass
    return moments


def with_swap(work, command):
    """In a mount namespace whose /proc tells of 8 GiB of swap."""
    with open("/proc/meminfo") as real, open(f"{work}/meminfo", "w") as file:
        told = {"SwapTotal": 8 << 20, "SwapFree": 6 << 20}
        for line in real:
            name = line.split(":")[0]
            file.write(f"{name}: {told[name]} kB\n" if name in told else line)
    return ["unshare", "-m", "sh", "-c", f"mount --bind {work}/meminfo /proc/meminfo; exec \"$@\"", "sh", *command]


def sampler(args, work):
    rows = []
    as_root = os.geteuid() == 0
    for count, mib in ((0, 200), (8, 100), (63, 20)):
        for swap in (False, True) if as_root else (False,):
            record = f"{work}/record-{count}-{swap}"
            job = [sys.executable, "-I", "-c", FORKS, str(count), str(mib)]
            command = watched(args, job, f"--record={record}", "--warn=99%")
            command = with_swap(work, command) if swap else command
            top = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL, start_new_session=True)
            try:
                time.sleep(SETTLED)
                before, began = own_time(top.pid, args.oomdoc), time.monotonic()
                time.sleep(WATCHED)
                used, lasted = own_time(top.pid, args.oomdoc) - before, time.monotonic() - began
                all_of_it = processes_of(top.pid)
            finally:
                for pid in reversed(processes_of(top.pid)):
                    if pid != top.pid:
                        try:
                            os.kill(pid, signal.SIGKILL)
                        except ProcessLookupError:
                            pass
                top.wait()
            moments = [moment for moment in looks(record) if moment <= SETTLED + WATCHED]
            rows.append({"processes": count + 1, "swap": swap, "seen": len(all_of_it), "share": used / lasted,
                         "looks": len(moments) / moments[-1] if moments else 0.0})
            print(rows[-1], flush=True)
    return rows


def records(args, work):
    """One record of a job that was killed, under the names of a thousand ranks."""
    first = f"{work}/first"
    grows = ("import os, signal, time\nheld = []\nfor step in range(200):\n    held.append(bytearray(2 << 20))\n"
             "    print('step', step, flush=True)\n    time.sleep(0.05)\nos.kill(os.getpid(), signal.SIGKILL)\n")
    job = watched(args, [sys.executable, "-I", "-c", grows], f"--record={first}")
    subprocess.run(job, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    with open(first) as file:
        lines = file.readlines()
    folder = f"{work}/records"
    os.makedirs(folder)
    size = 0
    for rank in range(RECORDS):
        with open(f"{folder}/{rank:04d}", "w") as file:
            for line in lines:
                if line.startswith('{"schema"'):
                    header = json.loads(line)
                    header |= {"rank": rank, "host": f"node{rank // 8:03d}", "began": header["began"] + rank / 1000}
                    line = json.dumps(header, separators=(",", ":")) + "\n"
                file.write(line)
            size += file.tell()
    took = []
    for _ in range(3):
        began = time.monotonic()
        reader = subprocess.Popen([args.oomdoc, "explain", *(f"{folder}/{rank:04d}" for rank in range(RECORDS))],
                                  stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        told = reader.stdout.read().decode()
        _, status, usage = os.wait4(reader.pid, 0)
        took.append((time.monotonic() - began, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024,
                     os.waitstatus_to_exitcode(status)))
    head = next((line.strip() for line in told.splitlines() if str(RECORDS) in line.replace(",", "")), "")
    middle = sorted(took)[1]
    row = {"records": RECORDS, "mib": size / MIB, "seconds": middle[0], "cpu": middle[1], "rss": middle[2],
           "code": middle[3], "head": head}
    print(row, flush=True)
    return row


def ends(args, _work):
    """Twenty ends, as the one who waits sees them."""
    scripts = [(f"exit {code}", f"exit {code}") for code in (0, 1, 2, 42, 126, 127, 130, 137, 255)]
    names = ("HUP", "INT", "QUIT", "ILL", "ABRT", "BUS", "FPE", "KILL", "USR1", "SEGV", "PIPE", "TERM", "XCPU")
    scripts += [(f"ended by SIG{name}", f"ulimit -c 0; kill -{name} $$; sleep 5") for name in names]
    rows = []
    for name, script in scripts:
        codes = []
        for command in (["sh", "-c", script], watched(args, ["sh", "-c", script])):
            # As a shell would report it.
            ended = subprocess.run(["sh", "-c", '"$@"; echo $?', "sh", *command], stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False)
            codes.append(ended.stdout.strip())
        rows.append({"end": name, "without": codes[0], "with": codes[1]})
    print(rows, flush=True)
    return rows


TQDM = "import time\nfrom tqdm import tqdm\nfor i in tqdm(range(40), ncols=60):\n    time.sleep(0.01)\n"
RICH = ("import time\nfrom rich.progress import track\nfrom rich.console import Console\n"
        "Console().print('[bold red]begins[/]')\nfor i in track(range(20), 'reading'):\n    time.sleep(0.02)\n")


def programs(args, work):
    """Programs that live in a terminal: the same screen, the same code."""
    python = args.python or sys.executable
    debugged = f"{work}/debugged.py"
    with open(debugged, "w") as file:
        file.write("value = 41\nbreakpoint()\nvalue += 1\nprint('value', value)\n")
    edited = f"{work}/edited"
    cases = {
        "tqdm": ([python, "-c", TQDM], ()),
        "rich": ([python, "-c", RICH], ()),
        "pdb": ([python, debugged], ((b"(Pdb) ", b"p value\r"), (b"41\r\n(Pdb) ", b"c\r"))),
        "vim": (["vim", "-u", "NONE", "-N", edited],
                ((b"[New", b"iwritten by hand\x1b"), (b"written by hand", b":wq\r"))),
        "Python's prompt": ([python, "-q"], ((b">>> ", b"6 * 7\r"), (b"42\r\n", b"exit(5)\r"))),
        "colours only in a terminal": (["ls", "--color=auto", "/"], ()),
        "size of the window": (["stty", "size"], ()),
    }
    rows = []
    for name, (job, typed) in cases.items():
        if shutil.which(job[0]) is None or name in ("tqdm", "rich") and subprocess.run(
                [python, "-c", f"import {name}"], stderr=subprocess.DEVNULL, check=False).returncode != 0:
            rows.append({"program": name, "same": None})
            continue
        seen = []
        for command in (job, watched(args, job)):
            if os.path.exists(edited):
                os.remove(edited)
            code, screen = in_terminal(command, typed)
            written = open(edited).read() if os.path.exists(edited) else None
            # Times differ from run to run, and with them how often and where a program draws: what it ends as, and in
            # which colours and modes.
            text = screen.decode(errors="replace")
            drawn = re.split(r"[\r\n]+", re.sub(r"\d+([.:]\d+)*", "0", text).rstrip())
            styles = sorted(set(re.findall(r"\x1b\[[0-9;?]*[mhl]", text)))
            seen.append((code, written, re.sub(r"\s+", " ", drawn[-1]), len(styles), styles))
        rows.append({"program": name, "same": seen[0] == seen[1], "code": seen[0][0], "codes": seen[0][3]})
        print(rows[-1], flush=True)
        if seen[0] != seen[1]:
            print(seen, file=sys.stderr)
    return rows


# Kernels of the simulated GPU compute nothing: a step is Python's and the allocator's work alone, and what is added shows most.
STEPS = """
import time
import torch
from torch import nn
layers = [nn.TransformerEncoderLayer(256, 4, 1024, batch_first=True) for _ in range(6)]
model = nn.Sequential(*layers).cuda()
optimizer = torch.optim.AdamW(model.parameters())
def step():
    loss = model(torch.randn(8, 128, 256, device='cuda')).square().mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
for _ in range(20):
    step()
began = time.perf_counter()
for _ in range(100):
    step()
print('rate', 100 / (time.perf_counter() - began), flush=True)
"""


def inside(args, work):
    """Steps a second with PyTorch's allocator telling (`--snapshot`), and without."""
    script, out = f"{work}/steps.py", f"{work}/out"
    with open(script, "w") as file:
        file.write(STEPS)
    rates = {"without": [], "watched": [], "with": []}
    ways = {"without": [], "watched": watched(args, [])[:-1], "with": watched(args, [], f"--snapshot={work}/shots")[:-1]}
    for _ in range(max(args.repeats // 2, 1)):
        for kind, words in ways.items():
            job = [*words, "--"] * bool(words) + [args.python or sys.executable, script]
            line = " ".join(map(shlex.quote, job)) + f" > {out} 2>&1"
            host = [args.oomdoc, "rehearse", "--allow-writes", "--steps", "0", "--gpu-memory", "8GiB"]
            subprocess.run([*host, "--", "sh", "-c", line],
                           stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
            with open(out) as file:
                rates[kind].append(float(re.search(r"rate ([\d.]+)", file.read())[1]))
    print(rates, flush=True)
    return rates


def page(results, args):
    def middle(times):
        return statistics.median(times)

    lines = [
        "# What `oomdoc run` costs, and what it leaves alone",
        "",
        f"Measured by `tests/run/overhead.py`, which writes this page, with `{results['version']}` on {results['machine']}.",
        "",
    ]
    if "throughput" in results:
        lines += ["## Output", "",
                  f"{PRINTED // MIB} MiB, {args.repeats} times each, with and without in turn; medians, and the lowest and "
                  "highest. The machine had other work, which weighs on both ways. What prints nothing shows what it takes to begin "
                  "and to end.",
                  "", "| job | through a | without | under `oomdoc run` | more, pair by pair |",
                  "| --- | --- | --- | --- | --- |"]
        for row in results["throughput"]:
            more = middle([after - before for before, after in zip(row["without"], row["with"])])
            share = middle([after / before - 1 for before, after in zip(row["without"], row["with"])])
            spans = [f"{middle(row[kind]):.3f} s ({min(row[kind]):.3f}–{max(row[kind]):.3f})"
                     for kind in ("without", "with")]
            lines.append(f"| {row['job']} | {row['way']} | {spans[0]} | {spans[1]} | {more:+.3f} s ({share:+.0%}) |")
        lines.append("")
    if "sampler" in results:
        lines += ["## Looking", "",
                  "Processor time of oomdoc's own processes while a job with a record and `--warn` goes on, as a share of one "
                  f"core, over {WATCHED:.0f} s. It looks ten times a second at most, and less often where that would cost more "
                  "than 0.8 %. All with the kernel's figures of waiting (PSI).",
                  "", "| processes of the job | swap | share of a core | looks a second |", "| --- | --- | --- | --- |"]
        for row in results["sampler"]:
            swap = "yes" if row["swap"] else "none"
            lines.append(f"| {row['processes']} | {swap} | {row['share']:.2%} | {row['looks']:.1f} |")
        lines.append("")
    if "inside" in results:
        rates = {kind: middle(each) for kind, each in results["inside"].items()}
        pairs = list(zip(results["inside"]["without"], results["inside"]["with"]))
        more = middle([1000 / after - 1000 / before for before, after in pairs])
        lines += ["## Steps with `--snapshot`", "",
                  f"A training step on the simulated GPU, whose kernels compute nothing, so that a step is Python's and the "
                  f"allocator's work alone: {rates['without']:.1f} steps a second without, {rates['watched']:.1f} under "
                  f"`oomdoc run`, {rates['with']:.1f} under `oomdoc run --snapshot`, which is {more:.1f} ms a step (medians of "
                  f"{len(pairs)}). PyTorch then records each allocation with its stack, which takes the same where a step takes "
                  "longer because a GPU computes.", ""]
    if "records" in results:
        row = results["records"]
        lines += ["## Many records", "",
                  f"`oomdoc explain` of {row['records']:,} records ({row['mib']:.0f} MiB): {row['seconds']:.2f} s, "
                  f"{row['cpu']:.2f} s of processor time, {row['rss']:.0f} MiB at most. It tells: “{row['head']}”.", ""]
    if "ends" in results:
        alike = sum(row["without"] == row["with"] for row in results["ends"])
        lines += ["## Ends", "", f"{alike} of {len(results['ends'])} alike, as a shell reports them.", "",
                  "| the job | without | under `oomdoc run` |", "| --- | --- | --- |"]
        lines += [f"| {row['end']} | {row['without']} | {row['with']} |" for row in results["ends"]] + [""]
    if "programs" in results:
        lines += ["## Programs in a terminal", "",
                  "The last line that each leaves, the colours and modes that it sets, what it wrote, and its exit code: the "
                  "same with and without?", "", "| program | the same | colours and modes |", "| --- | --- | --- |"]
        for row in results["programs"]:
            same = {None: "not installed", True: "yes", False: "**no**"}[row["same"]]
            lines.append(f"| {row['program']} | {same} | {row.get('codes', '')} |")
        lines.append("")
    with open(PAGE, "w") as file:
        file.write("\n".join(lines).rstrip() + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--oomdoc", default=f"{ROOT}/target/release/oomdoc")
    parser.add_argument("--python")
    parser.add_argument("--only")
    parser.add_argument("--repeats", type=int, default=REPEATS)
    args = parser.parse_args()
    parts = {"throughput": throughput, "sampler": sampler, "inside": inside, "records": records, "ends": ends,
             "programs": programs}
    results = json.load(open(RESULTS)) if args.only and os.path.exists(RESULTS) else {}
    version = subprocess.run([args.oomdoc, "--version"], capture_output=True, text=True, check=True).stdout.strip()
    results |= {"version": version, "machine": f"{os.cpu_count()} cores, Linux {os.uname().release.split('-')[0]}"}
    for part in args.only.split(",") if args.only else parts:
        with tempfile.TemporaryDirectory() as work:
            results[part] = parts[part](args, work)
    with open(RESULTS, "w") as file:
        json.dump(results, file, indent=1, ensure_ascii=False)
        file.write("\n")
    page(results, args)


if __name__ == "__main__":
    main()
