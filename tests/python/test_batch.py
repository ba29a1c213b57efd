"""The example for logs by the thousand, with Polars on this machine."""

import json
import pathlib
import subprocess
import sys

EXAMPLE = pathlib.Path(__file__).parents[2] / "examples" / "batch" / "explain_logs.py"
MESSAGE = (
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.50 GiB. GPU 1 has a total capacity of 31.36 GiB "
    "of which 1.91 GiB is free. Including non-PyTorch memory, this process has 29.44 GiB memory in use. Of the "
    "allocated memory 24.18 GiB is allocated by PyTorch, and 4.73 GiB is reserved by PyTorch but unallocated.\n"
)


def test_each_log_is_a_row(tmp_path):
    for n in range(30):
        (tmp_path / f"{n:02}.log").write_text(MESSAGE if n % 3 else "epoch 1 done\n")
    out = tmp_path / "rows.jsonl"
    command = [sys.executable, EXAMPLE, f"{tmp_path}/*.log", "--out", out]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert said.startswith("30 logs: 20 died for want of memory, 0 could not be read")
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert len(rows) == 30 and rows[0]["cause"] is None
    assert rows[1]["requested_bytes"] == 2684354560 and rows[1]["resource"] == "gpu" and rows[1]["cause"] and rows[1]["fix"]
