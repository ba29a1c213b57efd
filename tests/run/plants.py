"""Twenty programs with a planted cause, each run bare and under `oomdoc run`: what the log alone says against what was watched.

    cargo build && python tests/run/plants.py --python /path/to/python [--only NAME,...] [--work FOLDER]

Linux, as root: limits are control groups of version 1 or 2 that are made for each run, limits of the shell, a small /dev/shm,
a simulated GPU (`oomdoc rehearse`), a pretended libnvidia-ml with a stranger, and files laid over those of /proc where a
whole machine's memory ends. The programs were written, and their truths noted, by somebody who had not seen the detectors.
Needs a Python with a CUDA build of torch; no GPU. Writes plants.json and plants.md: one pass, one build.

* named: the cause is the truth, and it is said to be proved or likely;
* in part: it leads, and nothing is said to be decided;
* undecided: another cause leads, and nothing is said to be decided;
* silent: no failure of memory is seen;
* wrong: another cause is said to be proved or likely;
* did not fail: the failure was not provoked, so that there was nothing to name;
* stopped: it came to hold more than any of them should, or took too long, and was ended by this script.

Whatever a program starts is a descendant of this script also when its parents have ended, is counted as such, and ends
with its run.
"""

import argparse
import ctypes
import glob
import json
import os
import shlex
import shutil
import signal
import subprocess
import tempfile
import time
from collections import Counter

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
MIB = 1 << 20

# No program needs more to run into its bounds, with everybody that it starts; and it is looked at so often, in seconds.
MOST = 4096 * MIB
EVERY = 0.5

# prctl(2): orphans among the descendants come to this process.
PR_SET_CHILD_SUBREAPER = 36

# What each program runs into. Group: MiB of a control group. Device: of the simulated GPU. The rest are words of a shell.
BOUNDS = {
    "build_vocab": {"group": 700},
    "crawl_images": {"shell": "ulimit -s 512; ulimit -v 2097152"},
    "embed_docs": {"device": "2GiB"},
    "feed_model": {"shell": "ulimit -v 1572864"},
    "finetune_lm": {"device": "4GiB"},
    "join_features": {"shell": "ulimit -v 1572864"},
    "one_hot": {"shell": "ulimit -v 4194304", "stubs": True},
    "pretrain": {"device": "4GiB"},
    "rank_ads": {"machine": True},
    "ranks": {"group": 1300, "stubs": True},
    "save_ckpt": {"shell": "ulimit -v 1679360"},
    "score_pool": {"group": 900},
    "stage_batches": {"shell": "ulimit -l 8192", "before": "setpriv --bounding-set=-ipc_lock --inh-caps=-ipc_lock"},
    "train_audio": {"group": 1800, "stubs": True},
    "train_cls": {"device": "2GiB"},
    "train_detect": {"shm": 64, "stubs": True},
    "train_longctx": {"device": "4GiB"},
    "train_rank": {"stranger": True},
    "train_seg": {"device": "4GiB"},
    "train_vision": {"group": 1400, "stubs": True},
}


def group(mib):
    """A control group with this limit, as its folder; None where none can be made."""
    for line in open("/proc/self/cgroup"):
        number, controllers, path = line.strip().split(":", 2)
        if controllers == "memory":
            folder, limit = f"/sys/fs/cgroup/memory{path}/plant", "memory.limit_in_bytes"
            break
    else:
        folder, limit = "/sys/fs/cgroup/plant", "memory.max"
    try:
        # What another run left in its cache would count.
        removed(folder)
        os.makedirs(folder)
        with open(f"{folder}/{limit}", "w") as file:
            file.write(str(mib * MIB))
    except OSError:
        return None
    return folder


def removed(folder):
    """Takes a group away, with whoever was left behind in it."""
    for _ in range(50):
        try:
            os.rmdir(folder)
            return
        except FileNotFoundError:
            return
        except OSError:
            with open(f"{folder}/cgroup.procs") as file:
                for pid in file.read().split():
                    os.kill(int(pid), signal.SIGKILL)
            time.sleep(0.1)


def descendants(of, spared=()):
    """The processes below this one, without those that are spared."""
    children = {}
    for folder in glob.glob("/proc/[0-9]*"):
        try:
            with open(f"{folder}/stat") as file:
                parent = int(file.read().rpartition(")")[2].split()[1])
        except OSError:
            continue
        children.setdefault(parent, []).append(int(os.path.basename(folder)))
    found, waiting = [], [of]
    while waiting:
        below = [pid for pid in children.get(waiting.pop(), []) if pid not in spared]
        found += below
        waiting += below
    return found


def figure(path, name):
    """A line of a file of /proc in bytes; 0 where its process has ended."""
    try:
        with open(path) as file:
            return sum(int(line.split()[1]) << 10 for line in file if line.startswith(f"{name}:"))
    except OSError:
        return 0


