"""`%load_ext oomdoc` in a real IPython shell; left out where there is none."""

import pytest
from test_module import DIES

IPython = pytest.importorskip("IPython")


@pytest.fixture
def shell():
    from IPython.testing.globalipapp import start_ipython

    shell = start_ipython() or IPython.get_ipython()
    shell.run_line_magic("load_ext", "oomdoc")
    yield shell
    shell.run_line_magic("unload_ext", "oomdoc")


def test_a_failed_cell_is_explained(shell, capsys):
    shell.run_cell(DIES)
    out = capsys.readouterr().out
    assert "CUDA out of memory" in out and "GPU 1 ran out of memory" in out


def test_other_errors_are_shown_as_ever(shell, capsys):
    shell.run_cell("1 / 0")
    out = capsys.readouterr().out
    assert "ZeroDivisionError" in out and "ran out" not in out


def test_the_line_explains_the_last_error_and_lets_it_go(shell, capsys):
    shell.run_cell(DIES)
    capsys.readouterr()
    assert shell.run_line_magic("oomdoc", "")
    shell.run_line_magic("oomdoc", "free")
    assert shell.run_line_magic("oomdoc", "") is None


def test_everything_behind_it_is_had_as_the_last_line_says(shell, capsys):
    shell.run_cell(DIES)
    out = capsys.readouterr().out
    assert "%oomdoc -v shows everything behind this" in out and "\n-v shows" not in out
    shell.run_line_magic("oomdoc", "-v")
    everything = capsys.readouterr().out
    assert len(everything) > len(out.split("GPU 1 ran out", 1)[1]) and "shows everything" not in everything


def test_a_measured_cell(shell, capsys, tmp_path):
    record = tmp_path / "cell.record"
    shell.run_cell_magic("oomdoc", str(record), "x = bytearray(1 << 24)")
    assert "cell" in capsys.readouterr().out
    assert record.read_text().startswith('{"schema"')
