"""All pairs of embeddings, with numpy."""
import sys
import numpy as np

count, width, kind = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
print(f"{count} embeddings of {width} dimensions", flush=True)
vectors = np.ones((min(count, 20000), width), dtype=np.float32)
if kind == "pairs":
    scores = np.empty((count, count), dtype=np.float32)
elif kind == "broadcast":
    norms = np.linalg.norm(np.ones((count, 1)) - np.ones(count), axis=1)
elif kind == "units":
    buffer = np.zeros(vectors.nbytes * 1024, dtype=np.float64)
else:
    blocks = []
    for start in range(0, count, 20000):
        blocks.append(vectors * (start + 1.0))
        if kind == "told":
            print(f"block {start // 20000}: {sum(b.nbytes for b in blocks) / 2**20:.0f} MiB of vectors", flush=True)
    scores = np.concatenate(blocks)
print("top-k written")
