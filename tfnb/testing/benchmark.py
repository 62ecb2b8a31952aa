"""Benchmarks: `tf.test.Benchmark`."""
from __future__ import annotations

import re
import sys
import time
from typing import Any, ClassVar

import numpy as np

from tfnb.core.lazy import lazy_module

_config_pb2 = lazy_module("tfnb.proto.config_pb2")


class Benchmark:
    """Base class of benchmarks: `tf.test.main` runs each `benchmark...` method that `--benchmarks=regex` matches.

    >>> class MatmulBenchmark(tf.test.Benchmark):
    ...     def benchmark_small(self):
    ...         self.report_benchmark(iters=3, wall_time=0.5)
    >>> tf.test.main(argv=["program", "--benchmarks=MatmulBenchmark"])
    benchmark MatmulBenchmark.benchmark_small: iters: 3, wall_time: 0.5
    """

    _classes: ClassVar[list[type[Benchmark]]] = []

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        Benchmark._classes.append(cls)

    def run_op_benchmark(self, sess: Any, op_or_tensor: Any, feed_dict: Any = None, burn_iters: int = 2,
                         min_iters: int = 10, store_trace: bool = False, store_memory_usage: bool = True,
                         name: str | None = None, extras: Any = None, mbs: float = 0) -> dict[str, Any]:
        """Run an op, or compute a tensor without fetching it, and return and report its median wall time in seconds.

        burn_iters: warm-up runs; min_iters: measured runs; mbs: megabytes processed per run. The
        result has "iters", "wall_time", "extras", "name" and "throughput" (mbs by second, None without mbs). Traces and
        memory are not stored.
        """
        target = getattr(op_or_tensor, "op", op_or_tensor)
        for _ in range(burn_iters):
            sess.run(target, feed_dict=feed_dict)
        seconds = []
        for _ in range(min_iters):
            start = time.perf_counter()
            sess.run(target, feed_dict=feed_dict)
            seconds.append(time.perf_counter() - start)
        median = float(np.median(seconds)) if seconds else 0.0
        throughput = mbs / median if mbs and median else None
        found = {"iters": min_iters, "wall_time": median, "extras": dict(extras or {}), "throughput": throughput,
                 "name": name}
        self.report_benchmark(iters=min_iters, wall_time=median, throughput=throughput, extras=extras, name=name)
        return found

    @staticmethod
    def _caller() -> str:
        """Return the name of the running benchmark method."""
        frame: Any = sys._getframe(2)
        while frame is not None and not frame.f_code.co_name.startswith("benchmark"):
            frame = frame.f_back
        return "" if frame is None else frame.f_code.co_name

    def report_benchmark(self, iters: int | None = None, cpu_time: float | None = None,
                         wall_time: float | None = None, throughput: float | None = None, extras: Any = None,
                         name: str | None = None, metrics: Any = None) -> None:
        """Print the measurements as one line of "name: value" pairs."""
        called = name or f"{type(self).__name__}.{self._caller()}"
        pairs = {"iters": iters, "cpu_time": cpu_time, "wall_time": wall_time, "throughput": throughput,
                 **(extras or {})}
        told = ", ".join(f"{key}: {value}" for key, value in pairs.items() if value is not None)
        print(f"benchmark {called}: {told}")


def benchmark_config() -> Any:
    """Return a ConfigProto for sessions of benchmarks, in which no ops are left out for their dependencies.

    tfnb computes what a run asks for in any case, and has no such optimizer.

    >>> with tf.Session(config=tf.test.benchmark_config()) as session:
    ...     session.run(tf.constant(3.0))
    3.0
    """
    config = _config_pb2.ConfigProto()
    rewrites = config.graph_options.rewrite_options
    rewrites.dependency_optimization = rewrites.OFF
    return config


def run_benchmarks(pattern: str) -> None:
    """Run the benchmarks of all subclasses whose "Class.method" matches a regular expression somewhere."""
    for cls in Benchmark._classes:
        for name in sorted(dir(cls)):
            called = f"{cls.__name__}.{name}"
            if name.startswith("benchmark") and (pattern == "all" or re.search(pattern, called)):
                getattr(cls(), name)()