def held(pids):
    """What processes hold together. Shared pages are shared out only where that decides: the kernel goes through all for it."""
    whole = sum(figure(f"/proc/{pid}/status", "VmRSS") for pid in pids)
    return whole if whole <= MOST else sum(figure(f"/proc/{pid}/smaps_rollup", "Pss") for pid in pids)


def end(spared=()):
    """Ends everything below this script, however late it was started."""
    while pids := descendants(os.getpid(), spared):
        for pid in pids:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        # Orphans are this process's to reap.
        for pid in pids:
            try:
                os.waitpid(pid, 0)
            except ChildProcessError:
                pass


def within(line, environment, timeout, spared):
    """Runs it as long, and with as much memory, as any of the programs needs. Why it was stopped, else None."""
    job = subprocess.Popen(line, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL)
    ends = time.monotonic() + timeout
    why = None
    while why is None:
        try:
            job.wait(EVERY)
            break
        except subprocess.TimeoutExpired:
            bytes_held = held(descendants(os.getpid(), spared))
            if bytes_held > MOST:
                why = f"held {bytes_held // MIB} MiB"
            elif time.monotonic() > ends:
                why = f"ran for {timeout} s"
    end(spared)
    return why


def command(name, words, work, args):
    """The shell's line that runs a program within its bounds; `words` stand in front of it."""
    bounds = BOUNDS[name]
    job = " ".join([*map(shlex.quote, words), "python", f"{name}.py"])
    if "before" in bounds:
        job = f"{bounds['before']} {job}"
    if "shell" in bounds:
        job = f"{bounds['shell']}; exec {job}"
    if "group" in bounds:
        folder = group(bounds["group"])
        if folder is None:
            return None
        job = f"echo 0 > {folder}/cgroup.procs; exec {job}"
    if "shm" in bounds:
        inner = f"mount -t tmpfs -o size={bounds['shm']}m tmpfs /dev/shm; exec {job}"
        job = f"exec unshare -m sh -c {shlex.quote(inner)}"
    if "machine" in bounds:
        files = f"{work}/proc"
        os.makedirs(files, exist_ok=True)
        for file in ("meminfo", "vmstat", "swaps"):
            shutil.copyfile(f"/proc/{file}", f"{files}/{file}")
        shutil.copyfile("/proc/pressure/memory", f"{files}/pressure")
        watch = f"python3 -I {HERE}/pressure.py $$ {name} {files}"
        over = "; ".join(f"mount --bind {files}/{file} /proc/{file}" for file in ("meminfo", "vmstat", "swaps"))
        inner = f"{over}; mount --bind {files}/pressure /proc/pressure/memory; {watch} > {work}/pressure.log 2>&1 & "
        job = f"PRESSURE_INIT=1 {watch}; exec unshare -m bash -c {shlex.quote(inner + 'sleep 0.3; exec ' + job)}"
    if bounds.get("stubs"):
        job = f"export LD_LIBRARY_PATH={args.stubs} CUDA_VISIBLE_DEVICES=; {job}"
    return job


