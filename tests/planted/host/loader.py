"""A training loop on the host, fed by a DataLoader."""
import sys
import time
import torch
from torch.utils.data import DataLoader, Dataset

workers, prefetch, megabytes, kind, style = int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4], sys.argv[5]


class Volumes(Dataset):
    def __init__(self):
        self.cache = {}

    def __len__(self):
        return 4096

    def __getitem__(self, index):
        sample = torch.ones(megabytes, 1 << 18)
        if kind == "cache":
            self.cache[index] = sample
            return sample[:1].clone()
        return sample


if __name__ == "__main__":
    if style != "silent":
        print(f"DataLoader: num_workers={workers}, prefetch_factor={prefetch if workers else None}, batch_size=2", flush=True)
    loader = DataLoader(Volumes(), batch_size=2, num_workers=workers, prefetch_factor=prefetch if workers else None)
    for step, batch in enumerate(loader):
        time.sleep(0.2 if kind != "cache" else 0)
        if step % 5 == 0 and style != "silent":
            shared = ""
            if style == "shm":
                import shutil

                usage = shutil.disk_usage("/dev/shm")
                shared = f" /dev/shm {usage.used >> 20}/{usage.total >> 20} MiB"
            if style == "rss":
                with open("/proc/self/statm") as file:
                    shared = f" rss {int(file.read().split()[1]) >> 8} MiB"
            print(f"step {step}: batch {tuple(batch.shape)}{shared}", flush=True)
        if step == 400:
            break
    print("epoch done")
