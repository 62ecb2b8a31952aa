"""The words of scalar definitions: how many arguments each takes, the type of its result and what it means in NumPy.

What a word means in a kernel is text: `kernels/cpu/texts.py` and `kernels/cuda/texts.py` for the words that a machine
has, `kernels/expand.py` for those that are written with other words.

Rules for types ("T" is the type of the operands, of which a literal has none of its own):
    same     T -> T                     compare  T -> bool              logical  bool -> bool
    select   bool, T, T -> T            cast     any -> the op's type   real     T -> T, complex -> its real part
    row      T -> T, over the last axis column   -> int32               bits     float <-> int of equal width
    float32, float64, int32, int64      any -> that type
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np

from tfnb.core.lazy import lazy_module

special = lazy_module("scipy.special")

Array = Any                               # np.ndarray: NumPy's own annotations lose the type in every other operation


@dataclass(frozen=True, slots=True)
class Literal:
    """A number in a definition: it takes the type of the operands beside it, else that of the op."""

    value: bool | int | float | complex


@dataclass(frozen=True, slots=True)
class Word:
    """One word. numpy: what it means for arrays of equal dtype; over the last axis (kept, size 1) if rule is "row"."""

    arity: int
    rule: str
    numpy: Callable[..., Any]


BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
_BITS = {"float32": "int32", "float64": "int64", "int32": "float32", "int64": "float64"}
_REAL = {"complex64": "float32", "complex128": "float64"}


def dtype_of(name: str) -> np.dtype[Any]:
    """The NumPy dtype of a type name ("bfloat16" included)."""
    return BFLOAT16 if name == "bfloat16" else np.dtype(name)


def wide(x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Numbers of 16 bits in float32: NumPy computes slowly with them, and LAPACK has none."""
    return x.astype(np.float32) if x.dtype in (np.float16, BFLOAT16) else x


def kind(type: str) -> str:
    """"b"ool, "i"nteger (signed or not), "f"loat or "c"omplex."""
    return "f" if type == "bfloat16" else type[0].replace("u", "i")


def extreme(type: str, which: str) -> float | int | bool:
    """What "lowest" or "highest" is in a type: what a maximum or a minimum starts from."""
    if kind(type) == "f":
        return float("-inf") if which == "lowest" else float("inf")
    if kind(type) == "b":
        return which == "highest"
    limits = np.iinfo(type)
    return int(limits.min if which == "lowest" else limits.max)


def common_type(args: Sequence[str | Literal], type: str) -> str:
    """The type in which operands meet; `type` (the op's) where there are only literals.

    A float and an integer meet in the float; a float literal beside integers only makes them the op's type.
    """
    own = list(dict.fromkeys(arg for arg in args if isinstance(arg, str)))
    if not own:
        return type
    found = own[0]
    for other in own[1:]:
        found = _meet(found, other)
    fraction = any(isinstance(arg, Literal) and isinstance(arg.value, float) and not arg.value.is_integer()
                   for arg in args)
    return type if fraction and kind(found) in "ib" and kind(type) in "fc" else found


def _meet(a: str, b: str) -> str:
    order = "bifc"
    if kind(a) != kind(b):
        return max(a, b, key=lambda type: order.index(kind(type)))
    return str(np.promote_types(dtype_of(a), dtype_of(b)))


def signature(word: str, args: Sequence[str | Literal], type: str) -> tuple[tuple[str, ...], str]:
    """The types that `word` converts its operands to, and that of its result, in an op of type `type`.

    Raises TypeError where the word takes another number of operands.
    """
    entry = WORDS[word]
    if len(args) != entry.arity:
        raise TypeError(f"{word} takes {entry.arity} operands, not {len(args)}")
    met = common_type(args[1:] if entry.rule == "select" else args, type)
    match entry.rule:
        case "same" | "row":
            met = type if met == "bool" and word not in _OF_BOOLS else met
            return (met,) * len(args), met
        case "compare":
            return (met,) * len(args), "bool"
        case "logical":
            return ("bool",) * len(args), "bool"
        case "select":
            return ("bool", met, met), met
        case "cast":
            return (type,), type
        case "real":
            return (met,), _REAL.get(met, met)
        case "bits":
            return (met,), _BITS[met]
        case "column":
            return (), "int32"
        case rule:
            return (met,) * len(args), rule


