"""Fetch and feed structures of `Session.run`: nested lists, tuples and dicts, flattened, checked and rebuilt."""
from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from operator import itemgetter
from typing import Any

import numpy as np

from tfnb.core import nest
from tfnb.core.errors import InternalError, InvalidArgumentError
from tfnb.core.stale import why_stale
from tfnb.core.text import shown
from tfnb.graph.graph import Graph
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.graph.parts.python_names import told_operands, told_value
from tfnb.kernels.library.text.objects import only_bytes
from tfnb.runtime.tensor_handle import TensorHandle

Build = Callable[[list[Any]], Any]              # from the values of a run, a list of its own
Join = Callable[[list[Any]], Any]
Step = tuple[Join | None, int]                  # (None, index of a value) or (join, count of parts)
NOTHING = -1                                    # index of the value of an operation, None


@dataclass(frozen=True)
class Fetches:
    """A flattened fetch structure: its distinct tensors and operations, and how to rebuild it from values.

    single: the result is the value of the one tensor.
    """

    tensors: tuple[Tensor, ...]
    targets: tuple[Operation, ...]
    build: Build
    single: bool


def read_fetches(fetches: Any, graph: Graph) -> Fetches:
    """Flatten a fetch structure. Raises TypeError for no graph element, ValueError for one of another graph."""
    tensors: dict[Tensor, int] = {}
    targets: dict[Operation, None] = {}
    build = _builder(fetches, graph, tensors, targets)
    inner = _components(fetches) is not None
    return Fetches(tuple(tensors), tuple(targets), build, not inner and len(tensors) == 1)


def with_handles(read: Fetches, session: Any) -> Fetches:
    """Return fetches that give a TensorHandle for each handle among them."""
    found = {i: t.op.inputs[0].dtype.base_dtype for i, t in enumerate(read.tensors)
             if t.op.spec.role == "session handle"}
    if not found:
        return read

    def build(values: list[Any]) -> Any:
        for i, dtype in found.items():
            values[i] = TensorHandle(values[i], dtype, session)
        return read.build(values)
    return replace(read, build=build, single=False)


def _builder(fetches: Any, graph: Graph, tensors: dict[Tensor, int], targets: dict[Operation, None]) -> Build:
    """Return the function that rebuilds the structure from the values of `tensors`, which are found on the way.

    Its steps are in postfix order (leaves, then what joins them), so that deep structures need no recursion. One
    element and a flat list, which training loops fetch, have functions of their own: 0.3 us less a run.
    """
    steps: list[Step] = []

    def leaf(fetch: Any) -> None:
        element = graph_element(fetch, graph)
        if isinstance(element, Operation):
            targets[element] = None
            steps.append((None, NOTHING))
        else:
            steps.append((None, tensors.setdefault(element, len(tensors))))

    nest.rebuilt(fetches, leaf, lambda fetch, parts: steps.append((_join(fetch), len(parts))), _components)
    *leaves, (join, index) = steps
    if join is None:
        return _nothing if index == NOTHING else itemgetter(index)
    if all(inner is None for inner, _ in leaves):
        return partial(_flat, join, tuple(n for _, n in leaves))
    return partial(_run_steps, tuple(steps))


def _nothing(values: Sequence[Any]) -> None:
    """Return the value of a fetched operation."""


def _flat(join: Join, places: Sequence[int], values: list[Any]) -> Any:
    values.append(None)                            # at NOTHING
    return join([values[n] for n in places])


def _run_steps(steps: Sequence[Step], values: list[Any]) -> Any:
    values.append(None)                            # at NOTHING
    made: list[Any] = []
    for join, n in steps:
        if join is None:
            made.append(values[n])
        else:
            start = len(made) - n
            made[start:] = [join(made[start:])]
    return made[0]


def _components(fetch: Any) -> Sequence[Any] | None:
    """Return the parts of a fetch, None if it is one element."""
    if isinstance(fetch, (list, tuple)):
        return fetch
    if isinstance(fetch, Mapping):
        return list(fetch.values())
    rule = nest.composite(fetch)
    return None if rule is None else rule.parts(fetch)


