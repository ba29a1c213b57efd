#!/usr/bin/env python3
"""Provoke ten different out-of-memory failures with real PyTorch on a real GPU, and keep what each one printed.

usage: provoke_ooms.py OUT_DIR [--only NAME] [--device 0] [--oomdoc target/release/oomdoc]

Each case runs in a process of its own, so that one failure leaves nothing behind for the next. OUT_DIR receives
NAME.log (standard output and error together), NAME.json (what was done to cause it, and the cause a diagnosis has to
name) and, with --oomdoc, a table of how many were diagnosed rightly at first sight.
Nothing is run on a GPU that other processes are using. Needs torch with CUDA; NCCL cases need two processes on one GPU.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import textwrap

# name: (expected first cause, how it is provoked, program)
CASES = {
    "capacity": ("capacity", "a 12-layer encoder trained with a batch that grows until it no longer fits", """
        import torch
        dev = torch.device("cuda")
        net = torch.nn.TransformerEncoder(torch.nn.TransformerEncoderLayer(1024, 16, 4096, batch_first=True), 12).to(dev)
        opt = torch.optim.AdamW(net.parameters())
        batch = 8
        for step in range(100):
            print(f"step {step} batch_size {batch} allocated {torch.cuda.memory_allocated() / 2**30:.2f} GiB", flush=True)
            x = torch.randn(batch, 512, 1024, device=dev)
            net(x).square().mean().backward()
            opt.step(); opt.zero_grad(set_to_none=True)
            batch *= 2
    """),
    "fragmentation": ("fragmentation", "the card is filled with 96 MiB blocks, every second one is freed, then 1 GiB is asked for", """
        import torch
        free, total = torch.cuda.mem_get_info()
        n = int(free * 0.97) // (96 << 20)
        slab = [torch.empty(int(n * 96) << 18, dtype=torch.float32, device="cuda")]
        del slab
        blocks = [torch.empty(96 << 20, dtype=torch.uint8, device="cuda") for _ in range(n)]
        keep = blocks[::2]; del blocks
        print(f"kept {len(keep)} blocks", flush=True)
        torch.empty(1 << 30, dtype=torch.uint8, device="cuda")
    """),
    "leak": ("leak_growth", "every step appends the loss with its graph to a list", """
        import torch
        net = torch.nn.Sequential(*[torch.nn.Linear(4096, 4096) for _ in range(8)]).cuda()
        history = []
        for step in range(100000):
            loss = net(torch.randn(4096, 4096, device="cuda")).square().mean()
            history.append(loss)
            if step % 2 == 0:
                print(f"step {step} loss {loss.item():.4f} allocated {torch.cuda.memory_allocated() / 2**20:.1f}MB", flush=True)
    """),
    "validation-peak": ("transient_peak", "training is small; validation runs with a graph and a batch sixteen times larger", """
        import torch
        net = torch.nn.Sequential(*[torch.nn.Linear(8192, 8192) for _ in range(6)]).cuda()
        opt = torch.optim.SGD(net.parameters(), 1e-4)
        def train():
            for step in range(5):
                net(torch.randn(1024, 8192, device="cuda")).square().mean().backward(); opt.step(); opt.zero_grad()
                print(f"Epoch 1 step {step} mem {torch.cuda.max_memory_allocated() / 2**30:.2f}GiB", flush=True)
        def validate():
            print("Validation: batch_size", 1 << 22, flush=True)
            net(torch.randn(1 << 22, 8192, device="cuda"))
        train(); validate()
    """),
    "other-process": ("other_process", "a second process holds nine tenths of the card", """
        import subprocess, sys, time, torch
        hog = subprocess.Popen([sys.executable, "-c", "import torch,time\\nf,t=torch.cuda.mem_get_info()\\nx=torch.empty(int(t*0.9),dtype=torch.uint8,device='cuda')\\nprint('ready',flush=True)\\ntime.sleep(120)"], stdout=subprocess.PIPE)
        hog.stdout.readline()
        try:
            total = torch.cuda.mem_get_info()[1]
            x = torch.empty(total // 5, dtype=torch.uint8, device="cuda")
        finally:
            hog.kill()
    """),
    "memory-fraction": ("framework_limit", "set_per_process_memory_fraction(0.25), then a third of the card", """
        import torch
        torch.cuda.set_per_process_memory_fraction(0.25)
        total = torch.cuda.mem_get_info()[1]
        x = torch.empty(total // 3, dtype=torch.uint8, device="cuda")
    """),
    "first-optimizer-step": ("transient_peak", "weights and gradients fit, AdamW's state does not", """
        import torch
        total = torch.cuda.mem_get_info()[0]
        n = int(total * 0.30) // 4
        p = [torch.nn.Parameter(torch.zeros(n // 16, device="cuda")) for _ in range(16)]
        opt = torch.optim.AdamW(p)
        sum(x.sum() for x in p).backward()
        print(f"step 0 backward done, allocated {torch.cuda.memory_allocated() / 2**30:.2f} GiB", flush=True)
        opt.step()
    """),
    "huge-request": ("single_huge_allocation", "pairwise distances of a million points", """
        import torch
        x = torch.randn(1_000_000, 3, device="cuda")
        d = torch.cdist(x, x)
    """),
    "cublas-in-disguise": ("preallocation", "the card is filled to the last 2 MiB before the first matrix product creates cuBLAS's handle", """
        import torch
        hold = []
        for size in (1 << 30, 64 << 20, 2 << 20):
            while True:
                try: hold.append(torch.empty(size, dtype=torch.uint8, device="cuda"))
                except torch.cuda.OutOfMemoryError: break
        small = hold.pop(); del small
        a = torch.ones(8, 8, device="cuda")
        print(a @ a)
    """),
    "asynchronous": ("capacity", "PYTORCH_NO_CUDA_MEMORY_CACHING=1: cudaMalloc's own error, with no figures", """
        import os
        os.environ["PYTORCH_NO_CUDA_MEMORY_CACHING"] = "1"
        import torch
        hold = []
        while True:
            hold.append(torch.empty(1 << 30, dtype=torch.uint8, device="cuda"))
    """),
}


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("out", type=pathlib.Path)
    ap.add_argument("--only", choices=CASES, help="one case")
    ap.add_argument("--device", default="0")
    ap.add_argument("--oomdoc", help="diagnose each log with this binary and print the table")
    args = ap.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    env = dict(os.environ, CUDA_VISIBLE_DEVICES=args.device)
    right = 0
    names = [args.only] if args.only else list(CASES)
    for name in names:
        cause, how, program = CASES[name]
        done = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], env=env, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, errors="replace", timeout=300)
        log = args.out / f"{name}.log"
        log.write_text(done.stdout)
        (args.out / f"{name}.json").write_text(json.dumps({"cause": cause, "how": how, "exit": done.returncode}, indent=1) + "\n")
        said = ""
        if args.oomdoc:
            run = subprocess.run([args.oomdoc, "explain", "--format", "json", str(log)], capture_output=True, text=True)
            incidents = json.loads(run.stdout or "{}").get("incidents", [])
            first = next((i for i in incidents if i["primary"]), {"causes": []})
            said = first["causes"][0]["id"] if first["causes"] else "nothing"
            right += said == cause
        print(f"{name:22} exit {done.returncode:4}  expected {cause:24} {said}", flush=True)
    if args.oomdoc:
        print(f"{right} of {len(names)} diagnosed rightly at first sight")


if __name__ == "__main__":
    main()
