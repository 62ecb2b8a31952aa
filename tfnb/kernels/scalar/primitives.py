"""The table of primitives: the operations of scalar bodies, a row each.

A row says how many operands a primitive takes, the rule for the types of operands and result, and what it means: in
NumPy, as an operator of Python, as LLVM instructions, as a function of the C library and of `math` on a GPU, or as an
expansion by other primitives. The reader of bodies, both emitters, the lowering to LLVM, the cost model of row kernels,
the CUDA simulator and the linter of `ops/` take all they know of primitives from here.
The fields and the rules for types: primitive.py. Special functions, rows and expansions: special.py.
"""
from __future__ import annotations

import builtins
from collections.abc import Sequence
from dataclasses import replace
from keyword import iskeyword
from typing import Any

import numpy as np

from tfnb.kernels.scalar import expansions as by
from tfnb.kernels.scalar import instructions as llvm
from tfnb.kernels.scalar import numpy_forms as forms
from tfnb.kernels.scalar.instructions import Make
from tfnb.kernels.scalar.inverse_circular import inverse_circular
from tfnb.kernels.scalar.number_types import Literal, common_type
from tfnb.kernels.scalar.polynomials import polynomials
from tfnb.kernels.scalar.primitive import Body, Primitive
from tfnb.kernels.scalar.scipy_functions import SCIPY
from tfnb.kernels.scalar.special import SPECIAL
from tfnb.kernels.scalar.widened import widened


def _same(names: str, **more: Any) -> dict[str, Primitive]:
    """Return primitives of one operand that NumPy, the C library and CUDA's `math` have under one name."""
    return {name: Primitive(1, "same", getattr(np, name.replace("a", "arc", 1) if name in _INVERSE else name),
                            libm=name, cuda=name, **more) for name in names.split()}


def _rounding(name: str, **more: Any) -> Primitive:
    return Primitive(1, "same", forms.rounding(getattr(np, name)), libm=name, **{
        "llvm": {"f": llvm.intrinsic(name)}, "expansion": dict.fromkeys("ib", _itself), **more})


def _comparison(ufunc: np.ufunc, sign: str, **bools: Make) -> Primitive:
    return Primitive(2, "compare", ufunc, sign, llvm={**llvm.comparison(sign), **bools})


def _itself(x: Any) -> Any:
    return x


def _division(numpy: Body, floats: Body, signed: Body, unsigned: Body) -> Primitive:
    """Return a division or remainder, whose expansion differs for signed integers, unsigned ones and floats."""
    bodies = {"f": floats, "i": signed, **dict.fromkeys(_UNSIGNED, unsigned)}
    return Primitive(2, "same", numpy, expansion=bodies)


