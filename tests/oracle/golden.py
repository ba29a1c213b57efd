#!/usr/bin/env python3
"""Digests of runs of PyTorch's own allocator, small enough to keep.

  golden.py make BUILD FOLDER      run BUILD/VERSION/harness for every built release, write FOLDER/*.trace and expected.json
  golden.py check OOMDOC FOLDER    run `OOMDOC simulate` on the same and compare

A digest is the 64-bit FNV-1a of every 50 lines of output, the last record left out."""
import json, os, pathlib, subprocess, sys

from generate import generate

CHUNK = 50
CONTEXT = 412  # MiB
SETTINGS = [("", None), ("expandable_segments:True", None), ("max_split_size_mb:64", None),
            ("max_split_size_mb:200,garbage_collection_threshold:0.8", "0.9"), ("roundup_power2_divisions:[256:1,512:2,1024:4,>:8]", None),
            ("expandable_segments:True", "0.5")]
# Profile, seed, MiB that live at most, MiB of the device, streams.
TRACES = [("train", 31, 3000, 4096, 0), ("serve", 32, 6000, 8192, 2), ("grow", 33, 3500, 4096, 0), ("chaos", 34, 3000, 4096, 2)]
SPECIAL = {
    # Private pools, held events, settings and limits that change on the way.
    "pools": ["pb 1", "a 1 5000000", "a 2 70000000", "pe 1", "a 3 100", "pb 2", "a 4 30000000 1", "f 2", "pe 2", "a 5 60000000",
              "p 1", "a 6 40000000", "r 6 1", "f 6", "a 7 40000000", "p 0", "a 8 40000000", "pr 2", "f 4", "f 1", "a 9 900000000", "e",
              "m 0.25", "a 10 600000000", "m 0.9", "c roundup_power2_divisions:4", "a 11 1300000", "pr 1", "a 12 4000000000", "z", "s"],
    "limits": ["a 1 0", "a 2 1152921504606846976", "a 3 1048576", "a 4 1048577", "a 5 10485249", "a 6 10485248", "f 3", "f 4", "a 7 1",
               "r 7 2", "f 7", "a 8 1 2", "a 8 513", "f 99", "s", "e", "s"],
    # Remainders of exactly 1 MiB, which stay with their block, beside those of a byte class more; and under a split limit a
    # demand that two of three free blocks meet to the byte.
    "remainders": [*(f"a {mib} {mib << 20}" for mib in range(11, 41)), "s", *(f"f {mib}" for mib in range(11, 41)), "e",
                   "a 50 19922432", "a 51 19922944", "a 52 19923456", "s", "f 50", "f 51", "f 52", "a 53 19922944", "a 54 1048576",
                   "s", "e", *(f"a {n} 1048576000" for n in (60, 61, 62)), "f 60", "f 61", "f 62", "a 63 2097152000", "s",
                   "a 64 1500000000", "s"],
}


def digest(lines):
    out, value = [], 0xCBF29CE484222325
    for n, line in enumerate(lines, 1):
        for byte in (line + "\n").encode():
            value = (value ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
        if n % CHUNK == 0 or n == len(lines):
            out.append(f"{value:016x}")
    return out


def run(command, env=None):
    done = subprocess.run(command, capture_output=True, text=True, errors="surrogateescape", env=env)
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    complete = lines and lines[-1].startswith('{"final"')
    # The processes of the two runs have different ids; the texts do not show them.
    return lines[:-1] if complete and "INTERNAL ASSERT" not in done.stdout else None


def make(build, folder):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    traces = {f"{profile}.trace": (generate(profile, seed, 300, budget, streams, 0.05), total) for profile, seed, budget, total, streams in TRACES}
    traces |= {f"{name}.trace": (lines, 4096) for name, lines in SPECIAL.items()}
    runs = []
    for name, (lines, total) in traces.items():
        (folder / name).write_text("\n".join(lines) + "\n")
        for version in sorted(os.listdir(build), key=lambda v: [int(n) for n in v.split(".")]):
            for conf, fraction in SETTINGS:
                env = {k: v for k, v in os.environ.items() if not k.startswith(("PYTORCH_", "FAKEGPU_"))}
                env |= {"FAKEGPU_TOTAL": f"{total}M", "FAKEGPU_CONTEXT": f"{CONTEXT}M"} | ({"PYTORCH_CUDA_ALLOC_CONF": conf} if conf else {})
                command = [f"{build}/{version}/harness", *(["--fraction", fraction] if fraction else []), str(folder / name)]
                if got := run(command, env):
                    runs.append({"torch": version, "trace": name, "capacity_mib": total, "conf": conf, "fraction": fraction, "digest": digest(got)})
    (folder / "expected.json").write_text("[\n" + ",\n".join(json.dumps(run) for run in runs) + "\n]\n")
    print(len(runs), "runs")


def check(oomdoc, folder):
    folder, bad = pathlib.Path(folder), 0
    runs = json.loads((folder / "expected.json").read_text())
    for wanted in runs:
        command = [oomdoc, "simulate", str(folder / wanted["trace"]), "--format", "jsonl", "--torch", wanted["torch"], "--conf", wanted["conf"],
                   "--capacity", f"{wanted['capacity_mib']}MiB", "--context", f"{CONTEXT}MiB"]
        got = digest(run(command + (["--fraction", wanted["fraction"]] if wanted["fraction"] else [])) or [])
        if got != wanted["digest"]:
            bad += 1
            at = next((n for n, pair in enumerate(zip(got, wanted["digest"])) if pair[0] != pair[1]), len(got))
            print(f"{wanted['torch']} {wanted['trace']} {wanted['conf']} {wanted['fraction']}: differs from request {at * CHUNK} on")
    print(f"{len(runs) - bad}/{len(runs)} runs identical")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit({"make": make, "check": check}[sys.argv[1]](*sys.argv[2:4]))
