"""Rows of the sweep, made from the op records: op x arguments x dtype x size x form.

Arguments of an op come from its kind (elementwise, reductions, updates, scatter), from `CASES`, or else
from the examples in its family's docstrings and the samples of the safety walk: as they are ("tiny"), and repeated
along the dimensions that are as long as its first one ("medium", "large"). So a new op is in the sweep by itself.
"""
from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks import sweep_cases, sweep_sparse
from benchmarks.sweep_cases import Call, Make, Varying
from tests.domains import points
from tests.every_op import OPS
from tests.safety.written import WRITTEN
from tests.samples import from_examples
from tfnb.opdef import kinds
from tfnb.opdef.index import MODULE_OF
from tfnb.opdef.op import Op
from tfnb.ops.declaration.construct import official

CASES = {**sweep_cases.CASES, **sweep_sparse.CASES}
SIZES = {"tiny": 64, "medium": 25_600, "large": 2_097_152}         # elements of the largest input: 256 B, 100 kB, 8 MB
DTYPES = ("float64", "int32", "float16", "bfloat16")               # beside float32: at the medium size
# Ops of a kind share one code path: these stand for it in other layouts, assigned and with large gradients.
LAYOUTS = ("AddV2", "Mul", "Maximum", "Tanh", "Relu", "Exp", "Square", "Greater", "Sum", "Max", "Mean")
ALIKE = ("Select", "ApproximateEqual")                             # no broadcasting
_RATES = re.compile(r"(alpha|lr|rho|momentum|epsilon|beta.*|l1|l2|lr_power|l2_shrinkage|logbase|sign_decay|step"
                    r"|global_step)$")
# What a timed step of one graph can't say, by module: programs and files of their own.
_OUT = re.compile(r"tfnb\.ops\.(data|io|data_flow|control)\.|tfnb\.image\.files|\.sparse\.maps$|\.signal\.audio$")


@dataclass(frozen=True)
class Input:
    """An input of a row: its value, how it gets there ("constant", "variable", "fed", "ref", "handle"), its dtype."""

    array: np.ndarray
    how: str
    dtype: str


@dataclass(frozen=True)
class Row:
    """A measured program: one op and what is around it. form: "fetch", "assign" or "gradient"."""

    op: str
    inputs: tuple[Any, ...]                # Input, or a list of them
    attrs: dict[str, Any]
    form: str
    transposed: bool = False               # the first input is one that was transposed


@dataclass(frozen=True)
class Plan:
    """A row before its arrays are made."""

    op: str
    case: str
    dtype: str
    size: str
    form: str
    call: Callable[[Make], Call]
    transposed: bool = False

    @property
    def name(self) -> str:
        """What the table calls it."""
        return f"{self.op} {self.dtype} {self.size} {self.form}" + f" [{self.case}]" * bool(self.case)

    def row(self) -> Row:
        """Make the row. Raises ValueError where the example of an op can't be made so large."""
        inputs, attrs = self.call(Make(SIZES[self.size], self.dtype))
        spec, named = OPS[self.op], _type_attr(OPS[self.op])
        made: list[Any] = []
        for arg, value in zip(spec.inputs, inputs, strict=True):
            own = self.dtype if named is not None and arg.type == named.name else ""
            constant = arg.name in spec.value_inputs and self.case.startswith("example")
            made.append([_input(arg, v, own, constant) for v in value] if arg.is_list
                        else _input(arg, value, own, constant))
        plain = {k: getattr(v, "name", v) for k, v in attrs.items()}
        return Row(self.op, tuple(made), plain, self.form, self.transposed)


def _input(arg: Any, value: Any, dtype: str, constant: bool) -> Input:
    varying = isinstance(value, Varying)
    array = np.asarray(value.value if varying else value)
    if array.dtype.name in ("float64", "int64") and not isinstance(value, (np.ndarray, np.generic, Varying)):
        array = array.astype(array.dtype.name.replace("64", "32"))     # Python numbers
    if not dtype:
        dtype = {"O": "string"}.get(array.dtype.char, array.dtype.name)
    elif dtype not in ("bfloat16", array.dtype.name) and not isinstance(value, np.ndarray):
        array = array.astype(dtype)
    elif dtype != "bfloat16":
        dtype = array.dtype.name
    if arg.is_ref:
        return Input(array, "ref", dtype)
    if arg.type == "resource":
        return Input(array, "handle", dtype)
    if dtype == "string" or array.dtype.kind == "c":
        return Input(array, "fed", dtype)
    varies = varying or array.ndim > 0 and isinstance(value, np.ndarray) and not constant
    return Input(array, "variable" if varies else "constant", dtype)


