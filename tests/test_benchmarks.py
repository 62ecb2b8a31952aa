"""The benchmarks: programs that run, and tables that go where they belong."""
from __future__ import annotations

import ast
import contextlib
import json
import sys
from pathlib import Path

import numpy as np
import pytest

import tfnb as tf
from benchmarks import gpu, measure, notebook, report, sweep, sweep_causes, sweep_program, sweep_report, sweep_rows
from benchmarks.models import MODELS
from benchmarks.programs import PROGRAMS, SCALED
from benchmarks.systems import workers
from benchmarks.worker import timed
from tfnb.core.options import options
from tfnb.kernels.cuda import device

FOLDER = Path(report.__file__).parent
RESULTS = {
    "about": {"date": "2030-01-02", "machine": "a machine", "python": "3.11.0", "rounds": 2,
              "versions": {"tfnb": "1.0", "tensorflow": "2.0"}},
    "speed": {"matmul": {"error": 1e-7, "peak": {"tfnb": 5e7, "tensorflow": 5e8, "jax": None},
                         "times": {"tfnb": [1e-3, 2e-3], "tensorflow": [3e-3, 4e-3], "jax": [2e-3, 2e-3]}}},
    "models": {"vae": {"error": 1e-7, "first": {"tfnb": 1.5, "tensorflow": 4.5, "torch": 9.5},
                       "times": {"tfnb": [2e-3, 2e-3], "tensorflow": [6e-3, 6e-3], "torch": [1e-3, 1e-3]},
                       "peak": {"tfnb": 1.5e8, "tensorflow": 3e8, "torch": 2e8}},
               "dqn": {"error": 1e-7, "times": {"tfnb": [2e-3, 2e-3], "tensorflow": [2e-3, 6e-3]},
                       "first": {"tfnb": 1.5, "tensorflow": 4.5}, "peak": {"tfnb": 1.5e8, "tensorflow": None}}},
    "first": {"lenet": {"tfnb": {label: [[1.0, 2.0], [0.5, 0.75]] for label in ("cold", "warm")}}},
    "start": {"tfnb": {"cold": [1, 2, 3, 4], "warm": [0.1, 0.2, 0.3, 0.4]}},
    "curves": {"chain": {"100": {"tfnb": [1e-6, 2e-6]}, "10": {"tfnb": [1e-6, 2e-6], "torch": [1e-5, 1e-5]}}},
    "threads": {"matmul": {"1": {"tfnb": [2e-3, 2e-3]}, "2": {"tfnb": [1e-3, 1e-3]}}},
    "notebook": {"when": "2030-01-03.", "live": {"a number": {"plain": 1e-4, "more": 5e-7}}, "nan": {},
                 "cells": {"100 ops": {"plain": 0.1, "first": 0.101, "again": 0.12}},
                 "drawings": {"a graph": {"open": 0.2, "expand": 0.02}}, "imports": {"import tfnb": 0.2}},
}


@pytest.mark.parametrize("name", ["constant", "scalar_chain", "linear_regression", "mlp_small", "embedding",
                                  "scalar_summary", "fifo_queue", "while_loop", "while_rnn"])
def test_small_programs(name):
    program = PROGRAMS[name](tf)
    for _ in range(3):
        program.step()
    assert np.isfinite(np.asarray(program.check(), float)).all()
    assert 0 < timed(program.step, 0.001)["best"] < 10


@pytest.mark.parametrize("name", list(MODELS))
def test_models_learn_something_finite(name, monkeypatch):
    monkeypatch.setattr(options, "compile", "never")
    program = MODELS[name](tf)
    program.step()
    assert np.isfinite(np.asarray(program.check(), float)).all()


@pytest.mark.parametrize("name", list(SCALED))
def test_programs_of_a_size(name):
    assert np.isfinite(SCALED[name](tf, 10).check())


@pytest.mark.parametrize("file", ["torch_programs.py", "jax_programs.py"])
def test_peers_have_programs_of_the_same_names(file):
    tree = ast.parse((FOLDER / file).read_text(encoding="utf-8"))
    tables = {node.target.id: node.value for node in tree.body if isinstance(node, ast.AnnAssign)}
    assert {name.id for name in tables["PROGRAMS"].generators[0].iter.elts} <= set(PROGRAMS)
    assert {key.value for key in tables["SCALED"].keys} == set(SCALED)


def test_pytorch_has_every_model():
    tree = ast.parse((FOLDER / "torch_models.py").read_text(encoding="utf-8"))
    table = next(node.value for node in tree.body if isinstance(node, ast.AnnAssign))
    assert [name.id for name in table.generators[0].iter.elts] == list(MODELS)


