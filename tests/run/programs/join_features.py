"""Joins click events with item features and fits a CTR baseline."""
import logging
import random
import time

logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
log = logging.getLogger("ctr.data")
SHARDS, ROWS = 40, 150_000


def read_shard(number):
    rng = random.Random(number)
    for i in range(ROWS):
        yield {
            "event": number * ROWS + i,
            "user": f"u{rng.getrandbits(40):011x}",
            "item": f"item-{rng.getrandbits(24)}",
            "ts": 1_700_000_000.0 + i * 0.25,
            "price": rng.random() * 100,
        }


def main():
    started = time.time()
    log.info("reading %d shards of events", SHARDS)
    events = []
    for number in range(SHARDS):
        events.extend(read_shard(number))
        log.info("shard %d/%d: %s rows, %.1f s", number + 1, SHARDS, f"{len(events):,}", time.time() - started)
    log.info("sorting by time")
    events.sort(key=lambda row: row["ts"])
    weight = 0.0
    for epoch in range(3):
        for row in events:
            weight += 1e-6 * (row["price"] - weight)
        log.info("epoch %d weight %.4f", epoch, weight)


if __name__ == "__main__":
    main()
