#!/usr/bin/env python3
"""How often the planted cause is named first, and how sure of it: tests/planted/score.py OOMDOC [--misses]"""
import collections
import json
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent


def answer(oomdoc, path):
    """The primary incident, or none."""
    printed = subprocess.run([oomdoc, "explain", "--format", "json", str(path)], capture_output=True, text=True).stdout
    incidents = json.loads(printed).get("incidents", []) if printed else []
    return next((incident for incident in incidents if incident.get("primary")), None)


def main():
    counts = collections.defaultdict(lambda: [0, 0, 0])
    table = collections.defaultdict(lambda: [0, 0])
    for path in sorted((HERE / "logs").glob("*.json")):
        label = json.loads(path.read_text())
        incident = answer(sys.argv[1], path.with_suffix(".log"))
        causes = incident.get("causes", []) if incident else []
        named = [cause["id"] for cause in causes] or ["not_oom"]
        first, right = label["causes"][0], named[0] == label["causes"][0]
        kind = "derivable" if label["derivable"] else "open"
        side = "held" if label["held"] else "learned"
        for group in ("all " + kind, "all " + kind + " " + side, kind + " " + first):
            counts[group][0] += 1
            counts[group][1] += right
            counts[group][2] += first in named[:2]
        if causes:
            sure = causes[0]["confidence"]
            place = min(int(sure * 10), 9)
            table[place][0] += 1
            table[place][1] += right
        if "--misses" in sys.argv and not right and label["derivable"]:
            print(path.stem, label["source"], "named", named[0], "%.2f" % causes[0]["confidence"] if causes else "")
    for group, (total, first, second) in sorted(counts.items()):
        print("%-38s %4d  first %5.1f %%  first two %5.1f %%" % (group, total, 100 * first / total, 100 * second / total))
    for place, (total, right) in sorted(table.items()):
        print("said with %.1f … %.1f: %4d, right %5.1f %%" % (place / 10, place / 10 + 0.1, total, 100 * right / total))


if __name__ == "__main__":
    main()