_INVERSE = frozenset("asin acos atan asinh acosh atanh".split())
_UNSIGNED = tuple(f"uint{n}" for n in (8, 16, 32, 64))
_ARITHMETIC: dict[str, Primitive] = {
    "add": Primitive(2, "same", np.add, "+", llvm={"f": llvm.method("fadd"), "i": llvm.method("add")}),
    "sub": Primitive(2, "same", np.subtract, "-", llvm={"f": llvm.method("fsub"), "i": llvm.method("sub")}),
    "mul": Primitive(2, "same", np.multiply, "*", llvm={"f": llvm.method("fmul"), "i": llvm.method("mul")}),
    "div": Primitive(2, "same", forms.divide, "/", "f", llvm={"f": llvm.method("fdiv")},
                     expansion={"i": by.truncdiv, **dict.fromkeys(_UNSIGNED, by.unsigned_quotient)}),
    "neg": Primitive(1, "same", np.negative, "-", "if", llvm={"f": llvm.method("fneg"), "i": llvm.method("neg")}),
    "pow": Primitive(2, "same", forms.power, libm="pow", cuda="pow", costly=True, expansion={"i": by.integer_pow}),
    "floordiv": _division(forms.floor_divide, by.floor_quotient, by.floordiv, by.unsigned_quotient),
    "floormod": _division(forms.floor_modulo, by.floormod_float, by.floormod, by.unsigned_rest),
    "truncdiv": _division(forms.truncating_divide, by.truncated_quotient, by.truncdiv, by.unsigned_quotient),
    "truncmod": _division(forms.trunc_modulo, lambda x, y: by.fmod(x, y), by.truncmod, by.unsigned_rest),
    "fma": Primitive(3, "same", forms.fma, llvm={"f": llvm.method("fma")}, expansion={"f": lambda x, y, z: x * y + z}),
    "fmod": Primitive(2, "same", np.fmod, llvm={"f": llvm.method("frem")}, libm="fmod", cuda="fmod"),
    "square": Primitive(1, "same", np.square, expansion={"any": lambda x: x * x}),
    "reciprocal": Primitive(1, "same", np.reciprocal, expansion={"any": lambda x: 1 / x}),
    "sign": Primitive(1, "same", np.sign, expansion={"f": by.sign, "i": by.integer_sign}),
    "abs": Primitive(1, "real", np.abs, "abs", "if",
                     llvm={"f": llvm.intrinsic("fabs"), "i": llvm.absolute, "u": llvm.itself}),
    "maximum": Primitive(2, "same", np.maximum, llvm={"f": llvm.intrinsic("maximum")},
                         expansion={"f": by.maximum, "i": by.integer_maximum, "b": lambda x, y: x | y}),
    "minimum": Primitive(2, "same", np.minimum, llvm={"f": llvm.intrinsic("minimum")},
                         expansion={"f": by.minimum, "i": by.integer_minimum, "b": lambda x, y: x & y}),
    "floor": _rounding("floor", cuda="floor"), "ceil": _rounding("ceil", cuda="ceil"),
    "rint": _rounding("rint", expansion={"f": by.rint, "i": _itself, "b": _itself}),
    "trunc": _rounding("trunc", expansion={"f": by.trunc, "i": _itself, "b": _itself}),
    "conj": Primitive(1, "same", np.conj, expansion=dict.fromkeys("fib", _itself)),
    "real": Primitive(1, "real", np.real, expansion=dict.fromkeys("fib", _itself)),
    "imag": Primitive(1, "real", np.imag),
}
_LOGIC: dict[str, Primitive] = {
    "equal": _comparison(np.equal, "==", b=llvm.equal_bools),
    "not_equal": _comparison(np.not_equal, "!=", b=llvm.method("xor")),
    "less": _comparison(np.less, "<"), "less_equal": _comparison(np.less_equal, "<="),
    "greater": _comparison(np.greater, ">"), "greater_equal": _comparison(np.greater_equal, ">="),
    "and": Primitive(2, "same", np.bitwise_and, "&", "bi", llvm=dict.fromkeys("ib", llvm.method("and_"))),
    "or": Primitive(2, "same", np.bitwise_or, "|", "bi", llvm=dict.fromkeys("ib", llvm.method("or_"))),
    "xor": Primitive(2, "same", np.bitwise_xor, "^", "bi", llvm=dict.fromkeys("ib", llvm.method("xor"))),
    "invert": Primitive(1, "same", np.invert, "~", "bi", llvm=dict.fromkeys("ib", llvm.method("not_"))),
    "shift_left": Primitive(2, "same", np.left_shift, "<<", "i", llvm={"i": llvm.method("shl")}),
    "shift_right": Primitive(2, "same", np.right_shift, ">>", "i",
                             llvm={"i": llvm.method("ashr"), "u": llvm.method("lshr")}),
    "isnan": Primitive(1, "compare", np.isnan, expansion={"f": lambda x: x != x, "i": lambda x: x != x}),
    "isinf": Primitive(1, "compare", np.isinf, expansion={"f": by.isinf, "i": lambda x: x != x}),
    "isfinite": Primitive(1, "compare", np.isfinite, expansion={"f": by.isfinite, "i": lambda x: x == x}),
    "logical_and": Primitive(2, "logical", np.logical_and, expansion={"b": lambda x, y: x & y}),
    "logical_or": Primitive(2, "logical", np.logical_or, expansion={"b": lambda x, y: x | y}),
    "logical_xor": Primitive(2, "logical", np.logical_xor, expansion={"b": lambda x, y: x ^ y}),
    "logical_not": Primitive(1, "logical", np.logical_not, expansion={"b": lambda x: ~x}),
    "where": Primitive(3, "select", forms.select, llvm=llvm.SELECT),
}
_TRANSCENDENTAL: dict[str, Primitive] = {
    **_same("exp expm1 log log1p sin cos tan sinh cosh asin acos atan asinh acosh atanh", costly=True),
    **_same("tanh"),
    "sqrt": Primitive(1, "same", np.sqrt, llvm={"f": llvm.intrinsic("sqrt")}, libm="sqrt", cuda="sqrt"),
    "rsqrt": Primitive(1, "same", lambda x: 1 / np.sqrt(x), expansion={"f": by.rsqrt}),
    "nextafter": Primitive(2, "same", np.nextafter, libm="nextafter"),
    "atan2": Primitive(2, "same", np.arctan2, libm="atan2", cuda="atan2", costly=True),
    "sigmoid": Primitive(1, "same", forms.sigmoid, expansion={"f": by.sigmoid}, costly=True),
    "erf": Primitive(1, "same", forms.special("erf"), libm="erf", cuda="erf", costly=True),
    "erfc": Primitive(1, "same", forms.special("erfc"), libm="erfc", cuda="erfc", costly=True),
    "lgamma": Primitive(1, "same", forms.lgamma, libm="lgamma", cuda="lgamma", costly=True),
    "digamma": Primitive(1, "same", forms.special("digamma"), expansion={"f": by.digamma}, costly=True),
}
_ROWS_AND_CAST: dict[str, Primitive] = {
    "rowsum": Primitive(1, "row", forms.row(np.add, 0)), "rowprod": Primitive(1, "row", forms.row(np.multiply, 1)),
    "rowmax": Primitive(1, "row", forms.row(np.maximum, "lowest")),
    "rowmin": Primitive(1, "row", forms.row(np.minimum, "highest")), "column": Primitive(0, "column", forms.same),
    "cast": Primitive(1, "cast", forms.same),
}
_CONVERSIONS = {type: Primitive(1, type, forms.same) for type in ("float32", "float64", "int32", "int64")}
_OF_EXPANSIONS: dict[str, Primitive] = {           # what expansions need of the machine
    "integer_divide": Primitive(2, "same", np.floor_divide, "//", "i",
                                llvm={"i": llvm.floor_divide, "u": llvm.method("udiv")}),
    "integer_power": Primitive(2, "same", np.power, "**", "i", expansion={
        f"{sign}int{n}": by.power_by_squaring(n) for sign in ("", "u") for n in (8, 16, 32, 64)}),
    "exp_of_sum": Primitive(2, "same", lambda x, rest: np.exp(x + rest)),
    "exp_nonpositive": Primitive(1, "same", np.exp, cuda="exp", costly=True),
    "bits": Primitive(1, "bits", lambda x: x.view(f"i{x.itemsize}"), llvm={"f": llvm.to_bits}),
    "from_bits": Primitive(1, "bits", lambda x: x.view(f"f{x.itemsize}"), llvm={"i": llvm.from_bits}),
}
_POLYNOMIALS = polynomials() | inverse_circular() | widened()
_IN_BODIES = {**_ARITHMETIC, **_LOGIC, **_TRANSCENDENTAL, **SPECIAL, **SCIPY, **_ROWS_AND_CAST}
PRIMITIVES: dict[str, Primitive] = {name: replace(row, polynomial=_POLYNOMIALS.get(name, {})) for name, row in (
    _IN_BODIES | _CONVERSIONS | _OF_EXPANSIONS).items()}
