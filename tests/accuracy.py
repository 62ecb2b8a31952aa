"""How exact the mathematical functions are: errors in units of the last place (ulp) against mpmath, as compiled.

An argument is sampled over all bit patterns of its format, so that each binade, subnormal numbers too, has its share,
and around where the definitions change. Wider arithmetic, where there is some, finds the arguments that are worth
mpmath's time. `python -m tests.accuracy --write docs/accuracy.md` measures with many samples and writes the table that
tests/kernels/cpu/test_accuracy.py asserts with few.
"""
from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import mpmath  # type: ignore[import-untyped]
import numpy as np
from scipy import special

import tfnb as tf
from tests.modes import compiling

Array = Any
CHECKED = 120                              # arguments of each measurement that mpmath looks at, where others choose
BITS = {"float32": ("int32", 24), "float64": ("int64", 53)}


@dataclass(frozen=True)
class Function:
    """A function: what runs it, what it is in mpmath, and in NumPy.

    edges: arguments around which its definition changes. far: beyond it nothing is promised. scale: smaller results
    have their errors counted in last places of this number (digamma, beside its roots).
    """

    run: Callable[..., Any]
    exact: Callable[..., Any]
    wide: Callable[..., Any]
    edges: tuple[float, ...] = ()
    far: float = float("inf")
    scale: float = 0.0

    @property
    def arity(self) -> int:
        return 2 if self.run in (tf.pow, tf.atan2) else 1


def _sigmoid(x: Array) -> Array:
    return 1 / (1 + np.exp(-x))


def _loggamma(x: Any) -> Any:
    return mpmath.re(mpmath.loggamma(x))


