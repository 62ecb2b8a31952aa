"""Decorators of test methods: the part of `tensorflow.python.framework.test_util` that programs import."""
from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

from tfnb.graph.graph import Graph

Test = TypeVar("Test")


def run_deprecated_v1(func: Test) -> Test:
    """Run a test method, or each test of a TestCase, in a new graph, as all code of TensorFlow 1 does."""
    if isinstance(func, type):
        for name, value in list(vars(func).items()):
            if callable(value) and name.startswith("test"):
                setattr(func, name, run_deprecated_v1(value))
        return func

    @wraps(func)                                   # type: ignore[arg-type]
    def run(self: Any, *args: Any, **kwargs: Any) -> Any:
        with Graph().as_default():
            return func(self, *args, **kwargs)     # type: ignore[operator]
    return run                                     # type: ignore[return-value]


deprecated_graph_mode_only = run_deprecated_v1
run_all_in_deprecated_graph_mode_only = run_deprecated_v1


def run_v1_only(reason: Any, func: Any = None) -> Any:
    """Run a test in a new graph; `reason` says why TensorFlow 2 skips it. Works with and without a reason."""
    if callable(reason):
        return run_deprecated_v1(reason)
    return run_deprecated_v1 if func is None else run_deprecated_v1(func)


def run_in_graph_and_eager_modes(func: Any = None, config: Any = None, use_gpu: bool = True,
                                 **others: Any) -> Callable[..., Any]:
    """Run a test method in a new graph within `self.test_session()`; tfnb has no eager mode.

    `self.evaluate` fetches in that session. Used with and without arguments.
    """
    def decorate(test: Callable[..., Any]) -> Callable[..., Any]:
        """Wrap the test method."""
        @wraps(test)
        def run(self: Any, *args: Any, **kwargs: Any) -> Any:
            with Graph().as_default(), self.test_session(use_gpu=use_gpu, config=config):
                return test(self, *args, **kwargs)
        return run
    return decorate if func is None else decorate(func)
