"""Helpers of `tf.test`: `main`, temporary directories, device and build queries, comparison of GraphDefs."""
from __future__ import annotations

import os
import sys
import tempfile
import unittest
from typing import Any

from tfnb.kernels.cuda import device as cuda
from tfnb.testing.benchmark import run_benchmarks


def main(argv: list[str] | None = None) -> None:
    """Run all tests of the program (`unittest.main`), with flags of `tf.flags` left out of its arguments.

    argv: the command line, by default that of the process. With `--benchmarks=regex` (or "all") run its
    `tf.test.Benchmark`s instead.

    >>> tf.test.main(argv=["program", "--help"])
    usage: program ...
    SystemExit: 0
    """
    given = list(sys.argv if argv is None else argv)
    wanted = [a.partition("=")[2] for a in given if a.startswith("--benchmarks=")]
    if wanted:
        run_benchmarks(wanted[0])
        return
    unittest.main(argv=[given[0], *(a for a in given[1:] if "=" not in a)])


def get_temp_dir() -> str:
    """Return a directory for files of tests, the same one throughout the process.

    >>> tf.gfile.IsDirectory(tf.test.get_temp_dir())
    True
    """
    global _temp_dir
    if _temp_dir is None:
        _temp_dir = tempfile.mkdtemp(prefix="tfnb_test_")
    return _temp_dir


_temp_dir: str | None = None


def test_src_dir_path(relative_path: str) -> str:
    """Return `relative_path` resolved against the directory of the running program.

    >>> import os
    >>> os.path.basename(tf.test.test_src_dir_path("digits.csv"))
    'digits.csv'
    """
    return os.path.join(os.path.dirname(os.path.abspath(sys.argv[0])), relative_path)


test_src_dir_path.__test__ = False  # type: ignore[attr-defined]


def is_gpu_available(cuda_only: bool = False, min_cuda_compute_capability: Any = None) -> bool:
    """Return whether sessions can use a GPU of at least min_cuda_compute_capability (major, minor), None for any.

    cuda_only: accepted: all are.

    >>> tf.test.is_gpu_available() == bool(tf.test.gpu_device_name())
    True
    """
    found = cuda.gpu()
    return found is not None and found.capability >= tuple(min_cuda_compute_capability or (0, 0))


def gpu_device_name() -> str:
    """Return the name of the GPU, "/device:GPU:0", or "" if there is none.

    >>> tf.test.gpu_device_name() in ("", "/device:GPU:0")
    True
    """
    return "/device:GPU:0" if cuda.gpu() is not None else ""


def is_built_with_cuda() -> bool:
    """Return whether GPU kernels can be compiled: numba-cuda or numba's CUDA simulator is present.

    >>> tf.test.is_built_with_cuda() in (True, False)
    True
    """
    return cuda.is_installed()


def is_built_with_rocm() -> bool:
    """Return False.

    >>> tf.test.is_built_with_rocm()
    False
    """
    return False


def is_built_with_gpu_support() -> bool:
    """Return the same as `is_built_with_cuda`.

    >>> tf.test.is_built_with_gpu_support() == tf.test.is_built_with_cuda()
    True
    """
    return is_built_with_cuda()


def is_built_with_xla() -> bool:
    """Return False.

    >>> tf.test.is_built_with_xla()
    False
    """
    return False


def assert_equal_graph_def(actual: Any, expected: Any, checkpoint_v2: bool = False,
                           hash_table_shared_name: bool = False) -> None:
    """Raise AssertionError unless two GraphDefs have the same nodes, in any order; TypeError for something else.

    actual, expected: the GraphDefs; checkpoint_v2, hash_table_shared_name: accepted.

    >>> tf.test.assert_equal_graph_def(sess.graph.as_graph_def(), tf.Graph().as_graph_def())
    """
    for given in (actual, expected):
        if type(given).__name__ != "GraphDef":
            raise TypeError(f"Expected tf.GraphDef, got {type(given).__name__}")
    found, wanted = ({node.name: node for node in g.node} for g in (actual, expected))
    if found.keys() != wanted.keys():
        raise AssertionError(f"only in one of the graphs: {sorted(found.keys() ^ wanted.keys())}")
    for name, node in found.items():
        if node != wanted[name]:
            raise AssertionError(f"Found unexpected node '{name}': {node}, expected {wanted[name]}")
