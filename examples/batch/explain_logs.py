#!/usr/bin/env python3
"""Thousands of logs to a table of why jobs died, with Polars.

    pip install polars
    python explain_logs.py 'logs/**/*.log' --out incidents.parquet

Each log is one run of `oomdoc explain --format json`; as many run at once as there are processors. A log without an
out-of-memory failure gives a row without a cause, one that cannot be read a row with the reason.
"""

import argparse
import glob
import json
import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

TEXTS = ("log", "error", "resource", "framework", "program", "conclusion", "cause", "fix")
BYTES = ("requested_bytes", "capacity_bytes")
# A log that takes longer, such as one on a network drive that hangs, must not end the others.
SECONDS = 120


def row(oomdoc: str, log: str) -> dict:
    """What one log tells."""
    told = {"log": log}
    command = [oomdoc, "explain", "--format", "json", log]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return told | {"error": f"no answer within {SECONDS} s"}
    if done.returncode not in (0, 1):
        return told | {"error": done.stderr.strip()}
    incident = next((one for one in json.loads(done.stdout)["incidents"] if one.get("primary")), None)
    if incident is None:
        return told
    told |= {key: incident.get(key) for key in ("resource", "framework", "program", "conclusion")}
    told |= {key: incident["facts"].get(key) for key in BYTES}
    if incident["causes"]:
        told |= {"cause": incident["causes"][0]["id"], "confidence": incident["causes"][0]["confidence"]}
    if incident["fixes"]:
        told["fix"] = incident["fixes"][0]["id"]
    return told


def main() -> None:
    import polars as pl

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("logs", nargs="+", help="files, or patterns with **")
    parser.add_argument("--out", help="where the rows go: a .parquet, .csv or .jsonl file")
    # pip puts it beside the interpreter, which need not be on the path.
    folders = [os.path.dirname(sys.executable), *os.get_exec_path()]
    found = shutil.which("oomdoc", path=os.pathsep.join(folders))
    parser.add_argument("--oomdoc", default=found, required=found is None, help="the program, where it is not on the path")
    asked = parser.parse_args()
    logs = sorted({log for pattern in asked.logs for log in glob.glob(pattern, recursive=True)})
    columns = dict.fromkeys(TEXTS, pl.String) | dict.fromkeys(BYTES, pl.Int64) | {"confidence": pl.Float64}
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        rows = pl.DataFrame(list(pool.map(lambda log: row(asked.oomdoc, log), logs)), schema=columns)
    if asked.out:
        kind = asked.out.rsplit(".", 1)[-1]
        write = {"parquet": rows.write_parquet, "csv": rows.write_csv, "jsonl": rows.write_ndjson}
        write[kind](asked.out)
    died = rows.filter(pl.col("cause").is_not_null())
    causes = (
        died.group_by("resource", "cause")
        .agg(
            pl.len().alias("jobs"),
            (pl.col("conclusion") == "proved").sum().alias("proved"),
            pl.col("fix").mode().sort().first().alias("most frequent fix"),
        )
        .sort(["jobs", "resource", "cause"], descending=[True, False, False])
    )
    unread = rows.filter(pl.col("error").is_not_null()).height
    print(f"{rows.height} logs: {died.height} died for want of memory, {unread} could not be read")
    with pl.Config(tbl_rows=50, tbl_hide_dataframe_shape=True, fmt_str_lengths=40):
        print(causes)


if __name__ == "__main__":
    main()
