"""What PyTorch and the libraries below it hold beside their tensors, and whether PyTorch itself does what the fragmentation
experiment says of it. Needs a GPU that nobody uses, and torch.

    python3 tests/gpu/torch_figures.py [OUT]

Prints what was measured and writes it to OUT/torch_figures.json. Each measurement runs in a process of its own.
"""

import json
import os
import subprocess
import sys

MIB = 1 << 20


def outside():
    """Bytes of the device that are in use and not reserved by PyTorch."""
    import torch

    torch.cuda.synchronize()
    free, total = torch.cuda.mem_get_info()
    return total - free - torch.cuda.memory_reserved()


def overheads():
    """After each step: what lies outside PyTorch's allocator, and what inside is allocated beyond the tensors at hand."""
    import torch

    steps = {}

    def note(name):
        steps[name] = {"outside": outside(), "allocated": torch.cuda.memory_allocated(), "reserved": torch.cuda.memory_reserved()}

    x = torch.ones(512, 512, device="cuda")
    note("first tensor")
    x @ x
    note("first matmul")
    with torch.cuda.stream(torch.cuda.Stream()):
        x @ x
    note("matmul on a second stream")
    half = x.bfloat16()
    torch.nn.functional.linear(half, half, half[0])
    note("bf16 linear")
    torch.nn.functional.conv2d(torch.ones(8, 64, 56, 56, device="cuda"), torch.ones(64, 64, 3, 3, device="cuda"))
    note("convolution")
    torch.fft.fft(torch.ones(1 << 20, device="cuda"))
    note("fft")
    model = torch.nn.Linear(512, 512, device="cuda")
    optimizer = torch.optim.AdamW(model.parameters())
    for _ in range(20):
        model(x).sum().backward()
        optimizer.step()
        optimizer.zero_grad()
    note("20 steps")
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        x @ x
    note("graph captured")
    if torch.distributed.is_nccl_available():
        os.environ.setdefault("MASTER_ADDR", "127.0.0.1")
        os.environ.setdefault("MASTER_PORT", "29555")
        torch.distributed.init_process_group("nccl", rank=0, world_size=1)
        torch.distributed.all_reduce(x)
        note("one-rank NCCL group")
    return steps


def fragmented():
    """Holes of 155 MiB between live tensors, then a request that only fits if pages can be moved."""
    import torch

    free, total = torch.cuda.mem_get_info()
    # A cap instead of filling the device: the allocator fails as it does on a full one.
    capacity = min(12 << 30, free - (2 << 30))
    torch.cuda.set_per_process_memory_fraction(capacity / total)
    live, holes = [], []
    try:
        while True:
            block = [torch.empty(size * MIB, dtype=torch.uint8, device="cuda") for size in (95, 155, 95)]
            live += [block[0], block[2]]
            holes.append(block[1])
    except torch.OutOfMemoryError:
        pass
    sizes = len(holes) * 155
    holes.clear()
    try:
        torch.empty(min(2048, sizes // 2) * MIB, dtype=torch.uint8, device="cuda")
        served = True
    except torch.OutOfMemoryError:
        served = False
    return {"holes_mib": sizes, "served": served}


def child(name, **environment):
    output = subprocess.run([sys.executable, __file__, "--run", name], capture_output=True, text=True, env={**os.environ, **environment})
    try:
        return json.loads(output.stdout.splitlines()[-1])
    except (ValueError, IndexError):
        return {"error": output.stderr[-2000:]}


def main():
    found = {
        "overheads, modules loaded lazily": child("overheads", CUDA_MODULE_LOADING="LAZY"),
        "overheads, modules loaded at once": child("overheads", CUDA_MODULE_LOADING="EAGER"),
        "fragmented": child("fragmented"),
        "fragmented, expandable segments": child("fragmented", PYTORCH_CUDA_ALLOC_CONF="expandable_segments:True"),
    }
    out = sys.argv[1] if len(sys.argv) > 1 else "."
    os.makedirs(out, exist_ok=True)
    with open(os.path.join(out, "torch_figures.json"), "w") as file:
        json.dump(found, file, indent=1)
    print(json.dumps(found, indent=1))
    expandable = found["fragmented, expandable segments"].get("served")
    print("expandable segments serve what the experiment says they serve" if expandable else "WRONG: expandable segments did not serve")
    sys.exit(0 if expandable else 1)


if sys.argv[1:2] == ["--run"]:
    print(json.dumps({"overheads": overheads, "fragmented": fragmented}[sys.argv[2]]()))
else:
    main()