def _bounded(fn: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A function that has long reached its limit, or is far outside of both formats, beyond 20,000."""
    return lambda x: fn(max(min(x, mpmath.mpf(20_000)), mpmath.mpf(-20_000)))


def _erfinv(x: Array) -> Any:
    return np.where(x == 0, x, special.erfinv(x))


_erfinv.types = special.erfinv.types  # type: ignore[attr-defined]


def _normal_quantile(p: Any) -> Any:
    guess = mpmath.mpf(float(special.ndtri(float(p))))
    if guess > 8:
        return -_normal_quantile(1 - p)
    return mpmath.findroot(lambda x: mpmath.log(mpmath.erfc(-x / mpmath.sqrt(2)) / 2) - mpmath.log(p), guess)


def _scaled_bessel(order: int) -> Callable[[Any], Any]:
    """The modified Bessel function of that order, times exp(-|x|)."""
    return lambda x: mpmath.mpf(0) if mpmath.isinf(x) else mpmath.exp(-abs(x)) * mpmath.besseli(order, x)


def _inverse_root(x: Any) -> Any:
    return 1 / mpmath.sqrt(x)


_ONES = (1.0, 0.5, 2.0)
_EXP = (0.34657, 87.3, 88.72, 103.9, 708.4, 709.78, 745.1)
_CIRCLE = (0.7854, 1.5708, 3.14159265, 6.2831853, 100.0, 1e4, 1e6, 1e9)
FUNCTIONS: dict[str, Function] = {
    "exp": Function(tf.exp, _bounded(mpmath.exp), np.exp, _EXP),
    "expm1": Function(tf.expm1, _bounded(mpmath.expm1), np.expm1, _EXP),
    "log": Function(tf.log, mpmath.log, np.log, (*_ONES, 0.7071, 1.4142)),
    "log1p": Function(tf.log1p, mpmath.log1p, np.log1p, (*_ONES, 0.4142, 0.2929)),
    "tanh": Function(tf.tanh, _bounded(mpmath.tanh), np.tanh, (*_ONES, 9.0, 10.0, 19.0, 20.0, 0.17, 0.35)),
    "sigmoid": Function(tf.sigmoid, _bounded(lambda x: 1 / (1 + mpmath.exp(-x))), _sigmoid, _EXP),
    "sin": Function(tf.sin, mpmath.sin, np.sin, _CIRCLE, far=1e14),
    "cos": Function(tf.cos, mpmath.cos, np.cos, _CIRCLE, far=1e14),
    "tan": Function(tf.tan, mpmath.tan, np.tan, _CIRCLE),
    "erf": Function(tf.erf, _bounded(mpmath.erf), special.erf, (*_ONES, 4.0, 6.0)),
    "erfc": Function(tf.erfc, _bounded(mpmath.erfc), special.erfc, (*_ONES, 4.0, 9.0, 10.05, 26.5, 27.2)),
    "erfinv": Function(tf.math.erfinv, mpmath.erfinv, _erfinv, (0.5, 0.9966, 1.0)),
    "ndtri": Function(tf.math.ndtri, _normal_quantile, special.ndtri, (0.021, 0.25, 0.5, 0.979, 1.0)),
    "i0e": Function(tf.math.bessel_i0e, _scaled_bessel(0), special.i0e, (*_ONES, 8.0)),
    "i1e": Function(tf.math.bessel_i1e, _scaled_bessel(1), special.i1e, (*_ONES, 8.0)),
    "pow": Function(tf.pow, mpmath.power, np.power, (*_ONES, 3.0, 10.0)),
    "sqrt": Function(tf.sqrt, mpmath.sqrt, np.sqrt, _ONES),
    "rsqrt": Function(tf.rsqrt, _inverse_root, lambda x: 1 / np.sqrt(x), _ONES),
    "asin": Function(tf.asin, mpmath.asin, np.arcsin, _ONES),
    "acos": Function(tf.acos, mpmath.acos, np.arccos, _ONES),
    "atan": Function(tf.atan, mpmath.atan, np.arctan, _ONES),
    "atan2": Function(tf.atan2, mpmath.atan2, np.arctan2, _ONES),
    "sinh": Function(tf.sinh, _bounded(mpmath.sinh), np.sinh, _EXP),
    "cosh": Function(tf.cosh, _bounded(mpmath.cosh), np.cosh, _EXP),
    "asinh": Function(tf.asinh, mpmath.asinh, np.arcsinh, _ONES),
    "acosh": Function(tf.acosh, mpmath.acosh, np.arccosh, _ONES),
    "atanh": Function(tf.atanh, mpmath.atanh, np.arctanh, _ONES),
    "lgamma": Function(tf.lgamma, _loggamma, special.gammaln, (*_ONES, 3.0, 10.0)),
    "digamma": Function(tf.digamma, mpmath.digamma, special.digamma, (*_ONES, 1.4616, 6.0, 8.0), scale=1.0),
}
FORMATS = ("float32", "float64")


@dataclass(frozen=True)
class Measured:
    """The largest error, in ulp, and the argument (one number, or two) where it is."""

    ulps: float
    argument: tuple[float, ...]


@cache
def _program(name: str, type: str) -> tuple[Any, list[Any], Any]:
    graph = tf.Graph()
    with graph.as_default():
        feeds = [tf.placeholder(type, [None]) for _ in range(FUNCTIONS[name].arity)]
        return tf.Session(), feeds, FUNCTIONS[name].run(*feeds)


def compiled(name: str, *args: Array) -> Array:
    """The function of arrays, by its kernel."""
    session, feeds, fetch = _program(name, args[0].dtype.name)
    with compiling("always"):
        return session.run(fetch, dict(zip(feeds, args, strict=True)))


def special_values(type: str) -> Array:
    """Zeros, subnormal numbers, the ends of the range, infinities, NaN and numbers of all sizes."""
    info = np.finfo(type)
    tiny, small = float(info.smallest_subnormal), float(info.tiny)
    near_one = [1.0 - float(info.epsneg), 1.0, 1.0 + float(info.eps)]
    sizes = [0.0, tiny, 2 * tiny, 100 * tiny, small - tiny, small, small + tiny, float(info.eps), 0.1, 1.0 / 3, 0.5,
             *near_one, 1.5, 2.0, 3.0, 4.0, 10.0, 100.0, 1e5, 1e10, 1e15, 1e22, 1e38, float(info.max), float("inf")]
    values = np.array(sizes, type)
    return np.concatenate([values, -values, np.array([np.nan], type)])


def samples(name: str, type: str, count: int, seed: int = 0) -> Array:
    """Numbers of all sizes, of moderate ones, and around the edges."""
    rng, integer = np.random.default_rng(seed), BITS[type][0]
    limits = np.iinfo(integer)
    anything = rng.integers(limits.min, limits.max, count // 2, integer, endpoint=True).view(type)
    moderate = (rng.choice([-1, 1], count // 4) * np.exp(rng.uniform(-12, 7, count // 4))).astype(type)
    edges = np.array(FUNCTIONS[name].edges or (1.0,), type)
    near = rng.choice(edges, count // 4) * rng.choice(np.array([-1, 1], type), count // 4)
    near = near * (1 + rng.normal(size=count // 4) * 10.0 ** rng.uniform(-8, 0, count // 4)).astype(type)
    x = np.concatenate([special_values(type), anything, moderate, near])
    return x[~(np.abs(x) > FUNCTIONS[name].far) | np.isinf(x)]


def arguments(name: str, type: str, count: int, seed: int = 0) -> tuple[Array, ...]:
    """What a function is measured on: `samples`, and of two arguments all pairs of special values and some others."""
    x = samples(name, type, count, seed)
    if FUNCTIONS[name].arity == 1:
        return (x,)
    rng = np.random.default_rng(seed + 1)
    small = special_values(type)
    pairs = [np.repeat(small, len(small)), np.tile(small, len(small))]
    others = samples(name, type, count, seed + 1)[:len(x)] if name == "atan2" else _exponents(rng, x)
    return np.concatenate([pairs[0], x]), np.concatenate([pairs[1], others])


def _exponents(rng: np.random.Generator, x: Array) -> Array:
    """Powers to which `x` is neither 0 nor inf, mostly; some are whole numbers."""
    with np.errstate(all="ignore"):
        limit = 700 / np.maximum(np.abs(np.log(np.abs(x.astype(float)))), 1e-300)
    if x.dtype == np.float32:
        limit = limit / 8
    y = rng.uniform(-1, 1, len(x)) * np.minimum(np.nan_to_num(limit, nan=1.0), 1e18)
    return np.where((rng.random(len(x)) < 0.2) | (x < 0), np.rint(y), y).astype(x.dtype)


def measure(name: str, type: str, args: Sequence[Array]) -> Measured:
    """The largest error of the function over these arguments."""
    got = compiled(name, *args)
    chosen = _candidates(name, type, args, got)
    worst = Measured(0.0, ())
    for i in chosen:
        at = tuple(float(a[i]) for a in args)
        error = ulps(float(got[i]), name, type, at)
        if error > worst.ulps:
            worst = Measured(error, at)
    return worst


def has_wider(name: str, type: str) -> bool:
    """Is there arithmetic wide enough to say where the large errors are?"""
    types = getattr(FUNCTIONS[name].wide, "types", ("g->g",))          # SciPy's functions have no long double
    return type == "float32" or np.finfo(np.longdouble).eps < 1e-18 and any("g" in t for t in types)


def _candidates(name: str, type: str, args: Sequence[Array], got: Array) -> Sequence[int]:
    """The arguments that mpmath shall look at: where wider arithmetic sees large errors, and special ones."""
    if not has_wider(name, type):
        return range(len(got))
    fn = FUNCTIONS[name].wide
    wider = np.float64 if type == "float32" else np.longdouble
    with np.errstate(all="ignore"):
        want = fn(*(a.astype(wider) for a in args))
        rounded = want.astype(type)
        least = max(float(np.finfo(type).tiny), FUNCTIONS[name].scale)
        unit = np.spacing(np.maximum(np.abs(rounded), np.dtype(type).type(least))).astype(wider)
        error = np.abs(got.astype(wider) - want) / unit
    agree = (got == rounded) & (np.signbit(got) == np.signbit(rounded)) | (np.isnan(got) & np.isnan(rounded))
    error = np.where(np.isfinite(error) & ((got != 0) | (rounded != 0) | agree), error, np.where(agree, 0, np.inf))
    return np.argsort(-error, kind="stable")[:CHECKED].tolist()


def ulps(got: float, name: str, type: str, at: tuple[float, ...]) -> float:
    """The error of a result, in units of the last place of the exact one; inf for a wrong sign of 0, inf or NaN."""
    want = exact(name, at)
    info = np.finfo(type)
    if isinstance(want, float) or want == 0:       # 0, an infinity or NaN, with its sign
        want = float(want)
        same = got == want and np.signbit(got) == np.signbit(want) or np.isnan(got) and np.isnan(want)
        return 0.0 if same else float("inf")
    if np.isnan(got):
        return float("inf")
    digits = BITS[type][1]
    limit = mpmath.mpf(float(info.max))
    size = max(abs(want), mpmath.mpf(FUNCTIONS[name].scale))
    place = max(int(mpmath.floor(mpmath.log(size, 2))) - digits + 1, int(np.log2(float(info.smallest_subnormal))))
    if abs(want) > limit or np.isinf(got):         # an infinity is as far away as the number after the largest one
        place = int(np.log2(float(info.max))) - digits + 1
        top = limit + mpmath.ldexp(1, place)
        have = top * (1 if got > 0 else -1) if np.isinf(got) else mpmath.mpf(got)
        want = min(abs(want), top) * mpmath.sign(want)
        return float(abs(have - want) / mpmath.ldexp(1, place))
    error = float(abs(mpmath.mpf(got) - want) / mpmath.ldexp(1, place))
    return error if got != 0 or np.signbit(got) == (want < 0) else float("inf")


def exact(name: str, at: tuple[float, ...]) -> Any:
    """The exact value as an mpf; as a float where it is 0, an infinity or NaN, for which C's rules hold.

    At the poles of lgamma and digamma left of 0, whose sign is a matter of taste, and for the smallest numbers, of
    which SciPy does not know lgamma, this is TensorFlow's: lgamma is inf, digamma NaN (but -inf at 0).
    """
    if name in ("lgamma", "digamma") and at[0] <= 0 and np.floor(at[0]) == at[0]:
        return float("inf") if name == "lgamma" else float("-inf") if at[0] == 0 else float("nan")
    with np.errstate(all="ignore"):
        c = float(_c_value(name, at))
    if any(not np.isfinite(v) for v in at) or any(v == 0 for v in at) or np.isnan(c):
        if not np.isfinite(c) or c == 0:
            return c
    with mpmath.workprec(200 + (1100 if name in ("sin", "cos", "tan") else 0)):
        value = FUNCTIONS[name].exact(*map(mpmath.mpf, at))
        return c if value == 0 or not mpmath.isfinite(value) else +value


def _c_value(name: str, at: tuple[float, ...]) -> Any:
    if name == "atan2":
        return np.arctan2(*at)
    return FUNCTIONS[name].wide(*(np.float64(v) for v in at))


def table(rows: Sequence[tuple[str, str, Measured]]) -> Iterator[str]:
    """The lines of the table: the bound is the error that was found, rounded up to tenths."""
    yield "| function | format | bound, ulp | found, ulp | at |"
    yield "|---|---|---|---|---|"
    for name, type, found in rows:
        bound = np.ceil(found.ulps * 10 + 0.5) / 10 if np.isfinite(found.ulps) else found.ulps
        where = ", ".join(v.hex() for v in found.argument)
        yield f"| {name} | {type} | {bound:.1f} | {found.ulps:.3f} | {where} |"


def documented(document: Path) -> dict[tuple[str, str], tuple[float, tuple[float, ...]]]:
    """(function, format) -> its bound and its worst argument, as the document has them."""
    cells = [[cell.strip() for cell in line.strip("| \n").split("|")]
             for line in document.read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
    return {(row[0], row[1]): (float(row[2]), tuple(float.fromhex(v) for v in row[4].split(", ") if v))
            for row in cells if row[1] in FORMATS}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.accuracy", description=__doc__)
    parser.add_argument("names", nargs="*", help="functions (all by default)")
    parser.add_argument("--samples", type=int, default=1 << 22)
    parser.add_argument("--write", type=Path, help="the document whose table is replaced")
    given = parser.parse_args()
    rows = []
    for name in given.names or FUNCTIONS:
        for type in FORMATS:
            args = arguments(name, type, given.samples if has_wider(name, type) else min(given.samples, 20_000))
            rows.append((name, type, measure(name, type, args)))
            print(rows[-1], flush=True)
    if given.write:
        text = given.write.read_text(encoding="utf-8")
        begin, end = text.index("<!-- begin table -->\n"), text.index("<!-- end table -->")
        measured = list(table(rows))
        if given.names:                                # the rows of the others stay
            new = {tuple(line.split("|")[1:3]): line for line in measured}
            lines = text[begin:end].splitlines()[1:]
            measured = [new.pop(tuple(line.split("|")[1:3]), line) for line in lines]
            measured += new.values()
        made = "<!-- begin table -->\n" + "\n".join(measured) + "\n"
        given.write.write_text(text[:begin] + made + text[end:], encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
