"""The call of a public function that failed: its name as it was written, and its arguments with their Python names.

The call is read from the user's line (where the source is known), so that an argument is what the user gave, not what
the function has made of it.
"""
from __future__ import annotations

import ast
import inspect
import os
import re
import sysconfig
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from types import CodeType, FrameType, TracebackType
from typing import Any

import numpy as np

from tfnb.core.source import PACKAGE
from tfnb.core.text import cut
from tfnb.graph.closure import closure
from tfnb.graph.parts.collection import op_of
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.notebook.frontend.locations import parsed
from tfnb.notebook.frontend.python_names import name_of
from tfnb.notebook.graph.read import shape_label

MOST = 12               # arguments, entries of a list or dict
LONGEST = 24            # letters of a plain argument
DEEPEST = 8             # errors that an error came from
RUNNERS = tuple(os.path.join(PACKAGE, folder, "") for folder in ("runtime", "notebook", "debug", "data"))
LIBRARY = tuple(sysconfig.get_path(name) for name in ("stdlib", "purelib", "platlib"))
ASKED = frozenset({"__bool__", "__iter__", "__len__", "__array__", "__float__", "__int__", "__index__"})  # for a value
OPERATORS = (ast.BinOp, ast.UnaryOp, ast.Compare, ast.Subscript)


@dataclass(frozen=True)
class Argument:
    """A value that a function got: of which parameter (or entry of it), by which Python name, with which shape.

    tensor: None for an array or a plain value; shape: "" for a plain value; fits: False where it is to blame.
    """

    parameter: str
    text: str
    tensor: Tensor | None = None
    shape: str = ""
    fits: bool = True


@dataclass(frozen=True)
class FailedCall:
    """A call as the user wrote it, with its arguments."""

    function: str
    arguments: tuple[Argument, ...]

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        """The tensors among the arguments."""
        return tuple(argument.tensor for argument in self.arguments if argument.tensor is not None)


def failed_call(error: BaseException | None) -> FailedCall | None:
    """Return the innermost call by the user of a function that makes ops, if it refused tensors that it got."""
    attempt = _attempt(error)
    if error is None or attempt is None and not isinstance(error, (ValueError, TypeError)):
        return None
    found = _entered(error.__traceback__)
    if found is None or found[1].f_code.co_name in ASKED:
        return None
    call = _read_call(*found)
    return replace(call, arguments=_blamed(call.arguments, attempt, str(error))) if call.tensors else None


def _attempt(error: BaseException | None) -> Operation | None:
    """The op that could not be made, if an error, or what it came from, is about one."""
    for _ in range(DEEPEST):
        if error is None:
            return None
        found: Operation | None = getattr(error, "attempt", None)
        if found is not None:
            return found
        error = error.__cause__ or error.__context__
    return None


def _entered(trace: TracebackType | None) -> tuple[TracebackType, FrameType] | None:
    """The last place of the traceback where code of the user calls tfnb, and the function called there; None where a
    session runs."""
    found = None
    while trace is not None and trace.tb_next is not None:
        inner = trace.tb_next
        file, inside = trace.tb_frame.f_code.co_filename, inner.tb_frame.f_code.co_filename
        if inside.startswith(RUNNERS):
            return None
        if inside.startswith(PACKAGE) and not file.startswith((PACKAGE, *LIBRARY)):
            found = trace, inner
        trace = inner
    return (found[0], _unwrapped(found[1])) if found else None


def _unwrapped(trace: TracebackType) -> FrameType:
    """The frame of a function, not of a decorator around it."""
    while trace.tb_next is not None and _wraps(trace.tb_frame, trace.tb_next.tb_frame):
        trace = trace.tb_next
    return trace.tb_frame


def _wraps(frame: FrameType, inner: FrameType) -> bool:
    return any(getattr(frame.f_locals.get(name), "__code__", None) is inner.f_code for name in frame.f_code.co_freevars)


def _read_call(trace: TracebackType, frame: FrameType) -> FailedCall:
    """The call at a place of the user's code that entered `frame`."""
    code, user = frame.f_code, trace.tb_frame
    names = {**user.f_globals, **user.f_locals}
    written = _written(user.f_code, trace.tb_lasti)
    name = str(getattr(frame.f_locals.get("cls"), "__name__", code.co_name))
    if isinstance(written, ast.Call):
        dotted = re.fullmatch(r"[\w.]+", ast.unparse(written.func))
        name = dotted[0] if dotted else name
        given = [*zip(_parameters(frame), written.args, strict=False), *((k.arg, k.value) for k in written.keywords)]
        if all(key is not None and not isinstance(node, ast.Starred) for key, node in given):
            read = [each for key, node in given
                    for each in _entries(str(key), node, _value(node, names, frame, str(key)))]
            if isinstance(written.func, ast.Attribute):         # of a variable, a tensor: it is an argument, too
                of = _value(written.func.value, names, frame, "self")
                read[:0] = [("", ast.unparse(written.func.value), of)] * (op_of(of) is not None)
            return FailedCall(f"{name}()", _named(read, names))
    if isinstance(written, OPERATORS):
        parts = [node for node in ast.iter_child_nodes(written) if isinstance(node, ast.expr)]
        read = [("", ast.unparse(node), _value(node, names, frame, _parameters(frame, 0)[i:i + 1]))
                for i, node in enumerate(parts)]
        return FailedCall(cut(ast.unparse(written), LONGEST), _named(read, names))
    local = [(key, "", frame.f_locals.get(key)) for key in _parameters(frame)]
    return FailedCall(f"{name}()", _named([each for each in local if not _is_plain(each[2])], names))


