"""Derivatives of scalar bodies: a body as a composition of TensorFlow's ops, which `tf.gradients` goes through."""
from __future__ import annotations

from typing import Any

from tfnb.autodiff.gradients import gradients
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.kernels.scalar.definition import Program
from tfnb.kernels.scalar.number_types import Literal
from tfnb.ops.control.source import constant
from tfnb.ops.declaration.raw import raw

# Primitive -> the op that computes it, and has a gradient or a reason why there is none.
OPS = {
    "add": "AddV2", "sub": "Sub", "mul": "Mul", "div": "RealDiv", "neg": "Neg", "pow": "Pow", "floordiv": "FloorDiv",
    "floormod": "FloorMod", "square": "Square", "reciprocal": "Reciprocal", "sign": "Sign", "abs": "Abs",
    "maximum": "Maximum", "minimum": "Minimum", "floor": "Floor", "ceil": "Ceil", "rint": "Rint", "equal": "Equal",
    "not_equal": "NotEqual", "less": "Less", "less_equal": "LessEqual", "greater": "Greater",
    "greater_equal": "GreaterEqual", "and": "LogicalAnd", "or": "LogicalOr", "xor": "NotEqual", "invert": "LogicalNot",
    "logical_and": "LogicalAnd", "logical_or": "LogicalOr", "logical_xor": "NotEqual", "logical_not": "LogicalNot",
    "isnan": "IsNan", "isinf": "IsInf", "isfinite": "IsFinite", "where": "SelectV2", "exp": "Exp", "expm1": "Expm1",
    "log": "Log", "log1p": "Log1p", "sin": "Sin", "cos": "Cos", "tan": "Tan", "sinh": "Sinh", "cosh": "Cosh",
    "asin": "Asin", "acos": "Acos", "atan": "Atan", "asinh": "Asinh", "acosh": "Acosh", "atanh": "Atanh",
    "tanh": "Tanh", "sqrt": "Sqrt", "rsqrt": "Rsqrt", "atan2": "Atan2", "sigmoid": "Sigmoid", "erf": "Erf",
    "erfc": "Erfc", "lgamma": "Lgamma", "digamma": "Digamma",
}


def derived(op: Operation, *dys: Tensor | None) -> list[Tensor | None]:
    """Compute the gradients of the inputs of an elementwise op from its body.

    Raises LookupError for a body with a primitive that is no op: its gradient must be declared.
    """
    spec: Any = op.spec
    inputs = [raw.Identity(t) for t in op.inputs]
    made = composed(spec.body.program(op.attrs), inputs, spec.name)
    pairs = [(y, dy) for y, dy in zip(made, dys, strict=True) if dy is not None and isinstance(y, Tensor)
             and y.dtype == dy.dtype]
    if not pairs:
        return [None] * len(inputs)
    found: list[Tensor | None] = gradients([y for y, _ in pairs], inputs, [dy for _, dy in pairs])
    return found


def composed(program: Program, inputs: list[Tensor], name: str) -> list[Any]:
    """Add the ops that compute a body of tensors; return its results."""
    values: list[Any] = list(inputs)
    for step in program.steps:
        if step.primitive not in OPS:
            raise LookupError(f"no gradient is defined for op {name!r}: its body uses `{step.primitive}`, whose "
                              f"derivative is not known. Declare one with @{name}.gradient")
        args = [_number(arg.value, values) if isinstance(arg, Literal) else values[arg] for arg in step.args]
        values.append(getattr(raw, OPS[step.primitive])(*args))
    return [values[ref] if isinstance(ref, int) else ref.value for ref in program.results]


def _number(value: Any, tensors: list[Tensor]) -> Any:
    """Return a literal as a constant of the dtype of the operands; a truth value as it is."""
    return value if isinstance(value, bool) or not tensors else constant(value, tensors[0].dtype.base_dtype)