_OF_BOOLS = frozenset({"and", "or", "xor", "invert", "rowall", "rowany"})


# --- NumPy meanings that are not one NumPy function ---------------------------------------------------------------

def _trunc_divide(x: Array, y: Array) -> Array:
    """C's integer division; 0 where y is 0."""
    safe = np.where(y == 0, y.dtype.type(1), y)
    quotient = x // safe
    rest = x - quotient * safe
    quotient = quotient + ((rest != 0) & ((x < 0) != (safe < 0)))
    return np.where(y == 0, x.dtype.type(0), quotient)


def _is_integer(x: Array) -> bool:
    return x.dtype.kind in "iu"


def _divide(x: Array, y: Array) -> Array:
    return _trunc_divide(x, y) if _is_integer(x) else np.true_divide(x, y)


def _floor_divide(x: Array, y: Array) -> Array:
    if _is_integer(x):
        return np.where(y == 0, x.dtype.type(0), x // np.where(y == 0, y.dtype.type(1), y))
    return np.floor(x / y)


def _floor_modulo(x: Array, y: Array) -> Array:
    if _is_integer(x):
        return np.where(y == 0, x.dtype.type(0), x % np.where(y == 0, y.dtype.type(1), y))
    rest = np.fmod(x, y)
    return np.where((rest != 0) & ((y < 0) != (rest < 0)), rest + y, rest)


def _trunc_modulo(x: Array, y: Array) -> Array:
    if _is_integer(x):
        return np.where(y == 0, x.dtype.type(0), np.fmod(x, np.where(y == 0, y.dtype.type(1), y)))
    return np.fmod(x, y)


def _power(x: Array, y: Array) -> Array:
    """x ** y; an integer to a negative power is 0."""
    if not _is_integer(x):
        return np.power(x, y)
    return np.where(y < 0, x.dtype.type(0), np.power(x, np.where(y < 0, y.dtype.type(0), y)))


def _sigmoid(x: Array) -> Array:
    if x.dtype.kind == "c":
        return 1 / (1 + np.exp(-x))
    small = np.exp(-np.abs(x))
    return np.where(x < 0, small, small.dtype.type(1)) / (1 + small)


def _row(ufunc: np.ufunc, identity: float | str) -> Callable[[Array], Array]:
    def _reduce(x: Array) -> Array:
        start = extreme(x.dtype.name, identity) if isinstance(identity, str) else identity
        return ufunc.reduce(x, axis=-1, keepdims=True, initial=start, dtype=x.dtype)
    return _reduce


def _same(x: Array) -> Array:
    return x


def _fma(x: Array, y: Array, z: Array) -> Array:
    """x * y + z; for float32 rounded once, for float64 twice."""
    if x.dtype == np.float32:
        return (x.astype(np.float64) * y + z).astype(np.float32)
    return x * y + z


def _unary(fn: Callable[[Array], Any], *names: str) -> dict[str, Word]:
    return {name: Word(1, "same", fn) for name in names}


def _special(name: str) -> Word:
    return Word(1, "same", lambda x: getattr(special, name)(x))


def _whole(ufunc: np.ufunc) -> Callable[[Array], Any]:
    """Rounding: integers stay what they are (NumPy would go through float64, which does not hold all of int64)."""
    return lambda x: x if x.dtype.kind in "iub" else ufunc(x)


_MATH = "exp expm1 log log1p sqrt tanh sin cos tan sinh cosh square reciprocal sign conj".split()

WORDS: dict[str, Word] = {
    # operators
    "add": Word(2, "same", np.add), "sub": Word(2, "same", np.subtract), "mul": Word(2, "same", np.multiply),
    "div": Word(2, "same", _divide), "neg": Word(1, "same", np.negative), "pow": Word(2, "same", _power),
    "floordiv": Word(2, "same", _floor_divide), "floormod": Word(2, "same", _floor_modulo),
    "truncdiv": Word(2, "same", lambda x, y: _trunc_divide(x, y) if _is_integer(x) else np.trunc(x / y)),
    "truncmod": Word(2, "same", _trunc_modulo),
    "equal": Word(2, "compare", np.equal), "not_equal": Word(2, "compare", np.not_equal),
    "less": Word(2, "compare", np.less), "less_equal": Word(2, "compare", np.less_equal),
    "greater": Word(2, "compare", np.greater), "greater_equal": Word(2, "compare", np.greater_equal),
    "and": Word(2, "same", np.bitwise_and), "or": Word(2, "same", np.bitwise_or),
    "xor": Word(2, "same", np.bitwise_xor), "invert": Word(1, "same", np.invert),
    "shift_left": Word(2, "same", np.left_shift), "shift_right": Word(2, "same", np.right_shift),
    # functions
    **{name: Word(1, "same", getattr(np, name)) for name in _MATH},
    **{name: Word(1, "same", _whole(getattr(np, name))) for name in ("floor", "ceil", "rint", "trunc")},
    **{f"a{name}": Word(1, "same", getattr(np, f"arc{name}")) for name in ("sin", "cos", "tan", "sinh", "cosh",
                                                                            "tanh")},
    "atan2": Word(2, "same", np.arctan2),
    **_unary(lambda x: 1 / np.sqrt(x), "rsqrt"), **_unary(_sigmoid, "sigmoid"),
    "erf": _special("erf"), "erfc": _special("erfc"), "lgamma": _special("gammaln"), "digamma": _special("digamma"),
    "abs": Word(1, "real", np.abs), "real": Word(1, "real", np.real), "imag": Word(1, "real", np.imag),
    "maximum": Word(2, "same", np.maximum), "minimum": Word(2, "same", np.minimum),
    "isnan": Word(1, "compare", np.isnan), "isinf": Word(1, "compare", np.isinf),
    "isfinite": Word(1, "compare", np.isfinite),
    "logical_and": Word(2, "logical", np.logical_and), "logical_or": Word(2, "logical", np.logical_or),
    "logical_xor": Word(2, "logical", np.logical_xor), "logical_not": Word(1, "logical", np.logical_not),
    "where": Word(3, "select", np.where), "cast": Word(1, "cast", _same),
    # rows
    "rowsum": Word(1, "row", _row(np.add, 0)), "rowprod": Word(1, "row", _row(np.multiply, 1)),
    "rowmax": Word(1, "row", _row(np.maximum, "lowest")), "rowmin": Word(1, "row", _row(np.minimum, "highest")),
    "column": Word(0, "column", _same),
    # what the expansions need of the machine
    "integer_divide": Word(2, "same", np.floor_divide), "integer_power": Word(2, "same", np.power),
    "exp_of_sum": Word(2, "same", lambda x, rest: np.exp(x + rest)), "exp_nonpositive": Word(1, "same", np.exp),
    "fma": Word(3, "same", _fma), "fmod": Word(2, "same", np.fmod),
    "bits": Word(1, "bits", lambda x: x.view(f"i{x.itemsize}")),
    "from_bits": Word(1, "bits", lambda x: x.view(f"f{x.itemsize}")),
    **{type: Word(1, type, _same) for type in ("float32", "float64", "int32", "int64")},
}

# row word -> the word that combines two numbers of a row, and what it starts from
ROW_WORDS: dict[str, tuple[str, float | str]] = {
    "rowsum": ("add", 0), "rowprod": ("mul", 1), "rowmax": ("maximum", "lowest"), "rowmin": ("minimum", "highest"),
}
# other spellings in definitions
ALIASES = {"round": "rint"}
