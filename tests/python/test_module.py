"""The Python module against the program of the wheel. `tests/python/run` runs this in a clean environment."""

import json
import pathlib
import subprocess
import sys
import textwrap

import oomdoc
import pytest

MESSAGE = (
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.50 GiB. GPU 1 has a total capacity of 31.36 GiB "
    "of which 1.91 GiB is free. Including non-PyTorch memory, this process has 29.44 GiB memory in use. Of the "
    "allocated memory 24.18 GiB is allocated by PyTorch, and 4.73 GiB is reserved by PyTorch but unallocated."
)
DIES = f"class OutOfMemoryError(RuntimeError): pass\nOutOfMemoryError.__module__ = 'torch'\nraise OutOfMemoryError({MESSAGE[24:]!r})"


def run(code, **more):
    return subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=False, **more)


def test_a_text_is_explained():
    found = oomdoc.explain(MESSAGE)
    assert found and found.primary["facts"]["requested_bytes"] == 2684354560
    assert found.cause in {"fragmentation", "capacity"}
    assert str(found).startswith("GPU 1 ran out of memory")
    assert "GPU 1" in found.markdown()


def test_a_text_without_a_failure_is_none():
    found = oomdoc.explain("epoch 1 done\n")
    assert not found and found.cause is None and found.primary is None
    assert "No out-of-memory failure found" in str(found)
    assert "<pre>" in found._repr_html_()


def test_a_path_is_a_file_and_a_string_is_a_text(tmp_path):
    log = tmp_path / "train.log"
    log.write_text(MESSAGE + "\n")
    assert oomdoc.explain(log)
    assert not oomdoc.explain(str(log))
    with pytest.raises(ValueError, match="no such file"):
        oomdoc.explain(tmp_path / "missing.log")


def test_an_exception_is_explained_with_those_it_came_from():
    try:
        try:
            raise MemoryError("Unable to allocate 55.9 GiB for an array with shape (100000, 75000) and data type float64")
        except MemoryError as error:
            raise ValueError("the table does not fit") from error
    except ValueError as error:
        assert oomdoc.explain(error)


def test_each_exception_is_explained_once_and_the_next_one_too():
    # An exception that is gone leaves its address to the next.
    for _ in range(3):
        error = MemoryError("Unable to allocate 55.9 GiB for an array with shape (100000, 75000) and data type float64")
        assert oomdoc.diagnosis(error) and oomdoc.diagnosis(error) is None
        del error


def test_languages():
    assert "显存不足" in str(oomdoc.explain(MESSAGE, lang="zh"))


def test_the_page_of_a_notebook_escapes_what_the_log_holds():
    found = oomdoc.explain(MESSAGE + "\nmodel=<script>alert(1)</script>\n")
    assert "<script>" not in found._repr_html_()
    assert "<table>" in found._repr_html_()


def test_a_program_that_dies_prints_the_diagnosis_once_under_its_traceback():
    done = run(f"import oomdoc\noomdoc.install()\noomdoc.install()\n{DIES}")
    assert done.returncode == 1
    traceback, _, report = done.stderr.partition("\n\n")
    assert traceback.startswith("Traceback") and report.startswith("GPU 1 ran out of memory")
    assert done.stderr.count("GPU 1 ran out of memory") == 1


def test_everything_behind_a_diagnosis_is_had_as_its_last_line_says():
    found = oomdoc.explain(MESSAGE)
    assert ".text(verbose=True) shows everything behind this" in str(found)
    assert len(found.text(verbose=True)) > len(str(found))
    page = found._repr_html_()
    assert "<details><summary>-v, --verbose</summary><pre>" in page and "shows everything" not in page
    short = run(f"import oomdoc\noomdoc.install()\n{DIES}").stderr
    assert "oomdoc.install(verbose=True) shows everything behind this" in short
    assert len(run(f"import oomdoc\noomdoc.install(verbose=True)\n{DIES}").stderr) > len(short)


def test_other_exceptions_are_left_alone():
    done = run("import oomdoc\noomdoc.install()\nraise KeyError('x')")
    assert done.returncode == 1 and done.stderr.rstrip().endswith("KeyError: 'x'")


def test_a_missing_program_hides_no_traceback():
    done = run(f"import oomdoc, oomdoc._binary\noomdoc.install()\noomdoc._binary.NAME = 'nosuch'\n{DIES}")
    assert "CUDA out of memory" in done.stderr and "FileNotFoundError" not in done.stderr


def test_the_program_is_on_the_path_and_a_module():
    done = subprocess.run([sys.executable, "-m", "oomdoc", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("oomdoc ")


def test_a_loop_leaves_a_record_that_the_program_reads(tmp_path):
    path = tmp_path / "loop.record"
    kept = []
    with pytest.raises(MemoryError), oomdoc.Recorder(path) as memory:
        for step in range(30):
            memory.step(step)
            with memory.phase("forward"):
                kept.append(bytearray(1 << 20))
            with memory.phase("backward"):
                pass
        raise MemoryError("Unable to allocate 55.9 GiB for an array with shape (100000, 75000)")
    assert memory.peaks["forward"].times == 30 and memory.peaks["forward"].host > 0
    assert memory.table().splitlines()[0].split() == ["phase", "allocated", "reserved", "host", "step", "times"]
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert lines[0]["schema"] == "oomdoc.record/1"
    assert lines[-1]["end"] == {"code": 1}
    assert [line["n"] for line in lines if line.get("phase") == "forward"] == [float(n) for n in range(30)]
    found = oomdoc.explain(path)
    assert found and "MemoryError" in found.primary["message"]


def test_a_record_of_a_job_that_went_well_ends_with_zero(tmp_path):
    path = tmp_path / "well.record"
    code = f"import oomdoc\nm = oomdoc.Recorder({str(path)!r})\nm.begin('forward')"
    assert run(code).returncode == 0
    assert json.loads(path.read_text().splitlines()[-1])["end"] == {"code": 0}


def test_a_full_disk_stops_no_job():
    full = pathlib.Path("/dev/full")
    if not full.exists():
        pytest.skip("no /dev/full here")
    with oomdoc.Recorder(full) as memory:
        with memory.phase("forward"):
            pass
    assert memory.peaks["forward"].times == 1