def test_a_program_without_a_value_to_compare(monkeypatch):
    class System:
        def __init__(self, check):
            self.check = check

        def ask(self, **command):
            return self.check if "check" in command else {"peak": 1, "version": "1", "best": 1.0, "median": 1.0}

    def found(*checks):
        made = dict(zip(("tfnb", "tensorflow", "torch"), map(System, checks), strict=True))
        monkeypatch.setattr(measure, "workers", lambda *_: contextlib.nullcontext(made))
        monkeypatch.setattr(measure, "_having", lambda *_, **__: made)
        return measure.speed("vae", {}, 1, 0.1)
    assert found([1.0], [1.0], None)["error"] == 0
    with pytest.raises(SystemExit, match="vae: torch and tensorflow don't agree"):
        found([1.0], [1.0], [1.1])


@pytest.mark.slow
def test_a_worker():
    with workers({"tfnb": sys.executable}, 1) as made:
        assert made["tfnb"].ask(build="nothing") is False
        assert made["tfnb"].ask(build="chain", size=10) is True
        assert made["tfnb"].ask(run=0.001)["best"] > 0
        assert made["tfnb"].ask(about=True)["version"] == tf.__version__


def test_control_a_wrong_result_stops_the_benchmarks():
    assert measure._difference(np.ones(3), np.array([1.0, 1.0, 1.01])) > measure.TOLERANCE
    assert not measure._difference(np.array([np.nan]), np.ones(1)) < measure.TOLERANCE


def test_tables_replace_what_is_between_their_marks(tmp_path):
    document = tmp_path / "performance.md"
    document.write_text("prose\n" + "".join(f"<!-- begin {name} -->\nformer\n<!-- end {name} -->\nmore\n"
                                            for name in report.REGIONS), encoding="utf-8")
    for _ in range(2):
        report.write(document, json.loads(json.dumps(RESULTS)))
        text = document.read_text(encoding="utf-8")
        assert "former" not in text
        assert text.count("more\n") == len(report.REGIONS)
        assert "| 1,000.0 (2,000.0) | 3,000.0 (4,000.0) | - | - | 2,000.0 (2,000.0) | 3.0 | 2.0 (JAX) | 1e-07 |" in text
        assert "| 50 | 500 | - | - | - |" in text
        assert "| cold | 1.00 (0.50) | 2.00 (0.75) |" in text
        assert "2,000 / 1,000 = 2.00" in text
        assert text.index("| 10 |") < text.index("| 100 |")
        assert "| Live plots: a number | a step of 100.0 us | 0.50 us | 0.5% |" in text
        assert "| 2.00 | 6.00 | 1.00 | 3.0 | 0.5 | 1.5 / 4.5 / 9.5 | 150 / 300 / 200 | 1e-07 |" in text
        assert "| 2.00 | 2.00 | - | 1.0 | - | 1.5 / 4.5 | 150 | 1e-07 |" in text
        assert "| median of the ratios |  |  |  | 2.0 | 0.5 |" in text
        assert "| 100 ms in plain Python | 20.0 ms | 20.0% |" in text and "| import tfnb | - | 200 ms | - |" in text


def test_what_was_not_measured_stays(tmp_path):
    document = tmp_path / "performance.md"
    document.write_text("".join(f"<!-- begin {name} -->\nformer {name}\n<!-- end {name} -->\n"
                                for name in report.REGIONS), encoding="utf-8")
    report.write(document, {"about": RESULTS["about"], "notebook": RESULTS["notebook"]})
    text = document.read_text(encoding="utf-8")
    assert "former notebook" not in text and "former speed" in text and "former about" in text


def test_what_the_notebook_costs():
    def nothing(steps):
        sum(range(steps * 100))

    def more(steps):
        sum(range(steps * 1000))

    found = notebook.in_turns(nothing, more, 10, 0.01)
    assert 0 < found["plain"] < found["more"]
    assert notebook.cells.__doc__ and notebook.deep() == "block0" and notebook.flat()


def test_a_document_without_a_place(tmp_path):
    document = tmp_path / "performance.md"
    document.write_text("prose\n", encoding="utf-8")
    with pytest.raises(SystemExit, match="no place for about"):
        report.write(document, RESULTS)


def test_the_documentation_has_all_places():
    text = (FOLDER.parent / "docs" / "performance.md").read_text(encoding="utf-8")
    for name in report.REGIONS:
        assert f"<!-- begin {name} -->" in text and f"<!-- end {name} -->" in text


@pytest.mark.slow
def test_the_figure(tmp_path):
    report.draw(RESULTS, tmp_path / "scaling.png")
    assert (tmp_path / "scaling.png").read_bytes().startswith(b"\x89PNG")


def test_the_gpu_benchmark_builds_and_says_that_there_is_no_gpu(capsys):
    found = gpu.cases(1e-4)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for case in found:
            sess.run(case.step)
            assert case.nbytes > 0
    gpu.main(1e-4)
    assert "no GPU here" in capsys.readouterr().out or device.gpu() is not None


