"""Samples of the gradients of TensorList ops and of batches: functions of tensors that pass through them."""
from __future__ import annotations

import numpy as np

import tfnb as tf

raw = tf.raw_ops
ROWS = np.array([3], np.int32)
NONE = np.zeros(0, np.int64)


def listed(x):
    return raw.TensorListFromTensor(tensor=x, element_shape=ROWS)


def stack(handle, dtype):
    return raw.TensorListStack(input_handle=handle, element_shape=ROWS, element_dtype=dtype)


def gather(handle, indices, dtype):
    return raw.TensorListGather(input_handle=handle, indices=indices, element_shape=ROWS, element_dtype=dtype)


def pushed(x, y):
    longer = raw.TensorListPushBack(input_handle=listed(x), tensor=y[0])
    rest, last = raw.TensorListPopBack(input_handle=longer, element_shape=ROWS, element_dtype=x.dtype)
    return [stack(longer, x.dtype), last, stack(rest, x.dtype)]


def items(x, y):
    one = raw.TensorListGetItem(input_handle=listed(x), index=1, element_shape=ROWS, element_dtype=x.dtype)
    changed = raw.TensorListSetItem(input_handle=listed(x), index=0, item=one * y[1])
    return [stack(changed, x.dtype), gather(raw.TensorListResize(input_handle=changed, size=5), [1, 0], x.dtype)]


def scattered(x, y):
    spread = raw.TensorListScatter(tensor=x, indices=[1, 0], element_shape=ROWS)
    other = raw.TensorListScatterV2(tensor=x, indices=[2, 0], element_shape=ROWS, num_elements=4)
    into = raw.TensorListScatterIntoExistingList(input_handle=other, tensor=y, indices=[1, 0])
    return [stack(spread, x.dtype), gather(into, [0, 1, 2], x.dtype)]


def split(x, y):
    parts = raw.TensorListSplit(tensor=x * y, element_shape=[-1, 3], lengths=np.array([1, 0, 1], np.int64))
    return [raw.TensorListConcat(input_handle=parts, element_dtype=x.dtype)[0],
            raw.TensorListConcatV2(input_handle=parts, element_shape=[-1, 3], leading_dims=NONE,
                                   element_dtype=x.dtype)[0]]


def batched(x):
    return tf.contrib.batching.batch_function(1, 2, 0)(lambda rows: rows * rows)(x)


OPS = {pushed: "FromTensor Stack PushBack PopBack", items: "GetItem SetItem Resize Gather",
       scattered: "Scatter ScatterV2 ScatterIntoExistingList", split: "Split Concat ConcatV2"}
LISTS = {f"TensorList{name}": [(fn, [(2, 3), (2, 3)])] for fn, names in OPS.items() for name in names.split()}
LISTS |= dict.fromkeys(("Batch", "Unbatch"), [(batched, [(2, 3)])])
