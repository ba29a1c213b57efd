#!/usr/bin/env python3
"""Runs real programs to failure, one planted cause each, and keeps what they printed with the cause as label.

    tests/planted/make.py --oomdoc target/debug/oomdoc [--only REGEX] [--seed N] PYTHON...

Each PYTHON can import a CUDA build of torch; no GPU is needed. See README.md. Not part of `cargo test`.
"""
import argparse
import hashlib
import json
import os
import pathlib
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from plants import OOM, PLANTS  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
GIB = 1 << 30
HUGE = 4096 * GIB
PRELOAD = ["torch", "torch.nn", "torch.distributed", "torch._dynamo", "numpy", "transformers", "transformers.models.llama.modeling_llama",
           "transformers.models.gpt2.modeling_gpt2", "transformers.trainer", "accelerate", "peft", "timm", "diffusers",
           "diffusers.models.unets.unet_2d_condition", "diffusers.models.autoencoders.autoencoder_kl",
           "diffusers.schedulers.scheduling_ddim", "lightning", "tqdm.auto"]

# Settings of each program: the first list is ordinary, the second has large models and small batches.
SETTINGS = {
    "gpt": ([dict(BATCH=8, SEQ=1024, WIDTH=768, LAYERS=6), dict(BATCH=4, SEQ=2048, WIDTH=1024, LAYERS=8), dict(BATCH=12, SEQ=512, WIDTH=1280, LAYERS=5)],
            [dict(BATCH=1, SEQ=256, WIDTH=2560, LAYERS=6), dict(BATCH=1, SEQ=128, WIDTH=4096, LAYERS=5)]),
    "vision": ([dict(BATCH=64, SEQ=224, MODEL="vit_small_patch16_224"), dict(BATCH=48, SEQ=224, MODEL="vit_base_patch16_224")],
               [dict(BATCH=10, SEQ=224, MODEL="vit_large_patch16_224"), dict(BATCH=24, SEQ=224, MODEL="vit_large_patch16_224")]),
    "trainer": ([dict(BATCH=4, SEQ=1024, WIDTH=1024, LAYERS=6), dict(BATCH=2, SEQ=2048, WIDTH=1536, LAYERS=5)],
                [dict(BATCH=1, SEQ=128, WIDTH=2560, LAYERS=5), dict(BATCH=1, SEQ=256, WIDTH=2048, LAYERS=6)]),
    "lightning_fit": ([dict(BATCH=16, SEQ=512, WIDTH=768, LAYERS=6), dict(BATCH=24, SEQ=768, WIDTH=512, LAYERS=6)],
                      [dict(BATCH=1, SEQ=128, WIDTH=3072, LAYERS=5), dict(BATCH=1, SEQ=64, WIDTH=2048, LAYERS=8)]),
    "accel": ([dict(BATCH=8, SEQ=768, WIDTH=768, LAYERS=6, PRECISION="bf16"), dict(BATCH=6, SEQ=1024, WIDTH=1024, LAYERS=5, PRECISION="no")],
              [dict(BATCH=1, SEQ=128, WIDTH=2560, LAYERS=5, PRECISION="no"), dict(BATCH=1, SEQ=256, WIDTH=3072, LAYERS=5, PRECISION="bf16")]),
    "unet": ([dict(BATCH=2, SEQ=96, WIDTH=24), dict(BATCH=1, SEQ=128, WIDTH=32), dict(BATCH=2, SEQ=64, WIDTH=48)],
             [dict(BATCH=1, SEQ=16, WIDTH=256), dict(BATCH=1, SEQ=16, WIDTH=320)]),
    "rl": ([dict(BATCH=4096, SEQ=96, WIDTH=64), dict(BATCH=6144, SEQ=96, WIDTH=64), dict(BATCH=3072, SEQ=128, WIDTH=96)],
           [dict(BATCH=32, SEQ=256, WIDTH=512), dict(BATCH=32, SEQ=256, WIDTH=640)]),
    "lora": ([dict(BATCH=4, SEQ=1024, WIDTH=2048, LAYERS=6), dict(BATCH=2, SEQ=2048, WIDTH=2560, LAYERS=5)],
             [dict(BATCH=1, SEQ=128, WIDTH=4096, LAYERS=6), dict(BATCH=1, SEQ=64, WIDTH=5120, LAYERS=6)]),
    "distill": ([dict(BATCH=64, SEQ=1500, WIDTH=512, LAYERS=6), dict(BATCH=24, SEQ=3000, WIDTH=768, LAYERS=5)],
                [dict(BATCH=1, SEQ=200, WIDTH=2560, LAYERS=6), dict(BATCH=1, SEQ=300, WIDTH=2048, LAYERS=6)]),
    "ddp": ([dict(BATCH=8, SEQ=512, WIDTH=1024, LAYERS=5), dict(BATCH=16, SEQ=256, WIDTH=768, LAYERS=6)],
            [dict(BATCH=1, SEQ=64, WIDTH=2560, LAYERS=5), dict(BATCH=1, SEQ=64, WIDTH=2048, LAYERS=6)]),
    "server": ([dict(BATCH=4, SEQ=1024, WIDTH=4096, LAYERS=8, NEW=4), dict(BATCH=8, SEQ=512, WIDTH=5120, LAYERS=9, NEW=3)],
               [dict(BATCH=1, SEQ=64, WIDTH=4096, LAYERS=10, NEW=3), dict(BATCH=1, SEQ=128, WIDTH=5120, LAYERS=9, NEW=3)]),
    "engine": ([dict(BATCH=16, SEQ=512, WIDTH=2048, LAYERS=8), dict(BATCH=8, SEQ=2048, WIDTH=2560, LAYERS=6)],
               [dict(BATCH=1, SEQ=64, WIDTH=4096, LAYERS=8), dict(BATCH=1, SEQ=128, WIDTH=5120, LAYERS=6)]),
    "diffuse": ([dict(BATCH=2, SEQ=1024, WIDTH=640, TILE=16), dict(BATCH=1, SEQ=2048, WIDTH=480, TILE=16), dict(BATCH=4, SEQ=1536, WIDTH=768, TILE=16)], []),
    "embed": ([dict(BATCH=16, SEQ=512, WIDTH=1024, LAYERS=4), dict(BATCH=8, SEQ=1024, WIDTH=1536, LAYERS=3), dict(BATCH=32, SEQ=384, WIDTH=768, LAYERS=5)], []),
    "sweep": ([dict(BATCH=8, SEQ=512, WIDTH=1024, LAYERS=5), dict(BATCH=4, SEQ=1024, WIDTH=1536, LAYERS=4), dict(BATCH=16, SEQ=256, WIDTH=768, LAYERS=6)], []),
}
NAMES = ("train.py", "main.py", "run.py", "finetune.py", "run_experiment.py", "pretrain.py")
WORDS = ("mem", "gpu", "cuda", "vram", "memory", "gpu_mem", "GPU RAM", "used", "footprint", "in use", "occupied", "alloc")
COUNTERS = ("{}={}", "{} {}", "{}: {}", "{}[{}]")


