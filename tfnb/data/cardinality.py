"""The number of elements of a dataset, as far as its ops tell it (`tf.data.experimental.cardinality`)."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfnb.core import dtypes
from tfnb.core.arguments import DATASETS, describe
from tfnb.data.dataset import Dataset
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.operation import Tensor
from tfnb.ops.array.reshape import shape
from tfnb.ops.math.arithmetic import maximum, minimum
from tfnb.ops.math.casting import cast
from tfnb.ops.math.compare import equal, less, where
from tfnb.ops.math.division import floordiv

INFINITE_CARDINALITY, UNKNOWN_CARDINALITY = -1, -2

# Ops that keep the number of elements; official: of functions only where they are asked to
_SAME = ("PrefetchDataset", "CacheDataset", "ShuffleDataset")


def cardinality(dataset: Dataset) -> Tensor:
    """The number of elements, an int64 scalar: INFINITE_CARDINALITY (-1), or UNKNOWN_CARDINALITY (-2) where functions
    or files decide it.

    dataset: a Dataset.

    >>> sess.run(tf.data.experimental.cardinality(tf.data.Dataset.range(10).batch(4)))
    3
    >>> sess.run(tf.data.experimental.cardinality(tf.data.Dataset.range(10).filter(lambda x: x > 3)))
    -2
    """
    return _count(dataset._variant_tensor)


def _count(variant: Tensor) -> Tensor:
    op = variant.op
    if op.type in _SAME or op.attrs.get("preserve_cardinality"):
        return _count(op.inputs[0])
    rule = _RULES.get(op.type)
    return _int64(UNKNOWN_CARDINALITY if rule is None else rule(list(op.inputs)))


def _int64(value: Any) -> Tensor:
    tensor: Tensor = convert_to_tensor(value, dtype=dtypes.int64, name="cardinality")
    return tensor


def _known(count: Any, value: Any) -> Any:
    """`value` if the number is known, else what tells that it is not."""
    return where(less(count, 0), count, _int64(value))


def _range(inputs: Any) -> Any:
    start, stop, step = inputs
    return maximum(-floordiv(start - stop, step), 0)


def _rows(inputs: Any) -> Any:
    return cast(shape(inputs[0])[0], dtypes.int64)


def _repeated(inputs: Any) -> Any:
    count, times = _count(inputs[0]), inputs[1]
    endless = where(equal(count, 0), count, _int64(INFINITE_CARDINALITY))
    none = where(times < 0, endless, _int64(0))
    return where(times <= 0, none, _known(count, count * times))


def _taken(inputs: Any) -> Any:
    count, most = _count(inputs[0]), inputs[1]
    some = where(count < 0, where(less(count, INFINITE_CARDINALITY), count, most), minimum(count, most))
    return where(most < 0, count, some)


def _skipped(inputs: Any) -> Any:
    count, some = _count(inputs[0]), inputs[1]
    left = _known(count, maximum(count - some, 0))
    return where(some < 0, _known(count, 0), left)


def _batched(inputs: Any) -> Any:
    count, size, dropped = _count(inputs[0]), inputs[1], inputs[-1]
    return _known(count, where(dropped, floordiv(count, size), -floordiv(-count, size)))


def _sharded(inputs: Any) -> Any:
    count, shards, index = _count(inputs[0]), inputs[1], inputs[2]
    return _known(count, floordiv(count - index + shards - 1, shards))


def _least(inputs: Any) -> Any:
    """The least number; endless ones don't count, an unknown one makes it unknown."""
    counts = [_count(variant) for variant in inputs]
    found = counts[0]
    for count in counts[1:]:
        unknown = less(minimum(found, count), INFINITE_CARDINALITY)
        finite = where(found < 0, count, where(count < 0, found, minimum(found, count)))
        found = where(unknown, minimum(found, count), finite)
    return found


def _joined(inputs: Any) -> Any:
    first, second = (_count(variant) for variant in inputs)
    negative = where(maximum(first, second) < 0, maximum(first, second), minimum(first, second))
    return where(minimum(first, second) < 0, negative, first + second)


_RULES: dict[str, Callable[[list[Tensor]], Any]] = {
    "RandomDataset": lambda inputs: INFINITE_CARDINALITY, "RangeDataset": _range,
    "TensorDataset": lambda inputs: 1, "TensorSliceDataset": _rows,
    "RepeatDataset": _repeated, "TakeDataset": _taken, "SkipDataset": _skipped, "BatchDatasetV2": _batched,
    "PaddedBatchDatasetV2": _batched, "ShardDataset": _sharded, "ZipDataset": _least,
    "ConcatenateDataset": _joined,
    "ShuffleAndRepeatDataset": lambda inputs: _repeated([inputs[0], inputs[-1]])}

describe(globals(), DATASETS)
