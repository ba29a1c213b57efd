#!/usr/bin/env python3
"""Runs real programs into the limits of the host: address space, control group, /dev/shm. Root on Linux with control groups v1.

    oomdoc rehearse --steps 0 --time-limit 1h --gpu-memory 24GiB --torch-python TORCH --show-output --
        python3 tests/planted/make_host.py --torch TORCH --plain PLAIN [--only REGEX]

The rehearsal only gives a CUDA build of torch the libraries that it cannot be imported without. --torch can import torch; --plain numpy, pandas, joblib, scikit-learn and jax. See README.md.
"""
import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from make import held, thin  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
GROUPS = pathlib.Path("/sys/fs/cgroup/memory")
MIB = 1 << 20

# program, plant, cause (and what else is accepted), arguments, limits, told: the log alone can tell, options
CASES = []


def case(program, name, causes, arguments, told, group=None, space=None, shm=None, resource=None, framework=("python",), python="plain",
         kernel=False, expect="", survives=False):
    CASES.append(dict(program=program, name=name, causes=causes.split(), arguments=[str(a) for a in arguments], told=told, group=group,
                      space=space, shm=shm, resource=resource or ("cgroup" if group else "shm" if shm else "host"),
                      framework=list(framework), python=python, kernel=kernel, expect=expect, survives=survives))


PANDAS = ("numpy", "pandas", "python")
KILLED = ("linux-kernel", "python", "pandas", "numpy")
for i, space in enumerate((700, 900, 1200)):
    case("etl", "merge", "host_memory single_huge_allocation", (200_000 * (i + 2), 1000, "told"), True, space=space, framework=PANDAS)
    case("etl", "pivot", "host_memory single_huge_allocation", (100_000, 30_000 * (i + 1), "pivot"), True, space=space, framework=PANDAS)
case("etl", "object", "host_memory", (3_000_000, 1000, "object"), True, space=800, framework=PANDAS)
case("etl", "merge-silent", "host_memory", (500_000, 1000, "silent"), True, space=800, framework=PANDAS)
for i, group in enumerate((200, 300, 450)):
    case("etl", "killed", "host_memory", (2_000_000 + 900_000 * i, 1000, "object"), False, group=group, framework=KILLED)
    case("etl", "killed-kernel", "host_memory", (2_500_000 + 800_000 * i, 1000, "object"), True, group=group, framework=KILLED, kernel=True)
for count in (300_000, 900_000, 2_000_000, 5_000_000):
    case("similarity", "pairs", "single_huge_allocation host_memory", (count, 128, "pairs"), True, framework=("numpy", "python"))
for count in (200_000, 600_000, 1_500_000):
    case("similarity", "broadcast", "single_huge_allocation host_memory", (count, 64, "broadcast"), True, framework=("numpy", "python"))
case("similarity", "units", "single_huge_allocation host_memory", (20_000, 512, "units"), True, framework=("numpy", "python"))
case("similarity", "units", "single_huge_allocation host_memory", (20_000, 1024, "units"), True, framework=("numpy", "python"))
for i, space in enumerate((600, 900)):
    case("similarity", "blocks-told", "leak_growth host_memory", (4_000_000, 256, "told"), True, space=space, framework=("numpy", "python"))
    case("similarity", "blocks-silent", "leak_growth host_memory", (4_000_000, 128 * (i + 1), "silent"), False, space=space, framework=("numpy", "python"))
for i, space in enumerate((200, 300, 420)):
    for style in ("rss", "count", "percent", "silent"):
        case("crawl", "limit-" + style, "leak_growth host_memory", (20_000 + 7000 * i, style), style != "silent", space=space)
for i, group in enumerate((60, 90, 140)):
    for style in ("rss", "count", "silent"):
        case("crawl", "killed-" + style, "leak_growth host_memory", (30_000, style), style != "silent", group=group, framework=KILLED, kernel=i == 2)
WORKERS = ("python", "joblib", "linux-kernel", "scikit-learn")
for i, count in enumerate((3, 4, 6, 8)):
    case("workers", "futures", "host_workers host_memory", (count, 60, "futures", "told"), True, group=count * 60, framework=WORKERS, kernel=i == 1)
    case("workers", "joblib", "host_workers host_memory", (count, 60, "joblib", "told"), True, group=count * 60, framework=WORKERS, kernel=i == 2)
    if i % 2:
        case("workers", "futures-silent", "host_workers host_memory", (count, 60, "futures", "silent"), False, group=count * 60, framework=WORKERS)
        case("workers", "joblib-silent", "host_workers host_memory", (count, 60, "joblib", "silent"), False, group=count * 60, framework=WORKERS)
