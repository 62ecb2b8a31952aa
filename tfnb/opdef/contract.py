"""Contract of an op, from its signature: the dtypes that it takes and makes, and which shapes go together."""
from __future__ import annotations

import inspect

from tfnb.opdef import kinds
from tfnb.opdef.op import Op
from tfnb.opdef.ranks import AtLeast, Single

_FLOATS = ("bfloat16", "half", "float", "double")
_INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
_GROUPS = {"floats": _FLOATS, "integers": _INTEGERS, "complex numbers": ("complex64", "complex128")}
_NOT_HERE = ("qint8", "quint8", "qint16", "quint16", "qint32", "variant")       # dtypes that no kernel takes
_SHAPES = {0: "scalar", 1: "vector", 2: "matrix"}
_NUMPY = {"half": "float16", "float": "float32", "double": "float64"}


def documentation(spec: Op) -> str:
    """Return what `help` shows of an op below its signature: its description, contract, name and example."""
    description, mark, example = inspect.cleandoc(spec.doc).partition(">>> ")
    terms = f"{contract(spec)}\nOfficial op: {spec.name}.".strip()
    return "\n\n".join(part for part in (description.rstrip(), terms, mark + example) if part)


def contract(spec: Op) -> str:
    """Return the contract of an op, a line for each fact; "" where the signature leaves all open."""
    lines = []
    for attr in spec.attrs:
        names = [arg.name for arg in spec.inputs if attr.name in (arg.type, arg.type_list)]
        taken = [dtype_words(attr.allowed)] * bool(attr.allowed) + ["all of one dtype"] * (len(names) > 1)
        if names and taken:
            lines.append(f"{', '.join(names)}: {'; '.join(taken)} (else TypeError).")
    lines += [f"{arg.name}: {_NUMPY.get(arg.type, arg.type)}." for arg in spec.inputs
              if arg.type and arg.type not in ("resource", "variant") and not _is_attr(spec, arg.type)]
    if spec.ranks:
        ranks = "; ".join(f"{name}: {_rank_words(rank)}" for name, rank in spec.ranks.items())
        lines.append(f"{ranks} (else ValueError).")
    if isinstance(spec, kinds.Elementwise) and spec.align is None and len(spec.inputs) > 1:
        lines.append("Shapes are broadcast; ValueError where they don't fit.")
    return "\n".join([*lines, *_result(spec)])


def _rank_words(rank: int | AtLeast | Single) -> str:
    if isinstance(rank, AtLeast):
        return f"rank {rank.rank} or more"
    return "scalar" if isinstance(rank, Single) else _SHAPES.get(rank, f"rank {rank}")


def _is_attr(spec: Op, name: str) -> bool:
    return any(attr.name == name for attr in spec.attrs)


def _result(spec: Op) -> list[str]:
    """Return the dtype of the one output, as a sentence."""
    if len(spec.outputs) != 1 or spec.outputs[0].is_list:
        return []
    made = spec.outputs[0].type
    if not _is_attr(spec, made):
        return [] if made in ("resource", "variant") else [f"The result is {_NUMPY.get(made, made)}."]
    same = [arg.name for arg in spec.inputs if arg.type == made]
    shaped = " and shape" if isinstance(spec, kinds.Elementwise) and len(spec.inputs) == 1 else ""
    return [f"The result has the dtype{shaped} of {same[0]}."] if same else [f"{made}: the dtype of the result."]


def dtype_words(allowed: tuple[str, ...]) -> str:
    """Official dtype names as "floats, int32, int64": groups that are whole by their name."""
    left = dict.fromkeys(name for name in allowed if name not in _NOT_HERE)
    found = []
    for words, group in _GROUPS.items():
        if left.keys() >= set(group):
            found.append(words)
            for name in group:
                del left[name]
    return ", ".join([*found, *(_NUMPY.get(name, name) for name in left)])
