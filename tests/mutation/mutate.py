#!/usr/bin/env python3
"""Changes the program in many small ways and tells which changes no test notices.

    python3 tests/mutation/mutate.py --sample 160 --seed 1            # plan, build once, run
    python3 tests/mutation/mutate.py --sample 160 --seed 1 --plan     # only print the sample
    python3 tests/mutation/mutate.py --only 12,40 --seed 1 ...        # these of the sample again

A build for each mutant would cost minutes. Here all mutants of a sample are compiled at once: in a copy of the sources
the body of a function with mutants becomes

    match crate::mutation::current() { 12 => { body with mutant 12 } 40 => { … } _ => { the body itself } }

and `OOMDOC_MUTANT=12` chooses. What does not compile (a literal in a pattern, `||` in an `if let` chain) is found by
`cargo check`, dropped, and replaced by the next of its area in the seeded order, so that the sample keeps its size.

For each mutant the unit tests of its folder run first, then all unit tests, and only what survived those goes on to the
integration tests listed in AREAS. A run ends at the first failed test, at an abort, or at five times its usual time.
With `--jobs 2` two mutants run at a time. A run that was stopped goes on where it was if it is given the same `--folder`
and `--out`. What it leaves in the temporary folder (killed tests clean nothing up) lies below `--folder`.

What it does not see: constants outside of functions (each of their uses is a place instead), `const fn`, macros, functions
that return `impl Trait`, and tables of fixes and causes.

Places are named by file and line of the unchanged sources. Needs nothing beyond Python and cargo.
"""

import argparse
import concurrent.futures
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]  # main() puts a copy in its place, so that edits do no harm meanwhile

# Sources by area, and the integration tests that look at it, the fastest first.
AREAS = {
    "account": (["src/account"], ["host_memory", "context", "causes", "snapshot_proof", "dialect_pytorch", "account"]),
    "fix": (["src/fix/mod.rs", "src/fix/draft.rs", "src/fix/case.rs"],
            ["rules", "context", "causes", "readme", "simulate", "snapshot_proof", "programs", "account"]),
    "headroom": (["src/headroom"], ["headroom", "headroom_accuracy", "readme"]),
    "estimate": (["src/estimate"], ["headroom", "context", "causes", "readme", "headroom_accuracy"]),
    "allocator": (["src/allocator"], ["simulate", "snapshot_proof", "allocator"]),
}

SWITCH = """//! Which mutant runs; written by tests/mutation/mutate.py into a copy of the sources.
use std::sync::OnceLock;
static CURRENT: OnceLock<u32> = OnceLock::new();
pub fn current() -> u32 {
    *CURRENT.get_or_init(|| std::env::var("OOMDOC_MUTANT").ok().and_then(|n| n.parse().ok()).unwrap_or(0))
}
"""


def masked(text):
    """The text with the insides of comments, strings and characters blanked, of the same length."""
    out = list(text)
    pattern = re.compile(
        r'//[^\n]*|/\*.*?\*/|b?r(#*)".*?"\1|b?"(?:\\.|[^"\\])*"|b?\'(?:\\(?:x..|u\{[^}]*\}|.)|[^\\\'\n])\'',
        re.S,
    )
    for match in pattern.finditer(text):
        for at in range(match.start(), match.end()):
            if out[at] != "\n":
                out[at] = " "
    return "".join(out)


def closing(text, at):
    """Index of the brace that closes the one at `at`."""
    depth = 0
    for i in range(at, len(text)):
        depth += (text[i] == "{") - (text[i] == "}")
        if depth == 0:
            return i
    raise ValueError("a brace is open")


def bodies(mask):
    """(start, end) of the bodies of functions outside of test modules, outermost first."""
    shut = [(m.start(), closing(mask, m.end() - 1)) for m in
            re.finditer(r"#\[cfg\(test\)\]\s*(?:mod|impl|fn)[^;{]*\{|macro_rules!\s*\w+\s*\{", mask)]
    found = []
    for match in re.finditer(r"\b(const\s+)?fn\s+\w+", mask):
        at = match.end()
        if match[1] or any(a <= at <= b for a, b in shut) or any(a <= at <= b for a, b in found):
            continue
        # The signature ends at the first brace outside of parentheses and brackets.
        depth = 0
        while at < len(mask) and (depth or mask[at] not in "{;"):
            depth += (mask[at] in "([") - (mask[at] in ")]")
            at += 1
        if at == len(mask) or mask[at] == ";" or "-> impl" in mask[match.start():at]:
            continue
        found.append((at, closing(mask, at)))
    return found


