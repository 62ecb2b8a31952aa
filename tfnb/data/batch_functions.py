"""Functions that compute several runs of a session as one batch: `tf.nondifferentiable_batch_function`."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfnb.core import nest
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.function import FunctionGraph
from tfnb.graph.parts.operation import Tensor
from tfnb.graph.stack import get_default_graph, name_scope
from tfnb.ops.data.batches import Batch, BatchFunction, Unbatch

_GRAD_TIMEOUT, _UNBATCH_TIMEOUT = 60_000_000, 60_000_000       # microseconds, as in TensorFlow


def nondifferentiable_batch_function(
        num_batch_threads: int, max_batch_size: int, batch_timeout_micros: int,
        allowed_batch_sizes: Any = None, max_enqueued_batches: int = 10, autograph: bool = True,
        enable_large_batch_splitting: bool = True) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator of a function of tensors: runs of a session in several threads compute it once, as a batch.

    The tensors are joined along their first axes, and each run gets its rows of the results, which have as many rows.
    It has no gradient. num_batch_threads: batches that are computed at once; max_batch_size: rows of one, at most;
    batch_timeout_micros: how long one waits for more; allowed_batch_sizes: increasing, up to max_batch_size: the
    first row fills a batch up to one of them; max_enqueued_batches: batches that wait, at most, else a run raises
    UnavailableError; enable_large_batch_splitting: the last of allowed_batch_sizes may be below max_batch_size, and a
    run of more rows than that is several calls (else InvalidArgumentError); autograph: accepted. A run of more rows
    than max_batch_size is an InvalidArgumentError.

    >>> @tf.nondifferentiable_batch_function(num_batch_threads=1, max_batch_size=8, batch_timeout_micros=100)
    ... def double(x):
    ...     return 2.0 * x
    >>> sess.run(double(tf.constant([1.0, 2.0])))
    array([2., 4.], dtype=float32)
    """
    def decorator(fn: Callable[..., Any]) -> Callable[..., Any]:
        """Return `fn` over batches."""
        def decorated(*args: Any) -> Any:
            """Call `fn` once to build its graph, and return its results for the rows of this run."""
            tensors = [convert_to_tensor(a) for a in args]
            with FunctionGraph(get_default_graph()) as body:
                result = fn(*[body.placeholder(t.dtype.base_dtype, _more(t), f"arg{i}")
                              for i, t in enumerate(tensors)])
                outputs = [convert_to_tensor(value) for value in nest.flatten(result)]
                f = body.finish(outputs, f"batch_{getattr(fn, '__name__', type(fn).__name__)}")
            with name_scope("batch") as name:
                made = BatchFunction(
                    tensors, list(body.captured), f=f, num_batch_threads=num_batch_threads,
                    max_batch_size=max_batch_size, batch_timeout_micros=batch_timeout_micros,
                    max_enqueued_batches=max_enqueued_batches, allowed_batch_sizes=list(allowed_batch_sizes or ()),
                    shared_name=name, Tout=[t.dtype.base_dtype for t in outputs],
                    enable_large_batch_splitting=enable_large_batch_splitting)
            for tensor, output in zip(made, outputs, strict=True):
                tensor.set_shape(_more(output))
            return nest.pack_sequence_as(result, list(made))
        return decorated
    return decorator


def _more(tensor: Tensor) -> Any:
    """Return a static shape with any number of rows."""
    return None if not tensor.static else (None, *tensor.static[1:])


def batch_function(num_batch_threads: int, max_batch_size: int, batch_timeout_micros: int,
                   allowed_batch_sizes: Any = None, grad_timeout_micros: int = _GRAD_TIMEOUT,
                   unbatch_timeout_micros: int = _UNBATCH_TIMEOUT,
                   max_enqueued_batches: int = 10) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator of a function of tensors, as `tf.nondifferentiable_batch_function`, with a gradient.

    One run of a batch gets the rows of all, the others compute with no rows. grad_timeout_micros,
    unbatch_timeout_micros: how long a run waits for its rows of the gradient and of the results, else
    DeadlineExceededError. num_batch_threads, max_batch_size, batch_timeout_micros, allowed_batch_sizes,
    max_enqueued_batches: as there. The function raises ValueError for arguments that are no tensors.

    >>> @tf.contrib.batching.batch_function(num_batch_threads=1, max_batch_size=8, batch_timeout_micros=100)
    ... def double(x):
    ...     return 2.0 * x
    >>> x = tf.constant([1.0, 2.0])
    >>> sess.run(tf.gradients(double(x), [x]))
    [array([2., 2.], dtype=float32)]
    """
    def decorator(fn: Callable[..., Any]) -> Callable[..., Any]:
        """Return `fn` over batches."""
        def decorated(*args: Any) -> Any:
            """Return the results of `fn` for the rows of this run."""
            if wrong := [a for a in args if not isinstance(a, Tensor)]:
                raise ValueError("All arguments to functions decorated with `batch_function` are supposed to be "
                                 f"Tensors; found {wrong[0]!r}")
            with name_scope("batch") as name:
                made = Batch(args, num_batch_threads=num_batch_threads, max_batch_size=max_batch_size,
                             batch_timeout_micros=batch_timeout_micros, max_enqueued_batches=max_enqueued_batches,
                             allowed_batch_sizes=list(allowed_batch_sizes or ()),
                             grad_timeout_micros=grad_timeout_micros, shared_name=name)
                result = fn(*made.batched_tensors)
            with name_scope("unbatch") as name:
                rows = [Unbatch(t, made.batch_index, made.id, timeout_micros=unbatch_timeout_micros,
                                shared_name=f"{name}/{t.op.name}_{t.value_index}") for t in nest.flatten(result)]
            return nest.pack_sequence_as(result, rows)
        return decorated
    return decorator
