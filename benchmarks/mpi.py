"""Data-parallel training of an MLP of 25 MB: tfnb on MPI beside PyTorch's DistributedDataParallel on gloo.

`python -m benchmarks.mpi [--ranks 1 2 4] [--rounds 5]` prints a table; PyTorch is measured where $TFNB_TORCH_PYTHON
names a Python that has it. Each rank has one thread and a batch of its own, so that a job of N ranks trains N times the
rows of one. Systems run in turns; a figure is the best round's median step.
"""
from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
SIZES = (1024, 2048, 2048, 10)              # 6.3 million parameters, 25 MB
BATCH, WARM, STEPS = 128, 4, 12
ENVIRONMENT = {"OMP_NUM_THREADS": "1", "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
               "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe", "OMPI_MCA_mpi_yield_when_idle": "1"}


def data(rank: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows and labels of a rank's batch."""
    rng = np.random.RandomState(rank)
    return rng.randn(BATCH, SIZES[0]).astype(np.float32), rng.randint(0, SIZES[-1], BATCH)


def timed(step: Callable[[], object]) -> float:
    """Median of the seconds that a step takes."""
    found = []
    for i in range(WARM + STEPS):
        start = time.perf_counter()
        step()
        if i >= WARM:
            found.append(time.perf_counter() - start)
    return statistics.median(found)


def tfnb_rank() -> tuple[int, float]:
    """Train as a rank of an MPI job. Return its number and the seconds of a step."""
    import tfnb as tf
    import tfnb.horovod.tensorflow as hvd
    hvd.init()
    rows, classes = data(hvd.rank())
    x, y = tf.placeholder(tf.float32, [BATCH, SIZES[0]]), tf.placeholder(tf.int64, [BATCH])
    hidden: object = x
    for size in SIZES[1:-1]:
        hidden = tf.layers.dense(hidden, size, activation=tf.nn.relu)
    loss = tf.losses.sparse_softmax_cross_entropy(y, tf.layers.dense(hidden, SIZES[-1]))
    step = hvd.DistributedOptimizer(tf.train.GradientDescentOptimizer(0.01)).minimize(loss)
    config = tf.ConfigProto(intra_op_parallelism_threads=1)
    with tf.Session(config=config) as session:
        session.run(tf.global_variables_initializer())
        session.run(hvd.broadcast_global_variables(0))
        return hvd.rank(), timed(lambda: session.run(step, {x: rows, y: classes}))


def torch_rank() -> tuple[int, float]:
    """Train as a rank of DistributedDataParallel. Return its number and the seconds of a step."""
    import torch
    from torch import distributed, nn
    torch.set_num_threads(1)
    rank = int(os.environ["RANK"])
    distributed.init_process_group("gloo")
    rows, classes = map(torch.from_numpy, data(rank))
    layers: list[nn.Module] = []
    for before, after in zip(SIZES, SIZES[1:], strict=False):
        layers += [nn.Linear(before, after), nn.ReLU()]
    model = nn.parallel.DistributedDataParallel(nn.Sequential(*layers[:-1]))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)

    def step() -> None:
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(rows), classes).backward()
        optimizer.step()
    found = rank, timed(step)
    distributed.destroy_process_group()
    return found


def run_tfnb(ranks: int) -> float:
    """Seconds of a step of a job of tfnb."""
    launcher = shutil.which("mpiexec", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}")
    assert launcher, "no mpiexec: pip install 'tfnb[mpi]'"
    command = [launcher, "-n", str(ranks), sys.executable, "-m", "benchmarks.mpi", "--as", "tfnb"]
    done = subprocess.run(command, text=True, cwd=ROOT, env={**os.environ, **ENVIRONMENT}, stdout=subprocess.PIPE,
                          check=True, timeout=600)
    return slowest(done.stdout)


def run_torch(ranks: int) -> float:
    """Seconds of a step of a job of PyTorch."""
    from tfnb.cluster.local import free_ports
    env = {**os.environ, "OMP_NUM_THREADS": "1", "MASTER_ADDR": "127.0.0.1", "WORLD_SIZE": str(ranks),
           "MASTER_PORT": str(free_ports(1)[0]), "PYTHONPATH": str(ROOT)}
    command = [os.environ["TFNB_TORCH_PYTHON"], "-m", "benchmarks.mpi", "--as", "torch"]
    started = [subprocess.Popen(command, cwd=ROOT, env={**env, "RANK": str(rank)}, text=True, stdout=subprocess.PIPE)
               for rank in range(ranks)]
    return slowest("".join(process.communicate(timeout=600)[0] for process in started))


def slowest(text: str) -> float:
    """The seconds of the slowest rank, from the lines that the ranks print."""
    return max(json.loads(line)[1] for line in text.splitlines() if line.startswith("["))


def main() -> None:
    """Measure, or be a rank."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ranks", type=int, nargs="*", default=[1, 2, 4])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--as", dest="system", choices=("tfnb", "torch"))
    arguments = parser.parse_args()
    if arguments.system:
        print(json.dumps((tfnb_rank if arguments.system == "tfnb" else torch_rank)()), flush=True)
        return
    systems = {"tfnb": run_tfnb, **({"PyTorch": run_torch} if os.environ.get("TFNB_TORCH_PYTHON") else {})}
    best: dict[tuple[str, int], float] = {}
    for _ in range(arguments.rounds):
        for ranks in arguments.ranks:
            for system, run in systems.items():
                key = system, ranks
                best[key] = min(best.get(key, float("inf")), run(ranks))
                print(key, f"{best[key] * 1e3:.1f} ms", file=sys.stderr, flush=True)
    print("| Ranks | " + " | ".join(f"{system}: ms a step | rows/s" for system in systems) + " |")
    print("|---|" + "---|" * 2 * len(systems))
    for ranks in arguments.ranks:
        cells = [f"{best[s, ranks] * 1e3:.0f} | {ranks * BATCH / best[s, ranks]:.0f}" for s in systems]
        print(f"| {ranks} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
