"""Collectives of `horovod.tensorflow` for programs: averages, IndexedSlices, compression, objects."""
from __future__ import annotations

import pickle
import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tfnb.core import dtypes
from tfnb.core.errors import UnimplementedError
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.operation import Tensor
from tfnb.graph.stack import device
from tfnb.horovod import ops, transfer
from tfnb.horovod.world import world
from tfnb.ops.array.create import fill
from tfnb.ops.array.reshape import shape as array_shape
from tfnb.ops.composite.indexed_slices import IndexedSlices
from tfnb.ops.math.casting import cast
from tfnb.ops.math.division import div, floordiv


class Compressor:
    """Base of compressors: casts around a collective."""

    @staticmethod
    def compress(tensor: Any) -> tuple[Any, Any]:
        """Return the tensor as it is sent, and what `decompress` needs."""
        raise NotImplementedError

    @staticmethod
    def decompress(tensor: Any, ctx: Any) -> Any:
        """Return the tensor as it was before."""
        raise NotImplementedError


class NoneCompressor(Compressor):
    """Sends tensors as they are."""

    @staticmethod
    def compress(tensor: Any) -> tuple[Any, Any]:
        """Return the tensor and None."""
        return tensor, None

    @staticmethod
    def decompress(tensor: Any, ctx: Any) -> Any:
        """Return the tensor."""
        return tensor


class FP16Compressor(Compressor):
    """Sends floating-point tensors as float16: half of the bytes, and 11 bits of each sum."""

    @staticmethod
    def compress(tensor: Any) -> tuple[Any, Any]:
        """Return the tensor as float16, and its own dtype."""
        found = convert_to_tensor(tensor)
        return (cast(found, dtypes.float16) if found.dtype.is_floating else found), found.dtype.base_dtype

    @staticmethod
    def decompress(tensor: Any, ctx: Any) -> Any:
        """Return the tensor in the dtype `ctx`."""
        return cast(tensor, ctx) if tensor.dtype != ctx else tensor


class Compression:
    """Compressors for gradients on their way: `none`, or `fp16`."""

    none = NoneCompressor
    fp16 = FP16Compressor


Average, Sum, Adasum, Min, Max, Product = (transfer.AVERAGE, transfer.SUM, transfer.ADASUM, transfer.MIN, transfer.MAX,
                                           transfer.PRODUCT)
_ADASUM = ("Adasum is not there: it weighs the gradients of pairs of ranks by their dot products; take hvd.Average or "
           "hvd.Sum")


def chosen(average: Any, op: Any) -> int:
    """Return the op that the arguments `average` and `op` mean. Raises ValueError for both."""
    if average is not None and op is not None:
        raise ValueError("The op parameter supersedes average. Please provide only one of them.")
    found = op if op is not None else Sum if average is not None and not average else Average
    if found == Adasum:
        raise UnimplementedError(None, None, _ADASUM)
    if found not in range(6):
        raise ValueError(f"expected op to be hvd.Average, Sum, Min, Max or Product, got {op!r}")
    return int(found)


def named(kind: str, given: Any, tensor: Tensor, name: str | None) -> str:
    """Return the name of a collective's node, as Horovod makes it: from that of the tensor or variable given."""
    return name or f"Horovod{kind}_{re.sub('[^a-zA-Z0-9_]', '_', getattr(given, 'name', tensor.name))}"


