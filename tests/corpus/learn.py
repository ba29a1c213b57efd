#!/usr/bin/env python3
"""Learns the weights of the causes from labelled reports and writes src/cause/weights.json.

usage: learn.py OOMDOC [FOLDER...] [--spread S] [--dry]

Needs numpy. OOMDOC is a build of this checkout; FOLDERs, as in reports.py, add to the project's own reports and the planted
logs; what those keep back is not learnt from. The stated values and their reasons in the
file are kept; the learnt ones are a multinomial logit shrunk towards them, and a level seen in fewer than three sources
stays as stated. How strongly is chosen by how well reports are told by weights that saw nothing of their whole set: reports
from elsewhere differ from every set, in their kinds and in who labelled them, and folds by source alone would have less
shrinkage. That goes by the log-loss; the temperature by the Brier score of what was stated of the first cause, which is what
a reader goes by, at first sight of each fresh report (first.json): there the rules had not seen the log either, and first
causes were right four points less often than they were said to be. `effect` of a mechanism is what leaving it out costs, out
of fold: points of right first causes, and log-loss in hundredths, in folds by source.
"""
import argparse
import json
import sys

import numpy as np

import reports as r

SPREADS = (0.25, 0.4, 0.5, 0.6, 0.9)


def told(scores, mask, reports):
    """Only reports of users: planted logs teach what mechanisms tell, not how often anything is the cause."""
    at = [i for i, report in enumerate(reports) if not report.planted]
    return scores[at], mask[at], [reports[i] for i in at]


def right(scores, mask, reports):
    best = np.where(mask, scores, -1e9).argmax(1)
    return np.mean([r.CAUSES[best[i]] == report.want[0] for i, report in enumerate(reports)])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("oomdoc")
    parser.add_argument("folders", nargs="*")
    parser.add_argument("--spread", type=float, help="standard deviation around the stated values; chosen if not given")
    parser.add_argument("--dry", action="store_true", help="print only")
    args = parser.parse_args()
    data = json.loads(r.WEIGHTS.read_text())
    reports = r.learnable(r.gather(args.oomdoc, args.folders))
    if not reports:
        sys.exit("no labelled report in the folders")
    model = r.Model(data, r.sets(reports))

    trials = {}
    for spread in [args.spread] if args.spread else SPREADS:
        scores, mask, natural = told(*r.out_of_set(model, reports, spread), reports)
        temperature = r.fit_temperature(scores, mask, natural)
        loss, first = r.log_loss(scores, mask, natural, temperature), right(scores, mask, natural)
        stated = r.fit_temperature(scores, mask, natural, r.brier)
        trials[spread] = loss
        print(f"spread {spread}: out of set log-loss {loss:.4f} at temperature {temperature:.2f}, first {first:.3f}; "
              f"Brier {r.brier(scores, mask, natural, stated):.4f} at {stated:.2f}")
    spread = min(trials, key=trials.get)
    told_first = r.first_told()
    temperature = r.fit_temperature(*told_first, r.brier)
    print(f"at first sight of {len(told_first[2])} reports: Brier {r.brier(*told_first, temperature):.4f} "
          f"at temperature {temperature:.2f}")
    near = {}
    scores, mask, natural = told(*r.out_of_fold(model, reports, spread, near=near), reports)
    loss, first = r.log_loss(scores, mask, natural, temperature), right(scores, mask, natural)
    print(f"spread {spread}: by source log-loss {loss:.4f}, first {first:.3f}")

    weights = model.learn(reports, spread)
    free = model.free(reports)
    seen = {}
    for report in reports:
        for name in [("prior", report.asker), *report.levels]:
            seen.setdefault(name, []).append(report.source)

    def settle(name, row):
        at = model.columns[name]
        row["reports"], row["sources"] = len(seen.get(name, [])), len(set(seen.get(name, [])))
        row["learnt"] = dict(row["stated"])
        if free[at]:
            for cause, weight in zip(r.CAUSES, np.round(weights[at], 2)):
                named = cause in row["stated"]
                if named or name[0] != "prior" and abs(weight) >= 0.03:
                    row["learnt"][cause] = float(np.clip(weight, -8, 8)) + 0.0

    for asker, row in data["priors"].items():
        settle(("prior", asker), row)
    for mechanism, entry in data["mechanisms"].items():
        for level, row in entry["levels"].items():
            settle((mechanism, level), row)
        if any(free[model.columns[mechanism, level]] for level in entry["levels"]):
            less = r.Model(data, r.sets(reports), without=(mechanism,))
            without, less_mask, natural = told(*r.out_of_fold(less, reports, spread, near=near), reports)
            entry["effect"] = {
                "first": round(100 * (first - right(without, less_mask, natural)), 1),
                "log_loss": round(100 * (r.log_loss(without, less_mask, natural, temperature) - loss), 1),
            }
        else:
            entry.pop("effect", None)
    data["temperature"] = round(temperature, 2)
    data["learnt_from"] = {
        "reports": len(reports), "sources": len({report.source for report in reports}), "spread": spread}
    if not args.dry:
        r.WEIGHTS.write_text(written(data))
    return 0


def line(value):
    return json.dumps(value, ensure_ascii=False)


def written(data):
    """One level to a line or two, so that a change of one value is a change of one line."""
    out = ["{", f' "temperature": {line(data["temperature"])},', f' "learnt_from": {line(data["learnt_from"])},']

    def level(name, row, indent, last):
        rest = {key: row[key] for key in ("why", "reports", "sources") if key in row}
        head = line(rest)[:-1]
        out.append(f'{indent}{line(name)}: {head},')
        out.append(f'{indent} "stated": {line(row["stated"])},')
        out.append(f'{indent} "learnt": {line(row["learnt"])}}}{"" if last else ","}')

    out.append(' "priors": {')
    for i, (asker, row) in enumerate(data["priors"].items()):
        level(asker, row, "  ", i + 1 == len(data["priors"]))
    out.append(" },")
    out.append(' "mechanisms": {')
    for i, (mechanism, entry) in enumerate(data["mechanisms"].items()):
        effect = f'"effect": {line(entry["effect"])}, ' if "effect" in entry else ""
        out.append(f'  {line(mechanism)}: {{{effect}"levels": {{')
        for j, (name, row) in enumerate(entry["levels"].items()):
            level(name, row, "   ", j + 1 == len(entry["levels"]))
        out.append("  }}" + ("" if i + 1 == len(data["mechanisms"]) else ","))
    out.append(" }")
    out.append("}")
    return "\n".join(out) + "\n"


if __name__ == "__main__":
    sys.exit(main())
