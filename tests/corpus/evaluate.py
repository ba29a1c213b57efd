#!/usr/bin/env python3
"""How right, and how honest, the diagnosis is on labelled reports, each judged by weights that never saw its source.

usage: evaluate.py OOMDOC FOLDER... [--shown] [--ablation] [--misses] [--folds N]

Needs numpy. FOLDERs are as in reports.py; several are evaluated together and each by itself. `--shown` takes the causes
that the program itself prints instead, whose weights have seen the reports.

  cause@1    the first cause is the label's first;  cause@2  it is among the first two
  any@1      the first cause is among the label's accepted ones;  family@1  it is of the right family
  figures@1  cause@1 where the label's cause follows from printed figures
  ECE, Brier how far the stated confidence of the first cause is from how often it is right (10 bins)
  fix@3      the fix that the thread reports as the cure is among the first three, where FIXES maps its words to ids

A report in which nothing was found counts as wrong everywhere, and has no confidence.
"""
import argparse
import collections
import json
import sys

import numpy as np

import reports as r

# As in src/cause/mod.rs.
OF_ALL, MOST_WITHOUT_PROOF, WITH_PROOF = 0.97, 0.9, 0.96

# Words of a label's `fix_that_worked`, and the fixes that say the same. The first row that matches counts.
FIXES = (
    (("batch",), {"smaller-batch", "smaller-eval-batch", "gradient-accumulation", "fewer-sequences"}),
    (("no_grad", "inference_mode"), {"no-grad-in-eval"}),
    (("expandable",), {"expandable-segments"}),
    (("max_split",), {"max-split-size"}),
    (("empty_cache",), {"empty-cache", "gc-collect"}),
    (("shm", "ipc=host", "ipc host"), {"shm-size", "fewer-workers", "clear-shared-files"}),
    (("num_workers", "workers", "n_jobs", "max_jobs"), {"fewer-workers", "fewer-at-once", "persistent-workers-off"}),
    (("max-model-len", "max_model_len", "context", "num_ctx", "n_ctx"), {"shorter-context"}),
    (("gpu-memory-utilization", "gpu_memory_utilization", "mem-fraction", "mem_fraction"),
     {"engine-fraction-up", "engine-fraction-down", "raise-fraction"}),
    (("prealloc", "allow_growth", "mem_fraction"), {"preallocation-fraction", "engine-fraction-down"}),
    (("detach", ".item()"), {"detach-logged-tensors", "find-the-leak"}),
    (("map_location", "cpu first", "to cpu"), {"load-to-cpu"}),
    (("visible_devices", "another gpu", "other gpu", "free gpu", "different gpu"), {"other-device", "free-the-device"}),
    (("kill", "stale process", "zombie", "other process"), {"free-the-device", "kill-zombies"}),
    (("checkpointing",), {"gradient-checkpointing"}),
    (("8-bit", "8bit", "adafactor"), {"eight-bit-optimizer", "lighter-optimizer"}),
    (("lora",), {"lora", "qlora"}),
    (("quant", "4-bit", "4bit", "gguf"), {"weight-quantisation", "qlora", "kv-cache-dtype"}),
    (("tensor-parallel", "tensor_parallel", "more gpus", "multi-gpu"), {"tensor-parallel", "sharding", "data-parallel"}),
    (("zero", "fsdp", "shard"), {"sharding", "sharded-checkpoint", "cpu-offload"}),
    (("offload",), {"cpu-offload", "weight-offload", "activation-offload"}),
    (("memory limit", "limits.memory", "--mem", "more ram", "more memory", "larger machine", "raise the limit"),
     {"raise-host-limit", "raise-runtime-limit", "memory-request", "swap"}),
    (("ulimit",), {"raise-ulimit"}),
    (("swap",), {"swap"}),
    (("resolution", "image size", "imgsz", "smaller image", "resize", "crop"), {"smaller-images", "smaller-tiles"}),
    (("seq", "max_length", "shorter"), {"shorter-sequences", "shorter-context", "group-by-length"}),
    (("watermark",), {"mps-watermark", "raise-fraction"}),
    (("fp16", "bf16", "half", "amp", "mixed"), {"mixed-precision", "half-in-training", "bf16-states"}),
    (("chunk", "tile"), {"chunk-the-operation", "smaller-tiles", "vae-tiling", "chunked-loss"}),
    (("stream", "lazy", "mmap"), {"stream-the-dataset", "host-load-less"}),
    (("attention", "sdpa", "flash", "xformers"), {"fused-attention"}),
)


def cures(words):
    words = (words or "").lower()
    return next((fixes for keys, fixes in FIXES if any(key in words for key in keys)), None)


