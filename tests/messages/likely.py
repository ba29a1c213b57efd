#!/usr/bin/env python3
"""Learns how likely the words around a message are those of a failure, and writes src/dialect/net/likely.json.

usage: likely.py [--dry] [--terms FILE]

Needs numpy and cargo. This checkout tells which words and pairs of neighbours stand around each message of the sets of
programs in no list, and around each report that no reader knows. A logit over them is learnt, shrunk towards nought; of its
terms those that tell most are kept and learnt anew. Printed is, for the sets, what would be taken for a failure by terms
that saw nothing of the whole set, at several bounds. `--terms` reads a file that OOMDOC_TERMS wrote before.
"""
import argparse
import collections
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/corpus"))
from reports import minimise  # noqa: E402

WEIGHTS = ROOT / "src/dialect/net/likely.json"
# A term that fewer messages have tells nothing of others; so many terms are kept. With 1000 the sets left out lose half a
# point, with all 13,000 they win none.
FEWEST, KEPT = 6, 3000
# Precision of the Gaussian prior around nought. From 10 to 33 the sets left out are told alike.
SHRINK = 10.0
# Log odds below which a message is left alone. Failures are two thirds of the sets and more of what people paste, so that
# one is given up only where seven in ten like it were none.
LEAST = -0.8
PARTS = 8
# What people paste counts for so many of what was written from programs' sources.
OF_REPORTS = 3.0


def read(file):
    if file:
        return json.loads(pathlib.Path(file).read_text())
    with tempfile.TemporaryDirectory() as folder:
        name = pathlib.Path(folder) / "terms.json"
        command = ["cargo", "test", "--locked", "--test", "messages", "--", "opened_sets"]
        subprocess.run(command, cwd=ROOT, env={**os.environ, "OOMDOC_TERMS": str(name)}, check=False)
        return json.loads(name.read_text())


class Terms:
    """Messages as the numbers of the terms that stand around them."""

    def __init__(self, messages, known):
        self.known = {term: at for at, term in enumerate(known)}
        rows = [[self.known[term] for term in message["terms"] if term in self.known] for message in messages]
        self.column = np.array([at for row in rows for at in row], dtype=int)
        self.row = np.repeat(np.arange(len(rows)), [len(row) for row in rows])
        self.rows = len(rows)

    def score(self, weights):
        return weights[-1] + np.bincount(self.row, weights[self.column], self.rows)

    def fit(self, failure, count):
        def loss(weights):
            score = self.score(weights)
            value = (count * np.logaddexp(0, np.where(failure, -score, score))).sum()
            value += SHRINK / 2 * (weights[:-1] ** 2).sum()
            gap = count * (1 / (1 + np.exp(-score)) - failure)
            gradient = np.bincount(self.column, gap[self.row], len(self.known))
            return value, np.append(gradient + SHRINK * weights[:-1], gap.sum())

        return minimise(loss, np.zeros(len(self.known) + 1), steps=120)

    def shares(self):
        return np.bincount(self.column, minlength=len(self.known)) / self.rows


def learn(messages):
    """The terms that tell most, and their weights."""
    failure = np.array([message["failure"] for message in messages], dtype=float)
    count = np.array([OF_REPORTS if message["set"] == "reports" else 1.0 for message in messages])
    counts = collections.Counter(term for message in messages for term in message["terms"])
    known = sorted(term for term, count in counts.items() if count >= FEWEST)
    every = Terms(messages, known)
    weights, share = every.fit(failure, count), every.shares()
    tells = np.abs(weights[:-1]) * np.sqrt(share * (1 - share))
    kept = sorted(known[at] for at in np.argsort(-tells, kind="stable")[:KEPT])
    return kept, Terms(messages, kept).fit(failure, count)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dry", action="store_true", help="print only")
    parser.add_argument("--terms", help="a file that OOMDOC_TERMS wrote")
    args = parser.parse_args()
    messages = read(args.terms)
    names = sorted({message["set"] for message in messages})
    part = {name: at % PARTS for at, name in enumerate(names)}
    # Of reports each is of another source, all but a few.
    for at, message in enumerate(messages):
        message["part"] = at % PARTS if message["set"] == "reports" else part[message["set"]]
    score, failure, of_reports = [], [], []
    for at in range(PARTS):
        inside = [message for message in messages if message["part"] == at]
        kept, weights = learn([message for message in messages if message["part"] != at])
        score.extend(Terms(inside, kept).score(weights))
        failure.extend(message["failure"] for message in inside)
        of_reports.extend(message["set"] == "reports" for message in inside)
    score, failure, of_reports = np.array(score), np.array(failure), np.array(of_reports)
    for what, some in (("sets", ~of_reports), ("reports", of_reports)):
        for least in (-1.8, -1.2, LEAST, -0.4, 0.0):
            taken = score[some] >= least
            print(f"{what}, {least:+.1f} and more: {100 * taken[failure[some]].mean():.1f} % of failures taken for such, "
                  f"{100 * (1 - taken[~failure[some]].mean()):.1f} % of others left alone")
    kept, weights = learn(messages)
    file = {"base": round(float(weights[-1]), 3), "least": LEAST,
            "terms": {term: round(float(weight), 3) for term, weight in zip(kept, weights)}}
    if not args.dry:
        WEIGHTS.write_text(json.dumps(file, ensure_ascii=False, indent=0, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
