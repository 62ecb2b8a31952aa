"""Batch functions: ops that join the tensors of several runs of a session, in different threads, into one batch."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tfnb.core.errors import CancelledError, InvalidArgumentError, OpError
from tfnb.core.shape import Static
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.ops.data.datasets import function
from tfnb.ops.declaration import shapes
from tfnb.ops.declaration.declare import host
from tfnb.resources.batches import Batches, Exchange, Limits, Task

_SHARED: dict[str, Any] = {"container": "string = ''", "shared_name": "string = ''"}
_POLICIES = "{'low_priority_padding_with_max_batch_size', 'low_priority_padding_with_next_allowed_batch_size', " \
            "'priority_isolation', 'priority_merge'}"


def _invalid(ctx: Any, message: str) -> InvalidArgumentError:
    return InvalidArgumentError(None, ctx.op, message)


def _limits(ctx: Any, split: bool = False) -> Limits:
    """Return the limits that attrs state. Raises InvalidArgumentError for values that are none.

    split: whether calls of more rows than the last allowed size are several, so that this may be below the most.
    """
    attrs = ctx.op.attrs
    allowed = tuple(attrs["allowed_batch_sizes"])
    for name, least in (("num_batch_threads", 1), ("max_batch_size", 1), ("batch_timeout_micros", 0)):
        if attrs[name] < least:
            raise _invalid(ctx, f"{name} must be at least {least}, got {attrs[name]}")
    if list(allowed) != sorted(set(allowed)):
        raise _invalid(ctx, f"allowed_batch_sizes entries must be monotonically increasing, got {list(allowed)}")
    most = allowed[-1] if allowed and split else attrs["max_batch_size"]
    if most > attrs["max_batch_size"] or allowed and allowed[-1] != most:
        raise _invalid(ctx, f"Last entry in allowed_batch_sizes must {'not exceed' if split else 'match'} "
                            f"max_batch_size; was {allowed[-1]}, expected {attrs['max_batch_size']}")
    return Limits(most, allowed, attrs["batch_timeout_micros"] / 1e6,
                  max(1, attrs["max_enqueued_batches"]), attrs["num_batch_threads"])


def _task(ctx: Any, tensors: Sequence[np.ndarray], most: int) -> Task:
    """Return the tensors of a call. Raises InvalidArgumentError unless all have as many rows, `most` at the most."""
    if any(not tensor.ndim for tensor in tensors):
        raise _invalid(ctx, "Batching input tensors must have at least one dimension")
    counts = [len(tensor) for tensor in tensors]
    if len(set(counts)) > 1:
        raise _invalid(ctx, "Batching input tensors supplied in a given op invocation must have equal 0th-dimension "
                            f"size, got {counts}")
    if counts[0] > most:
        raise _invalid(ctx, f"Task size {counts[0]} is larger than maximum input batch size {most}")
    return Task([np.array(tensor) for tensor in tensors], counts[0])


def _held(ctx: Any, kind: type) -> Any:
    """Return the resource of an op. Raises InvalidArgumentError where its shared name is that of another kind."""
    found = ctx.store.resource(ctx.op, kind)
    if not isinstance(found, kind):
        raise _invalid(ctx, f"shared_name {ctx.op.attrs['shared_name'].decode()!r} is that of a "
                            f"{type(found).__name__}, expected a {kind.__name__}")
    return found


def _rows_unknown(static: Static) -> Static:
    return None if not static else (None, *static[1:])


def _batched(ctx: Any) -> list[Static]:
    return [*[_rows_unknown(ctx.shape(i)) for i in range(len(ctx.op.inputs))], (None, 3), ()]


@host("in_tensors: T -> batched_tensors: T, batch_index: int64, id: int64", shape=_batched, waits=True,
      num_batch_threads="int", max_batch_size="int", max_enqueued_batches="int = 10", batch_timeout_micros="int",
      allowed_batch_sizes="list(int) = []", grad_timeout_micros="int", **_SHARED, batching_queue="string = ''",
      T="list(type) >= 1")
def Batch(in_tensors: Sequence[np.ndarray], *, ctx: Any) -> Any:
    """Join the rows of runs in several threads: one of them gets all rows, the others tensors without rows.

    A batch ends with `max_batch_size` rows or after `batch_timeout_micros`; its rows are padded to a number that
    `allowed_batch_sizes` has. batch_index: id, first row and end of each run; id: of this run.
    """
    limits = _limits(ctx)
    task = _task(ctx, in_tensors, limits.most)
    batch = _held(ctx, Batches).join(task, limits, ctx.timeout) if task.rows else None
    if batch is None:
        return [*(tensor[:0] for tensor in task.tensors), np.zeros((0, 3), np.int64), np.int64(task.id)]
    return [*batch.joined(limits.padded(batch.rows)), batch.index(), np.int64(task.id)]


def _parts(ctx: Any, rows: np.ndarray, index: np.ndarray) -> dict[int, np.ndarray]:
    """Return the rows of each run by its id. Raises InvalidArgumentError for an index that does not fit."""
    if index.ndim != 2 or index.shape[1] != 3:
        raise _invalid(ctx, f"batch_index must be a matrix of 3 columns, got shape {list(index.shape)}")
    if not rows.ndim or (index[:, 1:] < 0).any() or (index[:, 1:] > len(rows)).any():
        raise _invalid(ctx, f"batch_index {index[:, 1:].tolist()} is outside of the rows of shape {list(rows.shape)}")
    return {i: np.array(rows[start:end]) for i, start, end in index.tolist()}


@host("batched_tensor: T, batch_index: int64, id: int64 -> unbatched_tensor: T", waits=True,
      shape=lambda ctx: [_rows_unknown(ctx.shape(0))], ranks={"id": 0}, timeout_micros="int", **_SHARED, T="type")
def Unbatch(batched_tensor: Any, batch_index: Any, id: Any, *, timeout_micros: int, ctx: Any) -> Any:
    """Return this run's rows of a batch that Batch made, waiting for the run that has them.

    Raises DeadlineExceededError after `timeout_micros`.
    """
    exchange = _held(ctx, Exchange)
    parts = _parts(ctx, batched_tensor, batch_index)
    own = parts.pop(int(id), None)
    exchange.put(parts)
    if own is not None:
        return own
    limit = timeout_micros / 1e6
    return exchange.take([int(id)], limit if ctx.timeout is None else min(limit, ctx.timeout))[0]


@host("original_input: T, batch_index: int64, grad: T, id: int64 -> batched_grad: T", waits=True,
      shape=lambda ctx: [_rows_unknown(ctx.shape(0))], ranks={"id": 0}, **_SHARED, T="type")
def UnbatchGrad(original_input: Any, batch_index: Any, grad: Any, id: Any, *, ctx: Any) -> Any:
    """Return the gradient of the batch, in the run that has it; rows that pad it get zeros. Other runs give theirs."""
    exchange = _held(ctx, Exchange)
    if not len(batch_index):
        exchange.put({int(id): np.array(grad)})
        return original_input[:0]
    made = np.zeros(original_input.shape, original_input.dtype)
    spans = {i: slice(start, end) for i, start, end in batch_index.tolist()}
    others = [i for i in spans if i != int(id)]
    for i, part in zip([*others, int(id)], [*exchange.take(others, ctx.timeout), grad], strict=True):
        made[spans[i]] = part
    return made


@Batch.gradient
def _(op: Operation, *grads: Tensor) -> list[Tensor]:
    return [Unbatch(grad, op.outputs[-2], op.outputs[-1], timeout_micros=op.get_attr("grad_timeout_micros"),
                    shared_name=f"batch_gradient_{op.name}_{i}") for i, grad in enumerate(grads[:len(op.inputs)])]


@Unbatch.gradient
def _(op: Operation, grad: Tensor) -> list[Any]:
    return [UnbatchGrad(op.inputs[0], op.inputs[1], grad, op.inputs[2], shared_name=f"unbatch_gradient_{op.name}"),
            None, None]


UnbatchGrad.no_gradient("TensorFlow has none for it")


@host("in_tensors: Tin, captured_tensors: Tcaptured -> out_tensors: Tout", shape=shapes.unknown, waits=True, f="func",
      num_batch_threads="int", max_batch_size="int", batch_timeout_micros="int", max_enqueued_batches="int = 10",
      allowed_batch_sizes="list(int) = []", **_SHARED, batching_queue="string = ''",
      low_priority_max_batch_size="int = 0", low_priority_batch_timeout_micros="int = 0",
      low_priority_allowed_batch_sizes="list(int) = []", low_priority_max_enqueued_batches="int = 0",
      mixed_priority_policy=f"{_POLICIES} = 'low_priority_padding_with_max_batch_size'",
      batch_padding_policy="{'PAD_UP', 'BATCH_DOWN', 'MINIMIZE_TPU_COST_PER_REQUEST'} = 'PAD_UP'",
      Tin="list(type) >= 1", Tcaptured="list(type) >= 0", Tout="list(type) >= 1",
      enable_large_batch_splitting="bool = false")
def BatchFunction(in_tensors: Sequence[np.ndarray], captured_tensors: Sequence[np.ndarray], *, f: Any,
                  enable_large_batch_splitting: bool, ctx: Any) -> Any:
    """Call the function `f` once for the joined rows of runs in several threads; each gets its rows of the results.

    A run has at most `max_batch_size` rows. enable_large_batch_splitting: more than the last of `allowed_batch_sizes`
    are several calls, one after another.
    """
    limits, batches = _limits(ctx, enable_large_batch_splitting), _held(ctx, Batches)
    whole = _task(ctx, in_tensors, ctx.op.attrs["max_batch_size"])
    call, found = function(ctx, f, captured_tensors), []
    for start in range(0, max(1, whole.rows), limits.most):
        task = _task(ctx, [tensor[start:start + limits.most] for tensor in whole.tensors], limits.most)
        batch = batches.join(task, limits, ctx.timeout, alone=True)
        if batch is not None:
            try:
                outputs = _computed(ctx, call, batch, limits)
            except BaseException as error:         # an interrupt, or no memory: else the other runs wait for ever
                batches.deliver(batch, CancelledError(None, ctx.op, "The run that computes the batch ended by "
                                                                    f"{type(error).__name__}"))
                raise
            batches.deliver(batch, outputs)
        found.append(batches.outcome(task, ctx.timeout))
    return found[0] if len(found) == 1 else [np.concatenate(parts) for parts in zip(*found, strict=True)]


def _computed(ctx: Any, call: Callable[..., Any], batch: Any, limits: Limits) -> Any:
    """Return the results for a batch, or the error that all of its runs get."""
    rows = limits.padded(batch.rows)
    try:
        outputs = call(tuple(batch.joined(rows)))
        if wrong := [list(y.shape) for y in outputs if y.shape[:1] != (rows,)]:
            return _invalid(ctx, f"Expected {rows} rows of each output of the function, got shape {wrong[0]}")
        return outputs
    except OpError as error:
        return error


BatchFunction.no_gradient("it runs a function for several runs")
