"""Features computed in several processes."""
import sys
import time
import numpy as np

count, megabytes, how, style = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4]


def features(task):
    table = np.ones((megabytes, 1 << 17))
    if style != "silent":
        print(f"worker task {task}: table of {table.nbytes >> 20} MiB", flush=True)
    time.sleep(1.5)
    return float(table.sum())


if __name__ == "__main__":
    if style != "silent":
        print(f"{how} with {count} workers", flush=True)
    tasks = range(2 * count)
    if how == "futures":
        from concurrent.futures import ProcessPoolExecutor

        with ProcessPoolExecutor(count) as pool:
            print(sum(pool.map(features, tasks)))
    elif how == "joblib":
        from joblib import Parallel, delayed

        print(sum(Parallel(n_jobs=count)(delayed(features)(task) for task in tasks)))
    else:
        from sklearn.ensemble import RandomForestClassifier

        x = np.ones((megabytes << 10, 64), dtype=np.float32)
        x[::2] = np.random.default_rng(0).random((len(x) // 2, 64))
        forest = RandomForestClassifier(400, n_jobs=count, verbose=0 if style == "silent" else 2)
        forest.fit(x, np.arange(len(x)) % 7)
