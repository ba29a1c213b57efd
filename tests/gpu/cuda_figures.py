"""What oomdoc's CUDA level assumes, held against a real driver. Needs a GPU that nobody uses, and no Python package.

    python3 tests/gpu/cuda_figures.py target/release/oomdoc [OUT]

Prints one line a check and writes everything measured to OUT/cuda_figures.json. Exit code 0: all as expected. 1: something is not.
Plain allocations and mapped pages only: no managed memory, no setting changed, no reset. Everything ends within a few minutes.
"""

import ctypes
import json
import os
import subprocess
import sys
import time

MIB = 1 << 20

# A kernel whose threads use 16 KiB of local memory each, which the driver has to back for all that can be resident.
SPILL = b"""
.version 6.0
.target sm_50
.address_size 64
.visible .entry spill(.param .u64 out)
{
    .local .align 8 .b8 depot[16384];
    .reg .b64 %rd<8>;
    .reg .b32 %r<3>;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd2, %r1, 8;
    mov.u64 %rd3, depot;
    add.u64 %rd3, %rd3, %rd2;
    st.local.u64 [%rd3], %rd2;
    ld.local.u64 %rd4, [%rd3];
    cvta.to.global.u64 %rd1, %rd1;
    st.global.u64 [%rd1], %rd4;
    ret;
}
\0"""


