#!/usr/bin/env python3
"""Hold the out-of-memory texts of `oomdoc simulate` against those of PyTorch's own allocator.

  check_texts.py OOMDOC TEXTS.md

TEXTS.md is what oom_texts.py writes: a section per scenario with its environment and options in backquotes, below it
for each group of releases `- 2.4.1, 2.5.1` and the text in a fence. `<pid>` stands for the own process id."""
import re, subprocess, sys

from scenarios import SCENARIOS

SIZES = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


def size(text):
    return int(float(text[:-1]) * SIZES[text[-1]]) if text[-1] in SIZES else int(text)


def command(oomdoc, version, scenario):
    env = scenario.env
    cmd = [oomdoc, "simulate", "-", "--format", "jsonl", "--stop-on-oom", "--torch", version, "--lang", "en",
           "--capacity", "8GiB", "--context", "412MiB", "--conf", env.get("PYTORCH_CUDA_ALLOC_CONF", ""), *scenario.options]
    if others := env.get("FAKEGPU_OTHERS"):
        pairs = [pair.split(":") for pair in others.split(",")]
        cmd += ["--others", ",".join(f"{pid}:{size(bytes)}B" for pid, bytes in pairs)]
    if hidden := env.get("FAKEGPU_HIDDEN"):
        cmd += ["--hidden", f"{size(hidden)}B"]
    if (pid := env.get("FAKEGPU_SELF_PID")) is not None:
        cmd += ["--nvml", "none" if pid == "0" else pid]
    if env.get("NO_NVML"):
        cmd += ["--nvml", "missing"]
    if env.get("PYTORCH_NO_CUDA_MEMORY_CACHING"):
        cmd += ["--no-caching"]
    return cmd


def ours(oomdoc, version, scenario):
    import json
    done = subprocess.run(command(oomdoc, version, scenario), input="\n".join(scenario.trace) + "\n", text=True, capture_output=True)
    if done.returncode == 2:
        return "(process exits 2) oracle: " + done.stderr.removeprefix("error: ").splitlines()[0]
    for line in done.stdout.splitlines():
        record = json.loads(line)
        for key, prefix in (("oom", ""), ("error", "[not an OutOfMemoryError] ")):
            if key in record:
                return prefix + "".join(c if c >= " " or c == "\n" else f"\\x{ord(c):02x}" for c in record[key])
    return "(no OOM: every request was served)"


def expected(path):
    """(title, version) -> text"""
    texts = {}
    for section in open(path).read().split("\n## ")[1:]:
        title, body = section.split("\n", 1)
        for versions, text in re.findall(r"^- ([\d., ]+)\n\n```\n(.*?)\n```$", body, re.M | re.S):
            for version in versions.split(", "):
                texts[title, version] = re.sub(r"\n\[stderr\] .*", "", text)
    return texts


def main(oomdoc, path):
    wanted, good, bad = expected(path), 0, []
    scenarios = {scenario.title: scenario for scenario in SCENARIOS}
    for (title, version), text in wanted.items():
        got = ours(oomdoc, version, scenarios[title])
        # A refused setting is followed by our own explanation in parentheses.
        same = got.rstrip() == text.rstrip() or (text.startswith("(process exits") and got.startswith(text))
        good += same
        if not same:
            bad.append(f"{title}, {version}:\n  theirs {text!r}\n  ours   {got!r}")
    print("\n".join(bad[:10]))
    print(f"{good}/{len(wanted)} texts identical")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:3]))
