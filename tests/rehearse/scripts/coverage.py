"""How many measured peaks lie inside the interval that the report prints, from the tables of docs/rehearse-accuracy.md.

The report's need is the reserved peak, from the lower to the higher of two layouts of blocks, and, as estimates, the context and the libraries of an RTX 3060 with CUDA 12; for
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
    """(model, measured, reserved with each layout that was rehearsed) of the runs that fitted, in MiB."""
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if len(cells) == 8 and cells[7] == "no / no":
            yield cells[0], int(cells[3]), [int(cell) - CONSTANT for cell in cells[4:6] if cell.isdigit()]


def interval(model, layouts):
    transformer = "/" in model or model.lower().startswith("t5")
    low, high = min(layouts), max(layouts)
    if not transformer:
        low, high = 0.9 * low, high + max(256, 0.2 * high)
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
    found = list(rows(TABLE.read_text(encoding="utf-8")))
    for model, measured, layouts in found:
        transformer, low, high = interval(model, layouts)
        total = measured + sum(CONTEXT) / 2
        place = "inside" if low <= total <= high else "below" if total < low else "above"
        near = place != "inside" and min(abs(total - low), abs(total - high)) <= 20
        counts.setdefault("transformers" if transformer else "CNNs", []).append(
            (place, near, model, measured, round(low), round(high))
        )
    for kind, placed in counts.items():
        inside = sum(place == "inside" for place, *_ in placed)
        near = sum(near for _, near, *_ in placed)
        width = sorted(high - low for *_, low, high in placed)[len(placed) // 2]
        said = (kind, inside, len(placed), near, width)
        print("%s: %d of %d inside, %d more within 20 MiB of an end, %d MiB wide in the middle" % said)
        for place, is_near, *rest in placed:
            if place != "inside" and not is_near:
                print("   ", place, *rest)
    runs = [(model, measured, layouts[0]) for model, measured, layouts in found if interval(model, layouts)[0]]
    inside, width = left_out(runs)
    print("transformers, ends from all other runs: %d of %d inside, width %d MiB" % (inside, len(runs), width))
    print("measured more than once:")
    repeats(json.loads(DATA.read_text(encoding="utf-8")))


if __name__ == "__main__":
    assert re.search(r"\| no / no \|", TABLE.read_text(encoding="utf-8"))
    main()
