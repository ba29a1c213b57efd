"""A service that remembers every document it has seen."""
import resource
import sys
import time

size, style = int(sys.argv[1]), sys.argv[2]
seen, began = {}, time.time()
for number in range(1_000_000):
    text = ("document %d " % number) * (size // 12)
    seen[number] = text
    if number % 50 == 0:
        rss = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        if style == "rss":
            print(f"[{time.time() - began:8.3f}] processed {number} documents, rss={rss / 1024:.1f} MiB", flush=True)
        elif style == "count":
            print(f"processed {number}, cache size {len(seen)}", flush=True)
        elif style == "percent":
            with open("/proc/meminfo") as file:
                total = int(file.readline().split()[1])
            print(f"INFO batch {number // 50}: {100 * rss / total:.2f}% of memory", flush=True)
        elif number == 0:
            print("started", flush=True)
print("finished")
