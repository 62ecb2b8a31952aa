"""Every tutorial shows what is committed, its exercises can be solved, and what it trains is as good as it promises."""
from __future__ import annotations

import os
import re
from pathlib import Path

import nbformat
import pytest

from tests.notebook.kernel import Page
from tfnb.cluster import children
from tfnb.notebook import demo, teach

ROOT = Path(__file__).parents[2]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
# nbclient's event loop is not ours
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("default")]
# Open MPI wants to be asked by a superuser, and for more ranks than cores
MPI = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
       "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe"}
each = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
VERDICTS = ("Right.", "Not yet.", "Your turn:")
UNLIKE = ("image/png", "application/vnd.jupyter.widget-view+json")      # widgets are numbered at random
BADGE = "tfnb-badge"        # what a front end that names its cells is told of old values: the committed run had none
# Drawings depend on who lays them out (dot, pygraphviz or neither); their text forms do not, and are compared.
VARIES = ((re.compile(r"(?s)<svg.*</svg>"), "SVG"), (re.compile(r'(?s)"use strict".*'), "SCRIPT"),
          (re.compile(r"(?<=tfnb |cell )\[\d+\]|(?<=run )\[\d+\]|(?<=in )\[\d+\]|(?<=Cell In)\[\d+\]"), "[n]"))
SERVERS = ("22_many_machines",)             # run by TensorFlow's servers


@pytest.fixture
def servers(path, monkeypatch):
    """For a tutorial that needs TensorFlow's servers: let it find them."""
    if path.stem in SERVERS:
        pytest.importorskip("grpc", reason="sessions on other processes need grpcio")
        python = os.environ.get("TFNB_ORACLE_PYTHON")
        if not python:
            pytest.skip("TFNB_ORACLE_PYTHON names no Python with TensorFlow")
        monkeypatch.setenv(children.PYTHON, python)


@pytest.fixture(autouse=True)
def engines(request: pytest.FixtureRequest) -> None:
    """Skips the tutorial on MPI where there are no engines for it."""
    if "23_training_with_mpi" in request.node.name:
        for package in ("mpi4py", "ipyparallel"):
            pytest.importorskip(package, reason="pip install 'tfnb[mpi]' ipyparallel runs this tutorial")


def kernel_environment() -> dict[str, str]:
    """For a process whose kernel imports this tree, whatever is installed."""
    paths = [str(ROOT), os.environ.get("PYTHONPATH", "")]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths)), "JUPYTER_PLATFORM_DIRS": "1", **MPI}


def shown(outputs):
    """What a cell shows, with what depends on the machine taken out: {kind of data: its pieces in order}."""
    found: dict[str, list[str]] = {}
    for output in outputs:
        if BADGE in output.get("data", {}).get("text/html", ""):
            continue
        data = output.get("data") or {output.get("name", "error"): output.get("text") or output["evalue"]}
        for kind, text in data.items():
            if kind in ("stdout", "stderr") and kind in found:     # one print may come in two messages, cut anywhere
                found[kind][-1] += text
            elif kind not in UNLIKE:
                found.setdefault(kind, []).append(text)
    for pattern, word in VARIES:
        found = {kind: [pattern.sub(word, str(text)) for text in pieces] for kind, pieces in found.items()}
    return found


@each
def test_shows_what_is_committed_and_takes_its_solutions(path, servers, monkeypatch, tmp_path):
    """Each exercise is solved where it stands, and undone again: what follows is as if it had never been."""
    # With an empty cache of kernels, cells would say that they compile: that line is off here.
    profile = tmp_path / "profile_default"
    profile.mkdir()
    (profile / "ipython_config.py").write_text("c.Tfnb.compile_line = False\n")
    for name, value in {**MPI, "IPYTHONDIR": str(tmp_path)}.items():
        monkeypatch.setenv(name, value)
    tutorial = nbformat.read(path, as_version=4)
    solutions = {tutorial.cells[exercise.index].id: exercise.cell(exercise.solution)
                 for exercise in teach.exercises(tutorial)}
    assert len(solutions) >= 2
    page = Page(cwd=path.parent)
    try:
        for cell in tutorial.cells:
            if cell.cell_type != "code":
                continue
            page.run(cell.source, cell.id, timeout=120)
            outputs, tags = page.outputs[cell.id], cell.metadata.get("tags", ())
            if not {"nbval-ignore-output", "raises-exception"} & {*tags}:
                assert "error" not in {output["kind"] for output in outputs}, page.traceback(cell.id)
                assert shown(outputs) == shown(cell.outputs), cell.source
            if cell.id in solutions:
                said = page.run(solutions[cell.id], cell.id, timeout=120)
                assert [line[:6] for line in said.splitlines() if line.startswith(VERDICTS)] == ["Right."], said
                page.run(cell.source, cell.id, timeout=120)
    finally:
        page.close()


@each
def test_is_small_and_of_no_machine(path):
    text = path.read_text(encoding="utf-8")
    assert len(text) < 400_000
    assert not re.search(r"ipykernel_\d|/tmp/|widget-view", text)


def test_first_tutorial_reaches_its_accuracy(tmp_path, capsys):
    assert demo.main([str(NOTEBOOKS[0]), "--out", str(tmp_path)]) == 0, capsys.readouterr().err
