import concurrent.futures
import threading
import time

import numpy as np

loaded, lock = 0, threading.Lock()


def load_batch(number):
    """A batch of 3 Mi floats (12 MiB)."""
    global loaded
    time.sleep(0.05)
    batch = np.full((1024, 3072), number % 13, np.float32)
    with lock:
        loaded += 1
    return batch


def main():
    weights = np.zeros(3072, np.float32)
    with concurrent.futures.ThreadPoolExecutor(4) as executor:
        for step, batch in enumerate(executor.map(load_batch, range(3000))):
            weights += 1e-3 * (batch[:32].mean(0) - weights)
            time.sleep(0.05)
            if step % 10 == 0:
                print(f"step {step:4d} (loaded {loaded}) loss {float(np.square(weights - 6).mean()):.4f}", flush=True)


if __name__ == "__main__":
    main()
