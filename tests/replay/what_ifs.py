"""What `oomdoc replay` says of other settings and devices, against the same programs really run with them.

    cargo build && python tests/replay/what_ifs.py --python /path/to/python [--only 'NAME;...'] [--work FOLDER]

Needs a Python with a CUDA build of torch; no GPU: PyTorch's own allocator runs on the simulated device of `oomdoc rehearse`.
Each program of programs.py is run and recorded once; then, for each other setting, `replay` is asked about the recording, and
the program is run again with that setting. Writes what_ifs.json and what_ifs.md. What is said is

* exact: one figure, and it is the peak of reserved memory to the byte, or the failure is foreseen;
* a range that holds: from the least to the most that it can be, and the peak lies inside; where a failure is not excluded,
  how much memory is enough and how much too little is told, and holds;
* from below: the least that it must be, or that the device must have, holds, and why nothing more is known is told;
* not known: nothing is told, or not why;
* wrong: anything else.
"""

import argparse
import json
import os
import subprocess
from collections import Counter

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
MIB = 1 << 20
CONTEXT = 436.25  # MiB of a device that `rehearse` plays where only its memory is given

GC = "garbage_collection_threshold:0.7"
ROUND = "roundup_power2_divisions:[512:1,4096:2,>:8]"
BOTH = "max_split_size_mb:100,roundup_power2_divisions:4"
EXPANDABLE, FIXED = "expandable_segments:True", "expandable_segments:False"
SPLIT = "max_split_size_mb:200"
USUAL = [EXPANDABLE, SPLIT, GC, ROUND, BOTH]


def asked(device, confs=USUAL, smaller=(), recorded="", batches=(), fraction=None, late=None):
    """A program's device in MiB, the settings asked about, smaller devices (with a setting), batches, and the share that it
    lets itself have. `late` is the pass of the model with which the recording begins."""
    more = [f"--capacity={device}MiB", f"--fraction={fraction}"] if fraction else []
    return {
        "device": device, "recorded": recorded, "settings": confs, "smaller": smaller, "batches": batches, "fraction": more,
        "late": late, "share": fraction or 1.0,
    }  # fmt: skip


CASES = {
    "graphs": asked(24576, smaller=[(2800, ""), (2300, EXPANDABLE)]),
    "tidy": asked(24576, smaller=[(6200, ""), (4600, EXPANDABLE)], batches=[6200]),
    "pools": asked(24576, smaller=[(4300, ""), (3700, EXPANDABLE)]),
    "two_streams": asked(24576, smaller=[(6000, ""), (4700, SPLIT)]),
    "expandable": asked(24576, [FIXED, SPLIT, GC, ROUND, BOTH], [(4200, ""), (6300, FIXED)], EXPANDABLE, [4200]),
    "ragged": asked(9400, smaller=[(8700, ""), (8200, EXPANDABLE)], batches=[12288]),
    "growing": asked(4600, smaller=[(4100, ""), (3300, EXPANDABLE)]),
    "served": asked(24576, smaller=[(3000, ""), (2500, EXPANDABLE)]),
    "fraction": asked(26624, smaller=[(24000, ""), (20500, EXPANDABLE)], fraction=0.5),
    "crowded": asked(10000, smaller=[(9300, EXPANDABLE), (13500, "")]),
    "episodes": asked(24576, smaller=[(2300, ""), (2000, EXPANDABLE)]),
    "pyramid": asked(24576, smaller=[(3500, ""), (3100, EXPANDABLE)]),
    "adapters": asked(24576, smaller=[(3300, ""), (3100, EXPANDABLE)]),
}
# The same recorded from the middle on, as people do who attach to a program that runs.
LATE = {"graphs": 12, "tidy": 6, "two_streams": 5, "expandable": 6, "ragged": 7, "crowded": 3}
CASES |= {f"{name}, late": {**CASES[name], "batches": (), "late": begin} for name, begin in LATE.items()}