def allreduce(tensor: Any, average: Any = None, device_dense: str = "", device_sparse: str = "",
              compression: Any = Compression.none, op: Any = None, prescale_factor: float = 1.0,
              postscale_factor: float = 1.0, name: str | None = None) -> Any:
    """Return the average of `tensor` over all ranks, or what `op` says: `hvd.Sum`, `Min`, `Max`, `Product`.

    tensor: of one shape and dtype in all ranks; IndexedSlices become those of all ranks, by an allgather. average:
    older form of op: False for the sum. device_dense, device_sparse: where the result is. compression: of what is sent,
    `hvd.Compression.fp16`. prescale_factor, postscale_factor: factors before and after the sum. name: of the node.
    Raises ValueError for both average and op, before `hvd.init` and for IndexedSlices with another op;
    FailedPreconditionError in a run in which the ranks call different collectives. Its gradient is an allreduce.

    >>> hvd.init()
    >>> sess.run(hvd.allreduce(tf.constant([1.0, 2.0])))
    array([1., 2.], dtype=float32)
    """
    kind, size = chosen(average, op), world().size
    if isinstance(tensor, IndexedSlices):
        if kind not in (Average, Sum):
            raise ValueError("expected hvd.Average or hvd.Sum for IndexedSlices, whose rows add up; got another op")
        with device(device_sparse or None):
            values, indices = allgather(tensor.values), allgather(tensor.indices)
            values = div(values, cast(size, values.dtype)) if kind == Average else values
            return IndexedSlices(values, indices, tensor.dense_shape)
    with device(device_dense or None):
        sent, context = compression.compress(_scaled(convert_to_tensor(tensor), prescale_factor))
        reduced = ops.HorovodAllreduce(sent, reduce_op=Sum if kind == Average else kind,
                                       name=named("Allreduce", sent, sent, name))
        found = _scaled(compression.decompress(reduced, context), postscale_factor)
        return div(found, cast(size, found.dtype)) if kind == Average else found


def _scaled(tensor: Tensor, factor: float) -> Tensor:
    scaled: Tensor = tensor if factor == 1.0 else tensor * cast(factor, tensor.dtype)
    return scaled


def grouped_allreduce(tensors: Sequence[Any], average: Any = None, device_dense: str = "", device_sparse: str = "",
                      compression: Any = Compression.none, op: Any = None, prescale_factor: float = 1.0,
                      postscale_factor: float = 1.0, name: str | None = None) -> list[Any]:
    """Return `allreduce` of each tensor. Those of one run that are independent are one collective in any case.

    tensors: a list. Else as `allreduce`; the nodes are called name_0, name_1...

    >>> hvd.init()
    >>> sess.run(hvd.grouped_allreduce([tf.constant(1.0), tf.constant(2.0)], op=hvd.Sum))
    [1.0, 2.0]
    """
    return [allreduce(t, average, device_dense, device_sparse, compression, op, prescale_factor, postscale_factor,
                      f"{name}_{i}" if name else None) for i, t in enumerate(tensors)]


def allgather(tensor: Any, name: str | None = None, ignore_name_scope: bool = False) -> Any:
    """Return the tensors of all ranks, concatenated along the first axis in the order of the ranks.

    tensor: at least a vector; all sizes but the first, and the dtype, are the same in all ranks. name: of the node.
    ignore_name_scope: has no effect: names of nodes need not be those of other programs. Its gradient is the part of
    this rank of the summed gradients.

    >>> hvd.init()
    >>> sess.run(hvd.allgather(tf.constant([[1, 2]])))
    array([[1, 2]], dtype=int32)
    """
    found = convert_to_tensor(tensor)
    name = named("Allgather", tensor, found, name)
    return ops.HorovodAllgather(found, ignore_name_scope=ignore_name_scope, name=name)


def broadcast(tensor: Any, root_rank: int, name: str | None = None, ignore_name_scope: bool = False) -> Any:
    """Return the tensor of rank `root_rank` in all ranks.

    tensor: of one shape and dtype in all ranks. name, ignore_name_scope: as of `allgather`. Raises ValueError for a
    rank that is not there. Its gradient is the sum of the gradients in the root, and zero elsewhere.

    >>> hvd.init()
    >>> sess.run(hvd.broadcast(tf.constant([1, 2]), root_rank=0))
    array([1, 2], dtype=int32)
    """
    if not 0 <= root_rank < world().size:
        raise ValueError(f"expected root_rank from 0 to {world().size - 1}, got {root_rank}")
    found = convert_to_tensor(tensor)
    return ops.HorovodBroadcast(found, root_rank=root_rank, ignore_name_scope=ignore_name_scope,
                                name=named("Broadcast", tensor, found, name))


