#!/usr/bin/env python3
"""One of the training runs of rtx3060.json, and the comparison of all of them with what was measured.

  rtx3060.py train KIND MODEL OPTIMIZER BATCH [--zero-grad before-forward|before-backward]
      trains four iterations on random data of the shape the measured run had; meant to be rehearsed:
      oomdoc rehearse --like "RTX 3060" -- python rtx3060.py train cnn VGG16 Adam 543
  rtx3060.py all RESULTS.jsonl --runner 'oomdoc rehearse ... --format json --' [--set test|calibration] [--kind cnn|transformer]
      runs them one after the other, one JSON line each
  rtx3060.py compare RESULTS.jsonl
      prints the tables of docs/rehearse-accuracy.md

The configurations of the transformers are written out below, because nothing may be downloaded in a rehearsal.
The measured runs padded every batch of text to its longest line, cut at 128 tokens; with five and more lines of
WikiText-2 a batch practically always holds one that long. Their images were 86 x 86.
"""
import argparse
import json
import os
import shlex
import statistics
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
DATA = os.path.join(HERE, os.pardir, "rtx3060.json")
MIB = 1 << 20
TOKENS, PIXELS, ITERATIONS, LEARNING_RATE = 128, 86, 4, 0.001
# Where the gradients of the step before are dropped. For transformers the calibration runs decide (with the other place
# they would need 8 to 12 % more than was measured); for CNNs it is the default of the measured program, and worth 4 MiB.
ZERO_GRAD = {"cnn": "before-backward", "transformer": "before-forward"}


def gpt2(**changes):
    from transformers import GPT2Config, GPT2LMHeadModel

    return GPT2LMHeadModel(GPT2Config(**changes))


def gpt_neo():
    from transformers import GPTNeoConfig, GPTNeoForCausalLM

    return GPTNeoForCausalLM(
        GPTNeoConfig(hidden_size=768, num_layers=12, num_heads=12, attention_types=[[["global", "local"], 6]])
    )


def opt(**changes):
    from transformers import OPTConfig, OPTForCausalLM

    return OPTForCausalLM(OPTConfig(vocab_size=50272, max_position_embeddings=2048, dropout=0.1, **changes))


def t5(width, feed_forward, layers, heads):
    from transformers import T5Config, T5ForConditionalGeneration

    return T5ForConditionalGeneration(
        T5Config(
            vocab_size=32128, d_model=width, d_kv=64, d_ff=feed_forward, num_layers=layers, num_heads=heads,
            decoder_start_token_id=0, pad_token_id=0,
        )
    )


TRANSFORMERS = {
    "openai-community/gpt2": lambda: gpt2(),
    "distilbert/distilgpt2": lambda: gpt2(n_layer=6),
    "cerebras/Cerebras-GPT-111M": lambda: gpt2(
        n_layer=10, n_positions=2048, n_inner=3072, activation_function="gelu",
        attn_pdrop=0.0, embd_pdrop=0.0, resid_pdrop=0.0,
    ),
    "EleutherAI/gpt-neo-125M": gpt_neo,
    "facebook/opt-125m": lambda: opt(hidden_size=768, ffn_dim=3072, num_hidden_layers=12, num_attention_heads=12),
    "facebook/opt-350m": lambda: opt(
        hidden_size=1024, ffn_dim=4096, num_hidden_layers=24, num_attention_heads=16,
        word_embed_proj_dim=512, do_layer_norm_before=False,
    ),
    "T5-small": lambda: t5(512, 2048, 6, 8),
    "t5-base": lambda: t5(768, 3072, 12, 12),
}


def mobilenet_v3(arch, last_channel):
    import torchvision.models.mobilenetv3 as m

    setting, _ = m._mobilenet_v3_conf(arch)
    return m.MobileNetV3(setting, last_channel=last_channel, num_classes=10)


def torchvision_model(name, **arguments):
    import torchvision

    return getattr(torchvision.models, name)(weights=None, **arguments)


