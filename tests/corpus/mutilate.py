#!/usr/bin/env python3
"""Logs as they get pasted: cut, wrapped, interleaved, encoded twice, with other numerals. No figure may become another.

usage: mutilate.py OOMDOC [FOLDER...] [--only MUTATION] [--sample N] [--variants N] [--jobs N] [--show N] [--page FILE]

Reads the project's fixtures and the open ones among its reports, and the logs of FOLDERs. `OOMDOC explain --format json` of
each damaged log is held against that of the whole one. A figure of a failure counts as

  same      the whole log gives it under the same name, in any of its failures or notes
  role      the whole log gives it under another name, or prints it without giving it
  wrong     no number of the whole log is it: a part of a number, two numbers in one, a wrong unit
  lost      a figure of the whole log's first failure that the damaged one does not give (unknown: no error)

`seen` counts the damaged logs in which a failure is still found. Exit status 1 when a figure is wrong.
"""
import argparse
import collections
import concurrent.futures
import json
import math
import pathlib
import random
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
UNIT = r"(?:[KMGT]i?B|[kKMGT]B|bytes|[kmg]b\b)"
DECIMAL = re.compile(r"(?<![\d.,])(\d+)\.(\d+)(?=\s?" + UNIT + ")")
WHOLE = re.compile(r"(?<![\w.,:/-])(\d{4,15})(?=\s?(?:" + UNIT + r"|B\b))")


def group(number, mark):
    head = len(number) % 3 or 3
    return mark.join([number[:head]] + [number[i:i + 3] for i in range(head, len(number), 3)])


def wrap(text, columns):
    return "\n".join(line[i:i + columns] for line in text.split("\n") for i in range(0, max(len(line), 1), columns))


def fold(text, columns):
    out = []
    for line in text.split("\n"):
        row = ""
        for word in line.split(" "):
            if row and len(row) + 1 + len(word) > columns:
                out.append(row)
                row = word
            else:
                row = f"{row} {word}" if row else word
        out.append(row)
    return "\n".join(out)


def by_lines(one, other, rng, prefixes):
    rest = [[f"{prefix}{line}" for line in text.rstrip("\n").split("\n")] for prefix, text in zip(prefixes, (one, other))]
    out = []
    while any(rest):
        turn = rng.random() < 0.5
        if rest[turn]:
            out.append(rest[turn].pop(0))
    return "\n".join(out) + "\n"


def by_chunks(one, other, rng):
    """Two writers of one pipe: blocks of 512 to 4096 bytes, as a buffer empties them."""
    rest, out = [one, other], []
    while any(rest):
        turn = rng.random() < 0.5
        size = rng.choice((512, 1024, 4096))
        out.append(rest[turn][:size])
        rest[turn] = rest[turn][size:]
    return "".join(out)


def cut(text, rng):
    """A place to cut: half of them in a number."""
    numbers = [match.span() for match in re.finditer(r"\d[\d.,]+", text)]
    if numbers and rng.random() < 0.5:
        first, last = rng.choice(numbers)
        return rng.randint(first, last)
    return rng.randint(0, len(text))


def in_json(text):
    return "".join(
        json.dumps({"log": line + "\n", "stream": "stderr", "time": "2026-11-22T17:04:05.120482937Z"}) + "\n"
        for line in text.rstrip("\n").split("\n")
    )


