"""Sharded training over processes; rank 0 (this one) writes the checkpoints."""
import logging
import multiprocessing as mp
import pickle
import time

import numpy as np

logging.basicConfig(level=logging.INFO, format="%(asctime)s | %(processName)s | %(message)s")
log = logging.getLogger("shards")
PART = 52 << 20  # float32 values of a shard


def worker(rank, connection):
    shard = np.full(PART, 0.1 * rank, np.float32)
    while True:
        order = connection.recv()
        if order == "step":
            shard[: 1 << 20] *= np.float32(0.999)
            connection.send(float(shard[0]))
        elif order == "gather":
            connection.send(shard)
        else:
            return


def save(step, shard, connections):
    log.info("saving checkpoint-%d", step)
    parts = {"rank0": shard}
    for rank, connection in enumerate(connections, 1):
        connection.send("gather")
        parts[f"rank{rank}"] = connection.recv()
    full = np.concatenate(list(parts.values()))
    blob = pickle.dumps({"step": step, "weights": full}, protocol=4)
    with open(f"data/checkpoint-{step}.pkl", "wb") as file:
        file.write(blob)


def main():
    connections, processes = [], []
    for rank in (1, 2):
        ours, theirs = mp.Pipe()
        process = mp.Process(target=worker, args=(rank, theirs), name=f"rank{rank}", daemon=True)
        process.start()
        connections.append(ours)
        processes.append(process)
    shard = np.full(PART, 0.05, np.float32)
    for step in range(1, 201):
        for connection in connections:
            connection.send("step")
        shard[: 1 << 20] *= np.float32(0.999)
        losses = [connection.recv() for connection in connections]
        time.sleep(0.1)
        if step % 10 == 0:
            log.info("step %d loss %.5f", step, sum(losses))
        if step % 40 == 0:
            save(step, shard, connections)


if __name__ == "__main__":
    main()