CNNS = {
    "VGG16": lambda: torchvision_model("vgg16"),
    "VGG19": lambda: torchvision_model("vgg19"),
    "ResNet101": lambda: torchvision_model("resnet101"),
    "ResNet152": lambda: torchvision_model("resnet152"),
    "MobileNetV2": lambda: torchvision_model("mobilenet_v2"),
    "MobeNetV3Small": lambda: mobilenet_v3("mobilenet_v3_small", 1024),
    "MobeNetV3Large": lambda: mobilenet_v3("mobilenet_v3_large", 1280),
    "MnasNet": lambda: torchvision_model("mnasnet1_0", num_classes=10),
    "ConvNeXtTiny": lambda: torchvision_model("convnext_tiny"),
    "ConvNeXtBase": lambda: torchvision_model("convnext_base"),
    "RegNetX400MF": lambda: torchvision_model("regnet_x_400mf"),
    "RegNetY400MF": lambda: torchvision_model("regnet_y_400mf"),
}


def train(kind, model, optimizer, batch, zero_grad, fraction, used_before):
    """Names stay bound from one iteration to the next as they did in the measured runs: the last output and, for the
    models that return one, the key-value cache live through the next forward pass."""
    import torch

    device = torch.device("cuda:0")
    # The measured process limited itself in any case, to all of the memory at first; this is also where its context began.
    torch.cuda.set_per_process_memory_fraction(fraction, device=device)
    if used_before:
        first = torch.zeros(64, 64, device=device, requires_grad=True)
        (first @ first).sum().backward()
        del first
        torch.cuda.empty_cache()
    if kind == "cnn":
        net = CNNS[model]()
        net.to(device)
        net.train()
        rule = getattr(torch.optim, optimizer)(params=net.parameters(), lr=LEARNING_RATE)
        criterion = torch.nn.CrossEntropyLoss()
        for _ in range(ITERATIONS):
            inputs, labels = torch.zeros(batch, 3, PIXELS, PIXELS), torch.zeros(batch, dtype=torch.long)
            if zero_grad == "before-forward":
                rule.zero_grad()
            inputs, labels = inputs.to(device), labels.to(device)
            outputs = net(inputs)
            loss = criterion(outputs, labels)
            if zero_grad == "before-backward":
                rule.zero_grad()
            loss.backward()
            rule.step()
            _, best = torch.max(outputs, 1)
    else:
        net = TRANSFORMERS[model]()
        net.train()
        rule = getattr(torch.optim, optimizer)(params=net.parameters(), lr=LEARNING_RATE)
        net.to(device)
        for _ in range(ITERATIONS):
            tokens = torch.ones(batch, TOKENS, dtype=torch.long)
            columns = {"input_ids": tokens, "attention_mask": torch.ones_like(tokens), "labels": tokens.clone()}
            if zero_grad == "before-forward":
                rule.zero_grad()
            columns = {name: column.to(device) for name, column in columns.items()}
            outputs = net(**columns)
            if zero_grad == "before-backward":
                rule.zero_grad()
            loss = outputs.loss
            loss.backward()
            rule.step()


def train_and_tell(options):
    """Trains and prints what the allocator says at the end, so that the script also works on a real GPU."""
    import torch

    ran_out, started = True, time.time()
    zero_grad = options.zero_grad or ZERO_GRAD[options.kind]
    try:
        train(options.kind, options.model, options.optimizer, options.batch, zero_grad, options.fraction, options.used_before)
        ran_out = False
    finally:
        print(json.dumps({
            "oom": ran_out,
            "peak_reserved_bytes": torch.cuda.max_memory_reserved(),
            "peak_allocated_bytes": torch.cuda.max_memory_allocated(),
            "seconds": round(time.time() - started, 1),
        }), flush=True)


