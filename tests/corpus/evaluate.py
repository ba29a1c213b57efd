#!/usr/bin/env python3
"""How right, and how honest, the diagnosis is on labelled reports, each judged by weights that never saw its source, and
then by weights that never saw its whole set, which is what a report from elsewhere meets.

usage: evaluate.py OOMDOC [FOLDER...] [--shown] [--ablation] [--misses] [--untouched] [--folds N] [--deals N]

Needs numpy. The project's own reports and the planted logs are always judged; FOLDERs, as in reports.py, add labelled sets
that lie elsewhere. `--shown` takes the causes that the program itself prints instead, whose weights have seen the reports
that may be learnt from. `--untouched` judges the reports that were kept back, by what the program prints.

  cause@1    the first cause is the label's first;  cause@2  it is among the first two
  any@1      the first cause is among the label's accepted ones;  family@1  it is of the right family
  figures@1  cause@1 where the label's cause follows from printed figures
  ECE, Brier how far the stated confidence of the first cause is from how often it is right (10 bins); in brackets the ECE
             that so few cases would give on average if what is stated held exactly
  fix@3      a fix that the thread reports as the cure is among the first three; where the label has words instead of ids,
             FIXES maps them

What stands behind ± is how far apart the deals of sources to folds are: each figure is the mean over several deals, since
one of them lies two in a hundred of the figures' reports above or below it by luck.

Planted logs are told apart: those of pairs of program and cause that nothing was learnt from, and the others; those that
the log can tell and those that it cannot, of which `open` is how often the program says so. A report in which nothing was
found counts as wrong everywhere, and has no confidence.
"""
import argparse
import collections
import json
import sys

import numpy as np

import reports as r

# Words of a label's `fix_that_worked`, and the fixes that say the same. The first row that matches counts.
FIXES = (
    (("no_grad", "inference_mode"), {"no-grad-in-eval"}),
    (("expandable",), {"expandable-segments"}),
    (("max_split",), {"max-split-size"}),
    (("empty_cache",), {"empty-cache", "gc-collect"}),
    (("shm", "ipc=host", "ipc host", "shared memory"), {"shm-size", "clear-shared-files"}),
    (("num_workers", "workers", "n_jobs", "max_jobs", "--jobs", "jobs ="), {"fewer-workers", "fewer-at-once"}),
    (("max_num_seqs", "max-num-seqs"), {"fewer-sequences", "max-model-len", "lower-engine-memory", "raise-engine-memory"}),
    (("max-model-len", "max_model_len", "context", "num_ctx", "n_ctx"), {"max-model-len"}),
    (("utilization", "utilisation", "mem-fraction-static"), {"raise-engine-memory", "lower-engine-memory"}),
    (("prealloc", "allow_growth", "mem_fraction", "per_process_gpu_memory_fraction", "memory fraction"),
     {"preallocation-fraction", "raise-memory-fraction"}),
    (("pool size", "pool_size"), {"rmm-pool-size"}),
    (("detach", ".item()"), {"detach-logged-tensors", "find-the-leak"}),
    (("map_location", "cpu first", "to cpu", "checkpoint stayed", "loaded checkpoint"), {"load-to-cpu"}),
    (("visible_devices", "another gpu", "other gpu", "free gpu", "different gpu", "device 0", "empty card"),
     {"other-device", "free-the-device"}),
    (("kill", "stale process", "zombie", "other process", "other program", "scale down"),
     {"free-the-device", "kill-zombies", "fewer-at-once"}),
    (("gradient checkpointing",), {"gradient-checkpointing"}),
    (("8-bit", "8bit", "adafactor"), {"eight-bit-optimizer", "lighter-optimizer"}),
    (("lora",), {"lora", "qlora"}),
    (("cache quant",), {"kv-cache-dtype"}),
    (("4-bit", "4bit", "gguf", "quantis", "quantiz"), {"weight-quantisation", "qlora"}),
    (("tensor-parallel", "tensor_parallel", "more gpus", "multi-gpu", "more chips", "two gpus", "larger gpu", "80 gb card",
      "16 gb card", "12 gb card", "more than 4 gb"), {"more-devices", "data-parallel", "shard-states"}),
    (("zero-", "fsdp"), {"shard-states", "sharded-checkpoint", "cpu-offload"}),
    (("offload",), {"cpu-offload", "weight-offload", "activation-offload"}),
    (("memory limit", "container limit", "limits.memory", "slurm memory", "more ram", "more system memory", "system ram",
      "gb of ram", "64 gb'"), {"raise-host-limit", "raise-runtime-limit", "memory-request", "swap"}),
    (("-xmx", "heap size", "memoryoverhead"), {"raise-runtime-limit", "raise-host-limit"}),
    (("ulimit",), {"raise-ulimit"}),
    (("swap", "paging file"), {"swap"}),
    (("resolution", "image size", "imgsz", "smaller image", "smaller pictures", "half size", "resize", "width/height"),
     {"smaller-images"}),
    (("tiling",), {"vae-tiling"}),
    (("tile 64",), {"smaller-kernel-tiles"}),
    (("watermark",), {"mps-watermark"}),
    (("batch", "num_envs", "fewer samples", "bs = "), {"smaller-batch", "smaller-eval-batch", "fewer-sequences", "less-at-once"}),
    (("seq", "max_length", "shorter"), {"shorter-sequences", "max-model-len", "group-by-length"}),
    (("fp16", "bf16", "float16", "half precision", "mixed"), {"mixed-precision", "half-in-training", "bf16-states"}),
    (("chunk", "in blocks"), {"chunk-the-operation", "chunked-loss"}),
    (("token ids", "embedding smaller"), {"check-ids"}),
    (("logits",), {"offload-eval-predictions", "chunked-loss", "logits-to-keep"}),
    (("flash attention", "low-memory attention"), {"fused-attention"}),
    (("carve-out",), {"carve-out"}),
    (("garbage-collection threshold",), {"garbage-collection-threshold"}),
)


