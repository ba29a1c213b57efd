"""What is planted: the lines that go into a program's slots, and how to tell that it was this that made it fail.

A program has lines `#@slot`; the lines of a plant take their place, with their indentation. Every program calls its parts by
the same names: model, optimizer, x, out, loss, step, build(), sample(). `expect` must match the log, or else the run failed
for another reason and is thrown away. `tells`: what in the log gives the cause away, for the rule on `derivable`:

    trace     the traceback, where the program prints one
    readings  four readings of memory or of a counter that grows
    always    the message's own figures
    said      a line that the program prints, where this variant prints it
    never     nothing
"""

GPT_LIKE = ("gpt", "trainer", "accel", "lora")
SEQUENCES = GPT_LIKE + ("lightning_fit", "distill")
TRAINERS = SEQUENCES + ("vision", "unet", "rl")
ONE_LINE = 'def logits_of(result):\n    return getattr(result, "logits", result)'


def plant(cause, programs, slots, expect, tells, causes=(), room="tight", variants=2, **more):
    return {"cause": cause, "programs": programs, "slots": slots, "expect": expect, "tells": tells, "room": room,
            "causes": [cause, *causes], "variants": variants, **more}


OOM = r"out of memory|OutOfMemory"
PLANTS = {
    # The model, the batch or the sequence is too large: no other line than the settings.
    "model": plant("capacity", GPT_LIKE + ("distill",) + ("vision", "server", "engine", "ddp"), {}, OOM, "trace", room="below",
                   share=(0.12, 0.6), settings={"LAYERS": 6}, heavy=True, first=True),
    "batch": plant("capacity", TRAINERS + ("ddp",), {}, r"out = |outputs = |model\(|net\(|backward", "trace", room="below",
                   share=(0.35, 0.85), settings={"BATCH": 4}, causes=("transient_peak",)),
    "length": plant("capacity", SEQUENCES, {}, r"out = |outputs = |model\(|net\(|backward", "trace", room="below",
                    share=(0.4, 0.85), settings={"SEQ": 4}, causes=("transient_peak",), variants=1),
    # Growth.
    "losses": plant("leak_growth", SEQUENCES + ("unet",), {
        "after_optimizer": "history = []",
        "after_out": "penalty = out.float().square().mean()\nhistory.append(loss.detach() + 1e-4 * penalty)",
    }, OOM, "readings", room="wide", counter="len(history)"),
    "cache": plant("leak_growth", TRAINERS + ("engine",), {
        "after_optimizer": "store = {}",
        "after_out": "store[step] = (x, out.detach())",
    }, OOM, "readings", room="wide", counter="len(store)"),
    "hooks": plant("leak_growth", TRAINERS, {
        "imports": "import torch.nn as nn",
        "after_model": "activations = []\n"
                       "for layer in [m for m in model.modules() if isinstance(m, (nn.LayerNorm, nn.InstanceNorm3d, nn.ReLU)) "
                       "or type(m).__name__.endswith('RMSNorm')][-6:]:\n"
                       "    layer.register_forward_hook(lambda module, inputs, output: activations.append(output))",
    }, OOM, "readings", room="wide", counter="len(activations)"),
    "replay": plant("leak_growth", TRAINERS, {
        "imports": "import collections",
        "after_optimizer": "replay = collections.deque(maxlen=1_000_000)",
        "after_step": "replay.append((x.clone(), out.detach().clone()))",
    }, OOM, "readings", room="wide", counter="len(replay)"),
    # A phase that needs more.
    "evaluation": plant("transient_peak", TRAINERS + ("ddp",), {
        "after_model": ONE_LINE + "\n\n\n@torch.no_grad()\ndef evaluate(model):\n    predictions = []\n    for _ in range(16):\n"
                       "        predictions.append(logits_of(model(sample($M * BATCH))).float())\n    return torch.cat(predictions)\n\n",
        "after_step": "if step == $AT:\n    $SAY\n    evaluate(model)",
    }, r"in evaluate", "trace", said="Running evaluation"),
    "perplexity": plant("transient_peak", ("trainer", "lora", "distill", "accel"), {
        "after_model": ONE_LINE + "\n\n\n@torch.no_grad()\ndef perplexity(model, tokens):\n"
                       "    logits = logits_of(model(tokens)).float()\n    return -logits.log_softmax(-1).mean().exp()\n\n",
        "after_step": "if step == $AT:\n    $SAY\n    perplexity(model, sample(BATCH * $M))",
    }, r"in perplexity", "trace", said="computing perplexity on the held-out documents", variants=1),
    "save": plant("transient_peak", TRAINERS, {
        "imports": "import copy",
        "after_model": "def save_checkpoint(model, optimizer):\n"
                       "    state = {name: value.detach().clone() for name, value in model.state_dict().items()}\n"
                       "    torch.save({'model': state, 'optimizer': copy.deepcopy(optimizer.state_dict())}, 'last.pt')\n\n",
        "after_step": "if step == $AT:\n    $SAY\n    save_checkpoint(model, optimizer)",
    }, r"in save_checkpoint", "trace", said="saving checkpoint to last.pt", heavy=True, causes=("capacity",)),
    "first-step": plant("transient_peak", SEQUENCES[:3] + ("lightning_fit", "distill", "vision", "unet", "rl"), {}, r"adamw?\.py|_multi_tensor|_init_group", "trace", room="below",
                        share=(0.45, 0.99), heavy=True, causes=("capacity",), first=True),
    "decode": plant("transient_peak", ("diffuse",), {}, r"in decode|vae", "trace", room="below", share=(0.3, 0.97),
                    settings={"TILE": 1000}, causes=("capacity",), variants=8),
    # A shape bug: one request that no device of this kind could serve.
    "pairs": plant("single_huge_allocation", TRAINERS, {
        "after_out": "flat = out.detach().float().flatten()[: $N]\nmargin = flat - flat.unsqueeze(1)",
    }, r"margin = flat", "always", room="wide", numbers=(90_000, 150_000, 260_000, 700_000)),
    "mask": plant("single_huge_allocation", TRAINERS + ("server", "engine", "ddp"), {
        "batch": "n = x.numel() * $K\nmask = torch.ones(n, n, dtype=torch.bool, device=device).tril()" ,
    }, r"mask = torch.ones", "always", room="wide", square=True),
    "onehot": plant("single_huge_allocation", ("gpt", "vision", "accel", "rl", "diffuse"), {
        "after_out": "classes = torch.nn.functional.one_hot(torch.zeros(4096, dtype=torch.long, device=device), $N)",
    }, r"one_hot", "always", room="wide", numbers=(1_500_000, 4_000_000, 20_000_000), variants=1),
    # The same weights twice.
    "loaded-twice": plant("duplicate_model", SEQUENCES + ("vision", "unet", "server", "engine"), {
        "before_model": "$SAY\nchecked = build()",
    }, OOM, "loads", heavy=True, room="near", causes=("capacity",), said="first pass: checking that the weights load"),
    "average": plant("duplicate_model", TRAINERS + ("ddp",), {
        "imports": "import copy",
        "after_model": "$SAY\naverage = copy.deepcopy(model).requires_grad_(False)",
    }, OOM, "said", heavy=True, room="near", causes=("capacity", "transient_peak"), said="keeping an exponential moving average of the weights"),
    "teacher": plant("duplicate_model", TRAINERS, {
        "after_model": "$SAY\nteacher = build().requires_grad_(False).eval()",
    }, OOM, "said", heavy=True, room="near", causes=("capacity", "transient_peak"), said="teacher: same architecture, frozen", variants=1),
    "checkpoint": plant("duplicate_model", ("gpt", "distill", "vision", "server", "accel"), {
        "after_model": "$SAY\ncheckpoint = {'model': build().state_dict(), 'step': 1000}\nmodel.load_state_dict(checkpoint['model'])",
    }, OOM, "loads", heavy=True, room="near", causes=("transient_peak", "capacity"), said="resuming from the weights of step 1000", variants=1),
    # Somebody else.
    "holds": plant("other_process", TRAINERS + ("server", "engine", "diffuse", "ddp"), {}, OOM, "always", stranger="holds"),
    "arrives": plant("other_process", TRAINERS + ("server", "engine"), {
        "imports": "import time as clock",
        "after_step": "torch.cuda.empty_cache()\nclock.sleep(0.05)",
    }, OOM, "always", stranger="arrives", variants=1),
    # A limit.
    "fraction": plant("framework_limit", TRAINERS + ("server", "engine", "diffuse"), {
        "imports": "torch.cuda.set_per_process_memory_fraction($FRACTION, 0)",
    }, OOM, "allowed", room="fraction"),
    # A pool.
    "pool": plant("preallocation", TRAINERS + ("server", "ddp"), {
        "before_model": "free = torch.cuda.mem_get_info()[0]\n$SAY\nworkspace = torch.empty(int(free * $SHARE), dtype=torch.uint8, device=device)",
    }, OOM, "said", room="loose", said="reserving a workspace of {free * $SHARE / 2**30:.1f} GiB", shares=(0.8, 0.85, 0.9, 0.93)),
    "engine-pool": plant("preallocation", ("engine",), {
        "blocks": "free = torch.cuda.mem_get_info()[0]\nblocks = int(free * $SHARE) // (2 * LAYERS * BLOCK * WIDTH * 2)\n$SAY",
    }, OOM, "said", room="loose", said="GPU KV cache size: {blocks * BLOCK:,} tokens, gpu_memory_utilization=$SHARE", shares=(0.95, 0.97, 0.98),
                         causes=("kv_cache",), variants=8),
    # KV caches.
    "sessions": plant("kv_cache", ("server",), {
        "after_optimizer": "sessions = {}",
        "after_out": "sessions[step] = cache",
    }, OOM, "readings", room="wide", causes=("leak_growth",), variants=8, counter="len(sessions)"),
    "long-prompts": plant("kv_cache", ("server",), {
        "batch": "x = sample(BATCH, PROMPT * (1 + step))",
    }, OOM, "readings", room="wide", causes=("leak_growth", "capacity"), variants=4),
    "static-cache": plant("kv_cache", ("engine",), {
        "blocks": "blocks = $N // BLOCK\n$SAY",
    }, r"pool = \[", "trace", room="wide", causes=("preallocation", "capacity"), variants=8, numbers=(500_000, 1_000_000, 2_000_000, 8_000_000),
                          said="Allocating KV cache for $N tokens: {2 * $N * WIDTH * 2 * LAYERS / 2**30:.2f} GiB"),
    # Past the allocator.
    "runtime": plant("non_framework", TRAINERS + ("server", "engine", "diffuse", "ddp"), {
        "imports": "import ctypes",
        "before_model": "runtime = ctypes.CDLL('libcudart.so.$CUDART')\nhandle = ctypes.c_void_p()\n$SAY\n"
                        "runtime.cudaMalloc(ctypes.byref(handle), ctypes.c_size_t($BYTES))",
    }, OOM, "always", external=True, said="decoder library initialised"),
    # The wrong card.
    "first-card": plant("wrong_device", ("sweep",), {}, OOM, "always", room="ranks", world=(2, 3, 4, 6, 8), variants=10,
                        causes=("other_process",)),
    "all-on-one": plant("wrong_device", ("gpt", "lora", "vision", "unet", "rl"), {
        "after_optimizer": "print('devices:' + memory())",
    }, OOM, "cards", room="below", share=(0.55, 0.9), cards=(2, 4, 8), settings={"BATCH": 4}, causes=("capacity",), variants=2,
                        style="cards"),
    # Lengths that vary: what is cached is in pieces. Kept only where the same run survives with expandable segments.
    "lengths": plant("fragmentation", ("gpt", "accel", "lora", "distill"), {
        "imports": "import random",
        "batch": "random.seed(step)\nx = sample(max(1, BATCH * random.randint(20, 100) // 100))",
    }, OOM, "cached", room="fragments", causes=("transient_peak", "capacity"), variants=6),
    "sorted": plant("fragmentation", ("embed",), {}, OOM, "cached", room="fragments", causes=("leak_growth",), variants=10),
    # Failures that the program outlives, and others that are none of memory.
    "retry": plant("not_oom", ("gpt", "lora", "rl", "distill"), {
        "batch": "if step == 6:\n    try:\n        model(sample(BATCH * $K)).sum() if not hasattr(model, 'config') else "
                 "model(sample(BATCH * $K)).logits.sum()\n    except RuntimeError as error:\n"
                 "        print(f'WARNING: {error}\\nWARNING: skipping this batch')\n        torch.cuda.empty_cache()",
    }, OOM, "always", room="wide", survives=True, causes=("transient_peak",)),
    "finder": plant("not_oom", ("gpt", "vision", "unet", "distill"), {
        "after_model": "size = BATCH * $K\nwhile True:\n    try:\n        result = model(sample(size))\n        break\n"
                       "    except torch.cuda.OutOfMemoryError as error:\n        print(f'batch size {size} does not fit: {error}')\n"
                       "        size //= 2\n        torch.cuda.empty_cache()\nresult = None\nprint(f'using batch size {min(size, BATCH)}')",
    }, OOM, "always", room="wide", survives=True, causes=("capacity",)),
    "wrong-index": plant("not_oom", ("gpt", "rl", "accel", "server"), {
        "after_step": "if step == $AT:\n    ['cat', 'dog'][x.shape[0]]",
    }, r"IndexError", "always", room="wide", unrelated=True, variants=1),
    "wrong-shape": plant("not_oom", ("vision", "unet", "distill", "lightning_fit"), {
        "after_step": "if step == $AT:\n    x + torch.zeros(3, 7, device=device)",
    }, r"RuntimeError: The size", "always", room="wide", unrelated=True, variants=1),
}
