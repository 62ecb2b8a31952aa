"""The structure of elements: tuples, namedtuples and dicts (by sorted keys) of components.

Unlike in other places of TensorFlow a list is no structure: it becomes one tensor.
"""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tfnb.core import dtypes, nest
from tfnb.core.dtypes import DType
from tfnb.core.shape import TensorShape
from tfnb.core.text import shown
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.operation import Tensor
from tfnb.ops.array.ragged_variants import RaggedTensorFromVariant, RaggedTensorToVariant
from tfnb.ops.composite.sparse_tensor import SparseTensor, SparseTensorValue
from tfnb.ops.io.serialized import DeserializeSparse, SerializeManySparse, SerializeSparse
from tfnb.ragged.specs import RaggedTensorSpec
from tfnb.ragged.tensor import RaggedTensor, from_value
from tfnb.ragged.value import RaggedTensorValue

_PASSED_AS = {SparseTensor: dtypes.string, RaggedTensor: dtypes.variant}      # the dtype of what holds such a component


@dataclass(frozen=True)
class Component:
    """Description of one component. inner: the structure of its elements, if it is a dataset; wrap: what makes the
    Dataset or the Optional of its tensor and of `inner`; SparseTensor for a component of that kind, which passes
    between datasets as strings [..., 3] (SerializeSparse); RaggedTensor for one that passes as a variant, with
    `ragged_rank` ragged axes (0: a Tensor) and row splits of the dtype `splits`."""

    dtype: DType
    shape: TensorShape
    inner: Any = None
    wrap: Any = None
    ragged_rank: int = 0
    splits: DType = dtypes.int64


class Structured:
    """Base of what has elements of one structure: datasets and iterators."""

    _element: Any

    @property
    def output_types(self) -> Any:
        """The dtype of each component, in the structure of an element."""
        return convert(lambda c: c.dtype, self._element)

    @property
    def output_shapes(self) -> Any:
        """The static shape of each component, in the structure of an element."""
        return convert(lambda c: c.shape, self._element)

    @property
    def output_classes(self) -> Any:
        """tf.Tensor, tf.SparseTensor, a RaggedTensorSpec or Dataset for each component, in the structure of an element.
        """
        return convert(lambda c: Tensor if c.wrap is None else ragged_spec(c) if c.wrap is RaggedTensor else c.wrap,
                       self._element)


def ragged_spec(component: Component) -> RaggedTensorSpec:
    """Return the specification of a ragged component."""
    return RaggedTensorSpec(component.shape, component.dtype, component.ragged_rank, component.splits)


def of_ragged_spec(spec: RaggedTensorSpec) -> Component:
    """Return the component that a specification of ragged tensors describes."""
    return Component(spec.dtype, TensorShape(spec.shape), wrap=RaggedTensor, ragged_rank=spec.ragged_rank,
                     splits=spec.row_splits_dtype)


def is_structure(value: Any) -> bool:
    """Return whether the value is a tuple or a dict."""
    return isinstance(value, (tuple, Mapping))


def _parts(value: Any) -> Sequence[Any] | None:
    if isinstance(value, Mapping):
        return [value[key] for key in sorted(value)]
    return value if isinstance(value, tuple) else None


def flatten(value: Any) -> list[Any]:
    """Return the leaves, in order."""
    return list(nest.leaves(value, _parts))


def pack(structure: Any, leaves: Sequence[Any]) -> Any:
    """Return `leaves` in the form of `structure`."""
    found = iter(leaves)
    return nest.rebuilt(structure, lambda _: next(found), _joined, _parts)


def _joined(structure: Any, parts: list[Any]) -> Any:
    if isinstance(structure, Mapping):
        made = dict(zip(sorted(structure), parts, strict=True))
        return type(structure)((key, made[key]) for key in structure)  # type: ignore[call-arg]
    return type(structure)(*parts) if hasattr(structure, "_fields") else tuple(parts)


def convert(fn: Callable[[Component], Any], structure: Any) -> Any:
    """Apply `fn` to each component; return the results in the form of `structure`."""
    return pack(structure, [fn(component) for component in flatten(structure)])


def flatten_up_to(structure: Any, value: Any, what: str) -> list[Any]:
    """Return the parts of `value` where `structure` has leaves. Raises TypeError if it is of another form."""
    found, waiting = [], [(structure, value)]
    while waiting:
        form, part = waiting.pop()
        inner = _parts(form)
        if inner is None:
            found.append(part)
        else:
            waiting.extend(reversed(list(zip(inner, _like(form, part, what), strict=True))))
    return found


def _like(form: Any, value: Any, what: str) -> Sequence[Any]:
    """Return the parts of `value`, in the order of those of `form`. Raises TypeError if it is of another form."""
    if isinstance(form, Mapping):
        if not isinstance(value, Mapping) or sorted(value) != sorted(form):
            raise TypeError(f"{what} must be a dict with the keys {sorted(form)}, but got {shown(value)}")
        return [value[key] for key in sorted(form)]
    if not isinstance(value, (tuple, list)) or len(value) != len(form):
        raise TypeError(f"{what} must be a tuple of {len(form)}, but got {shown(value)}")
    return value