# Each takes the text, another log's text and a source of chance, and gives bytes or text.
MUTATIONS = {
    "head cut": lambda t, o, r: t[cut(t, r):],
    "tail cut": lambda t, o, r: t[:cut(t, r)],
    "wrapped at 60": lambda t, o, r: wrap(t, 60),
    "wrapped at 80": lambda t, o, r: wrap(t, 80),
    "wrapped at 100": lambda t, o, r: wrap(t, 100),
    "wrapped at 120": lambda t, o, r: wrap(t, 120),
    "folded at 60": lambda t, o, r: fold(t, 60),
    "folded at 80": lambda t, o, r: fold(t, 80),
    "folded at 120": lambda t, o, r: fold(t, 120),
    "two logs by line": lambda t, o, r: by_lines(t, o, r, ("", "")),
    "two ranks by line": lambda t, o, r: by_lines(t, o, r, ("[rank0]: ", "[rank3]: ")),
    "two logs in chunks": lambda t, o, r: by_chunks(t, o, r),
    "mojibake": lambda t, o, r: t.encode().decode("latin-1").encode(),
    "mojibake cp1252": lambda t, o, r: t.encode().decode("cp1252", "replace").encode(),
    "utf-16 le": lambda t, o, r: b"\xff\xfe" + t.encode("utf-16-le"),
    "utf-16 be": lambda t, o, r: b"\xfe\xff" + t.encode("utf-16-be"),
    "crlf": lambda t, o, r: t.replace("\n", "\r\n"),
    "json string": lambda t, o, r: json.dumps({"output": t}),
    "json lines": lambda t, o, r: in_json(t),
    "ansi": lambda t, o, r: "".join(f"\x1b[31m{line}\x1b[0m\n" for line in t.rstrip("\n").split("\n")),
    "ansi numbers": lambda t, o, r: re.sub(r"(\d+(?:\.\d+)?)", "\x1b[1;36m\\1\x1b[0m", t),
    "html": lambda t, o, r: t.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;"),
    "html lines": lambda t, o, r: "<pre>" + t.replace("&", "&amp;").replace("<", "&lt;").replace("\n", "<br>\n") + "</pre>",
    "quoted": lambda t, o, r: "".join(f"> {line}\n" for line in t.rstrip("\n").split("\n")),
    "decimal comma": lambda t, o, r: DECIMAL.sub(r"\1,\2", t),
    "thousands comma": lambda t, o, r: WHOLE.sub(lambda m: group(m[1], ","), t),
    "thousands point": lambda t, o, r: WHOLE.sub(lambda m: group(m[1], "."), DECIMAL.sub(r"\1,\2", t)),
    "thousands thin space": lambda t, o, r: WHOLE.sub(lambda m: group(m[1], "\u202f"), t),
    "thousands apostrophe": lambda t, o, r: WHOLE.sub(lambda m: group(m[1], "'"), t),
}
# Those whose result depends on chance.
BY_CHANCE = ("head cut", "tail cut", "two logs by line", "two ranks by line", "two logs in chunks")


def figures(found):
    """(name, bytes) of a failure or note."""
    facts = found.get("facts", {})
    for name, value in facts.items():
        if name.endswith("_bytes") and isinstance(value, int):
            yield name, value
    for name, value in facts.get("extra", {}).items():
        if name.endswith("_bytes") and isinstance(value, (int, float)):
            yield name, int(value)
    for process in facts.get("other_processes", []):
        if "bytes" in process:
            yield "other_processes", process["bytes"]
    if "pid" in facts:
        yield "pid", facts["pid"]


def explain(oomdoc, path):
    done = subprocess.run([oomdoc, "explain", "--format", "json", str(path)], capture_output=True, timeout=120)
    if done.returncode not in (0, 1):
        raise SystemExit(f"{path}: exit status {done.returncode}: {done.stderr.decode()}")
    return json.loads(done.stdout)


def everything(report):
    for incident in report["incidents"]:
        yield incident
        yield from incident.get("followers", [])
    yield from report.get("harmless", [])


UNITS = (1, 2**10, 2**20, 2**30, 2**40, 10**3, 10**6, 10**9, 10**12, 4096, 16384, 65536)


def printed(text):
    """Whatever size a number or a tensor's shape of the text can be, to the byte."""
    out = set()
    for number in re.findall(r"\d+(?:[.,]\d+)*", text):
        forms = {number.replace(",", ""), number.replace(",", ".")}
        for form in forms:
            try:
                value = float(form)
            except ValueError:
                continue
            out.update(round(value * unit) for unit in UNITS if value * unit < 2**63)
    # Where the size itself is cut off, the shape beside it is as exact.
    for shape in re.findall(r"\[(\d+(?:, ?\d+)+)\]", text):
        elements = math.prod(int(side) for side in shape.split(","))
        out.update(elements * width for width in (1, 2, 4, 8))
    return out


class Log:
    def __init__(self, oomdoc, path):
        self.path = path
        self.text = path.read_bytes().decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n")
        report = explain(oomdoc, path)
        self.known = collections.defaultdict(set)
        for found in everything(report):
            for name, value in figures(found):
                self.known[name].add(value)
        first = [i for i in report["incidents"] if i["primary"]] or report["incidents"][:1]
        self.first = list(figures(first[0])) if first else []
        self.seen = bool(report["incidents"])
        self.numbers = printed(self.text)


def close(value, values):
    return any(value + near in values for near in (-1, 0, 1))