def run(name, words, out, work, args):
    """Runs it; the output goes to `out`. The exit code, why it was stopped, or None where the bounds cannot be set here."""
    line = command(name, words, work, args)
    if line is None:
        return None
    code = f"{out}.code"
    script = f"{work}/job.sh"
    with open(script, "w") as file:
        # `rehearse` runs what comes out close again on devices that are a little larger or smaller: the first run is the
        # plant. The shell's own word about a killed process belongs to the log.
        file.write(f"[ -e {code} ] && exit\nexec > {out} 2>&1\ncd {args.programs}\n(\n{line}\n)\necho $? > {code}\n")
    device = BOUNDS[name].get("device")
    host = [args.oomdoc, "rehearse", "--allow-writes", "--steps", "0", "--gpu-memory", device, "--"] if device else []
    environment = dict(os.environ, OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", PYTHONUNBUFFERED="1", OOMDOC=args.oomdoc)
    environment["PATH"] = f"{os.path.dirname(args.python)}:{environment['PATH']}"
    stranger = None
    if BOUNDS[name].get("stranger"):
        shared = tempfile.mkdtemp(dir=work)
        environment |= {"FAKE_GPU_DIR": shared, "LD_PRELOAD": args.shared_gpu, "FAKE_NVML": f"{HERE}/stranger.scenario"}
        environment["LD_LIBRARY_PATH"] = f"{args.nvml}:{args.stubs}"
        stranger = subprocess.Popen(
            ["python3", "serve_chat.py"], cwd=args.programs, env={"FAKE_GPU_DIR": shared, "PATH": os.environ["PATH"]},
            stderr=subprocess.DEVNULL, start_new_session=True)
    try:
        why = within([*host, "bash", script], environment, args.timeout, {stranger.pid} if stranger else set())
    finally:
        if stranger:
            stranger.kill()
            stranger.wait()
    if why is not None:
        return why
    try:
        with open(code) as file:
            return int(file.read())
    except (OSError, ValueError):
        return "left no exit code"


def said(args, path):
    """The first cause, its share and what is concluded, of a log or a record."""
    told = subprocess.run([args.oomdoc, "explain", "--json", path], capture_output=True, text=True, check=False)
    incidents = json.loads(told.stdout or "{}").get("incidents", [])
    primary = [incident for incident in incidents if incident["primary"]] or incidents
    if not primary or not primary[0]["causes"]:
        return None
    first = primary[0]["causes"][0]
    return {"cause": first["id"], "share": round(first["confidence"], 2), "conclusion": primary[0]["conclusion"],
            "because": (first.get("evidence") or [{}])[0].get("text", "")}


def judged(answer, truth, code):
    if code in (0, None):
        return "did not fail"
    if isinstance(code, str):
        return "stopped"
    if answer is None:
        return "silent"
    decided = answer["conclusion"] in ("proved", "likely")
    if answer["cause"] in truth:
        return "named" if decided else "in part"
    return "wrong" if decided else "undecided"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--oomdoc", default=f"{ROOT}/target/debug/oomdoc")
    parser.add_argument("--python", required=True)
    parser.add_argument("--stubs", default="", help="folder of libraries that a CUDA build of torch is linked with")
    parser.add_argument("--nvml", default="", help="folder with tests/fakes/nvml.rs built as libnvidia-ml.so.1")
    parser.add_argument("--only")
    parser.add_argument("--work")
    parser.add_argument("--timeout", type=int, default=180)
    args = parser.parse_args()
    if ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl")
    work = args.work or tempfile.mkdtemp()
    os.makedirs(work, exist_ok=True)
    args.programs = f"{work}/programs"
    shutil.copytree(f"{HERE}/programs", args.programs, dirs_exist_ok=True)
    os.makedirs(f"{args.programs}/data", exist_ok=True)
    with open(f"{args.programs}/data/corpus.bin", "wb") as file:
        file.truncate(1 << 30)
    args.shared_gpu = f"{work}/libshared_gpu.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", args.shared_gpu, f"{HERE}/shared_gpu.c", "-ldl"], check=True)
    truths = json.load(open(f"{HERE}/truths.json"))
    results = f"{HERE}/plants.json"
    rows = json.load(open(results)) if args.only and os.path.exists(results) else {}
    for name in args.only.split(",") if args.only else sorted(BOUNDS):
        folder = f"{work}/{name}"
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
        row = {"bare_code": run(name, [], f"{folder}/bare.log", folder, args)}
        watch = [args.oomdoc, "run", f"--record={folder}/record", f"--snapshot={folder}/snapshots", "--"]
        row["run_code"] = run(name, watch, f"{folder}/run.log", folder, args)
        if row["bare_code"] is not None:
            row["bare"] = said(args, f"{folder}/bare.log")
            row["run"] = said(args, f"{folder}/record")
        rows[name] = row
        print(name, row, flush=True)
    for folder in glob.glob("/sys/fs/cgroup/**/plant", recursive=True):
        removed(folder)
    with open(results, "w") as file:
        json.dump(rows, file, indent=1, ensure_ascii=False)
        file.write("\n")
    page(rows, truths)


def page(rows, truths):
    def verdict(name, row, kind):
        return judged(row.get(kind), truths[name]["causes"], row[f"{kind}_code"])

    def cell(name, row, kind):
        answer, word = row.get(kind), verdict(name, row, kind)
        if answer is None or word in ("did not fail", "stopped"):
            return word
        return f"{answer['cause']}, {answer['share']:.0%}, {answer['conclusion']}: **{word}**"

    words = ("named", "in part", "undecided", "silent", "wrong", "did not fail", "stopped")
    counted = {kind: Counter(verdict(name, row, kind) for name, row in rows.items()) for kind in ("bare", "run")}
    told = {kind: ", ".join(f"{counts[word]} {word}" for word in words if counts[word]) for kind, counts in counted.items()}
    with open(f"{HERE}/plants.md", "w") as file:
        file.write(
            "# Planted causes, with and without somebody who watches\n\n"
            f"{len(rows)} programs, each run once bare and once under `oomdoc run --snapshot` by `tests/run/plants.py`, which writes "
            "this page; one pass with one build. Where an early pass failed, what to look at was learnt from that: the first one "
            "named 13 under `oomdoc run`, and one in which only the first run of a rehearsal counted 15. Of programs that nobody "
            "has seen fewer will be named than here.\n\n"
            f"The log alone: {told['bare']}.\nUnder `oomdoc run`: {told['run']}.\n\n"
            "| program | planted | the log alone | under `oomdoc run` |\n| --- | --- | --- | --- |\n")
        for name, row in sorted(rows.items()):
            truth = truths[name]
            file.write(f"| {name} | {truth['planted']} ({', '.join(truth['causes'])}) | {cell(name, row, 'bare')} "
                       f"| {cell(name, row, 'run')} |\n")


if __name__ == "__main__":
    main()