def _type_attr(spec: Op) -> Any:
    """The attr that the dtype of a row is put in."""
    types = {attr.name: attr for attr in spec.attrs if attr.type == "type"}
    return next((types[name] for name in ("dtype", "T", "Tparams", "TI", "SrcT", "Tvalues", "Tidx", "value_type")
                 if name in types), None)


def _allows(spec: Op, dtype: str) -> bool:
    attr = _type_attr(spec)
    if attr is None:
        return dtype == "float32"
    return not attr.allowed or dtype in [official(t).name for t in attr.allowed]


def _first_dtype(spec: Op) -> str:
    return next((d for d in ("float32", "int32", "bool", "float64", "int64", "uint8", "complex64") if _allows(spec, d)),
                "float32")


def _elementwise(spec: Op) -> list[tuple[str, Callable[[Make], Call]]]:
    def call(m: Make, shapes: list[Any]) -> Call:
        inputs = []
        for arg, shape in zip(spec.inputs, shapes, strict=True):
            fixed = arg.type not in [a.name for a in spec.attrs]
            kind = official(arg.type).name if fixed else m.dtype
            values = m.x(*shape)
            if np.dtype(kind).kind == "f":
                domain = getattr(spec, "domain", "")
                values = points(domain, m.random.uniform(0.1, 0.9, shape), m.random.choice([-1.0, 1.0], shape))
            inputs.append(np.asarray(values).astype(kind))
        return inputs, {"DstT": "int32" if m.dtype[0] in "fb" else "float32"} if spec.name == "Cast" else {}

    count, own = len(spec.inputs), lambda m: (m.side, m.side)
    made = [("", lambda m: call(m, [own(m)] * count))]
    if count == 2 and spec.name in LAYOUTS:
        made += [("by a row", lambda m: call(m, [own(m), (m.side,)])),
                 ("by a column", lambda m: call(m, [own(m), (m.side, 1)]))]
    return made


def _reduction(spec: Op) -> list[tuple[str, Callable[[Make], Call]]]:
    if spec.name == "BiasAddGrad":
        return [("", lambda m: ([m.x(m.rows(64), 64)], {})), ("images", lambda m: ([m.images()], {}))]
    if len(spec.inputs) == 1:
        return [("", lambda m: ([m.x(m.n)], {}))]
    shapes: dict[str, tuple[Callable[[Make], np.ndarray], list[int]]] = {
        "last axis": (lambda m: m.x(m.side, m.side), [1]), "first axis": (lambda m: m.x(m.side, m.side), [0]),
        "first axis, 8 columns": (lambda m: m.x(m.rows(8), 8), [0]),
        "last axis of 8": (lambda m: m.x(m.rows(8), 8), [1]),
        "all": (lambda m: m.x(m.side, m.side), [0, 1]), "middle axis": (lambda m: m.x(m.rows(1024), 32, 32), [1]),
        "spatial axes": (lambda m: m.images(16), [1, 2]), "batch and spatial axes": (lambda m: m.images(16), [0, 1, 2])}
    return [(label, lambda m, make=make, axes=axes: ([make(m), axes], {}))         # type: ignore[misc]
            for label, (make, axes) in shapes.items()]


def _rowwise(spec: Op) -> list[tuple[str, Callable[[Make], Call]]]:
    return [(f"rows of {k}", lambda m, k=k: ([m.normal(m.rows(k), k)], {})) for k in (10, 100, 1000)]  # type: ignore[misc]


def _update(spec: Op) -> list[tuple[str, Callable[[Make], Call]]]:
    """Updates of whole variables or, where the op has indices, of a quarter of the rows."""
    names = [arg.name for arg in spec.inputs]

    def call(m: Make) -> Call:
        rows = m.rows(64)
        count = rows // 4 if "indices" in names else rows
        inputs: list[Any] = []
        for arg in spec.inputs:
            if arg.name == "indices":
                inputs.append(m.i(rows, *((count, 1) if "Nd" in spec.name else (count,))))
            elif _RATES.match(arg.name):
                value = m.x() * 0.01
                inputs.append(np.int64(3) if arg.type == "int64" else -0.5 * np.ones((), m.dtype)
                              if arg.name == "lr_power" else np.asarray(value, m.dtype))
            else:
                inputs.append(m.x(rows if arg.is_ref or arg.type == "resource" else count, 64))
        return inputs, {}
    return [("a quarter of the rows" if "indices" in names else "", call)]


