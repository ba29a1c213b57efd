"""A JAX step on the processors."""
import sys
import jax
import jax.numpy as jnp

rows, width, kind, style = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4]
print("devices:", jax.devices(), flush=True)
params = jnp.zeros((width, width))
kept = []
for step in range(500):
    x = jnp.ones((rows, width))
    if kind == "pairs":
        y = (x[:, None, :1] - x[None, :, :1]).block_until_ready()
    else:
        y = (x @ params).block_until_ready()
    if kind == "leak":
        kept.append(y)
    if style == "told":
        print(f"step {step} live buffers {len(jax.live_arrays())} {sum(a.nbytes for a in jax.live_arrays()) / 2**20:.0f} MiB", flush=True)
print("done")