def run(options, name, device, conf, out, snapshot=None, batch=None, late=None):
    """The figures of one real run, which are kept in the work folder."""
    name = name.partition(",")[0]
    if not os.path.exists(out):
        command = [
            options.oomdoc, "rehearse", "--gpu-memory", f"{device}MiB", "--steps", "0", "--ahead", "0s", "--addresses", "up",
            "--allow-writes", "--show-output", "--json", "--env", f"PYTORCH_CUDA_ALLOC_CONF={conf}", "--",
            options.python, os.path.join(HERE, "programs.py"), name, "--out", out,
        ]  # fmt: skip
        command += ["--snapshot", snapshot] if snapshot else []
        command += ["--batch", str(batch)] if batch else []
        command += ["--late", str(late)] if late else []
        done = subprocess.run(command, capture_output=True, text=True)
        if not os.path.exists(out):
            raise SystemExit(f"{' '.join(command)}\n{done.stdout}\n{done.stderr}")
    with open(out) as file:
        figures = [json.loads(line) for line in file]
    (first,) = [it for it in figures if it["free_at_start"] == (device - CONTEXT) * MIB and it["conf"] == conf][:1]
    return first


def told(options, snapshot, *more):
    command = [options.oomdoc, "replay", "--json", snapshot, *more]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)["devices"][0]


def judged(said, really, left):
    """Whether a what-if holds on a device that leaves so much to the allocator, in a word, and what was said."""
    peak = said.get("peak_reserved_bytes")
    low = said.get("peak_reserved_at_least_bytes", peak)
    high = said.get("peak_reserved_at_most_bytes", peak if low == peak else None)
    enough, too_little = said.get("served_from_bytes"), said.get("fails_below_bytes")
    fails = said.get("oom")
    if peak is None:
        return "not known", "nothing"
    if fails:
        return ("exact" if really["failed"] else "wrong"), "out of memory"
    if high is None:
        figures = f"about {peak / MIB:.0f}, {low / MIB:.0f} at least"
    else:
        figures = f"{peak / MIB:.0f}" + ("" if low == high else f" ({low / MIB:.0f} … {high / MIB:.0f})")
    if enough is not None:
        figures += f" with {enough / MIB:.0f}"
    if fails is None:
        figures += ", or out of memory" + ("" if too_little is None else f", surely below {too_little / MIB:.0f}")
    if really["failed"]:
        # Said to be served, or to be served with what there is.
        holds = left < enough if enough is not None else fails is None
    else:
        holds = low <= really["reserved"] and (high is None or really["reserved"] <= high) and left >= (too_little or 0)
    if not holds:
        return "wrong", figures
    if high is None or fails is None and enough is None:
        return ("from below" if said.get("because") else "not known"), figures
    return ("exact" if low == high and fails is False else "range"), figures


