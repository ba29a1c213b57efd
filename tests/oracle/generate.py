#!/usr/bin/env python3
"""Seeded random traces. Sizes mix requests below 1 MiB, of 1 to 10 MiB and above; live bytes stay below a budget.

  generate.py --profile train|serve|grow|chaos --seed N --ops N [--budget MIB] [--streams N] [--record SHARE]

train: parameters stay, activations come in order and go in reverse; serve: requests of varying size live for a while;
grow: the same while sizes drift upwards; chaos: sizes and lifetimes independent of each other."""
import argparse, random

MIB = 1 << 20
PROFILES = ("train", "serve", "grow", "chaos")


class Trace:
    def __init__(self, seed, ops, budget, streams=0, record=0.0, empty=0.002):
        self.random, self.ops, self.budget = random.Random(seed), ops, budget * MIB
        self.streams, self.record, self.empty = streams, record, empty
        self.lines, self.live, self.total, self.next = [], {}, 0, 1

    def size(self, scale=1.0):
        kind = self.random.random()
        if kind < 0.45:
            n = self.random.choice((4, 100, 512, 2048, 65536, 300000, MIB, self.random.randint(1, MIB)))
        elif kind < 0.75:
            n = self.random.randint(MIB, 10 * MIB)
        elif kind < 0.97:
            n = self.random.randint(10 * MIB, 200 * MIB)
        else:
            n = self.random.randint(200 * MIB, 1024 * MIB)
        return max(1, min(int(n * scale), 1024 * MIB))

    def write(self, line):
        self.lines.append(line)
        if self.random.random() < self.empty:
            self.lines.append("e")

    def allocate(self, size):
        while self.total + size > self.budget and self.live:
            self.free(next(iter(self.live)))
        ident, self.next = self.next, self.next + 1
        stream = self.random.randint(0, self.streams) if self.streams and self.random.random() < 0.3 else 0
        self.write(f"a {ident} {size}" + (f" {stream}" if stream else ""))
        self.live[ident] = size
        self.total += size
        if self.streams and self.random.random() < self.record:
            self.write(f"r {ident} {self.random.randint(0, self.streams)}")
        return ident

    def free(self, ident):
        if ident in self.live:
            self.total -= self.live.pop(ident)
            self.write(f"f {ident}")

    def train(self):
        parameters = [self.size(0.5) for _ in range(self.random.randint(8, 40))]
        layers = [[self.size() for _ in range(self.random.randint(1, 4))] for _ in range(len(parameters) // 2)]
        for size in parameters:
            self.allocate(size)
        while len(self.lines) < self.ops:
            batch = self.random.choice((1.0, 1.0, 1.0, self.random.uniform(0.4, 1.3)))
            kept = [[self.allocate(max(1, int(size * batch))) for size in layer] for layer in layers]
            gradients = []
            for layer, size in zip(reversed(kept), parameters):
                gradients.append(self.allocate(size))
                temporary = self.allocate(self.size(0.3))
                for ident in reversed(layer):
                    self.free(ident)
                self.free(temporary)
            for gradient in gradients:
                self.free(gradient)

    def serve(self, drift=1.0):
        scale = 1.0
        while len(self.lines) < self.ops:
            scale = scale * drift if scale < 6 else 1.0
            for _ in range(self.random.randint(1, 6)):
                self.allocate(self.size(scale * self.random.randint(1, 8) / 4))
            for ident in [ident for ident in self.live if self.random.random() < 0.25]:
                self.free(ident)

    def grow(self):
        self.serve(drift=1.01)

    def chaos(self):
        while len(self.lines) < self.ops:
            if self.random.random() < 0.52 or not self.live:
                self.allocate(self.size())
            else:
                self.free(self.random.choice(list(self.live)[-200:]))


def generate(profile, seed, ops, budget=6000, streams=0, record=0.0):
    trace = Trace(f"{profile}-{seed}", ops, budget, streams, record)
    getattr(trace, profile)()
    return trace.lines[:ops]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(formatter_class=argparse.RawDescriptionHelpFormatter, description=__doc__)
    parser.add_argument("--profile", choices=PROFILES, default="train")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--ops", type=int, default=20000)
    parser.add_argument("--budget", type=int, default=6000, help="MiB that live at most")
    parser.add_argument("--streams", type=int, default=0, help="streams besides the default one")
    parser.add_argument("--record", type=float, default=0.0, help="share of allocations used on another stream")
    given = parser.parse_args()
    print("\n".join(generate(**vars(given))))
