import multiprocessing
import time

ROWS = []


def load(count):
    for i in range(count):
        ROWS.append(f"{i:08d} the quick brown fox jumps over the lazy dog, again and again {i % 977:04d}")


def score(query):
    hits = 0
    for number, row in enumerate(ROWS):
        if row.endswith(query):
            hits += 1
        if number % 20_000 == 0:
            time.sleep(0.03)
    return query, hits


def main():
    started = time.time()
    load(2_700_000)
    print(f"{len(ROWS):,} rows loaded in {time.time() - started:.1f} s", flush=True)
    queries = [f"{q:04d}" for q in range(8)]
    with multiprocessing.Pool(4) as pool:
        pending = pool.map_async(score, queries, chunksize=1)
        for query, hits in pending.get(timeout=14):
            print(query, hits, flush=True)


if __name__ == "__main__":
    main()
