"""Another user's server. Not part of any job: takes its share of the GPU when it sees room, then idles."""
import os
import sys
import time

folder = os.environ["FAKE_GPU_DIR"]
started = None
while True:
    time.sleep(0.05)
    try:
        used = int(open(f"{folder}/job").read().split()[1])
    except (OSError, IndexError, ValueError):
        continue
    started = started or time.time()
    if time.time() - started > 6 and used < 800:
        break
with open(f"{folder}/stranger.new", "w") as file:
    file.write(f"{os.getpid()} 14336\n")
os.replace(f"{folder}/stranger.new", f"{folder}/stranger")
print("model loaded, listening on :8000", file=sys.stderr)
time.sleep(60)
