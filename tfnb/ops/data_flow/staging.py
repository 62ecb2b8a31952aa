"""The classes of staging areas, `tf.contrib.staging`: buffers of tuples between the runs of a session."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tfnb.core.arguments import TENSORS, describe
from tfnb.core.dtypes import DType, as_dtype, int64
from tfnb.core.shape import TensorShape
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.graph.stack import get_default_graph, name_scope
from tfnb.ops.data_flow import staging_ops as ops
from tfnb.ops.declaration.public import public


class _Area:
    """Base of staging areas. Their ops find the buffer in the session by its name."""

    _prefix = ""

    def __init__(self, dtypes: Sequence[Any], shapes: Sequence[Any] | None, names: Sequence[str] | None,
                 shared_name: str | None, capacity: int, memory_limit: int) -> None:
        if shared_name is not None and not isinstance(shared_name, str):
            raise ValueError(f"shared_name must be a string, got {shared_name}")
        kind = type(self).__name__
        self._name = get_default_graph().unique_name(kind) if shared_name is None else shared_name
        self._dtypes = [as_dtype(dtype) for dtype in dtypes]
        for what, given in (("shapes", shapes), ("names", names)):
            if given is not None and len(given) != len(self._dtypes):
                raise ValueError(f"StagingArea {what} must be the same length as dtypes")
        self._shapes = [TensorShape(None if shapes is None else shape) for shape in shapes or self._dtypes]
        self._names = None if names is None else list(names)
        for what, bound in (("capacity", capacity), ("memory_limit", memory_limit)):
            if bound < 0:
                raise ValueError(f"{what} must be at least 0, got {bound}")
        self._capacity, self._memory_limit = capacity, memory_limit

    @property
    def name(self) -> str:
        """The name by which ops find the buffer."""
        return self._name

    @property
    def dtypes(self) -> list[DType]:
        """The dtypes of the components."""
        return self._dtypes

    @property
    def shapes(self) -> list[TensorShape]:
        """The static shapes of the components."""
        return self._shapes

    @property
    def names(self) -> list[str] | None:
        """The names of the components, or None."""
        return self._names

    @property
    def capacity(self) -> int:
        """The most tuples that it holds; 0: any number."""
        return self._capacity

    @property
    def memory_limit(self) -> int:
        """The most bytes that it holds; 0: any number."""
        return self._memory_limit

    def _options(self) -> dict[str, Any]:
        return {"shared_name": self._name, "capacity": self._capacity, "memory_limit": self._memory_limit}

    def _scope(self, what: str, name: str | None) -> str:
        return name or f"{self._name}_{what}"

    def _by_index(self, values: Any, indices: Sequence[int] | None) -> dict[int, Any]:
        """Return the components of `values` by their indices. Raises ValueError for names that there are not."""
        if isinstance(values, dict):
            if self._names is None:
                raise ValueError("Staging areas must have names to enqueue a dictionary")
            if not set(values) <= set(self._names):
                raise ValueError(f"Keys in dictionary to put do not match names of staging area. Dictionary: "
                                 f"{sorted(values)}, Queue: {sorted(self._names)}")
            return {i: values[name] for i, name in enumerate(self._names) if name in values}
        if self._names is not None:
            raise ValueError("You must enqueue a dictionary in a staging area with names")
        listed = list(values) if isinstance(values, (list, tuple)) else [values]
        found = range(len(listed)) if indices is None else indices
        if len(found) != len(listed):
            raise ValueError(f"Number of indices {len(found)} doesn't match number of values {len(listed)}")
        return dict(zip(found, listed, strict=True))

    def _put(self, values: Any, indices: Sequence[int] | None = None) -> tuple[list[int], list[Tensor]]:
        """Return indices, which ascend, and tensors. Raises ValueError for other dtypes and shapes than stated."""
        found = sorted(self._by_index(values, indices).items())
        tensors = []
        for i, value in found:
            if not 0 <= i < len(self._dtypes):
                raise IndexError(f"there are {len(self._dtypes)} components, got the index {i}")
            tensor = value if isinstance(value, Tensor) else convert_to_tensor(value, dtype=self._dtypes[i])
            if tensor.dtype.base_dtype != self._dtypes[i]:
                raise ValueError(f"Datatypes do not match. Received val.dtype {tensor.dtype.name} and dtype "
                                 f"{self._dtypes[i].name}")
            tensor.shape.assert_is_compatible_with(self._shapes[i])
            tensors.append(tensor)
        return [i for i, _ in found], tensors

    def _returned(self, tensors: list[Tensor], indices: Sequence[int]) -> Any:
        for tensor, i in zip(tensors, indices, strict=True):
            tensor.set_shape(self._shapes[i])
        if self._names is None:
            return tensors
        return {self._names[i]: tensor for i, tensor in zip(indices, tensors, strict=True)}

    def _ask(self, op: str, what: str, name: str | None) -> Any:
        return getattr(ops, f"{self._prefix}{op}")(dtypes=self._dtypes, name=self._scope(what, name), **self._options())

    def size(self, name: str | None = None) -> Tensor:
        """Return the number of tuples in the area, an int32 scalar."""
        made: Tensor = self._ask("Size", "size", name)
        return made

    def clear(self, name: str | None = None) -> Operation:
        """Return an operation that removes everything."""
        made: Operation = self._ask("Clear", "clear", name)
        return made


@public("contrib.staging.StagingArea")
class StagingArea(_Area):
    """FIFO buffer of tuples between the runs of a session: one stages what a later one takes out.

    dtypes, shapes: of the components (shapes: None where they are not known); names: of the components, which come and
    go in dicts then; shared_name: areas of one shared name are one in a session. capacity: the most tuples that it
    holds, memory_limit: the most bytes; 0: any number. Raises ValueError for lists of other lengths than dtypes.

    >>> area = tf.contrib.staging.StagingArea([tf.float32], shapes=[[2]])
    >>> stage, taken = area.put([tf.constant([1.0, 2.0])]), area.get()
    >>> sess.run(stage)
    >>> sess.run(taken), sess.run(area.size())
    ([array([1., 2.], dtype=float32)], 0)
    """

    _prefix = "Stage"

    def __init__(self, dtypes: Sequence[Any], shapes: Sequence[Any] | None = None, names: Sequence[str] | None = None,
                 shared_name: str | None = None, capacity: int = 0, memory_limit: int = 0) -> None:
        super().__init__(dtypes, shapes, names, shared_name, capacity, memory_limit)

    def put(self, values: Any, name: str | None = None) -> Operation:
        """Return an operation that appends a tuple, waiting while the area is full.

        values: a tensor, a list of them, or a dict where there are names. Running it raises ResourceExhaustedError for
        what exceeds the memory limit alone, CancelledError when the session is closed.
        """
        with name_scope(self._scope("put", name)) as scope:
            _, tensors = self._put(values)
            made: Operation = ops.Stage(tensors, name=scope, **self._options())
        return made

    def get(self, name: str | None = None) -> Any:
        """Return the first tuple, which leaves, waiting for one: a list, or a dict where there are names."""
        made = ops.Unstage(dtypes=self._dtypes, name=self._scope("get", name), **self._options())
        return self._returned(made, range(len(made)))

    def peek(self, index: Any, name: str | None = None) -> Any:
        """Return the tuple at `index`, which stays, waiting until there are as many; else as `get`."""
        made = ops.StagePeek(index, dtypes=self._dtypes, name=self._scope("peek", name), **self._options())
        return self._returned(made, range(len(made)))


@public("contrib.staging.MapStagingArea")
class MapStagingArea(_Area):
    """Buffer of tuples by int64 keys between the runs of a session; the components of a tuple may come in parts.

    ordered: what is taken without a key has the least one, else any. dtypes, shapes, names, shared_name, capacity,
    memory_limit: as of StagingArea.

    >>> area = tf.contrib.staging.MapStagingArea([tf.float32], ordered=True)
    >>> x, key = tf.placeholder(tf.float32), tf.placeholder(tf.int64, [])
    >>> stage, (found, taken) = area.put(key, [x], [0]), area.get()
    >>> for k in (7, 3):
    ...     sess.run(stage, {key: k, x: k / 2})
    >>> sess.run([found, taken])
    [3, [1.5]]
    """

    def __init__(self, dtypes: Sequence[Any], shapes: Sequence[Any] | None = None, names: Sequence[str] | None = None,
                 shared_name: str | None = None, ordered: bool = False, capacity: int = 0,
                 memory_limit: int = 0) -> None:
        super().__init__(dtypes, shapes, names, shared_name, capacity, memory_limit)
        self._prefix = "OrderedMap" if ordered else "Map"

    def _op(self, name: str) -> Any:
        return getattr(ops, f"{self._prefix}{name}")

    def put(self, key: Any, vals: Any, indices: Sequence[int] | None = None, name: str | None = None) -> Operation:
        """Return an operation that inserts components of the tuple of a key, waiting while the area is full.

        key: an int64 scalar; vals: a tensor, a dict where there are names, or a list with the `indices` of its
        components. Running it raises InvalidArgumentError for a component that the key has already.
        """
        with name_scope(self._scope("put", name)) as scope:
            if isinstance(vals, (list, tuple)) and indices is None:
                raise ValueError("Indices must be supplied when inserting a list of tensors")
            chosen, tensors = self._put(vals, indices)
            made: Operation = self._op("Stage")(
                convert_to_tensor(key, dtype=int64), np.array(chosen, np.int32), tensors, dtypes=self._dtypes,
                name=scope, **self._options())
        return made

    def _chosen(self, indices: Sequence[Any] | None) -> list[int]:
        """Return indices of components, which may be names. Raises ValueError, TypeError for others."""
        if indices is None:
            return list(range(len(self._dtypes)))
        if indices and all(isinstance(i, str) for i in indices):
            if self._names is None:
                raise ValueError(f"String indices provided {list(indices)}, but this Staging Area was not created with "
                                 "names.")
            return [self._names.index(i) for i in indices]
        if not all(isinstance(i, int) for i in indices):
            raise TypeError(f"Mixed types in indices {list(indices)}, may only be str or int")
        return list(indices)

    def _take(self, op: str, what: str, given: Sequence[Tensor], indices: Any, name: str | None) -> tuple[Any, Any]:
        """Return the key that an op returns before the components, if it does, and the components."""
        chosen = self._chosen(indices)
        made = self._op(op)(*given, np.array(chosen, np.int32), dtypes=[self._dtypes[i] for i in chosen],
                            name=self._scope(what, name), **self._options())
        key, values = (None, made) if given else made
        return key, self._returned(values, chosen)

    def get(self, key: Any = None, indices: Sequence[Any] | None = None, name: str | None = None) -> Any:
        """Return (key, components), which leave, waiting for them; without a key those of the least or of any.

        indices: numbers or names of the components, by default all. The components are a list, or a dict where there
        are names. Running it raises InvalidArgumentError for a component that left before.
        """
        if key is None:
            return self._take("UnstageNoKey", "get_nokey", [], indices, name)
        tensor = convert_to_tensor(key, dtype=int64)
        return tensor, self._take("Unstage", "get", [tensor], indices, name)[1]

    def peek(self, key: Any, indices: Sequence[Any] | None = None, name: str | None = None) -> Any:
        """Return components of the tuple of a key, which stay, waiting for it."""
        return self._take("Peek", "pop", [convert_to_tensor(key, dtype=int64)], indices, name)[1]

    def incomplete_size(self, name: str | None = None) -> Tensor:
        """Return the number of tuples of which components are missing, an int32 scalar."""
        made: Tensor = self._ask("IncompleteSize", "incomplete_size", name)
        return made


describe(globals(), TENSORS)
