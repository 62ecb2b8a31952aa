"""The mathematical functions as compiled: their errors keep to docs/accuracy.md, and their loops are SIMD."""
from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import tfnb as tf
from tests import accuracy
from tfnb.kernels.cpu.fused.emit import emit
from tfnb.kernels.cpu.fused.sources import of_library
from tfnb.kernels.llvm import codegen
from tfnb.kernels.scalar.special import SPECIAL
from tfnb.kernels.spec import MapKernel, Operand, RowKernel

# ruff: noqa: F821
BOUNDS = accuracy.documented(Path(accuracy.__file__).parents[1] / "docs" / "accuracy.md")
DEFINITIONS = {"exp": lambda x: exp(x), "expm1": lambda x: expm1(x), "tanh": lambda x: tanh(x),
               "sigmoid": lambda x: sigmoid(x), "log": lambda x: log(x), "log1p": lambda x: log1p(x),
               "sin": lambda x: sin(x), "cos": lambda x: cos(x), "erf": lambda x: erf(x), "pow": lambda x, y: x ** y}


def kernel(emitted, word, type):
    args = "x" if word != "pow" else "x y"
    body = emitted.stmt(DEFINITIONS[word], type, args, "r")
    loads = tuple(Operand(name, type, ("1",)) for name in args.split())
    return MapKernel(1, loads, (body,), (Operand("r", type, ("1",)),))


@pytest.mark.parametrize("name", list(accuracy.FUNCTIONS))
@pytest.mark.parametrize("type", accuracy.FORMATS)
def test_errors(name, type):
    if of_library(name, type) and sys.platform != "linux":
        pytest.skip("the C library's function, whose bounds are glibc's")
    bound, worst = BOUNDS[name, type]
    count = 20_000 if accuracy.has_wider(name, type) else 400
    some = accuracy.arguments(name, type, count, seed=5)
    args = [np.concatenate([a, np.array([at], type)]) for a, at in zip(some, worst, strict=True)]
    found = accuracy.measure(name, type, args)
    assert found.ulps <= bound, found


def test_the_document_has_all_functions():
    assert set(BOUNDS) == {(name, type) for name in accuracy.FUNCTIONS for type in accuracy.FORMATS}
    ours = [key for key in BOUNDS if not of_library(*key) and key[0] not in {*SPECIAL, "digamma"}]
    assert max(BOUNDS[key][0] for key in ours) < 2.2


@pytest.mark.parametrize("word", ["sin", "cos"])
@pytest.mark.parametrize("type", accuracy.FORMATS)
def test_circles_far_out(word, type):
    """Where no digit of the reduced argument is left, results stay in [-1, 1]."""
    x = np.array([1e16, 1e25, -1e30, 3e38], type)
    assert np.all(np.abs(accuracy.compiled(word, x)) <= 1)


@pytest.mark.parametrize("word", list(DEFINITIONS))
@pytest.mark.parametrize("type", ["float32", "float64"])
def test_loops_become_vectors_without_calls(emitted, word, type):
    """The optimised loop works on vectors and calls nothing but LLVM's own operations."""
    module = codegen.optimised_module(emit(kernel(emitted, word, type)).code, "probe")
    calls = [fn.name for fn in module.functions if fn.is_declaration and not fn.name.startswith("llvm.")]
    assert not calls
    assert f" x {'float' if type == 'float32' else 'double'}> " in str(module)


@pytest.mark.parametrize("type", ["float32", "float64", "int32", "int64"])
@pytest.mark.parametrize("combine, identity", [(lambda acc, x: acc + x, 0), (lambda acc, x: maximum(acc, x), "lowest")])
def test_reductions_become_vectors(emitted, combine, identity, type):
    body = emitted.reduce(combine, identity, type, "x", "s")
    record = RowKernel(1, 1, (Operand("x", type, ("s", "1")),), (body,), (Operand("s", type, ("1", "0")),))
    assert "@llvm.vector.reduce." in str(codegen.optimised_module(emit(record).code, "probe"))


@pytest.mark.parametrize("type", accuracy.FORMATS)
def test_control_a_last_digit_too_many_is_noticed(type, monkeypatch):
    right = accuracy.compiled
    monkeypatch.setattr(accuracy, "compiled", lambda name, x: right(name, x) * x.dtype.type(1 + 3 * np.finfo(type).eps))
    assert accuracy.measure("exp", type, accuracy.arguments("exp", type, 1000)).ulps > 2


