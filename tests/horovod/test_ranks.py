"""Training on MPI: the checks of program.py in 2 and 4 ranks, ranks that die, one process, none at all."""
from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import tfnb.horovod.tensorflow as hvd
from tests.horovod import program
from tfnb.graph.stack import get_default_graph

ROOT = Path(__file__).resolve().parents[2]
# The launcher of a wheel is beside Python; MPICH and Open MPI take what these variables don't say from their defaults.
MPIEXEC = shutil.which("mpiexec", path=os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")]))
ENVIRONMENT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMP_NUM_THREADS": "1",
               "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe", "OMPI_MCA_rmaps_base_oversubscribe": "1",
               "OMPI_MCA_mpi_yield_when_idle": "1", "PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "error"}
STRESS = bool(os.environ.get("TFNB_STRESS"))


@pytest.fixture(scope="module")
def mpi() -> None:
    """Skips where there is no MPI."""
    pytest.importorskip("mpi4py", reason="training on MPI needs mpi4py: pip install 'tfnb[mpi]'")
    if MPIEXEC is None:
        pytest.skip("no mpiexec: pip install 'tfnb[mpi]'")


def launch(ranks: int, *command: str) -> subprocess.CompletedProcess[str]:
    """Run a command in some ranks."""
    start = [MPIEXEC, "-n", str(ranks)] if ranks > 1 else []
    return subprocess.run([*start, sys.executable, *command], env={**os.environ, **ENVIRONMENT}, cwd=ROOT, text=True,
                          capture_output=True, timeout=300, check=False)


def checked(ranks: int, *names: str) -> dict[str, str]:
    """Name of each check -> what went wrong."""
    done = launch(ranks, "-m", "tests.horovod.program", *names)
    assert not done.returncode, done.stderr[-3000:]
    found: dict[str, str] = json.loads(done.stdout.splitlines()[-1])
    return found


@pytest.fixture(scope="module")
def two(mpi: None) -> dict[str, str]:
    return checked(2)


@pytest.fixture(scope="module")
def four(mpi: None) -> dict[str, str]:
    if not STRESS:
        pytest.skip("TFNB_STRESS=1 runs four ranks")
    return checked(4)


@pytest.mark.parametrize("name", program.CHECKS)
def test_two_ranks(two, name):
    assert not two[name], two[name]


@pytest.mark.parametrize("name", program.CHECKS)
def test_four_ranks(four, name):
    assert not four[name], four[name]


ENDS = """
import os, signal, sys, time
import tfnb as tf
import tfnb.horovod.tensorflow as hvd
from tfnb.horovod import transfer
hvd.init()
total = hvd.allreduce(tf.ones([2]), op=hvd.Sum, name="total")
with tf.Session() as session:
    for i in range(1000):
        if i == 3 and hvd.rank() == 1:
            {end}
        session.run(total)
print("survived")
"""


@pytest.mark.parametrize("end, said", [
    ("os.kill(os.getpid(), signal.SIGKILL)", ""),
    ("raise KeyError('the data')", "rank 1 ended or called hvd.shutdown(), by an exception or because its data ended, "
                                   "while rank 0 calls allreduce (sum) 'total' of float32[2]"),
    # in the midst of a collective, for which rank 0 waits
    ("transfer._in_pieces = None", "tfnb: rank 1 ends in the middle of allreduce (sum) 'total' of float32[2]; ending")],
    ids=["killed", "raises", "raises half-way"])
def test_a_rank_that_dies_ends_the_job(mpi, end, said):
    if not said and (os.name == "nt" or not STRESS):
        pytest.skip("TFNB_STRESS=1 kills a rank, where there are such signals")
    done = launch(2, "-c", ENDS.format(end=end))
    assert done.returncode and "survived" not in done.stdout
    assert said in done.stderr


def test_one_process_and_all_examples(mpi):
    done = launch(1, "-m", "tests.horovod.alone")
    assert not done.returncode, done.stderr[-3000:]
    assert json.loads(done.stdout.splitlines()[-1]) == {}


def test_without_mpi4py(monkeypatch):
    monkeypatch.setitem(sys.modules, "mpi4py", None)
    monkeypatch.delitem(sys.modules, "mpi4py.MPI", raising=False)
    with pytest.raises(ImportError, match=r"need the package mpi4py and an MPI library: pip install 'tfnb\[mpi\]'"):
        hvd.init()
    with pytest.raises(ValueError, match="use hvd.init"):
        hvd.allreduce([1.0])
    assert not hvd.is_initialized() and not get_default_graph().get_operations()


@pytest.mark.parametrize("module", ["horovod.tensorflow", "horovod.keras", "horovod.tensorflow.keras"])
def test_programs_import_it_by_its_name(module):
    done = launch(1, "-c", f"import tfnb; tfnb.install_as_tensorflow(); import {module} as hvd; import horovod; "
                           f"import tfnb.{module} as ours; print(hvd is ours, hvd.__spec__.name, hvd.Compression)")
    assert done.stdout.startswith(f"True tfnb.{module} <class"), done.stderr
