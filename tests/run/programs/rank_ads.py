import time

import numpy as np

rng = np.random.default_rng(0)
X = rng.standard_normal((400_000, 160), dtype=np.float32)
y = (X[:, 0] + 0.1 * X[:, 1] > 0).astype(np.float32)
w = np.zeros(160, np.float32)
print(f"loaded X {X.shape} y {y.shape}", flush=True)
began = time.time()
for step in range(2000):
    rows = slice(step * 4096 % 390_000, step * 4096 % 390_000 + 4096)
    p = 1 / (1 + np.exp(-X[rows] @ w))
    w -= 0.1 * (X[rows].T @ (p - y[rows])) / 4096
    time.sleep(0.05)
    if step % 20 == 0:
        loss = -np.mean(y[rows] * np.log(p + 1e-7) + (1 - y[rows]) * np.log(1 - p + 1e-7))
        print(f"step {step} logloss {loss:.4f} ({(time.time() - began) * 1000 / 20:.0f} ms/step)", flush=True)
        began = time.time()