def shares(row, allowed, proved):
    """As the program states them."""
    out = {cause: OF_ALL * p for cause, p, can in zip(r.CAUSES, row, allowed) if can}
    if proved:
        rest = sum(p for cause, p in out.items() if cause != proved) or 1.0
        return {c: WITH_PROOF if c == proved else p / rest * (OF_ALL - WITH_PROOF) for c, p in out.items()}
    return {cause: min(p, MOST_WITHOUT_PROOF) for cause, p in out.items()}


def judged(reports, model, spread, temperature, count, seed=0):
    """The ranked causes of each report, out of fold."""
    found = [report for report in reports if report.found]
    scores, mask = r.out_of_fold(model, found, spread, count, seed)
    p, _ = r.probabilities(scores / temperature, mask)
    ranked = {}
    for report, row, allowed in zip(found, p, mask):
        stated = shares(row, allowed, report.proved)
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
            if cures(report.fix):
                self.counts["fix@3"].append(bool(cures(report.fix) & set(report.fixes[:3])))
            if causes:
                self.stated.append((causes[0][1], right))

    def calibration(self):
        bins = collections.defaultdict(list)
        for confidence, right in self.stated:
            bins[min(9, int(10 * confidence))].append((confidence, right))
        error = sum(abs(sum(c for c, _ in b) - sum(x for _, x in b)) for b in bins.values())
        return error / max(1, len(self.stated)), np.mean([(c - x) ** 2 for c, x in self.stated]), bins

    def line(self, name):
        ece, brier, _ = self.calibration()
        parts = [f"{key} {100 * np.mean(self.counts[key]):.1f} ({len(self.counts[key])})" for key in (
            "cause@1", "cause@2", "any@1", "family@1", "figures@1", "proved", "fix@3") if self.counts[key]]
        return f"{name}: {len(self.counts['found'])} reports, {sum(self.counts['found'])} found; " + "; ".join(parts) + \
            f"; ECE {ece:.3f}; Brier {brier:.3f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("oomdoc")
    parser.add_argument("folders", nargs="+")
    parser.add_argument("--shown", action="store_true", help="the program's own output, in sample")
    parser.add_argument("--ablation", action="store_true", help="what each mechanism brings, out of fold")
    parser.add_argument("--misses", action="store_true", help="list every wrong first cause")
    parser.add_argument("--folds", type=int, default=10)
    args = parser.parse_args()
    data = json.loads(r.WEIGHTS.read_text())
    reports = r.load(args.oomdoc, args.folders)
    if not reports:
        sys.exit("no labelled report in the folders")
    spread, temperature = data["learnt_from"]["spread"], data["temperature"]
    if args.shown:
        ranked = {(report.folder, report.id): report.shown for report in reports}
        print("as the program prints it: its weights have seen these reports")
    else:
        ranked = judged(reports, r.Model(data), spread, temperature, args.folds)
        print(f"out of fold by source, {args.folds} folds, spread {spread}, temperature {temperature}")
    everything = Tally(reports, ranked)
    print(everything.line("all"))
    for folder in sorted({report.folder for report in reports}):
        inside = [report for report in reports if report.folder == folder]
        print(Tally(inside, ranked).line(folder))
    print("\nstated       cases   mean   right")
    for at, inside in sorted(everything.calibration()[2].items()):
        mean, right = np.mean([c for c, _ in inside]), np.mean([x for _, x in inside])
        print(f".{at} … .{at + 1}   {len(inside):5}   {mean:.2f}   {right:.2f}" if at < 9 else
              f".9 … 1.0   {len(inside):5}   {mean:.2f}   {right:.2f}")
    if args.misses:
        for report in reports:
            causes = ranked.get((report.folder, report.id), [])
            if (causes[:1] or [(None, 0)])[0][0] != report.want[0]:
                got = ", ".join(f"{cause} {share:.2f}" for cause, share in causes[:3])
                print(f"{report.folder}/{report.id} [{report.asker}] want {report.want} got {got or 'nothing'}"
                      f"{' PROVED' if report.proved else ''}{' figures' if report.by_figures else ''}")
    if args.ablation:
        print("\nwithout                   cause@1  any@1  family@1  figures@1")
        base = {key: np.mean(everything.counts[key]) for key in ("cause@1", "any@1", "family@1", "figures@1")}
        for mechanism in data["mechanisms"]:
            less = Tally(reports, judged(reports, r.Model(data, (mechanism,)), spread, temperature, args.folds))
            change = [100 * (np.mean(less.counts[key]) - base[key]) for key in base]
            print(f"{mechanism:24}  " + "  ".join(f"{value:+7.1f}" for value in change))
    return 0


if __name__ == "__main__":
    sys.exit(main())