TORCH = ("pytorch", "linux-kernel", "python")
for i, (workers, prefetch) in enumerate(((2, 2), (4, 2), (6, 4), (8, 4))):
    case("loader", "worker-cache", "host_workers leak_growth host_memory", (workers, prefetch, 6, "cache", "told" if i % 2 else "rss"), True,
         group=420 + 100 * i, framework=TORCH, python="torch", kernel=i == 3)
    case("loader", "prefetch", "host_workers shared_memory host_memory", (workers, 6 + 4 * i, 24, "plain", "told"), True, group=450 + 90 * i,
         framework=TORCH, python="torch", kernel=i == 2)
case("loader", "worker-cache-silent", "host_workers host_memory", (4, 2, 6, "cache", "silent"), True, group=600, framework=TORCH, python="torch")
case("loader", "main-cache", "leak_growth host_memory", (0, 0, 6, "cache", "rss"), True, group=600, framework=TORCH, python="torch")
case("loader", "main-cache", "leak_growth host_memory", (0, 0, 3, "cache", "silent"), False, group=500, framework=TORCH, python="torch")
for i, shm in enumerate((16, 64, 64, 128, 256)):
    case("loader", "shm", "shared_memory", (2 + 2 * i, 2 + i, 12, "plain", ("told", "shm", "silent")[i % 3]), True, shm=shm,
         framework=TORCH, python="torch")
for i, shm in enumerate((16, 64, 128)):
    case("blocks", "shm-told", "shared_memory", (7 + 2 * i, 40, "told"), True, shm=shm, expect="Bus error|No space")
    case("blocks", "shm-silent", "shared_memory", (7 + 2 * i, 40, "silent"), False, shm=shm, expect="Bus error|No space")
for i, space in enumerate((6, 7, 8)):
    case("cpu_train", "model", "host_memory capacity", (8192, 14 + 4 * i, 64, "plain"), True, space=4000 + 500 * i, framework=TORCH, python="torch")
    case("cpu_train", "kept-outputs", "leak_growth host_memory", (256, 4, 100_000 + 20_000 * i, "leak"), True, space=4300 + 300 * i, framework=TORCH, python="torch")
case("cpu_train", "kept-outputs-silent", "leak_growth host_memory", (256, 4, 110_000, "quiet-leak"), False, space=4600, framework=TORCH, python="torch")
for batch in (200, 500, 1200):
    case("cpu_train", "pairs", "single_huge_allocation host_memory", (512, 3, batch, "pairs"), True, space=5000, framework=TORCH, python="torch")