def _entries(key: str, node: ast.expr, value: Any) -> Iterator[tuple[str, str, Any]]:
    """An argument, or the entries of a list that was written in the call, as (parameter, text, value)."""
    parts = node.elts if isinstance(node, (ast.List, ast.Tuple)) else []
    if isinstance(value, (list, tuple)) and len(parts) == len(value) and not _is_plain(value):
        for i, (part, one) in enumerate(zip(parts, value, strict=True)):
            yield from _entries(f"{key}[{i}]", part, one)
    else:
        yield key, ast.unparse(node), value


def _written(code: CodeType, position: int) -> ast.AST | None:
    """The expression that was evaluated at a position of the bytecode; None where its source is not known."""
    place = list(code.co_positions())[position // 2]
    tree = parsed(code.co_filename)
    found = [node for node in (ast.walk(tree) if tree else ()) if isinstance(node, (ast.Call, *OPERATORS)) and
             (node.lineno, node.end_lineno, node.col_offset, node.end_col_offset) == place]
    return found[0] if found else None


def _parameters(frame: FrameType, skip: int | None = None) -> list[str]:
    """The names of a function's parameters, without that of a bound object; of a layer's function its signature's."""
    code = frame.f_code
    signature = next((v for v in frame.f_locals.values() if isinstance(v, inspect.Signature)), None)
    if signature is not None:
        return list(signature.parameters)
    names = [*code.co_varnames[:code.co_argcount + code.co_kwonlyargcount]]
    return names[names[:1] in (["self"], ["cls"]) if skip is None else skip:]


def _value(node: ast.expr, names: Mapping[str, Any], frame: FrameType, parameter: Any) -> Any:
    """The value of an argument: by its name, for nothing is run again; else what the function holds of it."""
    try:
        return _looked_up(node, names)
    except (LookupError, AttributeError, TypeError, ValueError):
        key = parameter if isinstance(parameter, str) else (*parameter, "")[0]
        return frame.f_locals.get(key)


def _looked_up(node: ast.expr, names: Mapping[str, Any]) -> Any:
    if isinstance(node, ast.Name):
        return names[node.id]
    if isinstance(node, ast.Attribute):
        found = inspect.getattr_static(_looked_up(node.value, names), node.attr)
        if hasattr(found, "__get__"):
            raise AttributeError(f"{node.attr} is computed")
        return found
    if isinstance(node, ast.Subscript):
        whole = _looked_up(node.value, names)
        if not isinstance(whole, (list, tuple, dict)):
            raise TypeError("an operator of the user's")
        return whole[_looked_up(node.slice, names)]
    if isinstance(node, (ast.List, ast.Tuple)):
        return [_looked_up(part, names) for part in node.elts]
    return ast.literal_eval(node)


def _named(read: list[tuple[str, str, Any]], names: Mapping[str, Any]) -> tuple[Argument, ...]:
    return tuple(argument for one in read for argument in _flat(*one, names))[:MOST]


def _flat(parameter: str, text: str, value: Any, names: Mapping[str, Any]) -> Iterator[Argument]:
    """The tensors, variables and arrays in an argument, each by its own name; a plain argument as it is written."""
    op = None if isinstance(value, type) else op_of(value)
    if op is not None and op.outputs and not isinstance(value, Operation):
        tensor = value if isinstance(value, Tensor) else op.outputs[0]
        simple = re.fullmatch(r"[\w.\[\]'\"]+", text)
        yield Argument(parameter, simple[0] if simple else name_of(tensor, names), tensor, shape_label(tensor.static))
    elif isinstance(value, np.ndarray):
        yield Argument(parameter, cut(text or parameter, LONGEST), None, shape_label(value.shape))
    elif isinstance(value, (list, tuple, dict)) and not _is_plain(value):
        pairs = list(value.items() if isinstance(value, dict) else enumerate(value))[:MOST]
        for key, part in pairs:
            here = f"{text}[{key!r}]" if re.fullmatch(r"[\w.]+", text) else ""
            yield from _flat(f"{parameter}[{key!r}]", here, part, names)
    elif text:
        yield Argument(parameter, cut(text, LONGEST))


def _is_plain(value: Any) -> bool:
    """Whether there is neither a tensor nor an array in a value."""
    if isinstance(value, (list, tuple, dict)):
        return all(map(_is_plain, value.values() if isinstance(value, dict) else value))
    return not isinstance(value, np.ndarray) and (isinstance(value, type) or op_of(value) is None)


def _blamed(arguments: tuple[Argument, ...], attempt: Operation | None, message: str) -> tuple[Argument, ...]:
    """Mark what does not fit: what came into the op that failed, else what the message names, else all tensors."""
    own = {argument.tensor.op for argument in arguments if argument.tensor is not None}
    inner = attempt.inputs if attempt is not None else ()
    reached = closure({t.op for t in inner}, lambda op: () if op in own else [t.op for t in op.inputs])
    words = set(re.findall(r"\w+", message.partition("\n")[0]))      # below stand notes on all tensors

    def says(argument: Argument) -> bool:
        return argument.parameter.partition("[")[0] in words and bool(argument.parameter)

    wrong = {argument for argument in arguments if argument.tensor is not None and argument.tensor.op in reached}
    wrong = wrong or {argument for argument in arguments if says(argument)}
    wrong = wrong or {argument for argument in arguments if argument.tensor is not None}
    return tuple(replace(argument, fits=argument not in wrong) for argument in arguments)
