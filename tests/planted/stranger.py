"""Another program on the same card: takes SIZE bytes, at once or when FILE shows that work has begun, and keeps them."""
import sys
import time
import torch

size, file = int(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else None
while file and open(file, "rb").read().count(b"\n") < int(sys.argv[3]):
    time.sleep(0.02)
torch.cuda.init()
free = torch.cuda.mem_get_info()[0]
held = torch.empty(min(size, max(1 << 21, free - (6 << 20))) if file else size, dtype=torch.uint8, device="cuda")
time.sleep(600)
