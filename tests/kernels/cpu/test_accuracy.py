"""The polynomials of expand.py, as compiled: errors in units of the last place against wider arithmetic, and SIMD."""
from __future__ import annotations

import numpy as np
import pytest

from tfnb.kernels.cpu import codegen
from tfnb.kernels.cpu.emit import emit
from tfnb.kernels.spec import MapKernel, Operand, RowKernel

# ruff: noqa: F821
DOMAINS = {"exp": (-103, 88.7), "expm1": (-20, 88.7), "tanh": (-12, 12), "sigmoid": (-87, 100), "log": (1e-38, 50),
           "log1p": (-1, 50), "sin": (-1e5, 1e5), "cos": (-1e5, 1e5), "erf": (-5, 5)}
WIDE = {"sigmoid": lambda x: 1 / (1 + np.exp(-x))}
ULPS = {"float32": {"tanh": 2.7, "erf": 2.6, "sigmoid": 2.3}, "float64": {"tanh": 3, "erf": 4, "sigmoid": 2.5}}
DEFINITIONS = {"exp": lambda x: exp(x), "expm1": lambda x: expm1(x), "tanh": lambda x: tanh(x),
               "sigmoid": lambda x: sigmoid(x), "log": lambda x: log(x), "log1p": lambda x: log1p(x),
               "sin": lambda x: sin(x), "cos": lambda x: cos(x), "erf": lambda x: erf(x), "pow": lambda x, y: x ** y}
NEEDS_LONG_DOUBLE = pytest.mark.skipif(np.finfo(np.longdouble).eps > 1e-18,
                                       reason="long double is no wider than double here")


def kernel(emitted, word, type):
    args = "x" if word != "pow" else "x y"
    body = emitted.stmt(DEFINITIONS[word], type, args, "r")
    loads = tuple(Operand(name, type, ("1",)) for name in args.split())
    return MapKernel(1, loads, (body,), (Operand("r", type, ("1",)),))


def samples(word, type):
    rng = np.random.default_rng(1)
    low, high = DOMAINS[word]
    small = 10.0 ** rng.uniform(-30, 0, 20000) * (1 if low > -1 else rng.choice([-1, 1], 20000))
    x = np.concatenate([rng.uniform(low, high, 60000), rng.normal(size=60000), rng.normal(size=20000) * 1e-2, small])
    x = x.astype(type)
    return x[(x > low) & (x < high)]


def errors(got, want, type):
    unit = np.spacing(np.maximum(np.abs(want.astype(type)), np.finfo(type).tiny)).astype(want.dtype)
    return float(np.max(np.abs(got.astype(want.dtype) - want) / unit))


def wide_of(word, type, *arrays):
    """The exact function, in wider arithmetic, of exactly these numbers."""
    wide = np.float64 if type == "float32" else np.longdouble
    fn = WIDE.get(word) or getattr(np, {"pow": "power"}.get(word, word))
    with np.errstate(all="ignore"):
        return fn(*(a.astype(wide) for a in arrays))


def run(emitted, word, type, *arrays):
    loads = dict(zip("xy", arrays, strict=False))
    out = np.empty_like(arrays[0])
    emitted.run(kernel(emitted, word, type), loads, {"r": out})
    return out


@pytest.mark.parametrize("word", [word for word in DOMAINS if word != "erf"])
@pytest.mark.parametrize("type", ["float32", pytest.param("float64", marks=NEEDS_LONG_DOUBLE)])
def test_errors(emitted, word, type):
    x = samples(word, type)
    error = errors(run(emitted, word, type, x), wide_of(word, type, x), type)
    assert error < ULPS[type].get(word, 2), error


@pytest.mark.parametrize("type", ["float32", "float64"])
def test_errors_of_erf(emitted, type):
    x = samples("erf", type)
    if type == "float32":
        from scipy.special import erf as wide
        want = wide(x.astype(np.float64))
    else:
        mpmath = pytest.importorskip("mpmath")
        x = x[::200].copy()
        with mpmath.workdps(30):
            want = np.array([np.longdouble(mpmath.nstr(mpmath.erf(mpmath.mpf(float(v))), 25)) for v in x])
    error = errors(run(emitted, "erf", type, x), want, type)
    assert error < ULPS[type]["erf"], error


@pytest.mark.parametrize("type", ["float32", pytest.param("float64", marks=NEEDS_LONG_DOUBLE)])
def test_errors_of_pow(emitted, type):
    rng = np.random.default_rng(2)
    x = np.exp(rng.uniform(-5, 5, 50000)).astype(type)
    y = rng.uniform(-16, 16, 50000).astype(type)
    error = errors(run(emitted, "pow", type, x, y), wide_of("pow", type, x, y), type)
    assert error < 2, error