def test_the_gpu_benchmark_on_the_simulator(simulated, capsys):
    gpu.main(1.0)
    lines = capsys.readouterr().out.splitlines()
    assert "simulator" in lines[0] and lines[2].startswith("all that 9 kernels leave differs from the CPU's by ")
    assert [line[:10] for line in lines[3:]] == ["MLP small ", "MLP medium", "MLP large ", "CNN       ", "LSTM      ",
                                                "Transforme", "embedding "]
    assert all(float(line.split()[-1 if i else -3]) < 1e-4 for i, line in enumerate(lines[2:]))


@pytest.mark.slow
def test_the_sweep_has_every_op_or_says_why_not():
    names = [plan.name for plan in sweep_rows.plans()]
    assert len(names) == len(set(names)) > 2000
    measured = {name.split()[0] for name in names}
    assert measured.isdisjoint(sweep_rows.left_out()) and measured | set(sweep_rows.left_out()) == set(sweep_rows.OPS)
    assert {"Atan2", "TopKV2", "ApplyAdam", "ResourceScatterAdd", "Unique", "Conv2D", "SegmentSum"} < measured


@pytest.mark.parametrize("name", [
    "AddV2 float32 tiny fetch", "Tanh float32 tiny fetch", "Sum float32 tiny fetch [last axis]",
    "ApplyAdam float32 tiny fetch", "ResourceScatterAdd float32 tiny fetch", "ScatterNdAdd float32 tiny fetch",
    "GatherV2 float32 tiny fetch [rows of 64]", "ResizeNearestNeighbor float32 tiny fetch [up]",
    "AsString float32 tiny fetch"])
def test_a_row_of_the_sweep(name):
    plan = next(plan for plan in sweep_rows.of(name.split()[0]) if plan.name.startswith(name))
    program = sweep_program.build(tf, sweep.plain(plan.row()))
    program.step()
    assert np.isfinite(program.check()).all() and ("host" in program.stages()) == (plan.op == "AsString")


@pytest.mark.parametrize("form", ["assign", "gradient", "transposed"])
def test_forms_of_a_row(form):
    x = [[1.0, 2.0], [3.0, 4.0], [5.0, 9.0]]
    given = {"array": np.array(x, "f"), "how": "variable", "dtype": "float32"}
    row = {"op": "Square", "inputs": [("x", given)], "attrs": {}, "form": "fetch" if form == "transposed" else form,
           "transposed": form == "transposed"}
    program = sweep_program.build(tf, row)
    values = program.step()
    if form == "gradient":
        assert values[0].tolist() == (2 * np.array(x)).tolist() and program.check() == [6, 8.0]
    elif form == "transposed":
        assert values[0].tolist() == (np.array(x) ** 2).T.tolist()
    else:
        assert values is None and program.stages() == "kernels"


class Pair:
    """Two systems that take no time, but for the turns given."""

    pythons = dict.fromkeys(["tfnb", "tensorflow"])

    def __init__(self, turns):
        self.turns = iter(turns)

    def ask(self, system, **command):
        known = {"check": [1.0], "stages": "kernels", "row": True}
        return {"best": next(self.turns)} if "run" in command else known[next(iter(command))]

    def version(self, system):
        return "1.0"

    def close(self):
        pass


def test_a_sweep_in_pieces(tmp_path, monkeypatch, capsys):
    """Rows are merged into one file; what it has, or has ahead, is not measured again where that is asked for."""
    measured = []
    ratios = {"Abs float32 tiny fetch": 2.0, "Abs float32 medium fetch": 0.5, "Neg float32 tiny fetch": 3.0}

    def measure(plan, pair, folder, rounds, seconds):
        measured.append(plan.name)
        times = {"tfnb": 1e-6, "tensorflow": ratios[plan.name] * 1e-6}
        return {"times": times, "ratio": ratios[plan.name], "stages": "kernels", "same": True}
    monkeypatch.setattr(sweep, "measure", measure)
    monkeypatch.setattr(sweep, "Pair", lambda oracle: Pair([]))
    path = tmp_path / "sweep.json"

    def run(*more):
        measured.clear()
        only = "^(Abs float32 (tiny|medium) fetch|Neg float32 tiny fetch)"
        sweep.main(["--oracle", "none", "--results", str(path), "--only", only, *more])
        return list(measured)
    assert run("--size", "tiny") == ["Abs float32 tiny fetch", "Neg float32 tiny fetch"]
    assert run("--resume") == ["Abs float32 medium fetch"] and run("--resume") == []
    assert run("--under") == ["Abs float32 medium fetch"]
    assert {name: row["ratio"] for name, row in sweep.read(path).items()} == ratios
    assert "1 under 1x" in capsys.readouterr().out
    page = tmp_path / "page.md"
    page.write_text((FOLDER.parent / "docs" / "sweep.md").read_text(encoding="utf-8"), encoding="utf-8")
    run("--resume", "--write", str(page))
    text = page.read_text(encoding="utf-8")
    assert "| all rows | 3 | 1 | 0 | 2.0 |" in text and "| Abs float32 medium fetch | 1 | 0 | 0.50 | kernels |" in text
    assert "tensorflow 1.0" in text and "TruncateDiv" not in text
    with pytest.raises(SystemExit, match="no place for the sweep"):
        sweep_report.write(tmp_path / "sweep.json", json.loads(path.read_text(encoding="utf-8")))