def run_all(options):
    with open(DATA) as file:
        runs = json.load(file)["runs"]
    done = set()
    if os.path.exists(options.results):
        with open(options.results) as file:
            done = {tuple(json.loads(line)["run"]) for line in file}
    if options.limited:
        runs = [{**run, "fraction": again["fraction"]} for run in runs for again in run.get("limited", [])]
    for run in runs:
        key = (run["kind"], run["model"], run["optimizer"], run["batch"]) + ((run["fraction"],) if options.limited else ())
        if key in done or options.set not in (None, run["set"]) or options.kind not in (None, run["kind"]):
            continue
        command = shlex.split(options.runner) + [options.python, os.path.abspath(__file__), "train"]
        command += [str(part) for part in key[:4]] + (["--fraction", str(key[4])] if options.limited else [])
        command += ["--zero-grad", options.zero_grad] if options.zero_grad else []
        started = time.time()
        child = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        answer = None
        for line in child.stdout.splitlines():
            if line.startswith("{") and "peak_reserved_bytes" in line:
                answer = json.loads(line)
        if answer is None:
            answer = from_report(child.stdout)
        if answer is None:
            print(key, "gave no figures:", child.stderr[-400:], file=sys.stderr)
            continue
        answer.update(run=list(key), wall_seconds=round(time.time() - started, 1))
        with open(options.results, "a") as file:
            file.write(json.dumps(answer) + "\n")
        print(*key, answer["oom"], round(answer["peak_reserved_bytes"] / MIB), flush=True)


def from_report(text):
    """The figures of `oomdoc rehearse --format json`, whose report stands alone on standard output: those with rising
    device addresses, and in `down_reserved_bytes` what falling addresses change."""
    try:
        takes = {take["addresses"]: take for take in json.loads(text)["runs"][0]["takes"]}
        up = takes["up"]
    except (ValueError, LookupError, TypeError):
        return None
    if up["ended"] not in ("done", "out-of-memory"):
        return None
    answer = {
        "oom": any(take["ended"] == "out-of-memory" for take in takes.values()),
        "peak_reserved_bytes": up["reserved_bytes"],
        "peak_allocated_bytes": up["allocated_bytes"],
        "seconds": up["seconds"],
    }
    if "down" in takes:
        answer["down_reserved_bytes"] = takes["down"]["reserved_bytes"]
    return answer


def median(values):
    return statistics.median(values) if values else float("nan")


def compare(options):
    with open(DATA) as file:
        runs = json.load(file)["runs"]
    with open(options.results) as file:
        ours = {tuple(line["run"]): line for line in map(json.loads, file)}
    for run in runs:
        run["ours"] = ours.get((run["kind"], run["model"], run["optimizer"], run["batch"]))
    known = [run for run in runs if run["ours"]]
    fitted = [r for r in known if r["set"] == "calibration" and r["kind"] == "transformer" and not r["oom"]]
    constant = options.constant
    if constant is None:
        constant = median([r["measured_peak_bytes"] - r["ours"]["peak_reserved_bytes"] for r in fitted]) / MIB
    print(f"constant: {constant:.0f} MiB (median over {len(fitted)} calibration runs of transformers)\n")

    def error(run):
        return (run["ours"]["peak_reserved_bytes"] + constant * MIB) / run["measured_peak_bytes"] - 1

    print("| set | model | optimizer | batch | measured MiB | rehearsed | other layout | error | out of memory: measured / rehearsed |")
    print("|---|---|---|---:|---:|---:|---:|---:|---|")
    for run in known:
        both_fit = not run["oom"] and not run["ours"]["oom"]
        print(
            f"| {run['set']} | {run['model']} | {run['optimizer']} | {run['batch']} | {run['measured_peak_bytes'] / MIB:.0f}"
            f" | {run['ours']['peak_reserved_bytes'] / MIB + constant:.0f} | "
            + (f"{run['ours']['down_reserved_bytes'] / MIB + constant:.0f} | " if "down_reserved_bytes" in run["ours"] else "– | ")
            + (f"{100 * error(run):+.1f} %" if both_fit else "–")
            + f" | {'yes' if run['oom'] else 'no'} / {'yes' if run['ours']['oom'] else 'no'} |"
        )
    print("\n| set | kind | who | runs | median | mean | worst | fits-or-not right |\n|---|---|---|---:|---:|---:|---:|---:|")
    for which in ("test", "calibration"):
        for kind in ("transformer", "cnn"):
            chosen = [r for r in known if r["set"] == which and r["kind"] == kind]
            both = [abs(error(r)) for r in chosen if not r["oom"] and not r["ours"]["oom"]]
            right = sum(r["oom"] == r["ours"]["oom"] for r in chosen)
            row(which, kind, "oomdoc rehearse", both, right, len(chosen))
            for name in ("xMem", "DNNMem", "SchedTune", "LLMem"):
                theirs = [r for r in chosen if name in r["estimators"]]
                if not theirs:
                    continue
                errors = [
                    abs(r["estimators"][name]["bytes"] / r["measured_peak_bytes"] - 1)
                    for r in theirs if not r["oom"] and not r["estimators"][name]["oom"]
                ]
                row(which, kind, name, errors, sum(r["oom"] == r["estimators"][name]["oom"] for r in theirs), len(theirs))
    compare_limited(runs, ours, constant)


