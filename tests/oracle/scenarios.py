"""Situations that end in every kind of out-of-memory text: title, environment, options of the harness, trace.

The device has 8 GiB and a CUDA context of 412 MiB unless the environment says otherwise."""
from dataclasses import dataclass, field

MIB = 1 << 20


@dataclass
class Scenario:
    title: str
    trace: list
    env: dict = field(default_factory=dict)
    options: list = field(default_factory=list)


def scattered(pieces=112, mebibytes=64):
    """Freed segments cut in two halves of which every second one stays."""
    halves = pieces // 2
    return ([f"a {1000 + i} {2 * mebibytes * MIB}" for i in range(halves)] + [f"f {1000 + i}" for i in range(halves)]
            + [f"a {i} {mebibytes * MIB}" for i in range(pieces)] + [f"f {i}" for i in range(0, pieces, 2)]
            + [f"a 9999 {1024 * MIB}"])


def gibibytes(count, first=0):
    return [f"a {first + i} {1024 * MIB}" for i in range(count)]


def conf(text):
    return {"PYTORCH_CUDA_ALLOC_CONF": text}


FULL = gibibytes(12)
EXPANDABLE = conf("expandable_segments:True")
SCENARIOS = [
    Scenario("plain capacity", FULL),
    Scenario("100 byte request, nothing left", [f"a 1 {7780 * MIB}", "a 2 100"]),
    Scenario("2,000,000 byte request, 2 MiB left", [f"a 1 {7778 * MIB}", "a 2 2000000"]),
    Scenario("12,345,678 byte request, 2 MiB left", [f"a 1 {7778 * MIB}", "a 2 12345678"]),
    Scenario("plain capacity, on GPU 1 of 2", FULL, {"FAKEGPU_DEVICES": "2"}, ["--device", "1"]),
    Scenario("request larger than the device", [f"a 1 {100 * 1024 * MIB}"]),
    Scenario("request above 1 EB", ["a 1 2000000000000000000"]),
    Scenario("fragmentation", scattered()),
    Scenario("expandable_segments:True", FULL, EXPANDABLE),
    Scenario("expandable_segments:True, same 'fragmentation' trace", scattered(), EXPANDABLE),
    Scenario("other process", FULL, {"FAKEGPU_OTHERS": "4242:3G"}),
    Scenario("two other processes", FULL, {"FAKEGPU_OTHERS": "4242:3G,4343:512M"}),
    Scenario("memory in use that NVML lists for nobody", FULL, {"FAKEGPU_HIDDEN": "3G"}),
    Scenario("our pid not listed by NVML (container)", FULL, {"FAKEGPU_SELF_PID": "0"}),
    Scenario("NVML reports us under the host's pid (container)", FULL, {"FAKEGPU_SELF_PID": "777777"}),
    Scenario("NVML library missing", FULL, {"NO_NVML": "1"}),
    Scenario("memory fraction 0.5", FULL, {}, ["--fraction", "0.5"]),
    Scenario("memory fraction 0.5 + expandable", FULL, EXPANDABLE, ["--fraction", "0.5"]),
    Scenario("max_split_size_mb:128, fragmentation trace", scattered(), conf("max_split_size_mb:128")),
    Scenario("max_split_size_mb:32 + gc 0.6", FULL, conf("max_split_size_mb:32,garbage_collection_threshold:0.6")),
    Scenario("PYTORCH_NO_CUDA_MEMORY_CACHING=1", FULL, {"PYTORCH_NO_CUDA_MEMORY_CACHING": "1"}),
    Scenario("backend:cudaMallocAsync", FULL, conf("backend:cudaMallocAsync")),
    Scenario("private pool (graph/MemPool) holding 4 GiB, then an OOM outside it",
             ["pb 1", *gibibytes(4), "pe 1", *gibibytes(5, 100)]),
    Scenario("private pool holding 4 GiB of which 2 GiB were freed, then an OOM outside it",
             ["pb 1", *gibibytes(4), "f 0", "f 1", "pe 1", *gibibytes(5, 100)]),
    Scenario("misspelt option", FULL, conf("expandable_segment:True")),
    Scenario("max_split_size_mb:10", FULL, conf("max_split_size_mb:10")),
]