def _join(fetch: Any) -> Join:
    """Return the function from the values of the parts of `fetch` to its value."""
    if isinstance(fetch, list):
        return list
    if isinstance(fetch, tuple):
        return (lambda parts: type(fetch)(*parts)) if hasattr(fetch, "_fields") else tuple
    if isinstance(fetch, Mapping):
        keys = list(fetch)
        made: Any = partial(defaultdict, fetch.default_factory) if isinstance(fetch, defaultdict) else type(fetch)
        return lambda parts: made(zip(keys, parts, strict=True))
    rule: Any = nest.composite(fetch)
    return lambda parts: rule.value(fetch, parts)


def graph_element(fetch: Any, graph: Graph) -> Tensor | Operation:
    """Return the tensor or operation that a fetch names. Raises TypeError or ValueError as Session.run documents."""
    try:
        element: Tensor | Operation = graph.as_graph_element(fetch, allow_tensor=True, allow_operation=True)
    except TypeError as error:
        raise TypeError(f"Fetch argument {fetch!r} has invalid type {type(fetch).__name__!r}, must be a string or "
                        f"Tensor. ({error}){told_value(fetch)}") from None
    except (ValueError, KeyError) as error:
        stale = why_stale(fetch if isinstance(fetch, Operation) else getattr(fetch, "op", None)) \
            if isinstance(fetch, (Tensor, Operation)) else None
        text = stale or (error.args[0] if error.args else error)
        raise ValueError(f"Fetch argument {fetch!r} cannot be interpreted as a Tensor. ({text})"
                         f"{'' if stale else told_operands([fetch])}") from None
    if not graph.is_fetchable(element):
        raise ValueError(f"Operation {element.name!r} has been marked as not fetchable.")
    return element


def flat_feeds(feed_dict: Mapping[Any, Any]) -> Mapping[Any, Any]:
    """Flatten the tuples of tensors, and composite tensors, in a `feed_dict`; return itself if there are none.

    Raises ValueError for a value that does not have as many parts as its key.
    """
    if not any(isinstance(key, (tuple, *nest.RULES)) for key in feed_dict):
        return feed_dict
    flat: dict[Any, Any] = {}
    for key, value in feed_dict.items():
        rule = nest.composite(key)
        if not isinstance(key, tuple) and rule is None:
            flat[key] = value
            continue
        keys, given = (key, value) if rule is None else (rule.parts(key), rule.fed(value))
        values = [v for v in given if v is not None]
        if len(keys) != len(values):
            raise ValueError(f"A feed of {len(keys)} tensors got {len(values)} values: {key!r}")
        flat.update(flat_feeds(dict(zip(keys, values, strict=True))))
    return flat


def feed_tensor(key: Any, graph: Graph) -> Tensor:
    """Return the tensor that a feed_dict key names. Raises TypeError for no tensor, ValueError if it can't be fed."""
    try:
        tensor: Tensor = graph.as_graph_element(key, allow_operation=False)
    except (TypeError, ValueError, KeyError) as error:
        text = error.args[0] if error.args else error
        raise TypeError(f"Cannot interpret feed_dict key as Tensor: {text}") from None
    if not graph.is_feedable(tensor):
        raise ValueError(f"Tensor {tensor.name} may not be fed.")
    return tensor


