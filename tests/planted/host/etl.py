"""Tables joined and pivoted with pandas."""
import sys
import time
import numpy as np
import pandas as pd

rows, users, style = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]


def log(text):
    print(time.strftime("%H:%M:%S"), text, flush=True)


def usage():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096


log(f"reading events: {rows:,} rows")
events = pd.DataFrame({"user": np.arange(rows) % users, "item": np.arange(rows) % 5003, "value": np.ones(rows)})
if style != "silent":
    log(f"events: {events.memory_usage().sum() / 2**20:.1f} MB, rss {usage() / 2**20:.0f} MB")
if style == "pivot":
    log(f"pivot to {users:,} x 5003")
    wide = np.zeros((users, 5003))
    wide[events.user, events.item] = events.value
elif style == "object":
    log("normalising names")
    events["name"] = ["user-%012d" % user for user in events.user]
    events["key"] = events["name"] + "/" + events["item"].astype(str)
else:
    log("merging with itself on item")
    joined = events.merge(events, on="item")
    log(f"joined: {len(joined):,} rows")
log("written")
