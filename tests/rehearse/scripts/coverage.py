"""How many measured peaks lie inside the interval that the report prints, from the tables of docs/rehearse-accuracy.md.

The report's need is the reserved peak and, as estimates, the context and the libraries of an RTX 3060 with CUDA 12; for
convolutions 0.90 to 1.20 times the reserved peak, or 256 MiB more. What was measured begins when the context exists, so
the middle of its estimate is added to it.
"""
import json
import pathlib
import re

CONTEXT, LIBRARIES, CONSTANT = (63, 105), (0, 250), 9  # MiB; the constant is part of the table's figures
TABLE = pathlib.Path(__file__).resolve().parents[3] / "docs" / "rehearse-accuracy.md"

DATA = pathlib.Path(__file__).resolve().parents[1] / "rtx3060.json"


def rows(text):
    """(model, measured, reserved) of the runs that fitted, in MiB."""
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if len(cells) == 7 and cells[6] == "no / no":
            yield cells[0], int(cells[3]), int(cells[4]) - CONSTANT


def interval(model, reserved):
    transformer = "/" in model or model.lower().startswith("t5")
    low, high = (reserved, reserved) if transformer else (0.9 * reserved, reserved + max(256, 0.2 * reserved))
    return transformer, low + CONTEXT[0] + LIBRARIES[0], high + CONTEXT[1] + LIBRARIES[1]


def from_others(rest):
    """The ends of what stands beside the reserved peak, from the other runs: nine tenths of them lie between."""
    beside = sorted(measured - reserved for _, measured, reserved in rest)
    cut = round(0.05 * len(beside))
    return beside[cut], beside[-1 - cut]


def left_out(runs):
    """How many runs lie between the ends that all others give, and how wide that is in the middle of them, in MiB."""
    inside, widths = 0, []
    for at, (_, measured, reserved) in enumerate(runs):
        low, high = from_others(runs[:at] + runs[at + 1:])
        inside += reserved + low <= measured <= reserved + high
        widths.append(high - low)
    return inside, sorted(widths)[len(widths) // 2]


def repeats(data):
    """What the same run took when it was measured again, in MiB: a difference is chance, of the data or of the machine."""
    for run in data["repeated"]:
        peaks = sorted({peak >> 20 for peak in run["measured_peak_bytes"]})
        times = len(run["measured_peak_bytes"])
        print("    %s %s %d: %d times, %s" % (run["model"], run["optimizer"], run["batch"], times, " and ".join(map(str, peaks))))


def main():
    counts = {}
    for model, measured, reserved in rows(TABLE.read_text(encoding="utf-8")):
        transformer, low, high = interval(model, reserved)
        total = measured + sum(CONTEXT) / 2
        place = "inside" if low <= total <= high else "below" if total < low else "above"
        near = place != "inside" and min(abs(total - low), abs(total - high)) <= 20
        found = counts.setdefault("transformers" if transformer else "CNNs", [])
        found.append((place, near, model, measured, round(low), round(high)))
    for kind, found in counts.items():
        inside = sum(place == "inside" for place, *_ in found)
        near = sum(near for _, near, *_ in found)
        print("%s: %d of %d inside, %d more within 20 MiB of an end" % (kind, inside, len(found), near))
        for place, is_near, *rest in found:
            if place != "inside" and not is_near:
                print("   ", place, *rest)
    runs = [row for row in rows(TABLE.read_text(encoding="utf-8")) if interval(row[0], row[2])[0]]
    inside, width = left_out(runs)
    print("transformers, ends from all other runs: %d of %d inside, width %d MiB" % (inside, len(runs), width))
    print("measured more than once:")
    repeats(json.loads(DATA.read_text(encoding="utf-8")))


if __name__ == "__main__":
    assert re.search(r"\| no / no \|", TABLE.read_text(encoding="utf-8"))
    main()
