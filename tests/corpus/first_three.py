#!/usr/bin/env python3
"""Logs beside the first three changes that are printed for them, for somebody to read.

usage: first_three.py OOMDOC [FOLDER...] [--sample N] [--seed N] [--with OTHER]

Reads the project's open reports, or the logs of FOLDERs. Each is shown by its first and last lines, and what is printed by its
head and its first three changes. The question to the reader is whether one of them is for another kind of program than the
log's: a setting, call, version, device or system that it does not have, or something that is in force or not there yet.

With `--with OTHER` a second build prints for every other log, and which one it was stands in no item: it is written to
`first-three.key`. A second run with the two builds exchanged gives the other half to another reader.
"""
import argparse
import json
import pathlib
import random
import re
import subprocess

HERE = pathlib.Path(__file__).resolve().parent
HEAD, TAIL, WIDTH = 38, 36, 220


def cut(log):
    lines = [line[:WIDTH] for line in log.read_text(errors="replace").split("\n")]
    return lines if len(lines) <= HEAD + TAIL else lines[:HEAD] + ["[…]"] + lines[-TAIL:]


def printed(oomdoc, log):
    """The first paragraph and the first three changes; None where there is no failure or no change."""
    text = subprocess.run([oomdoc, "explain", log], capture_output=True, text=True, errors="replace").stdout
    if "Change first" not in text:
        return None
    head, _, rest = text.partition("\n\n")
    kept, on = head.split("\n"), False
    for line in rest.split("\n"):
        numbered = re.match(r" {2}(\d+)\. ", line)
        on = int(numbered.group(1)) <= 3 if numbered else on and line.startswith("    ")
        if on:
            kept.append(line)
    return kept


def open_reports():
    labels = sorted((HERE / "reports").glob("*.json"))
    return [label.with_suffix(".log") for label in labels if not json.loads(label.read_text()).get("held")]


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("oomdoc")
    ap.add_argument("folders", nargs="*", type=pathlib.Path)
    ap.add_argument("--sample", type=int)
    ap.add_argument("--seed", type=int, default=7)
    ap.add_argument("--with", dest="other")
    args = ap.parse_args()
    logs = [log for folder in args.folders for log in sorted(folder.rglob("*.log"))] or open_reports()
    random.Random(args.seed).shuffle(logs)
    key, number = [], 0
    for at, log in enumerate(logs[: args.sample]):
        build = args.other if args.other and at % 2 else args.oomdoc
        shown = printed(build, log)
        if shown is None:
            continue
        key.append(f"{number:04} {build} {log}")
        print(f"##### {number:04}", "----- log", *cut(log), "----- printed", *shown, "", sep="\n")
        number += 1
    if args.other:
        pathlib.Path("first-three.key").write_text("\n".join(key) + "\n")


if __name__ == "__main__":
    main()
