#!/usr/bin/env python3
"""Rehearse real training scripts with real PyTorch builds and compare with the results kept here.

    tests/rehearse/run.py --oomdoc target/release/oomdoc PYTHON...          compare
    tests/rehearse/run.py --oomdoc ... --update PYTHON...                   keep what comes out
    tests/rehearse/run.py --oomdoc ... --only gpt2,ddp PYTHON...            some of them

PYTHON is an interpreter that can import a CUDA build of torch 2.x; no GPU and no NVIDIA package is needed. A case whose
libraries an interpreter lacks is skipped and said so. `results.json` holds, per version of torch and case, what the allocator's
peaks were; `results.md` is the same as a table with the seconds it took. Peaks have to come out to the byte, on the versions of
the libraries that are noted there; everything else is told and decided by the reader.

Not part of `cargo test`: torch is a download of gigabytes.
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
MIB = 1 << 20


def case(script, *arguments, needs=(), since=(2, 0), world=None, gpus=None, like="A100 80GB", options=(), limit=180):
    """One rehearsal: a script, its arguments, the libraries and the torch it needs, and the machine to play."""
    return {
        "script": script, "arguments": arguments, "needs": needs, "since": since,
        "world": world, "gpus": gpus, "like": like, "options": options, "limit": limit,
    }


AS_READ = ("--answers", "none")  # no answer is given for values that are not computed
CASES = {
    "gpt2-2": case("gpt2.py", "--batch", "2", needs=("transformers",)),
    "gpt2-4": case("gpt2.py", "--batch", "4", needs=("transformers",)),
    "gpt2-8": case("gpt2.py", "--batch", "8", needs=("transformers",)),
    "gpt2-16": case("gpt2.py", "--batch", "16", needs=("transformers",)),
    "gpt2-16-too-small": case("gpt2.py", "--batch", "16", needs=("transformers",), like="RTX 3060"),
    "gpt2-2-as-read": case("gpt2.py", "--batch", "2", needs=("transformers",), options=AS_READ),
    "gpt2-4-as-read": case("gpt2.py", "--batch", "4", needs=("transformers",), options=AS_READ),
    "gpt2-8-as-read": case("gpt2.py", "--batch", "8", needs=("transformers",), options=AS_READ),
    "gpt2-16-as-read": case("gpt2.py", "--batch", "16", needs=("transformers",), options=AS_READ),
    "gpt2-2-checkpoint": case("gpt2.py", "--batch", "2", "--checkpoint", needs=("transformers",)),
    "gpt2-16-checkpoint": case("gpt2.py", "--batch", "16", "--checkpoint", needs=("transformers",)),
    "resnet18-32": case("resnet.py", "32", needs=("torchvision",)),
    "hf-trainer-bf16": case("hf_trainer.py", needs=("transformers", "accelerate")),
    "hf-trainer-fp16-checkpointing": case(
        "hf_trainer.py", "--precision", "fp16", "--checkpointing", "--accumulate", "4", needs=("transformers", "accelerate")
    ),
    "accelerate": case("accelerate_loop.py", needs=("accelerate",)),
    "lightning": case("lightning_fit.py", needs=("lightning",)),
    "lora": case("lora.py", needs=("peft", "transformers")),
    "compiled": case("compiled.py", needs=("triton",)),
    "cuda-graph": case("cuda_graph.py"),
    "ddp-of-8": case("ddp.py", world=8),
    "ddp-spawned-on-2": case("spawned.py", world=2),
    "fsdp1-of-8": case("fsdp1.py", world=8),
    "fsdp2-of-8": case("fsdp2.py", since=(2, 6), world=8),
    "zero-redundancy-of-8": case("zero_redundancy.py", world=8),
    "data-parallel-on-2": case("data_parallel.py", gpus=2),
    "timm-amp": case("timm_amp.py", needs=("timm", "torchvision")),
    "two-gpus": case("two_gpus.py", gpus=2),
    "gan-data-workers": case("gan.py"),
    "amp-scaler": case("amp_scaler.py"),
    "eight-bit": case("eight_bit.py", needs=("bitsandbytes",)),
    "lstm": case("lstm.py"),
    "diffusion": case("diffusion.py", needs=("diffusers",)),
    "inference": case("inference.py"),
    "generate": case("generate.py", needs=("transformers",)),
    "masks": case("masks.py"),
    "reads-counters": case("reads_counters.py"),
    "batch-search": case("batch_search.py", like="T4"),
    "waits-for-value": case("waits_for_value.py", limit=20),
}


def facts(python):
    """The version of torch and of the libraries that an interpreter can import, without importing them."""
    code = (
        "import importlib.metadata as m, json, importlib.util as u\n"
        "names = ('torch', 'transformers', 'accelerate', 'lightning', 'peft', 'timm', 'diffusers', 'bitsandbytes', 'triton', 'torchvision')\n"
        "print(json.dumps({n: m.version(n) for n in names if u.find_spec(n)}))"
    )
    return json.loads(subprocess.run([python, "-c", code], capture_output=True, text=True, check=True).stdout)


def rehearse(oomdoc, python, one):
    """Run one case and boil the answer down to what is kept."""
    # What is kept are the peaks of the training steps alone.
    command = [oomdoc, "rehearse", "--like", one["like"], "--addresses", "up", "--ahead", "0s"]
    command += ["--time-limit", "%ds" % one["limit"], "--json"]
    for flag, value in (("--world-size", one["world"]), ("--gpus", one["gpus"])):
        if value:
            command += [flag, str(value)]
    command += one["options"]
    command += ["--", python, str(HERE / "scripts" / one["script"]), *one["arguments"]]
    began = time.time()
    done = subprocess.run(command, capture_output=True, text=True, cwd=HERE / "scripts", stdin=subprocess.DEVNULL)
    try:
        answer = json.loads(done.stdout)
    except ValueError:
        return {"failed": (done.stderr or done.stdout).strip()[-500:]}, time.time() - began
    take = answer["runs"][0]["takes"][0]
    kept = {"verdict": answer["verdict"], "ended": take["ended"], "steps": take["steps"]}
    for name in ("allocated_bytes", "reserved_bytes"):
        if take.get(name) is not None:
            kept[name] = take[name]
    kept["traps"] = sorted({trap["kind"] for trap in take["traps"]})
    if take["ended"] == "failed":
        kept["failed"] = re.sub(r"/\S*/", "", " ".join(answer["message"].split()))[:300]
    return kept, time.time() - began


def table(results):
    """`results.md`: one table per version of torch."""
    lines = ["# Rehearsals of real scripts", "", "Written by `run.py --update`; the scripts lie in `scripts/`. MiB of the fullest GPU.", ""]
    for version, entry in results.items():
        libraries = ", ".join("%s %s" % item for item in entry["libraries"].items() if item[0] != "torch")
        lines += ["## torch " + version, "", libraries, ""]
        lines += ["| case | verdict | ended | steps | allocated | reserved | told | seconds |", "|---|---|---|---:|---:|---:|---|---:|"]
        for name, kept in entry["cases"].items():
            size = ["%.1f" % (kept[key] / MIB) if key in kept else "" for key in ("allocated_bytes", "reserved_bytes")]
            told = ", ".join(kept.get("traps", ())) or kept.get("failed", "")
            row = [name, kept.get("verdict", ""), kept.get("ended", "failed"), str(kept.get("steps", "")), *size, told, "%.0f" % kept["seconds"]]
            lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |")
        lines.append("")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--oomdoc", required=True)
    parser.add_argument("--only", help="names of cases, with commas")
    parser.add_argument("--update", action="store_true")
    parser.add_argument("python", nargs="+")
    options = parser.parse_args()
    store = HERE / "results.json"
    results = json.loads(store.read_text()) if store.exists() else {}
    chosen = options.only.split(",") if options.only else list(CASES)
    differ = 0
    for python in options.python:
        known = facts(python)
        entry = results.setdefault(known["torch"], {"libraries": known, "cases": {}})
        for name in chosen:
            one = CASES[name]
            lacking = [need for need in one["needs"] if need not in known]
            if tuple(int(part) for part in known["torch"].split(".")[:2]) < one["since"]:
                lacking.append("torch %d.%d" % one["since"])
            if lacking:
                print("torch %s %-30s skipped: no %s" % (known["torch"], name, ", ".join(lacking)), flush=True)
                continue
            kept, seconds = rehearse(str(pathlib.Path(options.oomdoc).resolve()), python, one)
            before = {key: value for key, value in entry["cases"].get(name, {}).items() if key != "seconds"}
            same = before == kept
            differ += not same
            sizes = " ".join("%.1f" % (kept[key] / MIB) for key in ("allocated_bytes", "reserved_bytes") if key in kept)
            print(
                "torch %s %-30s %-5s %s %s %s %s steps, %.0f s %s"
                % (known["torch"], name, "same" if same else "DIFFERS" if before else "new", kept.get("verdict"), kept.get("ended"),
                   sizes, kept.get("steps"), seconds, kept.get("failed", "")),
                flush=True,
            )
            if before and not same:
                print("    kept: %s\n    now:  %s" % (json.dumps(before), json.dumps(kept)), flush=True)
            if options.update:
                kept["seconds"] = round(seconds, 1)
                entry["cases"][name] = kept
                entry["libraries"] = known
                entry["cases"] = {key: entry["cases"][key] for key in CASES if key in entry["cases"]}
                store.write_text(json.dumps(results, indent=1) + "\n")
                (HERE / "results.md").write_text(table(results))
    sys.exit(1 if differ and not options.update else 0)


if __name__ == "__main__":
    main()