def style_of(name, word, counter):
    """The function `memory()` of a program: what it prints of memory on its lines, if anything."""
    a, r, m, i = ("torch.cuda.%s" % what for what in ("memory_allocated()", "memory_reserved()", "max_memory_allocated()", "mem_get_info()"))
    body = {
        "nothing": '""',
        "short": 'f", %s {%s / 2**30:.1f}G"' % (word, r),
        "mib": 'f" | %s {%s >> 20} MiB"' % (word, a),
        "equals": 'f" %s={%s / 2**30:.2f}GiB"' % (word, a),
        "peak": 'f"  max %s: {%s / 1048576:.0f}"' % (word, m),
        "both": 'f" %s {%s / 2**30:.2f}G (peak {%s / 2**30:.2f}G)"' % (word, a, m),
        "pair": 'f", allocated {%s / 1e9:.2f} GB, reserved {%s / 1e9:.2f} GB"' % (a, r),
        "free": '(lambda free, total: f", {free / 2**30:.1f} of {total / 2**30:.1f} GiB free")(*%s)' % i,
        "gpustat": '(lambda free, total: f"  [0] 40C,   0 %% | {(total - free) >> 20:5d} / {total >> 20:5d} MB |")(*%s)' % i,
        "percent": '(lambda free, total: f" %s {100 * (total - free) / total:.1f}%%")(*%s)' % (word, i),
        "cards": '"".join(f" gpu{i}={torch.cuda.memory_allocated(i) / 2**30:.1f}G" for i in range(torch.cuda.device_count()))',
        "counter": 'f" %s"' % COUNTERS[len(word) % 4].format((counter or "x").removeprefix("len(").rstrip(")"), "{%s}" % counter),
    }[name]
    return "\n\ndef memory():\n    return " + body


