#!/usr/bin/env python3
"""Writes a memory snapshot of any length, as `torch.cuda.memory._dump_snapshot()` lays it out: `snapshot.py ENTRIES FILE`.

A loop that holds 512 blocks of 1 MiB at a time, from 400 stacks of twelve frames. Written as it is made, so it takes no memory.
"""

import struct
import sys

BASE, SEGMENT, BLOCK, LIVE, STACKS, FRAMES = 0x7F0000000000, 1 << 30, 1 << 20, 512, 400, 12
WORDS = """action alloc free_requested free_completed segment_alloc addr size stream time_us frames name filename line device_traces
segments device address total_size allocated_size active_size requested_size segment_type large segment_pool_id is_expandable
blocks state active_allocated inactive""".split()
EMPTY, FALSE, ZERO, DEFAULT_POOL = b"]", b"\x89", b"K\x00", b"K\x00K\x00\x86"


def small(value):
    return b"J" + struct.pack("<i", value)


def large(value):
    return b"\x8a\x08" + struct.pack("<q", value)


def listed(items):
    return b"](" + b"".join(items) + b"e"


def write(entries, out):
    remembered = {}

    def remember(name, pickled):
        """Each thing that comes again is remembered first, and taken off the stack."""
        remembered[name] = b"j" + struct.pack("<I", len(remembered))
        out.write(pickled + b"\x940")

    def pickled(**items):
        return b"}(" + b"".join(remembered[key] + value for key, value in items.items()) + b"u"

    out.write(b"\x80\x04")
    files = [f"/job/module_{n}.py" for n in range(50)]
    functions = [f"forward_{n}" for n in range(STACKS * FRAMES)]
    for word in WORDS + files + functions:
        remember(word, b"\x8c" + bytes([len(word)]) + word.encode())
    for stack in range(STACKS):
        frames = (
            pickled(name=remembered[functions[n]], filename=remembered[files[n % 50]], line=small(n % 900 + 1))
            for n in range(stack * FRAMES, (stack + 1) * FRAMES)
        )
        remember(stack, listed(frames))

    def entry(action, at, size, time, stack):
        frames = remembered[stack % STACKS]
        return pickled(action=remembered[action], addr=large(at), size=small(size), stream=ZERO, time_us=large(time), frames=frames)

    out.write(b"}(" + remembered["device_traces"] + b"](](" + entry("segment_alloc", BASE, SEGMENT, 1, 0))
    written, made, time = 1, 0, 2
    while written < entries:
        at = BASE + made % LIVE * BLOCK
        if made >= LIVE:
            gone = made - LIVE
            out.write(entry("free_requested", at, BLOCK, time, gone) + entry("free_completed", at, BLOCK, time + 1, gone))
            written += 2
        out.write(entry("alloc", at, BLOCK, time + 2, made))
        written, made, time = written + 1, made + 1, time + 3
    out.write(b"ee")

    def block(at, size, requested, state, frames):
        sizes = {"size": small(size), "requested_size": small(requested)}
        return pickled(address=large(at), state=remembered[state], frames=frames, **sizes)

    live = min(made, LIVE)
    blocks = [block(BASE + n * BLOCK, BLOCK, BLOCK, "active_allocated", remembered[n % STACKS]) for n in range(live)]
    blocks.append(block(BASE + live * BLOCK, SEGMENT - live * BLOCK, 0, "inactive", EMPTY))
    held = small(live * BLOCK)
    segment = pickled(
        device=ZERO, address=large(BASE), total_size=small(SEGMENT), allocated_size=held, active_size=held, requested_size=held,
        stream=ZERO, segment_type=remembered["large"], segment_pool_id=DEFAULT_POOL, is_expandable=FALSE, frames=EMPTY,
        blocks=listed(blocks),
    )
    out.write(remembered["segments"] + listed([segment]) + b"u.")


if __name__ == "__main__":
    with open(sys.argv[2], "wb", buffering=1 << 20) as file:
        write(int(sys.argv[1]), file)
