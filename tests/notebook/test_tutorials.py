"""Every tutorial shows what is committed, its exercises can be solved, and what it trains is as good as it promises."""
from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

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


@each
def test_shows_what_is_committed(path, servers, tmp_path):
    command = [sys.executable, "-m", "pytest", "-q", "--nbval", "--nbval-current-env", "-o", "filterwarnings=default",
               "--nbval-sanitize-with", str(Path(__file__).with_name("nbval.cfg")), "-p", "no:cacheprovider", str(path)]
    # With an empty cache of kernels, cells would say that they compile: that line is off here.
    profile = tmp_path / "profile_default"
    profile.mkdir()
    (profile / "ipython_config.py").write_text("c.Tfnb.compile_line = False\n")
    done = subprocess.run(command, cwd=ROOT, env={**kernel_environment(), "IPYTHONDIR": str(tmp_path)},
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]


@each
def test_solutions_are_right(path, servers, monkeypatch):
    tutorial = nbformat.read(path, as_version=4)
    notebook = teach.solved(tutorial)
    monkeypatch.setattr(os, "environ", kernel_environment())
    demo.execute(notebook, path.parent, timeout=120)
    verdicts = {cell.id: [text for text in demo.texts(nbformat.v4.new_notebook(cells=[cell]))
                          if text.startswith(("Right.", "Not yet.", "Your turn:"))]
                for cell in notebook.cells if "exercise" in cell.metadata.get("tags", ())}
    assert len(verdicts) == len(teach.exercises(tutorial)) >= 2
    assert all(len(said) == 1 and said[0].startswith("Right.") for said in verdicts.values()), verdicts


@each
def test_is_small_and_of_no_machine(path):
    text = path.read_text(encoding="utf-8")
    assert len(text) < 400_000
    assert not re.search(r"ipykernel_\d|/tmp/|widget-view", text)


def test_first_tutorial_reaches_its_accuracy(tmp_path, capsys):
    assert demo.main([str(NOTEBOOKS[0]), "--out", str(tmp_path)]) == 0, capsys.readouterr().err
