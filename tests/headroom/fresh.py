"""What the program foresees against the fresh models of fresh.json, and writes fresh.md.

    cargo build && python tests/headroom/fresh.py

Two kinds of questions: a description (`--model config.json` and how it is trained), and measurements (the first two, three
and four batches of a curve, as allocated and as reserved bytes, with every larger batch up to eight times the last asked
for). A peak above the high end is unsafe: a batch that was said to fit would run out of memory.
"""

import json
import os
import statistics
import subprocess
from concurrent.futures import ThreadPoolExecutor

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
BINARY = os.environ.get("OOMDOC", os.path.join(ROOT, "target", "debug", "oomdoc"))
GIB = 1 << 30


def ask(options, batch):
    """The peak that is foreseen, or why there is none."""
    done = subprocess.run([BINARY, "headroom", "--no-rehearsal", "--json", "--lang", "en", "--batch", str(batch), *options], capture_output=True, text=True)
    try:
        answer = json.loads(done.stdout)
    except ValueError:
        return None, done.stderr.strip().split("\n")[0] or f"exit code {done.returncode}"
    peak = answer.get("peak_bytes")
    return (peak, "") if peak else (None, "; ".join(answer.get("because", [])) or answer["verdict"])


def described(case):
    from compare import described as plain

    how = case["how"]
    out = plain(case)
    if how.get("quantised"):
        out += ["--quantised", str(how["quantised"]), "--kbit-prepared", "yes" if how["prepared"] else "no"]
    return out


def main():
    cases = json.load(open(f"{HERE}/fresh.json"))
    questions = []
    for case in cases["cases"]:
        points = case["points"]
        for point in points:
            questions.append(("description", case["name"], point, described(case), "reserved_bytes"))
        for known in (2, 3, 4):
            for kind in ("allocated_bytes", "reserved_bytes"):
                given = [f"--measure={p['batch']}={p[kind]}B" for p in points[:known]]
                if kind == "reserved_bytes":
                    given += ["--measured", "reserved"]
                for point in points[known:]:
                    if point["batch"] <= 8 * points[known - 1]["batch"]:
                        questions.append((f"{known} points, {kind.split('_')[0]}", case["name"], point, given, "reserved_bytes"))
    with ThreadPoolExecutor(2) as pool:
        answers = list(pool.map(lambda question: ask(question[3], question[2]["batch"]), questions))
    rows, unsafe, silent = {}, [], []
    for (kind, name, point, _, against), (peak, why) in zip(questions, answers):
        row = rows.setdefault(kind, dict(asked=0, answered=0, unsafe=0, below=0, errors=[]))
        row["asked"] += 1
        if peak is None:
            silent.append((kind, name, point["batch"], why))
            continue
        truth = point[against]
        row["answered"] += 1
        row["errors"].append(peak["expected"] / truth - 1)
        row["below"] += truth < peak["low"]
        if truth > peak["high"]:
            row["unsafe"] += 1
            unsafe.append((kind, name, point["batch"], truth, peak))
    lines = [
        "# Fresh models",
        "",
        f"{len(cases['cases'])} models and ways to train them that none of the formulas were looked at beside, "
        f"{sum(len(case['points']) for case in cases['cases'])} peaks that PyTorch {cases['torch']} reserved with transformers "
        f"{cases['transformers']}, on a simulated device of compute capability 8.0; quantised weights by the real bitsandbytes. "
        "`tests/headroom/models.py --fresh` measures them, `tests/headroom/fresh.py` writes this page.",
        "",
        "| basis | asked | answered | median error | worst | above the range | below it |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for kind, row in rows.items():
        errors = row["errors"] or [0]
        worst = max(errors, key=abs)
        middle = statistics.median(abs(error) for error in errors)
        lines.append(f"| {kind} | {row['asked']} | {row['answered']} | {middle:.1%} | {worst:+.0%} | {row['unsafe']} | {row['below']} |")
    if unsafe:
        lines += ["", "Above the range:", ""]
        for kind, name, batch, truth, peak in unsafe:
            lines.append(f"- {name}, batch {batch} ({kind}): {truth / GIB:.2f} GiB, at most {peak['high'] / GIB:.2f} said")
    if silent:
        lines += ["", "Not answered:", ""]
        for kind, name, batch, why in silent:
            lines.append(f"- {name}, batch {batch} ({kind}): {why}")
    text = "\n".join(lines) + "\n"
    with open(f"{HERE}/fresh.md", "w") as out:
        out.write(text)
    print(text)


if __name__ == "__main__":
    main()
