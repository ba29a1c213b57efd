"""Do the driver's memory figures add up, and do they agree with CUDA's?  nvml_figures.py OOMDOC

Reads both versions of NVML's memory call and the totals of CUDA, first idle, then with 1 GiB held, and compares them with
what `oomdoc probe` prints. Holds 1 GiB of the first GPU for a moment; changes no setting.
"""

import ctypes
import json
import os
import subprocess
import sys

MIB = 1 << 20
GIB = 1 << 30


class MemoryV1(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint64) for name in ("total", "free", "used")]


class MemoryV2(ctypes.Structure):
    _fields_ = [("version", ctypes.c_uint32)] + [
        (name, ctypes.c_uint64) for name in ("total", "reserved", "free", "used")
    ]


class Row(ctypes.Structure):
    _fields_ = [("pid", ctypes.c_uint32), ("used", ctypes.c_uint64), ("gi", ctypes.c_uint32), ("ci", ctypes.c_uint32)]


def must(code, call):
    if code != 0:
        sys.exit(f"{call}: error {code}")


def figures(nvml, gpu):
    first, second = MemoryV1(), MemoryV2(version=ctypes.sizeof(MemoryV2) | 2 << 24)
    must(nvml.nvmlDeviceGetMemoryInfo(gpu, ctypes.byref(first)), "nvmlDeviceGetMemoryInfo")
    must(nvml.nvmlDeviceGetMemoryInfo_v2(gpu, ctypes.byref(second)), "nvmlDeviceGetMemoryInfo_v2")
    return first, second


def pids(nvml, gpu):
    count, rows = ctypes.c_uint(256), (Row * 256)()
    code = nvml.nvmlDeviceGetComputeRunningProcesses_v3(gpu, ctypes.byref(count), rows)
    return {row.pid: row.used for row in rows[: count.value]} if code == 0 else f"error {code}"


def report(state, first, second, oomdoc):
    excess = second.used + second.reserved + second.free - second.total
    beyond = second.used + second.free - second.total
    holds = "excludes" if abs(excess) <= 4 * MIB else "includes" if abs(beyond) <= 4 * MIB else "UNCLEAR"
    print(f"{state}: v1 total {first.total} used {first.used} free {first.free}")
    print(f"{state}: v2 total {second.total} reserved {second.reserved} used {second.used} free {second.free}")
    print(f"{state}: used {holds} reserved (sum beside total: {excess} and {beyond} bytes)")
    probed = subprocess.run([oomdoc, "probe", "--gpu", "0", "--json"], capture_output=True, text=True, check=False)
    gpu = json.loads(probed.stdout)["gpus"][0]
    memory = gpu["memory"]
    same = memory["total_bytes"] == second.total and abs(memory["free_bytes"] - second.free) <= 4 * MIB
    print(f"{state}: oomdoc {'agrees' if same else 'DISAGREES'}, exit {probed.returncode}: {json.dumps(memory)}")
    print(f"{state}: oomdoc unexplained {gpu['unexplained_bytes']}, processes {gpu['processes']}")
    smi = ["nvidia-smi", "-i", "0", "--query-gpu=memory.total,memory.reserved,memory.used,memory.free", "--format=csv"]
    print(f"{state}: nvidia-smi {subprocess.run(smi, capture_output=True, text=True, check=False).stdout.strip()!r}")
    return holds != "UNCLEAR" and same


def main(oomdoc):
    nvml, cuda = ctypes.CDLL("libnvidia-ml.so.1"), ctypes.CDLL("libcuda.so.1")
    must(nvml.nvmlInit_v2(), "nvmlInit")
    gpu = ctypes.c_void_p()
    must(nvml.nvmlDeviceGetHandleByIndex_v2(0, ctypes.byref(gpu)), "nvmlDeviceGetHandleByIndex")
    good = report("idle", *figures(nvml, gpu), oomdoc)

    must(cuda.cuInit(0), "cuInit")
    device, context, held = ctypes.c_int(), ctypes.c_void_p(), ctypes.c_uint64()
    must(cuda.cuDeviceGet(ctypes.byref(device), 0), "cuDeviceGet")
    must(cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), device), "cuDevicePrimaryCtxRetain")
    must(cuda.cuCtxSetCurrent(context), "cuCtxSetCurrent")
    must(cuda.cuMemAlloc_v2(ctypes.byref(held), ctypes.c_size_t(GIB)), "cuMemAlloc")
    good &= report("1 GiB held", *figures(nvml, gpu), oomdoc)

    free, total = ctypes.c_size_t(), ctypes.c_size_t()
    must(cuda.cuMemGetInfo_v2(ctypes.byref(free), ctypes.byref(total)), "cuMemGetInfo")
    _, second = figures(nvml, gpu)
    by_total = total.value - (second.total - second.reserved)
    print(f"CUDA total {total.value}: {by_total} bytes beside total - reserved")
    print(f"CUDA free {free.value}: {free.value - second.free} bytes beside the driver's")
    listed = pids(nvml, gpu)
    print(f"this process is {os.getpid()}, the driver lists {listed}")
    good &= abs(by_total) <= 2 * MIB
    must(cuda.cuMemFree_v2(held), "cuMemFree")
    print("PASS" if good else "FAIL")
    return 0 if good else 1


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1]))