def cures(report):
    """Ids of the fixes that helped; none where the label names no cure that has one."""
    words = (report.cure or "").lower()
    return set(report.cures) or next((fixes for keys, fixes in FIXES if any(key in words for key in keys)), set())


def judged(reports, temperature, score):
    """The ranked causes of each report by the scores that `score` gives."""
    found = [report for report in reports if report.found]
    scores, mask = score(found)
    p, _ = r.probabilities(scores / temperature, mask)
    ranked = {}
    for report, row, allowed in zip(found, p, mask):
        stated = r.shares(row, allowed, report)
        ranked[report.folder, report.id] = sorted(stated.items(), key=lambda pair: -pair[1])
    return ranked


class Tally:
    def __init__(self, reports, ranked):
        self.stated, self.counts = [], collections.defaultdict(list)
        for report in reports:
            causes = ranked.get((report.folder, report.id), [])
            ids = [cause for cause, _ in causes]
            first, want = (ids[:1] or [None])[0], report.want
            right = first == want[0]
            self.counts["found"].append(report.found)
            self.counts["cause@1"].append(right)
            self.counts["cause@2"].append(want[0] in ids[:2])
            self.counts["any@1"].append(first in want)
            self.counts["family@1"].append(r.FAMILIES.get(first) == r.FAMILIES.get(want[0]))
            if report.by_figures:
                self.counts["figures@1"].append(right)
            if report.proved:
                self.counts["proved"].append(right)
            if cures(report):
                self.counts["fix@3"].append(bool(cures(report) & set(report.fixes[:3])))
            self.counts["open"].append(report.undecided)
            if causes:
                self.stated.append((causes[0][1], right))

    def calibration(self):
        bins = collections.defaultdict(list)
        for confidence, right in self.stated:
            bins[min(9, int(10 * confidence))].append((confidence, right))
        error = sum(abs(sum(c for c, _ in b) - sum(x for _, x in b)) for b in bins.values())
        return error / max(1, len(self.stated)), np.mean([(c - x) ** 2 for c, x in self.stated] or [0]), bins

    def by_chance(self, draws=200):
        """The mean error of calibration of as many cases whose stated confidence is exactly right."""
        rng, errors = np.random.default_rng(0), []
        for _ in range(draws):
            drawn = Tally([], {})
            drawn.stated = [(confidence, rng.random() < confidence) for confidence, _ in self.stated]
            errors.append(drawn.calibration()[0])
        return np.mean(errors)


KEYS = ("cause@1", "cause@2", "any@1", "family@1", "figures@1", "proved", "fix@3", "open")


def line(name, reports, deals):
    """What the deals say of the reports, in the mean."""
    tallies = [Tally(reports, ranked) for ranked in deals]
    counts = tallies[0].counts
    parts = []
    for key in KEYS:
        if counts[key]:
            of_deals = [100 * np.mean(tally.counts[key]) for tally in tallies]
            apart = f" ±{np.std(of_deals):.1f}" if np.std(of_deals) > 0 else ""
            parts.append(f"{key} {np.mean(of_deals):.1f}{apart} ({len(counts[key])})")
    ece, brier = np.mean([tally.calibration()[:2] for tally in tallies], axis=0)
    return f"{name}: {len(counts['found'])} reports, {sum(counts['found'])} found; " + "; ".join(parts) + \
        f"; ECE {ece:.3f} ({tallies[0].by_chance():.3f}); Brier {brier:.3f}"


