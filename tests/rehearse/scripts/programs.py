"""Rehearses the programs beside this folder and writes what was said of them, beside what is right, as a table.

    python tests/rehearse/scripts/programs.py run RESULTS.jsonl --oomdoc target/release/oomdoc --python /path/to/python
    python tests/rehearse/scripts/programs.py table RESULTS.jsonl > tests/rehearse/programs.md

The first two lines of each program say what it does and which verdict is right, with the reason: arithmetic, or why nobody
can know. They were written before it was rehearsed. A third line may say by which launcher it is started. `run` goes on where
it was interrupted; `table` takes the results of one build and of all programs only. `--folder` takes other programs that begin
with such lines; those of verdicts.md are not kept here.
"""
import argparse
import hashlib
import json
import pathlib
import re
import subprocess
import sys

PROGRAMS = pathlib.Path(__file__).resolve().parents[1] / "programs"
HEAD = """# {title}

{origin}; for {open} of them the need can't be known. RTX 3060 12GB, one order of addresses, PyTorch {torch}.
Made by `scripts/programs.py` from one pass with one build.

{total} programs, {right} right, {wrong} wrong, of these {unsafe} said to fit what does not or can't be known.

| program | what it does | right is | said | |
|---|---|---|---|---|"""
TITLES = (
    ("Ordinary programs, and what is said of them", "Written without looking at how the rehearsal works"),
    ("Verdicts on small programs", "Programs that others wrote to be hard"),
)
LAUNCHER = "# Started by: "


def programs(folder):
    """The programs of a folder, of Python and of the shell."""
    return sorted(path for path in folder.iterdir() if path.suffix in (".py", ".sh"))


def described(path):
    what, right = path.read_text(encoding="utf-8").splitlines()[:2]
    verdicts, reason = re.fullmatch(r"# Right: ([a-z -]+) \((.*)\)", right).groups()
    return what.lstrip("# ").rstrip("."), verdicts.split(" or "), reason


def command(path, python):
    third = path.read_text(encoding="utf-8").splitlines()[2]
    launcher = third[len(LAUNCHER):].split() if third.startswith(LAUNCHER) else [python]
    return launcher + [path.name]


def build_of(program):
    return hashlib.sha256(pathlib.Path(program).read_bytes()).hexdigest()[:16]


def lines(results):
    path = pathlib.Path(results)
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def run(options):
    build = build_of(options.oomdoc)
    ask = [options.python, "-c", "from importlib.metadata import version; print(version('torch'))"]
    torch = subprocess.run(ask, capture_output=True, text=True, check=True).stdout.strip()
    done = {line["program"] for line in lines(options.results) if line["build"] == build}
    for path in programs(options.folder):
        if path.stem in done or options.only and path.stem not in options.only:
            continue
        ask = [options.oomdoc, "rehearse", "--like", "RTX 3060 12GB", "--addresses", "up", "--time-limit", "4m", "--json"]
        if options.pythonpath:
            ask += ["--env", "PYTHONPATH=" + options.pythonpath]
        ask += ["--"] + command(path, options.python)
        report = json.loads(subprocess.run(ask, cwd=options.folder, capture_output=True, text=True).stdout)
        line = {"program": path.stem, "build": build, "torch": torch, "seconds": round(report["seconds"])}
        line.update(verdict=report["verdict"], message=report["message"])
        with open(options.results, "a") as file:
            file.write(json.dumps(line) + "\n")
        print("%-20s %4d s  %-13s %s" % (path.stem, line["seconds"], line["verdict"], line["message"]), flush=True)


def table(options):
    said = {line["program"]: line for line in lines(options.results)}
    paths = programs(options.folder)
    builds = {line["build"] for line in said.values()}
    if len(builds) != 1 or any(path.stem not in said for path in paths):
        sys.exit("the results are of %d builds and %d of %d programs" % (len(builds), len(said), len(paths)))
    rows, right, unsafe, unknown = [], 0, 0, 0
    for path in paths:
        what, wanted, reason = described(path)
        verdict = said[path.stem]["verdict"]
        right += verdict in wanted
        unsafe += verdict == "fits" and verdict not in wanted
        unknown += wanted == ["unknown"]
        mark = "right" if verdict in wanted else "wrong"
        rows.append("| `%s` | %s | %s: %s | %s | %s |" % (path.stem, what, " or ".join(wanted), reason, verdict, mark))
    total, torch = len(rows), next(iter(said.values()))["torch"]
    title, origin = TITLES[options.folder != PROGRAMS]
    counts = dict(open=unknown, total=total, right=right, wrong=total - right, unsafe=unsafe)
    print(HEAD.format(title=title, origin=origin, torch=torch, **counts))
    print("\n".join(rows))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(dest="verb", required=True)
    one, other = verbs.add_parser("run"), verbs.add_parser("table")
    for verb in (one, other):
        verb.add_argument("results")
        verb.add_argument("--folder", type=pathlib.Path, default=PROGRAMS, help="where the programs lie")
    one.add_argument("--oomdoc", required=True)
    one.add_argument("--python", default=sys.executable)
    one.add_argument("--pythonpath", help="where further libraries lie")
    one.add_argument("--only", nargs="*", help="these programs alone")
    options = parser.parse_args()
    {"run": run, "table": table}[options.verb](options)


if __name__ == "__main__":
    main()
