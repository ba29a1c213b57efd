#!/usr/bin/env python3
"""How well stated confidence agrees with being right, on a folder of labelled logs.

usage: calibration.py OOMDOC FOLDER [--half even|odd] [--misses]

The folder holds pairs NAME.log (what programs printed) and NAME.json (what a careful reader takes from it), of which
`id`, `framework` (a list of accepted names), `resource` and `causes` (ranked ids) are read. Logs that are no
out-of-memory failure (`not_oom` first) are left out. `--half` takes only every second log, by the last digit of the
number in the id: tune on one half, look at the other.

Printed are the table of confidence against accuracy for the first cause, its expected calibration error, the accuracy
per family of programs, and the confusion of first causes.
"""
import argparse
import collections
import json
import pathlib
import re
import subprocess
import sys

BUCKETS = ((0.0, 0.2), (0.2, 0.3), (0.3, 0.4), (0.4, 0.5), (0.5, 0.6), (0.6, 0.7), (0.7, 0.8), (0.8, 0.9), (0.9, 1.01))
FAMILIES = (
    ("pytorch", {"pytorch", "fsdp", "megatron"}),
    ("engines", {"vllm", "sglang", "tgi", "tensorrt-llm", "lmdeploy", "llama.cpp", "ollama", "exllama", "triton"}),
    ("jax, tensorflow", {"jax", "tensorflow", "exla"}),
    ("kernel, containers, schedulers", {
        "linux-kernel", "kubernetes", "slurm", "docker", "ray", "dask", "spark", "systemd-oomd", "earlyoom", "lsf"}),
    ("other", None),
)


def family(frameworks):
    for name, members in FAMILIES:
        if members is None or members & set(frameworks):
            return name
    return "other"


def explain(oomdoc, log):
    done = subprocess.run(
        [oomdoc, "explain", "--format", "json", str(log)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=30)
    try:
        incidents = json.loads(done.stdout or b"{}").get("incidents", [])
    except ValueError:
        return None
    return next((incident for incident in incidents if incident.get("primary")), None)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("oomdoc")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--half", choices=("even", "odd"))
    parser.add_argument("--misses", action="store_true", help="list every wrong first cause")
    args = parser.parse_args()

    rows = []
    for path in sorted(args.folder.glob("*.json")):
        want = json.loads(path.read_text())
        log = path.with_suffix(".log")
        digits = re.findall(r"\d", want["id"])
        if not log.exists() or want["causes"][:1] == ["not_oom"] or want["resource"] == "none":
            continue
        if args.half and digits and (int(digits[-1]) % 2 == 0) != (args.half == "even"):
            continue
        incident = explain(args.oomdoc, log)
        causes = (incident or {}).get("causes", [])
        first = causes[0] if causes else {"id": "nothing", "confidence": 0.0}
        rows.append({
            "id": want["id"],
            "family": family(want["framework"]),
            "want": want["causes"],
            "got": first["id"],
            "two": [cause["id"] for cause in causes[:2]],
            "confidence": first["confidence"],
            "found": incident is not None,
            "right": first["id"] == want["causes"][0],
        })

    if not rows:
        sys.exit("no labelled log in the folder")
    found = [row for row in rows if row["found"]]
    print(f"{len(rows)} logs, {len(found)} with an incident\n")
    print("confidence   count   mean   right")
    error = 0.0
    for low, high in BUCKETS:
        inside = [row for row in found if low <= row["confidence"] < high]
        if inside:
            mean = sum(row["confidence"] for row in inside) / len(inside)
            right = sum(row["right"] for row in inside) / len(inside)
            error += abs(mean - right) * len(inside)
            print(f"{low:.1f} … {min(high, 1.0):.1f}   {len(inside):5}   {mean:.2f}    {right:.2f}")
    if found:
        print(f"expected calibration error {error / len(found):.3f}\n")
    print("family                            logs  found  first   in two")
    for name, _ in FAMILIES:
        inside = [row for row in rows if row["family"] == name]
        if inside:
            share = [sum(test(row) for row in inside) / len(inside) for test in (
                lambda row: row["found"], lambda row: row["right"], lambda row: row["want"][0] in row["two"])]
            print(f"{name:32}  {len(inside):4}   {share[0]:.2f}   {share[1]:.2f}    {share[2]:.2f}")
    print("\nwanted → got, where wrong")
    wrong = collections.Counter((row["want"][0], row["got"]) for row in found if not row["right"])
    for (want, got), count in wrong.most_common():
        print(f"{count:4}  {want} → {got}")
    if args.misses:
        for row in rows:
            if not row["right"]:
                print(f"{row['id']}  want {row['want']}  got {row['two']} at {row['confidence']:.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
