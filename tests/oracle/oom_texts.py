#!/usr/bin/env python3
"""Write the exact out-of-memory texts of every built release as Markdown.

  oom_texts.py BUILD > TEXTS.md

The text is what Python shows up to the first NUL byte, which stands as \\x00."""
import json, os, re, subprocess, sys

from scenarios import SCENARIOS


def text_of(build, version, scenario):
    env = {k: v for k, v in os.environ.items() if not k.startswith(("PYTORCH_", "FAKEGPU_"))}
    env |= {"FAKEGPU_TOTAL": "8G", "FAKEGPU_CONTEXT": "412M"} | {k: v for k, v in scenario.env.items() if k != "NO_NVML"}
    library = f"{build}/{version}/fake/libnvidia-ml.so.1"
    if "NO_NVML" in scenario.env:
        os.rename(library, library + ".off")
    try:
        process = subprocess.Popen([f"{build}/{version}/harness", "--stop-on-oom", "--quiet", *scenario.options, "-"], env=env, text=True,
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        out, err = process.communicate("\n".join(scenario.trace) + "\n")
    finally:
        if "NO_NVML" in scenario.env:
            os.rename(library + ".off", library)
    texts = []
    for record in map(json.loads, out.splitlines()):
        if "oom" in record:
            texts.append(record["oom"])
        elif "error" in record:
            texts.append("[not an OutOfMemoryError] " + record["error"])
        elif record.get("final"):
            texts.append("(no OOM: every request was served)")
    text = texts[0] if texts else f"(process exits {process.returncode}) " + err.strip().splitlines()[0].replace("harness: ", "oracle: ", 1)
    text = "".join(c if c >= " " or c == "\n" else f"\\x{ord(c):02x}" for c in text)
    return re.sub(rf"\b{process.pid}\b", "<pid>", text)


def main(build):
    versions = sorted(os.listdir(build), key=lambda version: [int(n) for n in version.split(".")])
    print("# Exact out-of-memory texts\n\nReleases run: " + ", ".join(versions))
    for scenario in SCENARIOS:
        groups = {}
        for version in versions:
            groups.setdefault(text_of(build, version, scenario), []).append(version)
        setting = " ".join(f"{k}={v}" for k, v in scenario.env.items()) or "(defaults)"
        print(f"\n## {scenario.title}\n\n`{setting} {' '.join(scenario.options)}`")
        for text, group in groups.items():
            print(f"\n- {', '.join(group)}\n\n```\n{text}\n```")


if __name__ == "__main__":
    main(sys.argv[1])
