"""Stages batches in page-locked buffers for the copy engine."""
import ctypes
import mmap
import os
import time

import numpy as np

libc = ctypes.CDLL(None, use_errno=True)
libc.mlock.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
BUFFER = 1536 << 10


class Staging:
    def __init__(self):
        self.buffers = []

    def grow(self):
        area = mmap.mmap(-1, BUFFER)
        array = np.frombuffer(area, np.uint8)
        if libc.mlock(array.ctypes.data, BUFFER) != 0:
            code = ctypes.get_errno()
            raise OSError(code, os.strerror(code), "mlock")
        self.buffers.append(array)
        return array


def main():
    corpus = np.arange(64 << 20, dtype=np.uint8)
    staging = Staging()
    for depth in range(16):
        buffer = staging.grow()
        for step in range(20):
            start = (depth * 20 + step) * BUFFER % (len(corpus) - BUFFER)
            buffer[:] = corpus[start:start + BUFFER]
            time.sleep(0.03)
        print(f"queue depth {depth + 1}: 20 batches in {20 * 0.03:.1f} s, checksum {int(buffer[:4096].sum())}", flush=True)


if __name__ == "__main__":
    main()