def alltoall(tensor: Any, splits: Any = None, name: str | None = None, ignore_name_scope: bool = False) -> Any:
    """Send rows of `tensor` to each rank, and return those that come, in the order of the ranks.

    tensor: at least a vector; all sizes but the first are the same in all ranks. splits: how many rows each rank gets,
    an int32 vector; None: equally many. name, ignore_name_scope: as of `allgather`. Raises InvalidArgumentError in a
    run where the splits don't add up to the rows. Its gradient sends them back.

    >>> hvd.init()
    >>> sess.run(hvd.alltoall(tf.constant([1, 2])))
    array([1, 2], dtype=int32)
    """
    found, size = convert_to_tensor(tensor), world().size
    if splits is None:
        rows = array_shape(found)[0]
        splits = fill([size], floordiv(rows, size))
    name = named("Alltoall", tensor, found, name)
    return ops.HorovodAlltoall(found, splits, ignore_name_scope=ignore_name_scope, name=name)


def join(*args: Any, **kwargs: Any) -> Any:
    """Refuse ranks with fewer steps than others.

    Raises UnimplementedError: the order of collectives is that of the graph, which all ranks run equally often.

    >>> hvd.join()
    Traceback (most recent call last):
    UnimplementedError: hvd.join is not there: all ranks run the same collectives equally often, ...
    """
    raise UnimplementedError(None, None, "hvd.join is not there: all ranks run the same collectives equally often, in "
                             "the order of the graph, and none can go on without the others. Give all ranks the same "
                             "number of steps: repeat the data (dataset.repeat()) and count steps, or let "
                             "hvd.allreduce(rows_left, op=hvd.Min) decide when to stop")


def broadcast_object(obj: Any, root_rank: int = 0, session: Any = None, name: str | None = None) -> Any:
    """Return the object of rank `root_rank`, which pickle sends. Not an op: it is called now, in all ranks.

    obj: any object; only the root's counts. session, name: not needed here.

    >>> hvd.init()
    >>> hvd.broadcast_object({"epoch": 3})
    {'epoch': 3}
    """
    data = np.frombuffer(pickle.dumps(obj if world().rank == root_rank else None), np.uint8)
    return pickle.loads(_parts(data, name or "broadcast_object")[root_rank])


def allgather_object(obj: Any, session: Any = None, name: str | None = None) -> list[Any]:
    """Return the objects of all ranks, which pickle sends. Not an op: it is called now, in all ranks.

    obj: any object. session, name: not needed here.

    >>> hvd.init()
    >>> hvd.allgather_object({"loss": 0.5})
    [{'loss': 0.5}]
    """
    data = np.frombuffer(pickle.dumps(obj), np.uint8)
    return [pickle.loads(part) for part in _parts(data, name or "allgather_object")]


def _parts(data: np.ndarray, name: str) -> list[bytes]:
    ranks = world()
    sizes = transfer.gather(ranks, f"{name}_sizes", np.array([len(data)]))
    whole = transfer.gather(ranks, name, data)
    ends = np.cumsum(sizes).tolist()
    return [whole[end - size:end].tobytes() for end, size in zip(ends, sizes.tolist(), strict=True)]


def value_of(array: Any, op: Any = None, name: str = "value") -> np.ndarray:
    """Return the average (or what `op` says) of an array over all ranks. Not an op: it is called now, in all ranks."""
    kind, ranks = chosen(None, op), world()
    given = np.asarray(array)
    summed = transfer.reduce(ranks, [name], [given], Sum if kind == Average else kind)[0]
    return np.array(summed / ranks.size if kind == Average else summed)


_Op = Callable[..., Any]
size_op: _Op = ops.HorovodSize
local_size_op: _Op = ops.HorovodLocalSize
rank_op: _Op = ops.HorovodRank
local_rank_op: _Op = ops.HorovodLocalRank