def as_tensors(value: Any, dtype_of: Callable[[int], DType | None] = lambda i: None, name: str = "component",
               rows: bool = False) -> tuple[Any, list[Tensor]]:
    """(structure, tensors) of an element: its leaves as tensors, sparse ones serialized, or with `rows` their rows."""
    components, tensors = [], []
    for i, leaf in enumerate(flatten(value)):
        if isinstance(leaf, SparseTensorValue):
            leaf = SparseTensor(*leaf)
        if isinstance(leaf, SparseTensor):
            components.append(Component(leaf.dtype, leaf.get_shape(), wrap=SparseTensor))
            tensors.append((SerializeManySparse if rows else SerializeSparse)(leaf.indices, leaf.values,
                                                                             leaf.dense_shape))
            continue
        if isinstance(leaf, RaggedTensorValue):
            leaf = from_value(leaf)
        if isinstance(leaf, RaggedTensor):
            components.append(Component(leaf.dtype, leaf.shape, wrap=RaggedTensor, ragged_rank=leaf.ragged_rank,
                                        splits=leaf.row_splits.dtype))
            tensors.append(RaggedTensorToVariant(leaf.nested_row_splits, leaf.flat_values, batched_input=rows))
            continue
        if hasattr(leaf, "_variant_tensor"):                         # a dataset or an Optional
            components.append(Component(dtypes.variant, TensorShape([]), leaf._element, leaf._class))
            tensors.append(leaf._variant_tensor)
            continue
        tensors.append(convert_to_tensor(leaf, dtype=dtype_of(i), name=f"{name}_{i}"))
        components.append(Component(tensors[-1].dtype.base_dtype, tensors[-1].get_shape()))
    return pack(value, components), tensors


def as_values(structure: Any, tensors: Sequence[Tensor]) -> Any:
    """Return an element of the tensors of its components: datasets, SparseTensors... for those that are such."""
    return pack(structure, [_as_value(component, tensor) for component, tensor
                            in zip(flatten(structure), tensors, strict=True)])


def _as_value(component: Component, tensor: Tensor) -> Any:
    if component.wrap is None:
        return tensor
    if component.wrap is RaggedTensor:
        return _ragged(component, tensor)
    if component.wrap is not SparseTensor:
        return component.wrap(tensor, component.inner)
    indices, values, size = DeserializeSparse(tensor, dtype=component.dtype)
    rank = component.shape.ndims
    indices.set_shape([None, rank])
    size.set_shape([rank])
    return SparseTensor(indices, values, size)


def _ragged(component: Component, tensor: Tensor) -> Any:
    """Return the RaggedTensor of a variant, or a Tensor where no axis is ragged."""
    rank = component.ragged_rank
    made = RaggedTensorFromVariant(tensor, input_ragged_rank=-1, output_ragged_rank=rank, Tvalues=component.dtype,
                                   Tsplits=component.splits)
    splits, values = made.output_nested_splits, made.output_dense_values
    shape = component.shape.static
    if not rank:
        values.set_shape(component.shape)
        return values
    if shape is not None:
        values.set_shape([None, *shape[rank + 1:]])
        splits[0].set_shape([None if shape[0] is None else shape[0] + 1])
    return RaggedTensor.from_nested_row_splits(values, splits, validate=False)


def types(structure: Any) -> list[DType]:
    """The dtypes of the components' tensors, in order."""
    return [_PASSED_AS.get(c.wrap, c.dtype) for c in flatten(structure)]


def shapes(structure: Any) -> list[Any]:
    """The static shapes of the components' tensors, in order, as attrs of ops have them; None for encoded ones."""
    return [None if c.wrap in _PASSED_AS else c.shape.static for c in flatten(structure)]


def attrs(structure: Any) -> dict[str, Any]:
    """The attrs of an op whose value is a dataset of such elements."""
    return {"output_types": types(structure), "output_shapes": shapes(structure)}


def of(output_types: Any, output_shapes: Any = None, output_classes: Any = None) -> Any:
    """A structure of dtypes, and of shapes and classes of the same form (None: unknown shapes; dense tensors)."""
    dtype_leaves = [dtypes.as_dtype(t) for t in flatten(output_types)]
    found = [None] * len(dtype_leaves) if output_shapes is None else flatten_up_to(output_types, output_shapes,
                                                                                 "output_shapes")
    kinds = [None] * len(dtype_leaves) if output_classes is None else flatten_up_to(output_types, output_classes,
                                                                                  "output_classes")
    return pack(output_types, [
        of_ragged_spec(k) if isinstance(k, RaggedTensorSpec) else
        Component(t, TensorShape(s), wrap=SparseTensor if k is SparseTensor else None)
        for t, s, k in zip(dtype_leaves, found, kinds, strict=True)])


def batched(component: Component, rows: int | None) -> Component:
    """A component with a first axis of `rows`."""
    return replace(component, shape=TensorShape([rows]).concatenate(component.shape),
                   ragged_rank=component.ragged_rank + (component.wrap is RaggedTensor))


def row(component: Component) -> Component:
    """A component without its first axis."""
    shape = component.shape.static
    return replace(component, shape=TensorShape(None if shape is None else shape[1:]),
                   ragged_rank=component.ragged_rank - (component.wrap is RaggedTensor))


def common_shape(a: TensorShape, b: TensorShape) -> TensorShape:
    """The most that is known of a shape that is `a` or `b`."""
    if a.static is None or b.static is None or len(a.static) != len(b.static):
        return TensorShape(None)
    return TensorShape([m if m == n else None for m, n in zip(a.static, b.static, strict=True)])