def _examples(spec: Op) -> list[tuple[str, Callable[[Make], Call]]]:
    calls = [(inputs, attrs) for inputs, attrs in WRITTEN.get(spec.name, [])]
    calls = calls or [(record.given(list(record.arrays)), record.attrs) for record in from_examples(spec.name)]
    return [(f"example {i + 1}", lambda m, i=i: _repeated(spec.name, *calls[i], m.n))      # type: ignore[misc]
            for i in range(min(2, len(calls)))]


def _repeated(op: str, inputs: list[Any], attrs: dict[str, Any], n: int) -> Call:
    """Repeat the arrays of an example along their first dimension, all that are as long as the first array's.

    Raises ValueError if that is no call of the op.
    """
    if n == SIZES["tiny"]:
        return inputs, attrs
    arrays = [np.asarray(a) for value in inputs for a in (value if isinstance(value, list) and value and isinstance(
        value[0], np.ndarray) else [value])]
    sized = [a for a in arrays if a.ndim and a.size and a.dtype.kind == "f"] or [a for a in arrays if a.ndim and a.size]
    if not sized:
        raise ValueError("an example of scalars")
    length, factor = len(sized[0]), max(2, n // max(a.size for a in sized))

    def longer(value: Any, name: str) -> Any:
        if isinstance(value, list) and value and isinstance(value[0], np.ndarray):
            return [longer(v, name) for v in value]
        array = np.asarray(value)
        if name in OPS[op].value_inputs or array.ndim == 0 or len(array) != length:
            return value
        dtype = {"float64": np.float32, "int64": np.int32}.get(array.dtype.name, array.dtype) \
            if not isinstance(value, np.ndarray) else array.dtype
        return np.tile(array, (factor, *[1] * (array.ndim - 1))).astype(dtype)

    made = [longer(value, arg.name) for arg, value in zip(OPS[op].inputs, inputs, strict=True)]
    return made, attrs


def _cases(spec: Op) -> list[tuple[str, Callable[[Make], Call]]]:
    if spec.name in CASES:
        return CASES[spec.name]
    if isinstance(spec, kinds.Elementwise) and not any(arg.is_list for arg in spec.inputs):
        return _elementwise(spec)
    for kind, make in ((kinds.Reduction, _reduction), (kinds.Rowwise, _rowwise), (kinds.Update, _update),
                       (kinds.Scatter, _update)):
        if isinstance(spec, kind):
            return make(spec)
    return _examples(spec)


@functools.cache
def left_out() -> dict[str, str]:
    """Return op -> why the sweep has no row of it."""
    found = {}
    for name, spec in OPS.items():
        if _OUT.search(MODULE_OF.get(name, "")):
            found[name] = "needs files, threads or Python objects: a program of its own"
        elif isinstance(spec, (kinds.Flow, kinds.Loop, kinds.Control, kinds.Const, kinds.Placeholder, kinds.Variable,
                               kinds.ShapeOf, kinds.Read)):
            found[name] = "does no arithmetic of its own"
        elif not _cases(spec):
            found[name] = "has neither arguments in benchmarks/sweep_cases.py nor an example"
    return found


def plans(sizes: tuple[str, ...] = tuple(SIZES), quick: bool = False) -> Iterator[Plan]:
    """Yield all rows, in the order of the ops' names. quick: float32 at the medium size alone."""
    for name in sorted(OPS):
        if name not in left_out():
            yield from (plan for plan in of(name, quick) if plan.size in sizes)


def of(op: str, quick: bool = False) -> Iterator[Plan]:
    """Yield the rows of an op; quick: see `plans`."""
    spec = OPS[op]
    first, name = _first_dtype(spec), spec.name
    layout, regular = name in LAYOUTS, isinstance(spec, (kinds.Elementwise, kinds.Reduction))
    for k, (label, call) in enumerate(_cases(spec)):
        for size in ("medium",) if quick else SIZES:
            if size != "tiny" or k == 0:
                yield Plan(name, label, first, size, "fetch", call)
        if quick:
            continue
        if layout and k == 0:
            yield Plan(name, label, first, "large", "assign", call)
            for size in ("medium", "large"):
                yield Plan(name, f"{label}, transposed".lstrip(", "), first, size, "fetch", call, True)
            yield Plan(name, f"{label}, transposed".lstrip(", "), first, "large", "assign", call, True)
        if k == 0 or not regular:
            if spec.gradient is not None and first.startswith("float") and not spec.stateful:
                for size in ("medium", "large") if layout or not regular and k == 0 else ("medium",):
                    yield Plan(name, label, first, size, "gradient", call)
        if k == 0 and not label.startswith("example"):
            for dtype in DTYPES:
                if dtype != first and _allows(spec, dtype) and (regular or dtype != "bfloat16"):
                    yield Plan(name, label, dtype, "medium", "fetch", call)