OPERATORS = [
    ("comparison", re.compile(r"(?<= )(<=|>=|==|!=|<|>)(?= )"),
     {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}),
    ("sign", re.compile(r"(?<= )[+-](?= )"), {"+": "-", "-": "+"}),
    ("factor", re.compile(r"(?<= )[*/](?= )"), {"*": "/", "/": "*"}),
    ("logic", re.compile(r"(?<=\s)(&&|\|\|)(?=\s)"), {"&&": "||", "||": "&&"}),
    ("extremum", re.compile(r"(?<=\.)(min|max)(?=\()"), {"min": "max", "max": "min"}),
    ("constant", re.compile(r"(?<![\w.#])(?:\d[\d_]*(?:\.\d[\d_]*)?(?:e-?\d+)?(?:_?[ui]\d+|_?f64|usize)?"
                            r"|[A-Z][A-Z0-9_]{2,})(?![\w.:(!]|\s*=>)"), None),
    ("return", re.compile(r"\breturn\b[^;{}]*;"), None),
]


def replacement(kind, text, table):
    if table:
        return table[text]
    if kind == "return":
        return ";"
    if text[0].isupper():
        return f"({text} + {text})"
    if float(re.sub(r"_?([ui]\d+|f64|usize)$|_", "", text)) == 0:
        return text.replace("0", "1", 1)
    return f"({'2.0' if '.' in text or 'e' in text else '2'} * {text})"


def places(path):
    """Every possible mutant of a file: (file, line, kind, start, end, old, new, body)."""
    text = (ROOT / path).read_text()
    mask = masked(text)
    found = []
    for body in bodies(mask):
        for kind, pattern, table in OPERATORS:
            for match in pattern.finditer(mask, *body):
                old = match[0]
                new = replacement(kind, old, table)
                line = text.count("\n", 0, match.start()) + 1
                found.append(dict(file=path, line=line, kind=kind, start=match.start(), end=match.end(),
                                  old=text[match.start():match.end()], new=new, body=body))
    return found


def candidates(area, seed):
    """All mutants of an area in the seeded order: the kinds take turns, so that no frequent operator fills the sample."""
    files = []
    for folder in AREAS[area][0]:
        path = ROOT / folder
        files += sorted(path.rglob("*.rs")) if path.is_dir() else [path]
    files = [str(f.relative_to(ROOT)) for f in files if "test" not in f.stem]
    kinds = {}
    for file in files:
        for place in places(file):
            kinds.setdefault(place["kind"], []).append(dict(place, area=area))
    generator = random.Random(f"{seed} {area}")
    for of_kind in kinds.values():
        generator.shuffle(of_kind)
    order = []
    while any(kinds.values()):
        order += [of_kind.pop() for of_kind in kinds.values() if of_kind]
    return order


def write(copy, chosen):
    """Puts the mutants into the copy; gives, for each file, which mutant each of its new lines belongs to."""
    owners = {}
    for file in sorted({m["file"] for m in chosen}):
        text = (ROOT / file).read_text()
        of_file = [m for m in chosen if m["file"] == file]
        out, lines, end = [], [], 0

        def put(part, owner):
            # One entry for each line begun by this part.
            lines.extend([owner] * part.count("\n"))
            out.append(part)

        for body in sorted({m["body"] for m in of_file}):
            start, stop = body
            put(text[end:start] + "{ match crate::mutation::current() {\n", 0)
            for m in (m for m in of_file if m["body"] == body):
                put(f"{m['id']} => {text[start:m['start']]}{m['new']}{text[m['end']:stop + 1]}\n", m["id"])
            put("_ => " + text[start:stop + 1] + "\n} }", 0)
            end = stop + 1
        put(text[end:], 0)
        (copy / file).write_text("".join(out))
        owners[file] = lines
    return owners