def table(reports, deals):
    """How often what is stated is right, over all deals."""
    tallies = [Tally(reports, ranked) for ranked in deals]
    bins = collections.defaultdict(list)
    for tally in tallies:
        for at, inside in tally.calibration()[2].items():
            bins[at] += inside
    print("stated       cases   mean   right")
    for at, inside in sorted(bins.items()):
        mean, right = np.mean([c for c, _ in inside]), np.mean([x for _, x in inside])
        print(f".{at} … {f'.{at + 1}' if at < 9 else '1.0'}   {len(inside) / len(deals):5.0f}   {mean:.2f}   {right:.2f}")


def tell(reports, others, deals):
    """Prints all that is said of one way of judging: the ranked causes of each report, once for each deal."""
    told = [report for report in reports if not report.planted]
    print(line("reports", told, deals))
    for folder in sorted({report.folder for report in told}):
        print(line("  " + folder, [report for report in told if report.folder == folder], deals))
    for name, which in (("reports", [o for o in others if not o.planted]), ("planted", [o for o in others if o.planted])):
        if which:
            print(f"no failure of memory, {name}: {sum(not report.found for report in which)} of {len(which)} left alone")
    table(told, deals)
    planted = [report for report in reports if report.planted]
    for held in (True, False):
        for derivable in (True, False):
            some = [report for report in planted if report.held == held and report.derivable == derivable]
            if some:
                half = "never learnt from" if held else "learnt from"
                print(line(f"planted, {half}, {'told by the log' if derivable else 'not told'}", some, deals))
    if planted:
        table([report for report in planted if report.derivable and report.held], deals)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("oomdoc")
    parser.add_argument("folders", nargs="*")
    parser.add_argument("--shown", action="store_true", help="the program's own output, in sample where it has learnt")
    parser.add_argument("--ablation", action="store_true", help="what each mechanism brings, out of fold")
    parser.add_argument("--misses", action="store_true", help="list every wrong first cause of what may be looked at")
    parser.add_argument("--untouched", action="store_true", help="the reports that were kept back, and nothing else")
    parser.add_argument("--folds", type=int, default=10)
    parser.add_argument("--deals", type=int, default=8, help="so often the sources are dealt to the folds anew")
    args = parser.parse_args()
    data = json.loads(r.WEIGHTS.read_text())
    known = set(json.loads((r.ROOT / "src/fix/cures.json").read_text())["fixes"])
    unknown = {fix for _, fixes in FIXES for fix in fixes} - known
    if unknown:
        sys.exit(f"no such fixes: {sorted(unknown)}")
    everything = r.load(args.oomdoc, [r.OWN], untouched=True) if args.untouched else r.gather(args.oomdoc, args.folders)
    reports = [report for report in everything if report.fails]
    others = [report for report in everything if not report.fails]
    spread, temperature = data["learnt_from"]["spread"], data["temperature"]
    model = r.Model(data, r.sets(reports))

    near = [{} for _ in range(args.deals)]

    def by_source(model):
        def deal(seed):
            return lambda found: r.out_of_fold(model, found, spread, args.folds, seed, near[seed])
        return [judged(reports, temperature, deal(seed)) for seed in range(args.deals)]

    if args.shown or args.untouched:
        deals = [{(report.folder, report.id): report.shown for report in reports}]
        print("as the program prints it" + ("" if args.untouched else ": its weights have seen all but the held logs"))
    else:
        deals = by_source(model)
        print(f"out of fold by source, {args.deals} deals of {args.folds} folds, spread {spread}, temperature {temperature}")
    tell(reports, others, deals)
    if not args.shown and not args.untouched:
        print("\nby weights that saw nothing of the report's set")
        tell(reports, [], [judged(reports, temperature, lambda found: r.out_of_set(model, found, spread))])
    if args.misses:
        for report in reports:
            causes = deals[0].get((report.folder, report.id), [])
            if not report.held and (causes[:1] or [(None, 0)])[0][0] != report.want[0]:
                got = ", ".join(f"{cause} {share:.2f}" for cause, share in causes[:3])
                print(f"{report.folder}/{report.id} [{report.asker}] want {report.want} got {got or 'nothing'}"
                      f"{' PROVED' if report.proved else ''}{' figures' if report.by_figures else ''}"
                      f"{'' if report.derivable else ' not told'}")
    if args.ablation:
        print("\nwithout                   cause@1  any@1  family@1  figures@1")
        keys = ("cause@1", "any@1", "family@1", "figures@1")
        told = [report for report in reports if not report.planted]

        def shares(deals):
            return np.array([[100 * np.mean(Tally(told, ranked).counts[key]) for key in keys] for ranked in deals]).mean(0)

        base = shares(deals)
        for mechanism in data["mechanisms"]:
            change = shares(by_source(r.Model(data, r.sets(reports), (mechanism,)))) - base
            print(f"{mechanism:24}  " + "  ".join(f"{value:+7.1f}" for value in change))
    return 0


if __name__ == "__main__":
    sys.exit(main())