class Driver:
    """The few calls that the program under test does not make itself."""

    def __init__(self):
        self.cuda = ctypes.CDLL("libcuda.so.1")
        self("cuInit", 0)
        device = ctypes.c_int()
        self("cuDeviceGet", ctypes.byref(device), 0)
        context = ctypes.c_void_p()
        self("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        self("cuCtxSetCurrent", context)

    def __call__(self, name, *arguments):
        code = getattr(self.cuda, name)(*arguments)
        if code:
            raise RuntimeError(f"{name} returned {code}")

    def free(self):
        free, total = ctypes.c_size_t(), ctypes.c_size_t()
        self("cuMemGetInfo_v2", ctypes.byref(free), ctypes.byref(total))
        return free.value

    def alloc(self, size):
        address = ctypes.c_uint64()
        self("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(size))
        return address

    def release(self, address):
        self("cuMemFree_v2", address)


def probe(oomdoc, *flags):
    output = subprocess.run([oomdoc, "probe", "--gpu", "0", "--json", "--lang", "en", *flags], capture_output=True, text=True)
    report = json.loads(output.stdout)
    cuda = report["gpus"][0]["cuda"] if report["gpus"] else report["cuda"]
    if "unavailable" in cuda:
        sys.exit(f"the probe says: {cuda['unavailable']}")
    return cuda


def experiment(oomdoc, state):
    """The three ways on a given state, through the program's own child."""
    request = {"which": {"ordinal": 0}, "free_before": None, "known_idle": True, "busy_allowed": False, "bench": False,
               "fill": True, "experiment": [state], "buffer": None, "seconds": 120}
    output = subprocess.run([oomdoc, "cuda-child"], input=json.dumps(request), capture_output=True, text=True)
    for line in output.stdout.splitlines():
        try:
            found = json.loads(line)
        except ValueError:  # What the driver prints itself.
            continue
        if isinstance(found, dict) and "experiment" in found.get("found", {}):
            outcomes = found["found"]["experiment"]
            return outcomes["Ok"][0] if "Ok" in outcomes else outcomes
    return {"Err": output.stderr}


def state(hole, segments=48, segment=384):
    """60 % live: holes of `hole` MiB between live blocks."""
    live = max(1, hole * 3 // 2)
    blocks, left = [], segment
    while left > 0:
        for size, is_live in ((live, True), (hole, False)):
            size = min(size, left)
            if size:
                blocks.append({"bytes": size * MIB, "live": is_live})
            left -= size
    return {"segments": [{"blocks": blocks, "page": 20 * MIB, "pinned": False}] * segments,
            "requested": 3 << 30, "free": 1 << 30, "layout": "known"}


def main():
    oomdoc = sys.argv[1]
    out = sys.argv[2] if len(sys.argv) > 2 else "."
    found, wrong = {}, []

    def check(name, value, good):
        found[name] = value
        print(f"{'ok   ' if good else 'WRONG'} {name}: {value}")
        if not good:
            wrong.append(name)

    cuda = probe(oomdoc, "--bench", "--allow-fill", "--reproduce", "fixtures/snapshots/fragmentation-oom.pickle")
    found["probe"] = cuda

    # The price of a context: 3.0 MiB for each multiprocessor, give or take a quarter, was seen on three boards.
    each = cuda["context_bytes"] / MIB / cuda["multiprocessors"] if isinstance(cuda["context_bytes"], int) else None
    check("context, MiB per multiprocessor", each, each is not None and 2.2 < each < 3.8)

    # Bandwidth against bus width and clock.
    bandwidth = cuda["bandwidth"]
    peak = bandwidth.get("peak_bytes_per_second")
    for kind in ("read", "write", "copy"):
        rate = bandwidth.get(f"{kind}_bytes_per_second", 0)
        check(f"bandwidth, {kind}, share of the peak", peak and round(rate / peak, 3), bool(peak) and 0.7 < rate / peak < 1.0)
    check("memory check, wrong words", cuda["memory_check"].get("wrong_words"), cuda["memory_check"].get("wrong_words") == 0)
    check("largest block, as far as it was tried", cuda["largest_block_bytes"], cuda["largest_block_bytes"] == cuda["largest_tried_bytes"])
    check("physically fragmented", cuda["physically_fragmented"], cuda["physically_fragmented"] is False)
    found["allocation_seconds"] = cuda["allocation_seconds"]

    # The three ways: a snapshot, and made-up states on both sides of every page size.
    tried = cuda["experiment"]
    check("experiment on a snapshot agrees with the arithmetic", tried, isinstance(tried, list) and tried[0].get("agrees", False))
    for hole in (1, 8, 30, 155):
        outcome = experiment(oomdoc, state(hole))
        agrees = "Ok" in outcome and outcome["Ok"]["agrees"] and outcome["Ok"]["control"]
        check(f"experiment with holes of {hole} MiB", outcome, agrees)

    # How allocations are rounded, which decides what a small one costs.
    driver = Driver()
    for size in (1, 4096, MIB, 2 * MIB, int(2.1 * MIB), int(98.4 * MIB), 100 * MIB):
        before = driver.free()
        address = driver.alloc(size)
        taken = before - driver.free()
        driver.release(address)
        check(f"free memory taken by {size} bytes", taken, taken % (2 * MIB) == 0 and taken < size + 4 * MIB)
    before = driver.free()
    small = [driver.alloc(4096) for _ in range(512)]
    taken = before - driver.free()
    check("free memory taken by 512 allocations of 4 KiB", taken, taken <= 4 * MIB)
    for address in small:
        driver.release(address)

    # A GPU in use is refused; let go on, the probe leaves its margin; killed, it gives everything back.
    held = driver.alloc(1 << 30)
    code = subprocess.run([oomdoc, "probe", "--gpu", "0", "--cuda"], capture_output=True).returncode
    check("exit code while this process uses the GPU", code, code == 4)
    before = lowest = driver.free()
    filling = subprocess.Popen([oomdoc, "probe", "--gpu", "0", "--allow-fill", "--allow-busy", "--json"], stdout=subprocess.PIPE, text=True)
    while filling.poll() is None:
        lowest = min(lowest, driver.free())
        time.sleep(0.001)
    margin = json.loads(filling.stdout.read())["gpus"][0]["cuda"]["margin_bytes"]
    check("least free while it is filled, of the margin", {"lowest": lowest, "margin": margin}, lowest >= margin - 64 * MIB)
    filling = subprocess.Popen([oomdoc, "probe", "--gpu", "0", "--allow-fill", "--allow-busy", "--bench"], stdout=subprocess.DEVNULL)
    time.sleep(4)
    filling.kill()
    filling.wait()
    time.sleep(2)
    check("free memory 2 s after the probe was killed, less before", driver.free() - before, abs(driver.free() - before) <= 16 * MIB)
    driver.release(held)

    # Local memory of a kernel is reserved outside every allocator, and kept.
    module, function = ctypes.c_void_p(), ctypes.c_void_p()
    driver("cuModuleLoadData", ctypes.byref(module), SPILL)
    driver("cuModuleGetFunction", ctypes.byref(function), module, b"spill")
    target = driver.alloc(4096)
    before = driver.free()
    argument = ctypes.c_uint64(target.value)
    arguments = (ctypes.c_void_p * 1)(ctypes.addressof(argument))
    driver("cuLaunchKernel", function, 1, 1, 1, 256, 1, 1, 0, None, arguments, None)
    driver("cuCtxSynchronize")
    taken = before - driver.free()
    expected = 16384 * 2048 * cuda["multiprocessors"]
    check("local memory of a kernel with 16 KiB a thread", {"taken": taken, "expected": expected}, taken > expected / 2)

    os.makedirs(out, exist_ok=True)
    with open(os.path.join(out, "cuda_figures.json"), "w") as file:
        json.dump(found, file, indent=1)
    sys.exit(1 if wrong else 0)


main()
