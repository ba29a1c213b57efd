"""Frames handed between processes through shared memory."""
import sys
from multiprocessing import shared_memory
import numpy as np

megabytes, count, style = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
ring = []
for number in range(count):
    block = shared_memory.SharedMemory(create=True, size=megabytes << 20)
    if style != "silent":
        print(f"slot {number} of {count}: {block.name}, {megabytes} MiB", flush=True)
    np.ndarray(megabytes << 20, dtype=np.uint8, buffer=block.buf)[:] = 1
    ring.append(block)
print("ring ready")
for block in ring:
    block.close()
    block.unlink()
