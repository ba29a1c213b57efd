#!/usr/bin/env python3
"""Learns what each way in which a program's name shows is worth, and writes src/dialect/naming/names.json.

usage: names.py [--dry]

Needs numpy and cargo. The messages of programs in no list, of which the names are known, are read by this checkout, which
tells every name that shows around each, in which ways and where. The weights are those of a logit over the names of a
message and nobody, shrunk towards what is stated. Printed is how often the most probable name is right by weights that saw nothing
of its whole set, and how often names were right that were told with so much.
"""
import argparse
import collections
import json
import os
import pathlib
import subprocess
import tempfile

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
WEIGHTS = ROOT / "src/dialect/naming/names.json"
SHRINK = 0.004
STEPS = 200
AGAIN = 0.25
SEVERAL = 4
# What is stated, towards which the weights are shrunk; all others towards nought. A message that begins with the name of a
# command above it is that command's, whatever else that line runs: among these messages it seldom decides.
STATED = {("way", "echo", "own"): 3.0}


def read():
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "shown.json"
        command = ["cargo", "test", "--locked", "--test", "messages", "--", "opened_sets"]
        subprocess.run(command, cwd=ROOT, env={**os.environ, "OOMDOC_NAMES": str(file)}, check=False)
        return json.loads(file.read_text())


def features(shown):
    """What is counted of a name; the mark stands for what it is worth against nobody."""
    row = {("mark", shown["mark"]): 1.0}
    for way, place, times in shown["ways"]:
        row["way", way, place] = 1 + AGAIN * (times - 1)
    several = min(len({way for way, *_ in shown["ways"]}), SEVERAL)
    row["several", several] = 1.0
    return row


def table(messages):
    columns = {}
    for message in messages:
        message["rows"] = [features(shown) for shown in message["shown"]]
        for row in message["rows"]:
            for name in row:
                columns.setdefault(name, len(columns))
    for message in messages:
        called = [name.lower().replace(" ", "-") for name in message["names"]]
        matrix = np.zeros((len(message["rows"]) + 1, len(columns)))
        for at, row in enumerate(message["rows"]):
            for name, value in row.items():
                matrix[at, columns[name]] = value
        right = [shown["program"] in called for shown in message["shown"]]
        message["matrix"], message["right"] = matrix, np.array(right + [not any(right)])
    return columns


def fit(messages, columns):
    stated_at = np.zeros(len(columns))
    for name, value in STATED.items():
        stated_at[columns[name]] = value
    weights, mean, spread = stated_at.copy(), np.zeros(len(columns)), np.zeros(len(columns))
    for step in range(1, STEPS + 1):
        gradient = SHRINK * (stated_at - weights)
        for message in messages:
            score = message["matrix"] @ weights
            stated = np.exp(score - score.max())
            true = stated * message["right"]
            gradient += message["matrix"].T @ (true / true.sum() - stated / stated.sum()) / len(messages)
        mean = 0.9 * mean + 0.1 * gradient
        spread = 0.99 * spread + 0.01 * gradient**2
        weights += 0.08 * (mean / (1 - 0.9**step)) / (np.sqrt(spread / (1 - 0.99**step)) + 1e-8)
    return weights


def told(message, weights):
    """The most probable name's place and probability."""
    score = message["matrix"] @ weights
    stated = np.exp(score - score.max())
    if len(score) == 1:
        return None, 0.0
    best = int(np.argmax(score[:-1]))
    return best, stated[best] / stated.sum()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dry", action="store_true", help="print only")
    args = parser.parse_args()
    messages = read()
    columns = table(messages)
    bins = collections.defaultdict(list)
    every = [0, 0]
    for name in sorted({message["set"] for message in messages}):
        weights = fit([message for message in messages if message["set"] != name], columns)
        kept = [message for message in messages if message["set"] == name]
        hits = 0
        for message in kept:
            best, sure = told(message, weights)
            good = best is not None and bool(message["right"][best])
            hits += good
            bins[min(9, int(10 * sure))].append(good)
        every = [every[0] + hits, every[1] + len(kept)]
        print(f"{name:<14} {hits:>4} of {len(kept):>4}  {100 * hits / len(kept):.1f} %")
    print(f"{'all':<14} {every[0]:>4} of {every[1]:>4}  {100 * every[0] / every[1]:.1f} %")
    for tenth, goods in sorted(bins.items()):
        print(f"told with {10 * tenth}-{10 * tenth + 10} %: {len(goods):>4}, right {100 * sum(goods) / len(goods):.0f} %")
    weights = fit(messages, columns)
    value = {name: round(float(weights[at]), 2) for name, at in columns.items()}
    file = {"learnt_from": {"messages": len(messages), "sets": len({message["set"] for message in messages})}}
    file["marks"] = {name[1]: value[name] for name in sorted(value) if name[0] == "mark"}
    file["several"] = [value.get(("several", count), 0.0) for count in range(1, SEVERAL + 1)]
    ways = sorted({name[1] for name in value if name[0] == "way"})
    file["ways"] = {way: {name[2]: value[name] for name in sorted(value) if name[:2] == ("way", way)} for way in ways}
    lines = json.dumps(file, separators=(", ", ": ")).replace('}, "', '},\n "').replace('], "', '],\n "')
    if not args.dry:
        WEIGHTS.write_text(lines.replace('"ways": {', '"ways": {\n ') + "\n")


if __name__ == "__main__":
    main()