def judge(oomdoc, name, log, other, number, folder):
    rng = random.Random(f"{log.path.name} {name} {number}")
    made = MUTATIONS[name](log.text, other.text, rng)
    made = made if isinstance(made, bytes) else made.encode()
    path = pathlib.Path(folder, f"{abs(hash((str(log.path), name, number)))}.log")
    path.write_bytes(made)
    try:
        report = explain(oomdoc, path)
    finally:
        path.unlink()
    sources = (log, other) if name.startswith("two ") else (log,)
    tally, wrong, given = collections.Counter(), [], collections.defaultdict(set)
    for incident in report["incidents"]:
        for key, value in figures(incident):
            given[key].add(value)
            if any(close(value, source.known[key]) for source in sources):
                tally["same"] += 1
            elif any(close(value, source.numbers) for source in sources) or any(
                close(value, values) for source in sources for values in source.known.values()
            ):
                tally["role"] += 1
                wrong.append(("role", key, value, incident["line"]))
            else:
                tally["wrong"] += 1
                wrong.append(("wrong", key, value, incident["line"]))
    tally["lost"] += sum(not close(value, given[key]) for key, value in log.first)
    tally["logs"] += log.seen
    tally["seen"] += log.seen and bool(report["incidents"])
    return name, tally, [(log.path, name, number, *found) for found in wrong]


def logs(folders):
    fixtures = sorted((ROOT / "fixtures" / "logs").rglob("*.log"))
    reports = []
    for label in sorted((HERE / "reports").glob("*.json")):
        if not json.loads(label.read_text()).get("held"):
            reports.append(label.with_suffix(".log"))
    return fixtures + reports + [log for folder in folders for log in sorted(folder.rglob("*.log"))]


PAGE = """# Logs as they get pasted

What `oomdoc explain` makes of the {logs} logs of `fixtures/logs` and `tests/corpus/reports` when they are cut, wrapped, interleaved, encoded twice or
printed with other numerals: {damaged:,} damaged logs, {figures:,} figures, {wrong} of them wrong. Written by

```sh
python3 tests/corpus/mutilate.py target/release/oomdoc --page docs/mutilated-logs.md
```

A figure is *same* where the whole log gives it under the same name, *another name* where the whole log gives it under another or prints it without
giving it, *wrong* where it is no number of the whole log, and *not given* where the whole log's first failure has it and the damaged log's report
leaves it out. *Seen* are the damaged logs in which a failure is still found; of a log whose head or tail is cut off the failure itself is often gone.

| damage | logs | seen | same | another name | wrong | not given |
| --- | --: | --: | --: | --: | --: | --: |
{rows}
"""


def page(logs, names, total):
    every = sum(total.values(), collections.Counter())
    columns = ("logs", "seen", "same", "role", "wrong", "lost")
    row = lambda name, tally: f"| {name} | " + " | ".join(f"{tally[column]:,}" for column in columns) + " |"
    return PAGE.format(
        logs=logs,
        damaged=every["logs"],
        figures=sum(every[column] for column in ("same", "role", "wrong")),
        wrong=every["wrong"],
        rows="\n".join([row(name, total[name]) for name in names] + [row("**all**", every)]),
    )


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("oomdoc")
    ap.add_argument("folders", nargs="*", type=pathlib.Path)
    ap.add_argument("--only", default="", help="mutations whose name holds this")
    ap.add_argument("--sample", type=int, default=0, help="so many of the logs, spread evenly; all by default")
    ap.add_argument("--variants", type=int, default=2, help="of each log, where chance decides")
    ap.add_argument("--jobs", type=int, default=2)
    ap.add_argument("--show", type=int, default=0, help="print so many of the figures that went wrong, or changed their role")
    ap.add_argument("--page", type=pathlib.Path, help="write the table there, as a page of the book")
    args = ap.parse_args()
    names = [name for name in MUTATIONS if args.only in name]
    total, found = collections.defaultdict(collections.Counter), []
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool, tempfile.TemporaryDirectory() as folder:
        paths = logs(args.folders)
        if 0 < args.sample < len(paths):
            paths = [paths[i * len(paths) // args.sample] for i in range(args.sample)]
        all_logs = list(pool.map(lambda path: Log(args.oomdoc, path), paths))
        rng = random.Random(1)
        tasks = []
        for log in all_logs:
            for name in names:
                for number in range(args.variants if name in BY_CHANCE else 1):
                    tasks.append((name, log, rng.choice(all_logs), number))
        for name, tally, wrong in pool.map(lambda task: judge(args.oomdoc, *task, folder), tasks):
            total[name].update(tally)
            found.extend(wrong)
    columns = ("logs", "seen", "same", "role", "wrong", "lost")
    print(f"{'':<24}" + "".join(f"{column:>8}" for column in columns))
    for name in [*names, "all"]:
        row = total[name] if name != "all" else sum(total.values(), collections.Counter())
        print(f"{name:<24}" + "".join(f"{row[column]:>8}" for column in columns))
    if args.page:
        args.page.write_text(page(len(all_logs), names, total))
    found.sort(key=lambda row: row[3] != "wrong")
    for row in found[:args.show]:
        print(*row)
    return int(any(row["wrong"] for row in total.values()))


if __name__ == "__main__":
    sys.exit(main())
