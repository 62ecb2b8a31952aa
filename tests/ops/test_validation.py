"""One validation for all ways in which an op runs: ops/validate.py, and the reach of kernels, compile/reach.py."""
from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import sys
from collections.abc import Iterator
from functools import cache
from types import FunctionType
from typing import Any

import numpy as np
import pytest

import tfnb as tf
import tfnb.ops
from tfnb.compile import reach
from tfnb.kernels.launch import Address, Launch
from tfnb.opdef import tables

# Ops whose NumPy forms still check themselves what the op takes. Nothing is added here.
UNMOVED = frozenset({
    "ArgMax", "ArgMin", "BatchMatMul", "BatchMatMulV2", "Concat", "ConcatV2", "Gather", "GatherNd", "GatherV2",
    "MatMul", "Multinomial", "Pack", "Pad", "PadV2", "ScatterNd", "StridedSliceGrad", "Tile", "UnsortedSegmentSum",
    "RandomStandardNormal", "RandomUniform", "RandomUniformInt", "TruncatedNormal",
})


def _all_ops() -> None:
    for module in pkgutil.iter_modules(tfnb.ops.__path__):
        importlib.import_module(f"tfnb.ops.{module.name}")


@cache
def _functions(module: str) -> dict[int, list[ast.AST]]:
    """The functions of a module by the line where they begin; a decorated one begins with its decorator."""
    found: dict[int, list[ast.AST]] = {}
    for node in ast.walk(ast.parse(inspect.getsource(sys.modules[module]))):
        if isinstance(node, ast.FunctionDef | ast.Lambda):
            first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))])
            found.setdefault(first, []).append(node)
    return found


def _nodes(fn: FunctionType) -> list[ast.AST]:
    return _functions(fn.__module__).get(fn.__code__.co_firstlineno, [])


def _called(fn: FunctionType) -> Iterator[Any]:
    """The functions of the ops' and kernels' modules that `fn` names, and those that it closes over."""
    cells = dict(zip(fn.__code__.co_freevars, fn.__closure__ or (), strict=True))
    for name in {node.id for root in _nodes(fn) for node in ast.walk(root) if isinstance(node, ast.Name)}:
        yield cells[name].cell_contents if name in cells else fn.__globals__.get(name)


def reached(*fns: Any) -> set[FunctionType]:
    """Return what these functions call of the ops' and kernels' modules, themselves included."""
    todo, seen = list(fns), set()
    while todo:
        one = todo.pop()
        one = getattr(one, "func", one)
        if isinstance(one, FunctionType) and one not in seen and one.__module__.startswith(
                ("tfnb.ops.", "tfnb.kernels.", "tfnb.opdef.ranks", __name__)):
            seen.add(one)
            todo += _called(one)
    return seen


def raises(form: Any, *validation: Any) -> list[str]:
    """Return where a NumPy form, or what it calls, raises; what `validation` calls too may, as it does so first."""
    return sorted(f"{fn.__module__}.{fn.__qualname__}" for fn in reached(form) - reached(*validation)
                  if any(isinstance(inner, ast.Raise) for node in _nodes(fn) for inner in ast.walk(node)))


def test_numpy_forms_of_ops_with_kernels_check_nothing() -> None:
    """What a NumPy form checks, compiled runs go without: an op states it (ops/validate.py)."""
    _all_ops()
    found = {name: where for name, form in tables.NUMPY.items() if name in tables.CPU or name in tables.CUDA
             if (where := raises(form, tables.SHAPES[name], tables.VALIDATE.get(name)))}
    assert set(found) == UNMOVED, "\n".join(f"{name}: {found.get(name)}" for name in sorted(set(found) ^ UNMOVED))


def test_a_planted_check_in_a_numpy_form_is_found() -> None:
    def shape(ctx: Any) -> list[Any]:
        return [_checked(ctx)]

    assert raises(lambda ctx, x: _refused(x)) == [f"{__name__}._refused"]
    assert not raises(lambda ctx, x: _checked(x), shape)
    assert not raises(lambda ctx, x: np.negative(x))


def _refused(x: Any) -> Any:
    raise ValueError(f"not {x}")


def _checked(x: Any) -> Any:
    if x is None:
        raise ValueError("a shape function says so first")
    return x


# Planted faults: what the engine says where a form of an op does not do what is stated of it

def _runs(fetch: tf.Tensor, feeds: dict[tf.Tensor, Any], runs: int = 2) -> list[Any]:
    with tf.Session() as sess:
        return [sess.run(fetch, feeds) for _ in range(runs)]


def test_outputs_are_held_against_the_shape_function(monkeypatch: pytest.MonkeyPatch) -> None:
    x = tf.placeholder(tf.float32, [None, 3])
    y = tf.gather(x, [0, 1], name="picked")
    monkeypatch.setitem(tables.NUMPY, "GatherV2", lambda ctx, x, i, axis: np.zeros((7, 3), np.float32))
    with pytest.raises(tf.errors.InternalError, match=r"picked: output 0 of GatherV2 has shape \(7, 3\), expected "
                                                      r"\(2, 3\)"):
        _runs(y, {x: np.ones((4, 3))})


@pytest.mark.parametrize("nbytes, text", [
    (4 * 12 + 1, "kernel 'planted' of GatherV2 reaches bytes 0 to 49 of input 0, expected at most 48"),
    (None, "kernel 'planted' of GatherV2 does not state how far it reaches in input 0")])
def test_a_kernel_that_reaches_behind_its_buffer_is_not_built(nbytes: int | None, text: str,
                                                              monkeypatch: pytest.MonkeyPatch) -> None:
    def launches(call: Any) -> list[Launch]:
        return [Launch("", (Address("input", 0, 0, nbytes),), 1, 0, "planted")]

    x = tf.placeholder(tf.float32, [None, 3])
    y = tf.gather(x, [0, 1], name="picked")
    monkeypatch.setitem(tables.CPU, "GatherV2", launches)
    with pytest.raises(tf.errors.InternalError, match=f"picked: {text}"):
        _runs(y, {x: np.ones((4, 3))})


def test_a_statement_of_reach_counts_from_its_offset() -> None:
    assert Address("input").reach(8) == Address("input", 0, 0, 8)
    assert Address("input").reach(8).at(4) == Address("input", 0, 4), "what is reached from there is stated anew"


def test_the_ops_that_state_no_reach_have_kernels() -> None:
    assert set(tables.CPU) >= reach.UNSTATED


def test_ranks_name_inputs() -> None:
    _all_ops()
    for name, ranks in tables.RANKS.items():
        assert set(ranks) <= {arg.name for arg in tables.OPS[name].inputs}, name