class Feed:
    """A fed tensor, with the dtype and shape that its value must have."""

    __slots__ = ("tensor", "_dtype", "_strings", "_static", "_last")

    def __init__(self, tensor: Tensor) -> None:
        self.tensor = tensor
        self._dtype: np.dtype[Any] = np.dtype(tensor.dtype.base_dtype.as_numpy_dtype)
        self._strings = self._dtype.kind == "O"
        self._static = tensor.static
        self._last: tuple[int, ...] | None = None       # shape of the last value: the next one mostly has it, too

    def array(self, value: Any) -> np.ndarray:
        """Convert `value` to a row-major array. Raises TypeError or ValueError if it does not fit the tensor."""
        if type(value) is np.ndarray and value.flags.c_contiguous and (
                only_bytes(value) if self._strings and value.dtype == self._dtype else value.dtype is self._dtype):
            array = value
        else:
            array = self._convert(value)
        if array.shape != self._last or self.tensor.static is not self._static:
            self._check(array.shape)
        return array

    def _check(self, given: tuple[int, ...]) -> None:
        """Raise ValueError for a shape that is not the tensor's."""
        shape = self.tensor.static
        if shape is not None and (len(shape) != len(given) or any(
                n is not None and n != m for n, m in zip(shape, given, strict=True))):
            want = "(" + ", ".join("?" if n is None else str(n) for n in shape) + (",)" if len(shape) == 1 else ")")
            raise ValueError(f"Cannot feed value of shape {given} for Tensor {self.tensor.name!r}, which has "
                             f"shape {want!r}\n{_place(self.tensor)}")
        self._static, self._last = shape, given

    def _convert(self, value: Any) -> np.ndarray:
        if isinstance(value, TensorHandle):
            return self._kept(value)
        if isinstance(value, (Tensor, Operation)) or hasattr(value, "_as_graph_element"):
            raise TypeError("The value of a feed cannot be a tf.Tensor object. Acceptable feed values include Python "
                            f"scalars, strings, lists, numpy ndarrays. For reference, the tensor object was {value!r} "
                            f"which was passed to the feed with key {self.tensor!r}."
                            + told_operands([value, self.tensor]))
        if isinstance(value, int) and not _holds(self._dtype, value):
            raise TypeError(f"Type of feed value {value} with type {type(value)} is not compatible with Tensor type "
                            f"{self.tensor.dtype.name}. Try explicitly setting the type of the feed tensor to a larger "
                            f"type (e.g. int64).\n{_place(self.tensor)}")
        try:
            if self._strings:
                return _strings(value)
            return np.asarray(value, self._dtype, order="C")
        except _NoString as error:
            raise InternalError(None, self.tensor.op, f"Unsupported object type {error}: cannot feed {_short(value)} "
                                f"for Tensor {self.tensor.name!r}, which holds strings") from None
        except (TypeError, ValueError, OverflowError) as error:
            kind = TypeError if isinstance(error, OverflowError) else type(error)
            raise kind(f"Cannot feed {_short(value)} for Tensor {self.tensor.name!r}, which is of dtype "
                       f"{self.tensor.dtype.name} and shape {self.tensor.shape}: {error}\n"
                       f"{_place(self.tensor)}") from None


    def _kept(self, value: TensorHandle) -> np.ndarray:
        """Return the value behind a handle. Raises InvalidArgumentError if it is of another dtype."""
        kept = value.kept()
        if kept.dtype != self._dtype:
            raise InvalidArgumentError(None, self.tensor.op, f"Expected a value of {self.tensor.dtype.name}, but the "
                                       f"handle {value} is of {kept.dtype}\n{_place(self.tensor)}")
        return kept


class _NoString(Exception):
    """Raised for an object that is no string, with the name of its class."""


def _holds(dtype: np.dtype[Any], value: int) -> bool:
    """Return whether this dtype represents a Python integer exactly."""
    try:
        return dtype.kind not in "biuf" or bool(dtype.type(value) == value)
    except OverflowError:
        return False


def _strings(value: Any) -> np.ndarray:
    """Return an object array of bytes, as the runtime keeps strings. Raises _NoString for neither str nor bytes."""
    array = np.asarray(value, object) if not isinstance(value, np.ndarray) else value.astype(object)
    flat = [v.encode() if isinstance(v, str) else v for v in array.reshape(-1)]
    for v in flat:
        if not isinstance(v, bytes):
            raise _NoString(type(v).__name__)
    out = np.empty(len(flat), object)
    out[:] = flat
    return out.reshape(array.shape)


def _short(value: Any) -> str:
    text = shown(value)
    return text if len(text) < 80 else text[:77] + "..."


def _place(tensor: Tensor) -> str:
    return f"{tensor.op.name!r} ({tensor.op.type}) was made at {tensor.op.made_at}{told_operands([tensor], tensor.op)}"
