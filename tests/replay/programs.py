"""Small programs whose memory is shaped by one thing each, for what `oomdoc replay` says of other settings.

    python programs.py NAME --out figures.json [--snapshot recorded.pickle] [--late N] [--batch N]

Shapes alone matter, so weights and data are noise and all lengths come from a generator with a fixed seed: a program asks
for the same bytes in the same order whatever the allocator is told. What the allocator did stands in `figures.json`: the most
that it held and that was in use, its retries, and whether a request failed; a line for each run, since a rehearsal goes on
with runs of its own where the device is nearly full.
"""

import argparse
import json
import os
import random

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

MIB = 1 << 20


class Block(nn.Module):
    """A layer of a transformer with attention written out, so that scores are tensors too."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads, self.norm, self.mid = heads, nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = self.qkv(self.norm(x)).view(batch, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        scores = (q @ k.transpose(-1, -2)).softmax(-1)
        x = x + self.out((scores @ v).transpose(1, 2).reshape(batch, length, width))
        return x + self.down(torch.nn.functional.gelu(self.up(self.mid(x))))


class Model(nn.Module):
    def __init__(self, layers=6, width=512, heads=8, words=8192, recompute=False):
        super().__init__()
        self.embed, self.recompute = nn.Embedding(words, width), recompute
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(layers))
        self.head = nn.Linear(width, words)

    def forward(self, tokens):
        x = self.embed(tokens)
        for block in self.blocks:
            x = checkpoint(block, x, use_reentrant=False) if self.recompute else block(x)
        return self.head(x)


def tokens(batch, length):
    return torch.randint(0, 8192, (batch, length), device="cuda")


def step(model, optimizer, batch, length):
    optimizer.zero_grad(set_to_none=True)
    logits = model(tokens(batch, length))
    loss = nn.functional.cross_entropy(logits.view(-1, logits.shape[-1]), tokens(batch, length).view(-1))
    loss.backward()
    optimizer.step()


def graphs(batch, record):
    """Decoding captured for several batches, which share a pool; prompts of any length run outside."""
    record()
    lengths = random.Random(31)
    model = Model(layers=4, width=768, heads=12).cuda().half().eval()
    kept, pool = [], None
    with torch.no_grad():
        for n in (24, 16, 8, 4, 2, 1):
            given = tokens(n * batch, 64)
            model(given)
            torch.cuda.synchronize()
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph, pool=pool):
                out = model(given)
            pool = pool or graph.pool()
            kept.append((graph, given, out))
        for _ in range(30):
            model(tokens(lengths.randint(1, 8) * batch, lengths.randint(40, 500)))
            kept[lengths.randrange(len(kept))][0].replay()
        alone = torch.cuda.CUDAGraph()
        given = tokens(4 * batch, 300)
        with torch.cuda.graph(alone):
            out = model(given)
        for _ in range(10):
            model(tokens(lengths.randint(1, 8) * batch, lengths.randint(40, 500)))
            alone.replay()


def tidy(batch, record):
    """Training that empties its cache before and after each validation, whose batches are larger."""
    record()
    lengths = random.Random(7)
    model = Model(layers=4).cuda()
    optimizer = torch.optim.AdamW(model.parameters())
    for i in range(16):
        step(model, optimizer, 6 * batch, lengths.choice((96, 128, 224, 256)))
        if i % 4 == 3:
            torch.cuda.empty_cache()
            model.eval()
            with torch.no_grad():
                for _ in range(3):
                    model(tokens(20 * batch, lengths.choice((200, 320, 384))))
            model.train()
            torch.cuda.empty_cache()


def pools(batch, record):
    """Buffers in two pools of their own beside ordinary work; one pool is let go of in the middle."""
    record()
    sizes = random.Random(11)
    first, second = torch.cuda.MemPool(), torch.cuda.MemPool()
    model = Model(layers=3).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    ring, other = [], []
    for i in range(24):
        with torch.cuda.use_mem_pool(first):
            ring.append(torch.empty(sizes.randint(1, 40) * MIB // 2, device="cuda", dtype=torch.uint8))
        if i < 12:
            with torch.cuda.use_mem_pool(second):
                other.append(torch.empty(sizes.randint(1, 90) * MIB // 3, device="cuda", dtype=torch.uint8))
        if i % 3 == 2:
            del ring[: sizes.randint(1, 2)]
        if i == 12:
            other.clear()
            del second
        step(model, optimizer, 4 * batch, sizes.randint(64, 256))


def two_streams(batch, record):
    """Batches are copied on a second stream and used on the first; a third copies results away."""
    record()
    lengths = random.Random(5)
    model = Model(layers=4, width=640, heads=10).cuda()
    optimizer = torch.optim.AdamW(model.parameters(), foreach=False)
    loader, writer = torch.cuda.Stream(), torch.cuda.Stream()
    main = torch.cuda.current_stream()
    kept = []
    for _ in range(20):
        with torch.cuda.stream(loader):
            images = torch.empty(batch * lengths.randint(3, 40), MIB // 2, device="cuda")
            prepared = images.half() * 2
        main.wait_stream(loader)
        images.record_stream(main)
        prepared.record_stream(main)
        pooled = prepared.sum(-1)
        del images
        step(model, optimizer, 3 * batch, lengths.randint(64, 300))
        writer.wait_stream(main)
        with torch.cuda.stream(writer):
            kept.append((pooled.float() * torch.ones(256, 1, device="cuda")).clone())
            pooled.record_stream(writer)
        del prepared, pooled
        if len(kept) > 4:
            kept.pop(0)


def expandable(batch, record):
    """Ragged batches and checkpointing, recorded with expandable segments."""
    record()
    lengths = random.Random(17)
    model = Model(layers=8, recompute=True).cuda()
    optimizer = torch.optim.AdamW(model.parameters())
    for _ in range(14):
        step(model, optimizer, batch * lengths.randint(2, 9), lengths.randint(50, 420))


def ragged(batch, record):
    """Ragged batches on a device that is nearly too small: the allocator has to make room by itself."""
    record()
    lengths = random.Random(3)
    model = Model(layers=6).cuda()
    optimizer = torch.optim.Adam(model.parameters(), foreach=False)
    for _ in range(18):
        step(model, optimizer, batch * lengths.randint(2, 8), lengths.randint(60, 400))


def growing(batch, record):
    """A cache of keys and values that grows by concatenation, sequences come and go."""
    record()
    numbers = random.Random(23)
    weights = [torch.empty(60 * MIB, device="cuda", dtype=torch.uint8) for _ in range(6)]
    caches = {}
    for turn in range(160):
        name = numbers.randrange(6)
        if name in caches and caches[name].shape[1] > 2600:
            del caches[name]
        new = torch.empty(2, numbers.randint(20, 400), batch * 8, 512, device="cuda", dtype=torch.float16)
        caches[name] = torch.cat([caches[name], new], 1) if name in caches else new
        if turn % 40 == 39:
            caches.pop(numbers.choice(sorted(caches)))
        scratch = caches.get(name, new).float().sum(-1)
        del scratch, new
    assert weights


def served(batch, record):
    """A server whose recording begins when weights and cache are there and requests were answered before."""
    torch.cuda.memory._record_memory_history(enabled=None)  # whoever else records
    numbers = random.Random(41)
    model = Model(layers=8, width=768, heads=12).cuda().half().eval()
    cache = [torch.empty(48 * MIB, device="cuda", dtype=torch.uint8) for _ in range(16)]
    with torch.no_grad():
        for i in range(40):
            if i == 15:
                record()
            model(tokens(batch * numbers.randint(1, 10), numbers.randint(30, 380)))
            cache[numbers.randrange(16)] = torch.empty(numbers.randint(20, 60) * MIB, device="cuda", dtype=torch.uint8)


def fraction(batch, record):
    """Random blocks under a limit that the program set itself."""
    torch.cuda.set_per_process_memory_fraction(0.5)
    record()
    numbers = random.Random(2)
    kept = {}
    for turn in range(900):
        key = numbers.randrange(40)
        kept.pop(key, None)
        size = numbers.choice((0.3, 0.9, 3, 7, 12, 33, 70)) * numbers.uniform(0.6, 1.4) * batch
        kept[key] = torch.empty(int(size * MIB), device="cuda", dtype=torch.uint8)
        if turn % 200 == 199:
            kept.clear()


def crowded(batch, record):
    """Cached memory lies in pieces where one large tensor is asked for: it ends out of memory."""
    record()
    numbers = random.Random(13)
    model = Model(layers=4).cuda()
    optimizer = torch.optim.AdamW(model.parameters())
    kept = []
    for _ in range(8):
        step(model, optimizer, 5 * batch, numbers.randint(80, 300))
        kept.append([torch.empty(numbers.randint(22, 60) * MIB, device="cuda", dtype=torch.uint8) for _ in range(4)])
        kept[-1].pop(numbers.randrange(4))
    del kept[::2]
    whole = torch.empty(700 * MIB * batch, device="cuda", dtype=torch.uint8)
    del whole
    step(model, optimizer, 5 * batch, 200)


def episodes(batch, record):
    """Each episode gathers into a pool of its own, which goes with it; a policy is trained on it in between."""
    record()
    numbers = random.Random(29)
    model = Model(layers=3, width=384, heads=6).cuda()
    optimizer = torch.optim.AdamW(model.parameters())
    best = []
    for episode in range(7):
        pool = torch.cuda.MemPool()
        gathered = []
        for _ in range(numbers.randint(6, 14)):
            with torch.cuda.use_mem_pool(pool):
                gathered.append(torch.empty(batch * numbers.randint(1, 9) * MIB // 3, device="cuda", dtype=torch.uint8))
            with torch.no_grad():
                model(tokens(batch, numbers.randint(40, 260)))
            if len(gathered) > 5 and numbers.random() < 0.4:
                del gathered[numbers.randrange(len(gathered))]
        for piece in gathered[:3]:
            best.append(piece.clone())
            step(model, optimizer, 2 * batch, numbers.randint(60, 240))
        del best[:-6], gathered[:], piece
        del pool
        if episode % 3 == 2:
            torch.cuda.empty_cache()


def pyramid(batch, record):
    """Pictures of ever other sizes are halved and doubled again, with what each level skips; in half precision."""
    record()
    sizes = random.Random(37)
    down = nn.ModuleList(nn.Linear(48 << i, 48 << (i + 1)) for i in range(4)).cuda()
    up = nn.ModuleList(nn.Linear(3 * (48 << i), 48 << i) for i in reversed(range(4))).cuda()
    weights = [*down.parameters(), *up.parameters()]
    optimizer = torch.optim.SGD(weights, lr=0.01, momentum=0.9)

    def half(x):
        n, h, w, c = x.shape
        return x.reshape(n, h // 2, 2, w // 2, 2, c).mean((2, 4))

    def double(x):
        return x.repeat_interleave(2, 1).repeat_interleave(2, 2)

    for i in range(22):
        side, count = 16 * sizes.randint(4, 15), batch * sizes.randint(1, 3)
        x = torch.empty(count, side, side, 48, device="cuda")
        optimizer.zero_grad(set_to_none=True)
        skipped = []
        with torch.autocast("cuda", dtype=torch.float16), torch.set_grad_enabled(i % 6 != 5):
            for layer in down:
                skipped.append(x)
                x = layer(half(x)).relu()
            for layer, skip in zip(up, reversed(skipped)):
                x = layer(torch.cat([double(x), skip], -1)).relu()
            loss = x.float().square().mean()
        if i % 6 != 5:
            loss.backward()
            optimizer.step()
        del x, skipped, skip, loss


def adapters(batch, record):
    """A server that swaps adapters. The recording begins when it was merged and its cache emptied: more was held before."""
    torch.cuda.memory._record_memory_history(enabled=None)  # whoever else records
    numbers = random.Random(43)
    model = Model(layers=6, width=512, heads=8).cuda().half().eval()
    merged = [torch.empty(batch * numbers.randint(30, 70) * MIB // 4, device="cuda", dtype=torch.uint8) for _ in range(24)]
    del merged[::2]
    merged.append(torch.empty(batch * 60 * MIB, device="cuda", dtype=torch.uint8))
    del merged
    torch.cuda.empty_cache()
    loaded = {}
    with torch.no_grad():
        for i in range(60):
            if i == 12:
                record()
            name = numbers.randrange(9)
            if name not in loaded:
                if len(loaded) == 4:
                    del loaded[numbers.choice(sorted(loaded))]
                rank = 2 ** numbers.randint(3, 7)
                shapes = [(rank, 512 * numbers.randint(40, 130)) for _ in range(6)]
                loaded[name] = [torch.empty(shape, device="cuda", dtype=torch.float16) for shape in shapes]
            model(tokens(batch * numbers.randint(1, 6), numbers.randint(30, 300)))


PROGRAMS = {
    f.__name__: f
    for f in (
        graphs, tidy, pools, two_streams, expandable, ragged, growing, served, fraction, crowded, episodes, pyramid, adapters,
    )
}  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", choices=PROGRAMS)
    parser.add_argument("--out", required=True)
    parser.add_argument("--snapshot")
    parser.add_argument("--late", type=int, help="the recording begins with this pass of the model")
    parser.add_argument("--batch", type=int, default=8, help="factor on every batch")
    options = parser.parse_args()

    def begin():
        torch.cuda.memory._record_memory_history(max_entries=1_000_000, stacks="python")

    passes = 0

    def record_late(module, _):
        nonlocal passes
        passes += isinstance(module, Model)
        if passes == options.late and isinstance(module, Model):
            begin()

    def record():
        if options.snapshot and options.late:
            torch.cuda.memory._record_memory_history(enabled=None)  # whoever else records
            nn.modules.module.register_module_forward_pre_hook(record_late)
        elif options.snapshot:
            begin()

    free = torch.cuda.mem_get_info()[0]
    failed = None
    try:
        PROGRAMS[options.program](options.batch, record)
    except torch.OutOfMemoryError as error:
        failed = str(error)
    stats = torch.cuda.memory_stats()
    if options.snapshot and not os.path.exists(options.snapshot):
        torch.cuda.memory._dump_snapshot(options.snapshot)
    figures = {
        "torch": torch.__version__,
        "free_at_start": free,
        "conf": os.environ.get("PYTORCH_CUDA_ALLOC_CONF", ""),
        "reserved": stats["reserved_bytes.all.peak"],
        "in_use": stats["active_bytes.all.peak"],
        "retries": stats["num_alloc_retries"],
        "failed": failed,
    }
    with open(options.out, "a") as file:
        file.write(json.dumps(figures) + "\n")


if __name__ == "__main__":
    main()