def fill(program, slots, values):
    """A program's text with lines in its slots and figures for its settings."""
    lines = []
    for line in (HERE / "programs" / (program + ".py")).read_text().split("\n"):
        found = re.fullmatch(r"( *)#@(\w+)", line)
        if found:
            text = slots.get(found[2], "")
            lines += [(found[1] + part).rstrip() for part in text.split("\n")] if text else []
        else:
            lines.append(line)
    text = "\n".join(lines)
    for name in sorted(values, key=len, reverse=True):
        text = text.replace("$" + name, str(values[name]))
    left = re.search(r"\$[A-Z]+", text)
    if left:
        raise ValueError("%s: %s has no value" % (program, left[0]))
    return text


def cards(oomdoc):
    """The GPUs that oomdoc knows: name, capability, multiprocessors, context, memory."""
    listed = subprocess.run([oomdoc, "rehearse", "--like", "list"], capture_output=True, text=True, check=True).stdout
    found = []
    for line in listed.splitlines():
        row = re.match(r"(.+?)  +([\d.]+)(?: … ([\d.]+))? +(\d+\.\d) +(\d+) +(\d+)(?: … (\d+))?", line)
        if row:
            memory = (float(row[2]) + float(row[3] or row[2])) / 2
            found.append({"name": row[1].strip(), "cc": row[4], "sms": int(row[5]),
                          "context": (int(row[6]) + int(row[7] or row[6])) // 2 << 20, "total": int(memory * 1024) << 20})
    return sorted(found, key=lambda card: card["total"])


class Server:
    """One interpreter that has its libraries imported and runs jobs in forks."""

    def __init__(self, oomdoc, python, folder):
        self.python, self.folder = python, folder
        code = "import importlib.metadata as m, json; print(json.dumps({n: m.version(n) for n in %r}))" % (
            ["torch", "transformers", "accelerate", "peft", "lightning", "timm", "diffusers"],)
        self.versions = json.loads(subprocess.run([python, "-c", code], capture_output=True, text=True, check=True).stdout)
        pipes = [str(folder / ("pipe-%d-%s" % (i, self.versions["torch"]))) for i in range(2)]
        for pipe in pipes:
            os.mkfifo(pipe)
        task = folder / ("task-%s.json" % self.versions["torch"])
        task.write_text(json.dumps({"preload": PRELOAD, "pipes": pipes}))
        self.number = 0
        command = [oomdoc, "rehearse", "--steps", "0", "--addresses", "up", "--time-limit", "10h", "--gpu-memory", "24GiB", "--show-output", "--",
                   python, str(HERE / "serve.py"), str(task)]
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1", "PYTHONUNBUFFERED": "1", "TOKENIZERS_PARALLELISM": "false"}
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=open(folder / "server.err", "ab"), env=environment)
        self.orders, self.answers = open(pipes[0], "w"), open(pipes[1])

    def run(self, text, card, name="train.py", seconds=60, env=None, **more):
        """What a program printed, how it ended, and the most it held on a device."""
        self.number += 1
        room = self.folder / ("run%d" % self.number)
        room.mkdir()
        (room / name).write_text(text)
        report = room / "report"
        job = {"cwd": str(room), "script": name, "log": str(room / "log"), "report": str(report), "seconds": seconds, **more}
        job["env"] = {"OOMDOC_SIM_TOTAL": str(card["total"]), "OOMDOC_SIM_CONTEXT": str(card["context"]), "OOMDOC_SIM_NAME": "NVIDIA " + card["name"],
                      "OOMDOC_SIM_CC": card["cc"], "OOMDOC_SIM_SMS": str(card["sms"]), **(env or {})}
        for stranger in job.get("strangers", ()):
            stranger["argv"] = [part.replace("LOG", job["log"]) for part in stranger["argv"]]
            shutil.copy(HERE / stranger["script"], room)
        self.orders.write(json.dumps(job) + "\n")
        self.orders.flush()
        answer = self.answers.readline()
        if not answer:
            sys.exit("the server has ended: see " + str(self.folder / "server.err"))
        log = (room / "log").read_bytes().decode("utf-8", "replace").replace(str(room), "/home/user/project")
        # The rehearsal's own frames are no part of the program.
        log = re.sub(r'(?m)^((?:\[rank\d+\]:)?[^\S\n]*)File "/\S*oomdoc-rehearse-[^\n]*\n(?:\1 [^\n]*\n)*', "", log)
        if "oomdoc" in log:
            sys.exit("the rehearsal shows in a log:\n" + log[-3000:])
        venv = str(pathlib.Path(self.python).parent.parent)
        log = log.replace(venv, "/home/user/venv").replace(os.path.realpath(sys.base_prefix), "/usr")
        log = re.sub(r"/\S*?/lib/python3\.(\d+)/(?!site-packages)", r"/usr/lib/python3.\1/", log)
        peak = 0
        for file in report.glob("device-*.bin"):
            words = struct.unpack_from("<144Q", file.read_bytes())
            peak = max([peak, *words[17::8]])
        shutil.rmtree(room)
        return log, json.loads(answer), peak

    def close(self):
        self.orders.close()
        self.process.wait()


UNIT = {"bytes": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40}
SIZE = r"([\d.]+) (bytes|KiB|MiB|GiB|TiB)"


def facts_of(log):
    """The figures of PyTorch's message, as they stand in the log."""
    found = list(re.finditer(r"CUDA out of memory\. Tried to allocate " + SIZE, log))
    if not found:
        return {}
    message = log[found[0].start():].split("\n")[0]
    facts = {}

    def take(name, pattern):
        row = re.search(pattern, message)
        if row:
            facts[name] = round(float(row[1]) * UNIT[row[2]])

    take("requested_bytes", "Tried to allocate " + SIZE)
    take("capacity_bytes", "total capacity of " + SIZE)
    take("free_bytes", "of which " + SIZE + " is free")
    take("process_bytes", "this process has " + SIZE + " memory in use")
    take("allocated_bytes", "Of the allocated memory " + SIZE + " is allocated")
    take("reserved_unallocated_bytes", "and " + SIZE + " is reserved by PyTorch but unallocated")
    take("fraction_limit_bytes", SIZE + " allowed;")
    device = re.search(r"GPU (\d+) has", message)
    if device:
        facts["device"] = int(device[1])
    others = [{"pid": int(row[1]), "bytes": round(float(row[2]) * UNIT[row[3]])}
              for row in re.finditer(r"Process (\d+) has " + SIZE + " memory in use", message)]
    if others:
        facts["other_processes"] = others
    return facts


def thin(log):
    """At most 400 lines: the first ones and the last ones, as they are."""
    lines = log.split("\n")
    return log if len(lines) <= 400 else "\n".join(lines[:120] + lines[-280:])


def readings(log, style, plant):
    """How many readings of a series stand above the error."""
    above = log.split("out of memory")[0]
    number = {"nothing": "(?!)", "counter": re.escape((plant.get("counter") or "x").removeprefix("len(").rstrip(")")) + r"[=:\[ ]+\d+"}
    return len(re.findall(number.get(style, r"\d+(?:\.\d+)? ?(?:MiB|GiB|GB|G|%|MB)|max [\w ]+: \d+"), above))


def tellable(plant, log, facts, style, trace, said, card):
    """The rule on `derivable`; see the head of plants.py."""
    tells = plant["tells"]
    if tells == "always":
        return True
    if tells == "allowed":
        return "fraction_limit_bytes" in facts
    if tells == "trace":
        return trace or said
    if tells == "said":
        return said or (trace and re.search(r"average = |teacher = |workspace = |torch\.load\(", log) is not None)
    if tells == "readings":
        return readings(log, style, plant) >= 4
    if tells == "loads":
        return len(re.findall(r"(?i)number of parameters|param count|parameters|model loaded|loading took", log)) > 1 or trace
    if tells == "cards":
        return "gpu1=0.0G" in log
    if tells == "cached":
        return facts.get("reserved_unallocated_bytes", 0) >= facts.get("requested_bytes", 1)
    return False


def expandable(text):
    """The same program under the setting that cures fragmentation."""
    return text.replace("import torch\n", "import torch\ntorch.cuda.memory._set_allocator_settings('expandable_segments:True')\n", 1)


class Maker:
    def __init__(self, catalogue, out, seed):
        self.catalogue, self.out, self.seed, self.peaks = catalogue, out, seed, {}

    def values(self, program, settings, server, **more):
        base = {"STEPS": 40, "EVERY": 1, "AT": 12, "DEVICE": '"cuda:%d" % shard', "CUDART": server.cudart, "NEW": 1, "TILE": 16, "MODEL": "", "K": 1, "N": 1,
                "M": 1, "SHARE": 0.9, "SAY": "pass"}
        return {**base, **settings, **more}

    def peak(self, server, program, settings):
        """What the program needs without a plant: bytes on a device that has more than enough."""
        key = (server.versions["torch"], program, tuple(sorted(settings.items())))
        if key not in self.peaks:
            card = {"name": "A100 80GB", "cc": "8.0", "sms": 108, "context": 0, "total": HUGE}
            text = fill(program, {"memory": style_of("nothing", "", "")}, self.values(program, settings, server, STEPS=40 if program == "unet" else 4))
            log, statuses, peak = server.run(text, card, distributed=program in ("ddp", "sweep"))
            if statuses != [0]:
                print("CONTROL FAILED %s %s\n%s" % (program, settings, log[-1500:]), flush=True)
                peak = 0
            self.peaks[key] = peak
        return self.peaks[key]

    def choose(self, plant, need, server):
        """Cards on which the program fits, or with `below` does not, in the order in which to try them."""
        room = plant["room"]
        low, high = {"tight": (0.62, 0.95), "near": (0.82, 0.97), "wide": (0.3, 0.9), "loose": (0.3, 0.9), "fraction": (0.25, 0.9), "ranks": (0.2, 0.8),
                     "fragments": (0.55, 0.985)}.get(room, (0, 0))
        chosen = []
        for card in self.catalogue:
            available = card["total"] - card["context"]
            # Builds for CUDA 13 have no kernels for cards before Turing.
            if server.cudart == "13" and float(card["cc"]) < 7.5:
                continue
            if room == "below":
                share = available / need
                if plant["share"][0] <= share <= plant["share"][1]:
                    chosen.append(card)
            elif low <= need / available <= high:
                chosen.append(card)
        self.rng.shuffle(chosen)
        if room in ("tight", "near", "fragments") or plant["tells"] == "readings":
            chosen = sorted(chosen[:9] if room == "fragments" else chosen[:6], key=lambda card: card["total"])
        return chosen[:5 if room == "fragments" else 3]

    def one(self, name, program, variant, server):
        # Each case draws for itself, so that it comes out the same whatever is made before it.
        plant, rng = PLANTS[name], random.Random("%d %s %s %d" % (self.seed, name, program, variant))
        self.rng = rng
        options = SETTINGS[program]
        options = options[1] if plant.get("heavy") and options[1] else options[0]
        settings = dict(options[variant % len(options)])
        if variant >= len(options):
            settings["BATCH"] = max(1, settings["BATCH"] * rng.choice((1, 2, 3)) // 2)
        enlarged = dict(settings)
        for key, factor in plant.get("settings", {}).items():
            enlarged[key] = factor if key == "TILE" else settings.get(key, 1) * factor
        if "LAYERS" in plant.get("settings", {}) and "LAYERS" not in settings:
            enlarged = dict(settings, MODEL="vit_huge_patch14_224")
        styles = ["nothing", "short", "mib", "equals", "peak", "both", "pair", "free", "gpustat", "percent"]
        styles += ["counter", "counter"] if plant.get("counter") else []
        style, word = plant.get("style") or rng.choice(styles), rng.choice(WORDS)
        trace, said = rng.random() < 0.8, bool(plant.get("said")) and rng.random() < 0.6
        world = rng.choice(plant["world"]) if "world" in plant else rng.choice((1, 2, 2, 4)) if program == "ddp" else 1
        if plant["room"] == "fragments":
            settings = dict(settings, BATCH=settings["BATCH"] * rng.choice((2, 3, 4, 6)) + variant)
        need = self.peak(server, program, enlarged if plant["room"] == "below" and enlarged != settings else settings)
        if not need:
            return "the program fails without a plant"
        if plant["room"] == "fragments":
            # What the run needs where no cached piece is too small: cards are chosen just above that.
            roomy = {"name": "A100 80GB", "cc": "8.0", "sms": 108, "context": 0, "total": 256 * GIB}
            whole = fill(program, {**plant["slots"], "memory": style_of("nothing", "", "")}, self.values(program, settings, server, STEPS=60))
            _, statuses, need = server.run(expandable(whole), roomy)
            if statuses != [0]:
                return "it does not run with expandable segments"
        long = plant["room"] in ("wide", "ranks") and plant["tells"] == "readings"
        choice = self.choose(plant, need, server)
        reason = "no card"
        for card in choice:
            gib = card["total"] / GIB
            more = {"AT": rng.randint(6, 25), "STEPS": 150 if long else 400 if plant.get("stranger") == "arrives" else 60 if plant["room"] == "fragments" else 40, "EVERY": 1}
            slots = dict(plant["slots"])
            say = plant.get("said", "pass") if said else "pass"
            more["SHARE"] = rng.choice(plant.get("shares", (0.9,)))
            more["N"] = rng.choice(plant.get("numbers", (1,)))
            more["M"] = 24 if name == "perplexity" else 4 if program in ("gpt", "trainer", "accel", "lora", "unet") else 40
            more["K"] = max(2, int((gib * GIB * 6) ** 0.5 // (settings["BATCH"] * settings.get("SEQ", 1)) + 1)) if plant.get("square") else \
                max(2, int(1.6 * card["total"] / need) + 1)
            if name == "mask" and program in ("vision", "unet", "rl"):
                more["K"] = 1
            more["FRACTION"] = "%.2f" % (rng.uniform(0.6, 0.9) * need / card["total"])
            # More than what is left: the program needs what it needs, and lacks a part of it.
            more["BYTES"] = int(card["total"] - card["context"] - need * rng.uniform(0.55, 0.9))
            more["SAY"] = "pass" if say == "pass" else "print(f%r)" % say.replace("$SHARE", str(more["SHARE"])).replace("$N", str(more["N"]))
            if program == "ddp" and world > 1 and say != "pass":
                more["SAY"] = "rank == 0 and " + more["SAY"]
            if name == "first-card":
                more["DEVICE"] = '"cuda"'
                enough = [n for n in plant["world"] if 1.02 * card["total"] < n * (need + card["context"]) and n <= 2.5 * card["total"] / need]
                if not enough:
                    reason = "no number of ranks"
                    continue
                world = rng.choice(enough)
            slots["memory"] = style_of(style, word, plant.get("counter"))
            if not trace:
                hook = "import sys\nsys.excepthook = lambda kind, error, trace: print(f'{kind.__name__}: {error}', file=sys.stderr)"
                slots["imports"] = (slots.get("imports", "") + "\n" + hook).strip()
            text = fill(program, slots, self.values(program, enlarged if plant["room"] == "below" else settings, server, **more))
            arguments = {"name": rng.choice(NAMES), "world": world, "distributed": program in ("ddp", "sweep")}
            env = {"OOMDOC_SIM_DEVICES": str(rng.choice(plant["cards"]) if "cards" in plant else world)}
            if world > 1:
                env["OOMDOC_SIM_SHARED"] = "1"
            if plant.get("stranger"):
                env["OOMDOC_SIM_SHARED"] = "1"
                argv = [str(max(2 << 20, more["BYTES"] - card["context"]))] if plant["stranger"] == "holds" else [str(card["total"]), "LOG", str(rng.randint(8, 20))]
                arguments["strangers"] = [{"script": "stranger.py", "argv": argv}]
                arguments["head_start"] = 2.5 if plant["stranger"] == "holds" else 0
            log, statuses, _ = server.run(text, card, env=env, seconds=45, **arguments)
            failed = any(status != 0 for status in statuses)
            if plant.get("survives"):
                good = not failed and re.search(plant["expect"], log)
            else:
                good = failed and re.search(plant["expect"] if trace else "IndexError|RuntimeError" if plant.get("unrelated") else OOM, log)
            if plant.get("first") and re.search(r"(?m)(iter|step|Train: 0 \[|frames) +[1-9]", log):
                good = False
            if good and long and not re.search(r"(?s)(\n.*){5}out of memory", log.replace("\r", "\n")):
                good = False
            if good and plant["room"] == "fragments":
                again, statuses, _ = server.run(expandable(text), card, env=env, seconds=45, **arguments)
                good = all(status == 0 for status in statuses)
            if not good:
                reason = "%s on %s: %s" % ("survived" if not failed else "another failure", card["name"], log.strip().split("\n")[-1][:110])
                continue
            self.keep(name, plant, program, variant, server, log, style, trace, said, card, world, settings)
            return None
        return reason

    def keep(self, name, plant, program, variant, server, log, style, trace, said, card, world, settings):
        log = thin(log)
        facts = {} if plant.get("unrelated") else facts_of(log)
        derivable = bool(tellable(plant, log, facts, style, trace, said, card))
        survived = plant.get("survives") or plant.get("unrelated")
        label = {
            "id": "", "source": "planted:%s:%s:%s-%d" % (program, plant["cause"], name, variant),
            "framework": ["pytorch"], "resource": "none" if survived else "gpu", "facts": {} if survived else facts,
            "causes": plant["causes"], "cause_basis": "construction", "confirmed": True, "derivable": derivable,
            "held": held(program, plant["cause"]),
            "notes": "plant %s; memory on its lines: %s; traceback %s%s; torch %s, %s of %.2f GiB, %d rank%s" % (
                name, style, "printed" if trace else "not printed", "; announced" if said else "", server.versions["torch"], card["name"],
                card["total"] / GIB, world, "" if world == 1 else "s"),
            "log_origin": "local-run",
        }
        taken = [int(path.stem) for path in self.out.glob("[0-4]*.log")]
        label["id"] = "%04d" % (max(taken, default=-1) + 1)
        (self.out / (label["id"] + ".log")).write_text(log)
        (self.out / (label["id"] + ".json")).write_text(json.dumps(label, indent=1) + "\n")


def held(program, cause):
    """Half of the pairs of program and cause are never learned from."""
    return hashlib.sha1((program + cause).encode()).digest()[0] % 2 == 1


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--oomdoc", required=True)
    parser.add_argument("--only", default="", help="expression that PLANT:PROGRAM matches")
    parser.add_argument("--out", default=str(HERE / "logs"))
    parser.add_argument("--rounds", type=int, default=8, help="variants of a pair at most")
    parser.add_argument("--first-round", type=int, default=0)
    parser.add_argument("--seed", type=int, default=14)
    parser.add_argument("python", nargs="+")
    options = parser.parse_args()
    out = pathlib.Path(options.out)
    out.mkdir(parents=True, exist_ok=True)
    folder = pathlib.Path(tempfile.mkdtemp(prefix="planted-"))
    oomdoc = str(pathlib.Path(options.oomdoc).resolve())
    catalogue = [card for card in cards(oomdoc) if card["total"] > 3 * GIB]

    servers = []
    for python in options.python:
        server = Server(oomdoc, python, folder)
        server.cudart = "12" if [int(part) for part in server.versions["torch"].split(".")[:2]] < [2, 11] else "13"
        servers.append(server)
    maker = Maker(catalogue, out, options.seed)
    known = {json.loads(path.read_text())["source"] for path in out.glob("*.json")}
    place = 0
    for round_ in range(options.first_round, options.rounds):
        for name, plant in PLANTS.items():
            for program in plant["programs"]:
                if round_ >= plant["variants"] or not re.search(options.only, name + ":" + program):
                    continue
                if "planted:%s:%s:%s-%d" % (program, plant["cause"], name, round_) in known:
                    continue
                server = servers[(place + round_) % len(servers)]
                place += 1
                began = time.time()
                try:
                    reason = maker.one(name, program, round_, server)
                except (OSError, ValueError, KeyError) as error:
                    reason = repr(error)
                print("%-14s %-14s %d torch %s %4.1f s  %s" % (name, program, round_, server.versions["torch"], time.time() - began, reason or "kept"), flush=True)
    for server in servers:
        server.close()
    shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