def test_control_the_sign_of_zero_is_noticed():
    assert accuracy.ulps(0.0, "sin", "float32", (-0.0,)) == np.inf
    assert accuracy.ulps(-0.0, "sin", "float32", (-0.0,)) == 0
    assert accuracy.ulps(float("nan"), "exp", "float32", (1.0,)) == np.inf
    assert accuracy.ulps(1e-45, "exp", "float32", (-103.5,)) < 1 < accuracy.ulps(3e-45, "exp", "float32", (-103.5,))


@pytest.mark.parametrize("type", ["float32", "float64"])
def test_the_short_exp_of_what_is_not_positive_gives_the_same_bits(emitted, type):
    low = -110 if type == "float32" else -760
    x = np.concatenate([np.random.default_rng(2).uniform(low, 0, 50000), [-np.inf, 0, np.nan, -1e30]]).astype(type)
    load, store = (Operand(name, type, ("1",)) for name in "xr")
    made = []
    for definition, word in ((lambda x: exp(-abs(x)), "exp_nonpositive("), (lambda x: exp(x), "exp(")):
        record = MapKernel(1, (load,), (emitted.stmt(definition, type, "x", "r"),), (store,))
        assert f" {word}" in emit(record).code
        out = np.empty_like(x)
        emitted.run(record, {"x": x}, {"r": out})
        made.append(out)
    np.testing.assert_array_equal(*made)


@pytest.mark.parametrize("definition", [lambda x: exp(-(x * x)), lambda x: exp(-x * x), lambda x: exp(x * -x),
                                        lambda x: exp(x - rowmax(x))])
def test_where_the_short_exp_is_used(emitted, definition):
    record = RowKernel(1, 1, (Operand("x", "float32", ("s", "1")),), (emitted.stmt(definition, "float32", "x", "r"),),
                       (Operand("r", "float32", ("s", "1")),))
    assert "exp_nonpositive(" in emit(record).code


@pytest.mark.parametrize("definition", [lambda x: exp(x * x), lambda x: exp(-x), lambda x: exp(x - rowmin(x)),
                                        lambda x: exp(abs(x) - rowmax(x)), lambda x: exp(rowmax(x) - x)])
def test_where_it_is_not(emitted, definition):
    record = RowKernel(1, 1, (Operand("x", "float32", ("s", "1")),), (emitted.stmt(definition, "float32", "x", "r"),),
                       (Operand("r", "float32", ("s", "1")),))
    assert "exp_nonpositive(" not in emit(record).code


def _beside_its_exp(x):
    return tf.sigmoid(x) + 0 * tf.exp(-tf.abs(x))


@pytest.mark.parametrize("type", accuracy.FORMATS)
def test_a_sigmoid_that_takes_an_exp_that_is_there_keeps_to_the_bound(type, monkeypatch):
    name = "sigmoid beside its exp"
    monkeypatch.setitem(accuracy.FUNCTIONS, name, replace(accuracy.FUNCTIONS["sigmoid"], run=_beside_its_exp))
    found = accuracy.measure(name, type, accuracy.arguments(name, type, 20_000, seed=5))
    assert found.ulps <= min(BOUNDS["sigmoid", type][0], 1.8), found


@pytest.mark.parametrize("definition, alone", [
    (lambda x: sigmoid(x) + exp(-abs(x)), False), (lambda x: exp(-abs(x)) * sigmoid(x) - sigmoid(x), False),
    (lambda x: sigmoid(x) + exp(-x), True), (lambda x: sigmoid(2 * x) + exp(-abs(x)), True),
    (lambda x: sigmoid(x) + exp(-(x * x)), True),
])
def test_where_a_sigmoid_takes_an_exp_that_is_there(emitted, definition, alone):
    record = MapKernel(1, (Operand("x", "float32", ("1",)),), (emitted.stmt(definition, "float32", "x", "r"),),
                       (Operand("r", "float32", ("1",)),))
    text = emit(record).code
    assert ("sigmoid(" in text) == alone and text.count(" exp_nonpositive(") + text.count(" exp(") == 1
