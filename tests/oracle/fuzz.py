#!/usr/bin/env python3
"""Random traces with every kind of request through PyTorch's own allocator and through `oomdoc simulate`, line by line.

  fuzz.py HARNESS OOMDOC VERSION [--runs N] [--seed N] [--pools] [--settings]

--pools adds private pools, --settings changes of settings on the way. Runs in which PyTorch itself crashes are skipped."""
import argparse, json, os, random, subprocess

MIB = 1 << 20
# First minor release, settings.
SETTINGS = [
    (0, ""), (0, "max_split_size_mb:64"), (0, "max_split_size_mb:30"), (0, "garbage_collection_threshold:0.5"),
    (0, "roundup_power2_divisions:4"), (0, "roundup_power2_divisions:1"), (0, "roundup_power2_divisions:[256:1,512:2,>:8]"),
    (1, "expandable_segments:True"), (1, "expandable_segments:True,max_split_size_mb:64"),
    (1, "expandable_segments:True,garbage_collection_threshold:0.4"), (1, "expandable_segments:True,roundup_power2_divisions:8"),
    (6, "max_split_size_mb:50,max_non_split_rounding_mb:30"), (10, "per_process_memory_fraction:0.6,garbage_collection_threshold:0.5"),
    (11, "large_segment_size_mb:64"), (11, "large_segment_size_mb:48,expandable_segments:True"), (11, "large_segment_size_mb:12,max_split_size_mb:40"),
    (12, "throw_on_cudamalloc_oom:True"), (12, "throw_on_cudamalloc_oom:True,expandable_segments:True"),
    (15, "expandable_segments:True,expandable_segments_reserve:0.1"), (15, "expandable_segments:True,expandable_segments_reserve:0.3G"),
]


def size(rng):
    kind = rng.random()
    if kind < 0.4:
        return rng.choice((0, 1, 100, 512, 513, 4096, 65536, 300000, MIB, rng.randint(1, MIB)))
    if kind < 0.7:
        return rng.randint(MIB, 10 * MIB)
    return rng.randint(10 * MIB, 150 * MIB) if kind < 0.97 else rng.randint(150 * MIB, 700 * MIB)


def trace(rng, minor, pools, settings, ops=250):
    lines, live, users, begun, ident = [], [], {}, [], 0
    streams = rng.choice((0, 0, 2, 4))
    while len(lines) < ops:
        kind = rng.random()
        if kind < 0.45:
            ident += 1
            stream = rng.randint(0, streams) if rng.random() < 0.5 else 0
            lines.append(f"a {ident} {size(rng)} {stream}")
            live.append(ident)
            if streams and rng.random() < 0.15:
                lines.append(f"r {ident} {rng.randint(0, streams)}")
        elif kind < 0.82 and live:
            lines.append(f"f {live.pop(rng.randrange(max(0, len(live) - 40), len(live)))}")
        elif kind < 0.88:
            lines.append(rng.choice(("e", "e", "p 0", "p 1", "z", "s", "m 0.5", "m 0.9", "m 1.0")))
        elif kind < 0.89 and settings:
            lines.append("c " + rng.choice(settings))
        elif kind < 0.95 and pools:
            pool, step = rng.randint(1, 3), rng.random()
            if step < 0.4 and pool not in begun and (minor >= 3 or not begun) and users.get(pool, 1) > 0:
                lines.append(f"pb {pool}")
                begun.append(pool)
                users[pool] = users.get(pool, 0) + 1
            elif step < 0.8 and begun:
                lines.append(f"pe {begun.pop(rng.randrange(len(begun)) if minor >= 3 else -1)}")
            elif users.get(pool, 0) > 0 and pool not in begun:
                users[pool] -= 1
                lines.append(f"pr {pool}")
    return "\n".join(lines) + "\n"


def records(command, lines, env=None):
    done = subprocess.run(command, env=env, input=lines, capture_output=True, text=True, errors="replace")
    found = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    for record in found:  # only that it failed counts: the words name source lines of the release
        if "error" in record:
            record["error"] = ""
    return found, done.returncode


def main():
    parser = argparse.ArgumentParser(formatter_class=argparse.RawDescriptionHelpFormatter, description=__doc__)
    parser.add_argument("harness"), parser.add_argument("oomdoc"), parser.add_argument("version")
    parser.add_argument("--runs", type=int, default=50), parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--pools", action="store_true"), parser.add_argument("--settings", action="store_true")
    given = parser.parse_args()
    minor = int(given.version.split(".")[1])
    known = [conf for since, conf in SETTINGS if minor >= since]
    # Lowering the split limit while a program runs leaves PyTorch with dangling blocks.
    changes = [conf for conf in known if conf and "split" not in conf] if given.settings else []
    same = skipped = 0
    for seed in range(given.seed, given.seed + given.runs):
        rng = random.Random(f"{given.version}-{seed}")
        conf = rng.choice([conf for conf in known if not given.settings or "split" not in conf])
        fraction, capacity = rng.choice(("", "", "", "0.5", "0.9", "1.0")), rng.choice((512, 1024, 2048, 4096))
        lines = trace(rng, minor, given.pools, changes)
        limit = ["--fraction", fraction] if fraction else []
        env = {k: v for k, v in os.environ.items() if not k.startswith(("PYTORCH_", "FAKEGPU_"))}
        env |= {"FAKEGPU_TOTAL": f"{capacity}M", "FAKEGPU_CONTEXT": "100M"} | ({"PYTORCH_CUDA_ALLOC_CONF": conf} if conf else {})
        theirs, code = records([given.harness, *limit, "-"], lines, env)
        if code not in (0, 3):
            skipped += 1
            continue
        ours, _ = records([given.oomdoc, "simulate", "-", "--capacity", f"{capacity}MiB", "--context", "100MiB", "--conf", conf,
                           "--torch", given.version, "--format", "jsonl", *limit], lines)
        if ours == theirs:
            same += 1
            continue
        at = next((n for n, pair in enumerate(zip(ours, theirs)) if pair[0] != pair[1]), min(len(ours), len(theirs)))
        print(f"seed {seed}, '{conf}' {fraction} {capacity} MiB, record {at}:")
        print("  theirs", json.dumps(theirs[at])[:400] if at < len(theirs) else "end")
        print("  ours  ", json.dumps(ours[at])[:400] if at < len(ours) else "end")
    print(f"{same}/{given.runs - skipped} runs identical, {skipped} skipped")


if __name__ == "__main__":
    main()