@pytest.mark.parametrize("word", ["sin", "cos"])
@pytest.mark.parametrize("type", ["float32", pytest.param("float64", marks=NEEDS_LONG_DOUBLE)])
def test_circles_far_out(emitted, word, type):
    """Up to 1e9 the error stays small beside 1; beyond 1e15 results stay in [-1, 1]."""
    x = np.random.default_rng(3).uniform(-1e9, 1e9, 20000).astype(type)
    got = run(emitted, word, type, x)
    assert np.max(np.abs(got - wide_of(word, type, x))) < 2 * np.finfo(type).eps
    x = np.array([1e16, 1e25, -1e30, 3e38], type)
    assert np.all(np.abs(run(emitted, word, type, x)) <= 1)


def test_subnormal_numbers(emitted):
    x = np.float32([-90, -100, -103.5, -104, -110])
    np.testing.assert_allclose(run(emitted, "exp", "float32", x), np.exp(x.astype(np.float64)), atol=1.5e-45)
    x = np.float32([1e-40, 1e-45, 1.1754944e-38])
    np.testing.assert_allclose(run(emitted, "log", "float32", x), np.log(x.astype(np.float64)), rtol=1e-6)


@pytest.mark.parametrize("word", list(DEFINITIONS))
@pytest.mark.parametrize("type", ["float32", "float64"])
def test_loops_become_vectors_without_calls(emitted, word, type):
    """The optimised loop works on vectors and calls nothing but LLVM's own operations."""
    module = codegen.optimised_module(emit(kernel(emitted, word, type)).text, "probe")
    calls = [fn.name for fn in module.functions if fn.is_declaration and not fn.name.startswith("llvm.")]
    assert not calls
    assert f" x {'float' if type == 'float32' else 'double'}> " in str(module)


@pytest.mark.parametrize("type", ["float32", "float64", "int32", "int64"])
@pytest.mark.parametrize("combine, identity", [(lambda acc, x: acc + x, 0), (lambda acc, x: maximum(acc, x), "lowest")])
def test_reductions_become_vectors(emitted, combine, identity, type):
    body = emitted.reduce(combine, identity, type, "x", "s")
    record = RowKernel(1, 1, (Operand("x", type, ("s", "1")),), (body,), (Operand("s", type, ("1", "0")),))
    assert "@llvm.vector.reduce." in str(codegen.optimised_module(emit(record).text, "probe"))


def test_control_a_last_digit_too_many_is_noticed(emitted):
    x = samples("exp", "float32")
    got = run(emitted, "exp", "float32", x) * np.float32(1 + 3e-7)
    assert errors(got, wide_of("exp", "float32", x), "float32") > 2


@pytest.mark.parametrize("type", ["float32", "float64"])
def test_the_short_exp_of_what_is_not_positive_gives_the_same_bits(emitted, type):
    low = -110 if type == "float32" else -760
    x = np.concatenate([np.random.default_rng(2).uniform(low, 0, 50000), [-np.inf, 0, np.nan, -1e30]]).astype(type)
    load, store = (Operand(name, type, ("1",)) for name in "xr")
    made = []
    for definition, word in ((lambda x: exp(-abs(x)), "exp_nonpositive("), (lambda x: exp(x), "exp(")):
        record = MapKernel(1, (load,), (emitted.stmt(definition, type, "x", "r"),), (store,))
        assert f" {word}" in emit(record).text
        out = np.empty_like(x)
        emitted.run(record, {"x": x}, {"r": out})
        made.append(out)
    np.testing.assert_array_equal(*made)


@pytest.mark.parametrize("definition", [lambda x: exp(-(x * x)), lambda x: exp(-x * x), lambda x: exp(x * -x),
                                        lambda x: exp(x - rowmax(x))])
def test_where_the_short_exp_is_used(emitted, definition):
    record = RowKernel(1, 1, (Operand("x", "float32", ("s", "1")),), (emitted.stmt(definition, "float32", "x", "r"),),
                       (Operand("r", "float32", ("s", "1")),))
    assert "exp_nonpositive(" in emit(record).text


@pytest.mark.parametrize("definition", [lambda x: exp(x * x), lambda x: exp(-x), lambda x: exp(x - rowmin(x)),
                                        lambda x: exp(abs(x) - rowmax(x)), lambda x: exp(rowmax(x) - x)])
def test_where_it_is_not(emitted, definition):
    record = RowKernel(1, 1, (Operand("x", "float32", ("s", "1")),), (emitted.stmt(definition, "float32", "x", "r"),),
                       (Operand("r", "float32", ("s", "1")),))
    assert "exp_nonpositive(" not in emit(record).text