# NumPy forms that are functions of SciPy. Where it is absent, expansions are in their place, or the C library's.
OF_SCIPY = frozenset({*SPECIAL, *SCIPY, "erf", "erfc", "lgamma", "digamma"} - {"shifted_left", "shifted_right"})
ON_CPU = frozenset({*SCIPY, "nextafter"})          # no GPU has them
# Names that the bodies of ops use as if they were builtins (those that Python has are operators there).
BUILTINS = frozenset(name for name in _IN_BODIES if not hasattr(builtins, name) and not iskeyword(name))

# row primitive -> the primitive that combines two elements of a row, and its identity
ROW_COMBINATIONS: dict[str, tuple[str, float | str]] = {
    "rowsum": ("add", 0), "rowprod": ("mul", 1), "rowmax": ("maximum", "lowest"), "rowmin": ("minimum", "highest"),
}
ALIASES = {"round": "rint"}                        # other names of primitives in bodies
_OF_BOOLS = frozenset({"and", "or", "xor", "invert"})
_BITS = {"float32": "int32", "float64": "int64", "int32": "float32", "int64": "float64"}
_REAL = {"complex64": "float32", "complex128": "float64"}


def is_costly(name: str) -> bool:
    """Return whether a primitive takes longer than a store and a load: who needs its value twice keeps it."""
    return name in PRIMITIVES and PRIMITIVES[name].costly


def signature(name: str, args: Sequence[str | Literal], type: str) -> tuple[tuple[str, ...], str]:
    """Return the types that a primitive converts its operands to, and that of its result, in an op of type `type`.

    Raises TypeError where the primitive takes another number of operands.
    """
    entry = PRIMITIVES[name]
    if len(args) != entry.arity:
        raise TypeError(f"{name} takes {entry.arity} operands, not {len(args)}")
    met = common_type(args[1:] if entry.rule == "select" else args, type)
    match entry.rule:
        case "same" | "row":
            met = type if met == "bool" and name not in _OF_BOOLS else met
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
