"""`tf.make_tensor_proto`: TensorProtos of all that a constant may be made of."""
from __future__ import annotations

from math import prod
from typing import Any

from tfnb.core.dtypes import as_dtype
from tfnb.core.shape import TensorShape, as_static, is_known, shape_str
from tfnb.graph.constant import to_array
from tfnb.graph.formats import protos
from tfnb.graph.parts.operation import Operation, Tensor


def make_tensor_proto(values: Any, dtype: Any = None, shape: Any = None, verify_shape: bool = False,
                      allow_broadcast: bool = False) -> Any:
    """Return the TensorProto of a Python scalar, a NumPy array or scalar, or nested lists of scalars.

    Dtypes are inferred as by tf.constant. shape: of the tensor, which may have more elements than `values`: the last
    one stands for the rest (make_ndarray repeats it).

    Raises TypeError for tensors, for values that are not of the dtype, with verify_shape for another shape, with
    allow_broadcast for another one where there are several values;
    ValueError for None, ragged lists and more elements than `shape` has.

    >>> tf.make_tensor_proto([1, 2]).tensor_shape.dim[0].size
    2
    """
    if isinstance(values, (Tensor, Operation)):
        raise TypeError(f"expected numbers or strings, not a tensor, got {values!r}")
    wanted = None if dtype is None else as_dtype(dtype).base_dtype
    made = None if shape is None else as_static(shape)
    array = to_array(values, wanted, made if made and 0 in made else None, verify_shape)
    if shape is None or made == array.shape:
        return protos.make_tensor_proto(array, wanted)
    if made is None or not is_known(made):
        raise ValueError(f"the shape of a TensorProto must be fully known, got {shape_str(made)}")
    if verify_shape or (allow_broadcast and array.size != 1):
        raise TypeError(f"Expected Tensor's shape: {shape_str(made)}, got {shape_str(array.shape)}.")
    size = prod(made)
    if array.size > size:
        raise ValueError(f"Too many elements provided. Takes at most {size}, but got {array.size}.")
    if array.size == size:
        return protos.make_tensor_proto(array.reshape(made), wanted)
    proto = protos.make_tensor_proto(array, wanted, packed=False)
    proto.tensor_shape.CopyFrom(TensorShape.of(made).as_proto())
    return proto