def compare_limited(runs, ours, constant):
    """The second measurements: whether the run still fitted under a limit, and its peak there."""
    right, errors, rows = 0, [], []
    for run in runs:
        for again in run.get("limited", []):
            line = ours.get((run["kind"], run["model"], run["optimizer"], run["batch"], again["fraction"]))
            if line is None:
                continue
            right += line["oom"] == again["oom"]
            error = ""
            if not line["oom"] and "peak_bytes" in again:
                relative = (line["peak_reserved_bytes"] + constant * MIB) / again["peak_bytes"] - 1
                errors.append((run["kind"], abs(relative)))
                error = f"{again['peak_bytes'] / MIB:.0f} | {line['peak_reserved_bytes'] / MIB + constant:.0f} | {100 * relative:+.1f} %"
            rows.append(f"| {run['model']} | {run['optimizer']} | {run['batch']} | {again['fraction']:.2f} | "
                        f"{'no' if again['oom'] else 'yes'} / {'no' if line['oom'] else 'yes'} | {error or '– | – | –'} |")
    if not rows:
        return
    print("\n| model | optimizer | batch | limit | fits: measured / rehearsed | measured MiB | rehearsed | error |")
    print("|---|---|---:|---:|---|---:|---:|---:|")
    print("\n".join(rows))
    print(f"\nlimited: fits-or-not right in {right} of {len(rows)}")
    for kind in ("transformer", "cnn"):
        chosen = [error for of, error in errors if of == kind]
        if chosen:
            print(f"limited, {kind}: median error {100 * median(chosen):.1f} %, worst {100 * max(chosen):.1f} % ({len(chosen)} runs)")


def row(which, kind, who, errors, right, total):
    mean = statistics.fmean(errors) if errors else float("nan")
    worst = max(errors) if errors else float("nan")
    print(f"| {which} | {kind} | {who} | {len(errors)} | {100 * median(errors):.1f} % | {100 * mean:.1f} %"
          f" | {100 * worst:.1f} % | {right} of {total} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(dest="verb", required=True)
    one = verbs.add_parser("train")
    one.add_argument("kind", choices=["cnn", "transformer"])
    one.add_argument("model", choices=[*CNNS, *TRANSFORMERS])
    one.add_argument("optimizer", choices=["SGD", "Adam", "AdamW", "RMSprop", "Adagrad"])
    one.add_argument("batch", type=int)
    one.add_argument("--fraction", type=float, default=1.0, help="limit of the process, as share of the GPU's memory")
    one.add_argument("--used-before", action="store_true", help="cuBLAS has its workspaces before the training begins")
    every = verbs.add_parser("all")
    every.add_argument("results")
    every.add_argument("--runner", default="")
    every.add_argument("--python", default=sys.executable)
    every.add_argument("--set", choices=["test", "calibration"])
    every.add_argument("--kind", choices=["cnn", "transformer"])
    every.add_argument("--limited", action="store_true", help="the second measurements, under a limit")
    for verb in (one, every):
        verb.add_argument("--zero-grad", choices=["before-forward", "before-backward"])
    table = verbs.add_parser("compare")
    table.add_argument("results")
    table.add_argument("--constant", type=float, help="MiB, in place of the one the calibration runs give")
    options = parser.parse_args()
    {"train": train_and_tell, "all": run_all, "compare": compare}[options.verb](options)


if __name__ == "__main__":
    main()