def cargo(copy, target, *arguments):
    env = dict(os.environ, CARGO_TARGET_DIR=str(target), CARGO_INCREMENTAL="0")
    done = subprocess.run(["cargo", *arguments, "--locked", "--message-format=json"], cwd=copy, env=env, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    return done.returncode, [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")], done.stderr


def failures(copy, target, owners):
    """The mutants that do not compile."""
    code, messages, errors = cargo(copy, target, "check", "--lib")
    wrong = set()
    for message in messages:
        inner = message.get("message")
        if message["reason"] == "compiler-message" and inner["level"] == "error":
            for span in inner["spans"]:
                while span.get("expansion") and span["file_name"] not in owners:
                    span = span["expansion"]["span"]
                lines = owners.get(span["file_name"], [])
                at = span["line_start"] - 1
                if at < len(lines) and lines[at]:
                    wrong.add(lines[at])
    if code and not wrong:
        sys.exit(f"the copy does not compile, and no mutant is to blame:\n{errors[-4000:]}")
    return wrong


def sample(copy, target, size, seed, areas, at):
    """A sample in which every mutant compiles, the places asked for first."""
    orders = {area: candidates(area, seed) for area in areas}
    total = {area: len(order) for area, order in orders.items()}
    for order in orders.values():
        order.sort(key=lambda m: f"{m['file']}:{m['line']}:{m['old']}" not in at)
    chosen, next_id = [], 1
    wanted = {area: size // len(areas) + (i < size % len(areas)) for i, area in enumerate(areas)}
    dropped = 0
    while True:
        for area in areas:
            while orders[area] and sum(m["area"] == area for m in chosen) < wanted[area]:
                chosen.append(dict(orders[area].pop(0), id=next_id))
                next_id += 1
        wrong = failures(copy, target, write(copy, chosen))
        if not wrong:
            return chosen, dropped, total
        dropped += len(wrong)
        touched = {m["file"] for m in chosen if m["id"] in wrong}
        for file in touched:
            shutil.copy(ROOT / file, copy / file)
        chosen = [m for m in chosen if m["id"] not in wrong]


def run(executable, arguments, copy, env, limit, failed=None):
    """Runs a test executable until its first failure, or to its end where the failed tests are to be gathered in `failed`.
    None, or why it failed."""
    child = subprocess.Popen([executable, *arguments], cwd=copy, env=env, text=True, start_new_session=True,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, errors="replace")
    late = threading.Event()

    def stop():
        try:
            os.killpg(child.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass

    def time_is_up():
        late.set()
        stop()

    timer = threading.Timer(limit, time_is_up)
    timer.start()
    why = None
    for line in child.stdout:
        if re.match(r"test \S.* FAILED$", line):
            why = line.split()[1]
            if failed is None:
                stop()
                break
            failed.append(why)
    child.stdout.close()
    code = child.wait()
    timer.cancel()
    if why is None and code != 0:
        why = "(time limit)" if late.is_set() else f"(exit {code})"
    return why


def main():
    global ROOT
    options = argparse.ArgumentParser()
    options.add_argument("--sample", type=int, default=160)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--areas", default=",".join(AREAS))
    options.add_argument("--only", help="numbers of the sample, separated by commas")
    options.add_argument("--at", action="append", default=[], metavar="FILE:LINE:TEXT",
                         help="this place too, as often as wanted")
    options.add_argument("--plan", action="store_true")
    options.add_argument("--source", help="the sources to change, if not those around this script")
    options.add_argument("--folder", help="where to build; a temporary folder unless given; a sample that is there already is taken")
    options.add_argument("--jobs", type=int, default=1, help="mutants that run at a time")
    options.add_argument("--out", help="one JSON object a line for each mutant; those in it already do not run again")
    asked = options.parse_args()
    areas = asked.areas.split(",")
    folder = Path(asked.folder or tempfile.mkdtemp(prefix="oomdoc-mutation-"))
    copy, target, source = folder / "copy", folder / "target", folder / "source"
    for place in (source, copy):
        shutil.rmtree(place, ignore_errors=True)
        shutil.copytree(asked.source or ROOT, place, ignore=shutil.ignore_patterns("target", ".git"))
    ROOT = source
    (copy / "src/mutation.rs").write_text(SWITCH)
    lib = copy / "src/lib.rs"
    # Mutants may compute what the compiler sees to overflow; that they panic is for the tests to notice.
    lints = "#![allow(warnings, arithmetic_overflow, unconditional_panic)]\n"
    lib.write_text(lints + lib.read_text() + "\n#[doc(hidden)]\npub mod mutation;\n")
    plan = folder / "plan.json"
    if plan.exists():
        chosen = json.loads(plan.read_text())
        write(copy, [dict(m, body=tuple(m["body"])) for m in chosen])
    else:
        chosen, dropped, total = sample(copy, target, asked.sample, asked.seed, areas, asked.at)
        print(f"{sum(total.values())} places {total}; {len(chosen)} mutants, {dropped} did not compile", flush=True)
        plan.write_text(json.dumps(chosen))
    if asked.plan:
        for m in chosen:
            print(f"{m['id']:4} {m['kind']:<10} {m['file']}:{m['line']} {m['old']} -> {m['new']}")
        return
    began = time.monotonic()
    there = {path.stem for path in (copy / "tests").glob("*.rs")}
    wanted = ["it"] if "it" in there or (copy / "tests/it").exists() else \
        sorted({name for area in areas for name in AREAS[area][1]} & there)
    code, messages, errors = cargo(copy, target, "test", "--no-run", "--lib", *(w for n in wanted for w in ("--test", n)))
    if code:
        sys.exit(errors[-4000:])
    binaries = {m["target"]["name"] if m["target"]["kind"] == ["test"] else "unit": m["executable"]
                for m in messages if m["reason"] == "compiler-artifact" and m.get("executable")
                and m["profile"]["test"] and m["target"]["kind"][0] in ("lib", "test")}
    print(f"built in {time.monotonic() - began:.0f} s", flush=True)
    left_behind = folder / "tmp"
    left_behind.mkdir(exist_ok=True)
    clean = {k: v for k, v in os.environ.items() if k != "OOMDOC_MUTANT"} | {"TMPDIR": str(left_behind)}

    def stages(area):
        """The runs of an area: name, executable, arguments."""
        if "it" in binaries:
            integration = [(n, binaries["it"], [n + "::"]) for n in AREAS[area][1]]
        else:
            integration = [(n, binaries[n], []) for n in AREAS[area][1] if n in binaries]
        return [(f"unit {area}::", binaries["unit"], [area + "::"]), ("unit", binaries["unit"], []), *integration]

    usual, skipped = {}, {}
    for area in areas:
        for name, executable, arguments in stages(area):
            if name not in usual:
                began = time.monotonic()
                failed = []
                why = run(executable, arguments, copy, clean, 1200, failed)
                usual[name] = time.monotonic() - began
                if why and not failed:
                    sys.exit(f"{name} ends without a mutant: {why}")
                if failed:
                    print(f"{name}: fail without a mutant and are left out: {failed}", flush=True)
                skipped[executable] = sorted({*skipped.get(executable, []), *failed})
    print("usual seconds", {k: round(v, 1) for k, v in usual.items()}, flush=True)
    only = {int(n) for n in asked.only.split(",")} if asked.only else None
    known = {}
    if asked.out and Path(asked.out).exists():
        known = {m["id"]: m["killed"] for m in map(json.loads, Path(asked.out).read_text().splitlines())}

    def killer(m):
        """The test that notices a mutant, or None."""
        env = dict(clean, OOMDOC_MUTANT=str(m["id"]))
        for name, executable, arguments in stages(m["area"]):
            left_out = [word for test in skipped.get(executable, []) for word in ("--skip", test)]
            why = run(executable, [*arguments, *left_out], copy, env, 20 + 5 * asked.jobs * usual[name])
            if why:
                return f"{name}: {why}"
        return None

    def tell(m, killed):
        print(f"{m['id']:4} {'killed' if killed else 'ALIVE ':<7} {m['kind']:<10} {m['file']}:{m['line']}"
              f" {' '.join(m['old'].split())} -> {m['new']}  {killed or ''}", flush=True)

    wanted = [m for m in chosen if only is None or m["id"] in only]
    outcomes = {m["id"]: known[m["id"]] for m in wanted if m["id"] in known}
    with concurrent.futures.ThreadPoolExecutor(asked.jobs) as workers:
        running = {workers.submit(killer, m): m for m in wanted if m["id"] not in known}
        for done in concurrent.futures.as_completed(running):
            m = running[done]
            outcomes[m["id"]] = done.result()
            tell(m, done.result())
            if asked.out:
                with open(asked.out, "a") as out:
                    out.write(json.dumps(dict(m, killed=done.result())) + "\n")
    alive = [m for m in wanted if outcomes[m["id"]] is None]
    tried = len(wanted)
    print(f"{tried - len(alive)} of {tried} killed, {len(alive)} alive")
    for area in areas:
        of = [m for m in alive if m["area"] == area]
        print(f"  {area}: {len(of)} alive")


if __name__ == "__main__":
    main()