def shown(really):
    return "out of memory" if really["failed"] else f"{really['reserved'] / MIB:.0f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--oomdoc", default=os.path.join(ROOT, "target", "debug", "oomdoc"))
    parser.add_argument("--python", required=True)
    parser.add_argument("--work", default="/tmp/what-ifs", help="where recordings and figures are kept and taken from")
    parser.add_argument("--only", help="names of programs, separated by ;")
    options = parser.parse_args()
    os.makedirs(options.work, exist_ok=True)
    rows = []
    for name, case in CASES.items():
        if options.only and name not in options.only.split(";"):
            continue
        plain = name.partition(",")[0]
        at = lambda *words: os.path.join(options.work, "-".join([plain, *map(str, words)]))
        kind = "late" if case["late"] else "recorded"
        snapshot = at(f"{kind}.pickle")
        base = run(options, name, case["device"], case["recorded"], at(f"{kind}.json"), snapshot, late=case["late"])

        def row(what, said, really, device=case["device"]):
            left = (device - CONTEXT) * MIB
            word, figures = judged(said, really, min(left, case["share"] * device * MIB))
            row = {"program": name, "asked": what, "said": figures, "really": shown(really), "result": word}
            row["figure_is_exact"] = not really["failed"] and said.get("peak_reserved_bytes") == really["reserved"]
            rows.append({**row, "retries": really["retries"], "recorded_mib": base["reserved"] / MIB})
            print(*row.values(), sep=" | ", flush=True)

        confs = [f"--conf={conf}" for conf in case["settings"]]
        answers = told(options, snapshot, *confs, *case["fraction"])["what_if"]
        change = "capacity" if case["fraction"] else "settings"
        answers = {entry["conf"]: entry for entry in answers if entry["change"] == change}
        for i, conf in enumerate(case["settings"]):
            row(conf, answers[conf], run(options, name, case["device"], conf, at("conf", i, ".json")))
        for i, (device, conf) in enumerate(case["smaller"]):
            of_conf = [f"--conf={conf}"] if conf else []
            answers = told(options, snapshot, f"--capacity={device}MiB", *of_conf, *case["fraction"][1:])["what_if"]
            conf = conf or case["recorded"]
            said = [entry for entry in answers if entry["change"] == "capacity" and entry["conf"] == conf]
            really = run(options, name, device, conf, at("device", i, ".json"))
            row(f"{device} MiB" + (f", {conf}" if conf else ""), said[0], really, device)
        for device in case["batches"]:
            said = told(options, snapshot, "--batch-scale=8", f"--capacity={device}MiB")["batch_scale"]
            batch = said.get("batch") or {}
            low, high = batch.get("low"), batch.get("high")
            fits = lambda n: n == 0 or not run(options, name, device, case["recorded"], at(device, "batch", n), batch=n)["failed"]
            if low is None:
                word, figures, most = "not known", "nothing", "not run"
            else:
                figures = f"{low}" if low == high else f"{low} … {high}"
                fitting = [n for n in range(max(low - 1, 1), high + 2) if fits(n)]
                word = ("exact" if low == high else "range") if max(fitting, default=0) <= high and (low in fitting) else "wrong"
                most = ", ".join(map(str, fitting)) + f" of {max(low - 1, 1)} … {high + 1}"
            question = f"the batch that fits {device} MiB, 8 recorded"
            rows.append({"program": name, "asked": question, "said": figures, "really": most, "result": word})
            print(*rows[-1].values(), sep=" | ", flush=True)
    counts = Counter(row["result"] for row in rows)
    print(dict(counts), len(rows))
    if not options.only:
        write(rows, counts, base["torch"])


def write(rows, counts, torch):
    with open(os.path.join(HERE, "what_ifs.json"), "w") as file:
        json.dump({"torch": torch, "rows": rows}, file, indent=1)
        file.write("\n")
    lines = [
        "# What-ifs, really run",
        "",
        f"{len(rows)} questions about {len(CASES)} programs, PyTorch {torch} on a simulated device, whose CUDA context takes "
        f"{CONTEXT:.0f} MiB. `tests/replay/what_ifs.py` asks `oomdoc replay`, runs each program with the setting, and writes this page.",
        "",
        ", ".join(f"{counts[word]} {text}" for word, text in WORDS.items()) + ".",
        "",
        f"Of the {sum('figure_is_exact' in row and row['really'][0].isdigit() for row in rows)} questions about runs that were "
        f"served, the figure given is the real peak to the byte in {sum(row.get('figure_is_exact', False) for row in rows)}. "
        "Programs marked late are recorded from the middle on: what their allocator had got before is not in the recording.",
        "",
        "MiB, the most that was reserved; in parentheses what it surely lies between. “with” is how much the allocator must "
        "be able to have so that all is surely served, where that is not known, and “surely below” with how little it fails.",
        "",
        "| program | recorded | asked | said | really | |",
        "| --- | ---: | --- | ---: | ---: | --- |",
    ]
    for row in rows:
        recorded = f"{row['recorded_mib']:.0f}" if "recorded_mib" in row else ""
        lines.append(f"| {row['program']} | {recorded} | `{row['asked']}` | {row['said']} | {row['really']} | {row['result']} |")
    with open(os.path.join(HERE, "what_ifs.md"), "w") as file:
        file.write("\n".join(lines) + "\n")


WORDS = {
    "exact": "foreseen to the byte (or the failure foreseen)",
    "range": "told as a range that holds",
    "from below": "told from below alone, with the reason, which holds",
    "not known": "not known",
    "wrong": "wrong",
}

if __name__ == "__main__":
    main()
