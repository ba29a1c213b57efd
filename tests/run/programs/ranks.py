"""Data parallel training of a recommender; starts its own ranks."""
import datetime
import os
import socket
import subprocess
import sys
import time

WORLD = 4
SHARD_MIB = [64, 80, 1100, 72]


def launch():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    ranks = []
    for rank in range(WORLD):
        env = dict(os.environ, RANK=str(rank), WORLD_SIZE=str(WORLD), LOCAL_RANK=str(rank),
                   MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
        ranks.append(subprocess.Popen([sys.executable, "-u", __file__], env=env))
    print(f"launcher: started {WORLD} ranks, pids {[p.pid for p in ranks]}", flush=True)
    codes = [p.wait() for p in ranks]
    if any(codes):
        print("launcher: training failed", flush=True)
        for rank, (process, code) in enumerate(zip(ranks, codes)):
            print(f"  rank {rank} (local_rank {rank}) exitcode: {code} (pid: {process.pid})", flush=True)
        sys.exit(1)


def train(rank):
    import numpy as np
    from torch.distributed import TCPStore

    store = TCPStore(os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"]), WORLD, rank == 0,
                     timeout=datetime.timedelta(seconds=20))

    def sync(name):
        store.set(f"{name}/{rank}", "1")
        store.wait([f"{name}/{other}" for other in range(WORLD)], datetime.timedelta(seconds=6))

    sync("init")
    weights = np.zeros(1 << 18, np.float32)
    for step in range(20):
        weights += 0.01 * (1 - weights)
        time.sleep(0.05)
        sync(f"warmup/{step}")
        if rank == 0 and step % 5 == 0:
            print(f"[rank 0] warmup step {step} loss {float((1 - weights).mean()):.4f}", flush=True)
    print(f"[rank {rank}] loading its shard", flush=True)
    shard = []
    for _ in range(SHARD_MIB[rank] // 8):
        shard.append(np.ones(8 << 18, np.float32))
        time.sleep(0.04)
    print(f"[rank {rank}] shard ready: {len(shard)} blocks", flush=True)
    for step in range(200):
        sync(f"step/{step}")
        weights += 1e-3 * shard[step % len(shard)][: 1 << 18]
        time.sleep(0.02)
        if rank == 0 and step % 20 == 0:
            print(f"[rank 0] step {step} loss {float(abs(2 - weights).mean()):.4f}", flush=True)


if __name__ == "__main__":
    train(int(os.environ["RANK"])) if "RANK" in os.environ else launch()