def test_a_part_of_the_sweep_is_merged_into_the_page(tmp_path):
    def row(ratio, stages="kernels"):
        return {"times": {"tfnb": 1e-6, "tensorflow": ratio * 1e-6}, "ratio": ratio, "stages": stages}
    page = tmp_path / "page.md"
    page.write_text((FOLDER.parent / "docs" / "sweep.md").read_text(encoding="utf-8"), encoding="utf-8")
    about = {"date": "2026-01-01", "machine": "here", "python": "3"}
    whole = {"Abs float32 tiny fetch": row(2.0), "Abs float32 medium fetch": row(0.25),
             "Neg float32 tiny fetch": row(0.6, "host: Neg"), "Neg float32 large fetch [a|b]": {"error": "late"}}
    sweep_report.write(page, {"about": about, "rows": whole})
    before = page.read_text(encoding="utf-8")
    names = {*whole, "Exp float32 tiny fetch"}
    sweep_report.amend(page, {"about": about, "rows": {}}, names)
    assert sweep_report.shown(page.read_text(encoding="utf-8")) == sweep_report.shown(before)
    sweep_report.amend(page, {"about": about | {"date": "2026-02-02"}, "rows": {
        "Abs float32 medium fetch": row(1.5), "Neg float32 tiny fetch": row(0.7), "Abs float32 tiny fetch": row(0.9),
        "Neg float32 large fetch [a|b]": row(3.0), "Exp float32 tiny fetch": {"lacks": "it"}}}, names)
    text = page.read_text(encoding="utf-8")
    assert "| all rows | 4 | 2 | 0 | 0.6 |" in text and "| all kernels | 4 | 2 | 0 |" in text
    assert "with host calls" not in text.partition("sweep-under")[0] and "No time" not in text
    assert "again until 2026-02-02" in text
    assert {name: row["ratio"] for name, row in sweep_report.shown(text).items()} == {
        "Abs float32 tiny fetch": 0.9, "Neg float32 tiny fetch": 0.7}
    assert ", 0 failed" in text and text.count("measured again") == 1
    sweep_report.amend(page, {"about": about, "rows": {}}, names - {"Abs float32 tiny fetch"})
    text = page.read_text(encoding="utf-8")
    assert "| all rows | 4 | 1 | 0 | 0.6 |" in text and [*sweep_report.shown(text)] == ["Neg float32 tiny fetch"]


def test_each_row_under_1x_has_a_cause():
    """The first that fits; each cause but the last ones fits some row of the sweep."""
    names = [(sweep_report.MODULE_OF[plan.op], plan.name) for plan in sweep_rows.plans()]
    found = {sweep_causes.cause(module, name, how).title for module, name in names for how in ("host", "kernels")}
    assert found == {c.title for c in sweep_causes.CAUSES}
    assert sweep_causes.cause("tfnb.ops.math.special", "Zeta float32 tiny fetch", "host") is sweep_causes.CAUSES[0]


def test_a_row_under_1x_has_more_turns(tmp_path):
    """The best turn of each system counts: here TensorFlow's first and tfnb's last."""
    pair = Pair([2.0, 1.0, 2.0, 1.0, 0.5, 1.0])
    plan = next(sweep_rows.of("Abs"))
    found = sweep.measure(plan, pair, str(tmp_path), 1, 0.0)
    assert found["ratio"] == 2 and found["same"] and next(pair.turns, None) is None


def test_the_table_of_a_sweep():
    def row(ratio, stages="kernels", same=True):
        return {"times": {"tfnb": 1e-6, "tensorflow": ratio * 1e-6}, "ratio": ratio, "stages": stages, "same": same}
    text = sweep.table({"fast": row(5.0), "slow": row(0.5), "slower": row(0.25, "host: Unique", False),
                        "gone": {"lacks": "x"}, "bad": {"error": "no kernel"}})
    assert text.index("| slower |") < text.index("| slow |") and "| fast |" not in text
    assert "3 rows: 2 under 1x, 1 under 0.5x, median 0.50x; 1 with host calls; 1 failed." in text
    assert "bad: no kernel" in text and text.count("slower") == 2