JAX = ("jax", "python")
for i, rows in enumerate((80_000, 200_000, 400_000)):
    case("jax_train", "pairs", "single_huge_allocation host_memory capacity", (rows, 8, "pairs", "plain"), True, space=6000, framework=JAX)
    case("jax_train", "leak", "leak_growth host_memory", (rows // 4, 512, "leak", "told"), True, space=3000 + 500 * i, framework=JAX)
case("jax_train", "leak-silent", "leak_growth host_memory", (50_000, 512, "leak", "plain"), False, space=3500, framework=JAX)


def kernel_lines(since, pids_of):
    """What the kernel itself wrote since then about a kill in our group."""
    lines = subprocess.run(["dmesg"], capture_output=True, text=True).stdout.splitlines()
    new = lines[len(since):] if lines[:len(since)] == since else lines[-120:]
    first = next((i for i, line in enumerate(new) if "invoked oom-killer" in line), None)
    last = max((i for i, line in enumerate(new) if "Killed process" in line or "oom_reaper" in line), default=None)
    if first is None or last is None or pids_of not in "\n".join(new):
        return []
    return new[first:last + 1]


def run(one, folder, python, number):
    room = folder / ("run%d" % number)
    room.mkdir()
    script = one["program"] + ".py"
    shutil.copy(HERE / "host" / script, room)
    group = GROUPS / ("job_%d" % (4000 + number))
    lines = ["#!/bin/bash"]
    if one["space"]:
        lines.append("ulimit -v %d" % (one["space"] * 1024))
    lines.append("python %s %s" % (script, " ".join(one["arguments"])))
    (room / "run.sh").write_text("\n".join(lines) + "\n")
    setup = "cd %s; export PATH=%s:$PATH PYTHONPATH= PYTHONUNBUFFERED=1 OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 LC_ALL=C.UTF-8; ulimit -c 0; " % (
        room, pathlib.Path(python).parent)
    if one["shm"]:
        setup += "mount -t tmpfs -o size=%dm shm /dev/shm; " % one["shm"]
    if one["group"]:
        group.mkdir()
        (group / "memory.limit_in_bytes").write_text(str(one["group"] * MIB))
        (group / "memory.swappiness").write_text("0")
        setup += "echo $BASHPID > %s/cgroup.procs; " % group
    before = subprocess.run(["dmesg"], capture_output=True, text=True).stdout.splitlines() if one["kernel"] else []
    began = time.time()
    with open(room / "log", "wb") as log:
        process = subprocess.Popen(["unshare", "-m", "--propagation", "private", "bash", "-c", setup + "exec bash run.sh"], stdout=log, stderr=log,
                                   start_new_session=True)
        try:
            status = process.wait(60)
        except subprocess.TimeoutExpired:
            status = "stopped"
        try:
            os.killpg(process.pid, 9)
        except OSError:
            pass
        process.wait()
    text = (room / "log").read_bytes().decode("utf-8", "replace")
    if one["kernel"]:
        text = text.rstrip("\n") + "\n" + "\n".join(kernel_lines(before, group.name)) + "\n"
        if "Killed process" not in text:
            status = "no lines of the kernel"
    if one["group"]:
        for pid in (group / "cgroup.procs").read_text().split():
            os.kill(int(pid), 9)
        time.sleep(0.2)
        group.rmdir()
    shutil.rmtree(room)
    venv = str(pathlib.Path(python).parent.parent)
    text = text.replace(str(room), "/home/user/project").replace(venv, "/home/user/venv")
    text = re.sub(r"/\S*?/lib/python3\.(\d+)/(?!site-packages)", r"/usr/lib/python3.\1/", text)
    # The supervisor of the machine that this ran on is no part of the program's control group.
    text = re.sub(r"/process_api/[0-9a-f]+", "", text)
    return text, status, time.time() - began


FAILED = (r"MemoryError|Unable to allocate|Killed|killed|Bus error|Out of memory|out of memory|can't allocate memory|RESOURCE_EXHAUSTED|"
          r"terminated abruptly|bad_alloc|TerminatedWorker|No space left")
UNITS = {"": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40, "PiB": 1 << 50, "EiB": 1 << 60}


def facts_of(text):
    """The figures that the failure's own message prints."""
    facts = {}
    row = re.search(r"Unable to allocate ([\d.]+) (\w?i?B)", text) or re.search(r"Unable to allocate ([\d.]+) (\w+)", text)
    if row and row[2] in UNITS:
        facts["requested_bytes"] = round(float(row[1]) * UNITS[row[2]])
    row = re.search(r"you tried to allocate (\d+) bytes|Out of memory allocating (\d+) bytes", text)
    if row:
        facts["requested_bytes"] = int(row[1] or row[2])
    row = re.search(r"Killed process (\d+) \(([^)]+)\) total-vm:(\d+)kB, anon-rss:(\d+)kB, file-rss:(\d+)kB, shmem-rss:(\d+)kB", text)
    if row:
        facts.update(pid=int(row[1]), process_name=row[2])
        for place, name in enumerate(("total_vm", "anon_rss", "file_rss", "shmem_rss")):
            facts[name + "_bytes"] = int(row[3 + place]) * 1024
        limit = re.search(r"memory: usage \d+kB, limit (\d+)kB", text)
        if limit:
            facts["limit_bytes"] = int(limit[1]) * 1024
    return facts


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--torch", required=True)
    parser.add_argument("--plain", required=True)
    parser.add_argument("--out", default=str(HERE / "logs"))
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    out = pathlib.Path(options.out)
    out.mkdir(parents=True, exist_ok=True)
    folder = pathlib.Path(tempfile.mkdtemp(prefix="planted-"))
    known = {json.loads(path.read_text())["source"] for path in out.glob("*.json")}
    for number, one in enumerate(CASES):
        source = "planted:%s:%s:%s-%d" % (one["program"], one["causes"][0], one["name"], number)
        if source in known or not re.search(options.only, one["name"] + ":" + one["program"]):
            continue
        text, status, seconds = run(one, folder, options.torch if one["python"] == "torch" else options.plain, number)
        good = status not in (0, "stopped", "no lines of the kernel") and re.search(one["expect"] or FAILED, text)
        print("%-12s %-22s %4.1f s  %s" % (one["program"], one["name"], seconds, "kept" if good else "%s: %s" % (status, text[-200:])), flush=True)
        if not good:
            continue
        limit = "control group of %d MiB" % one["group"] if one["group"] else "/dev/shm of %d MiB" % one["shm"] if one["shm"] else \
            "ulimit -v of %d MiB" % one["space"] if one["space"] else "no limit"
        held_back = held(one["program"], one["causes"][0])
        identity = "%04d" % (5000 + number)
        label = {"id": identity, "source": source, "framework": one["framework"], "resource": one["resource"], "facts": facts_of(text),
                 "causes": one["causes"], "cause_basis": "construction", "confirmed": True, "derivable": one["told"], "held": held_back,
                 "notes": "plant %s: %s; %s" % (one["name"], " ".join(one["arguments"]), limit), "log_origin": "local-run"}
        (out / (identity + ".log")).write_text(thin(text))
        (out / (identity + ".json")).write_text(json.dumps(label, indent=1) + "\n")
    shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
