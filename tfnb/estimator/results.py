"""Results of an evaluation: metrics of a model_fn as ops, and as summaries in the event file of the evaluation."""
from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from tfnb.core.files.gfile import Glob
from tfnb.core.lazy import lazy_module
from tfnb.core.nest import flatten
from tfnb.estimator.spec import is_metric
from tfnb.graph.parts.keys import GraphKeys
from tfnb.graph.tensor_proto import make_tensor_proto
from tfnb.metrics.base import mean
from tfnb.ops.control.group import group
from tfnb.summary.events import summary_iterator
from tfnb.summary.writer import FileWriterCache

_summary_pb2 = lazy_module("tfnb.proto.summary_pb2")
_log = logging.getLogger("tensorflow")
LOSS, GLOBAL_STEP = "loss", GraphKeys.GLOBAL_STEP


def metric_ops(spec: Any, global_step: Any) -> tuple[Any, dict[str, Any]]:
    """Return (an op that updates all metrics, their values by name with those of the loss and the global step).

    Raises ValueError if the model_fn has metrics of these two names.
    """
    pairs = {key: (value.result(), group(*value.updates)) if is_metric(value) else value
             for key, value in spec.eval_metric_ops.items()}
    if LOSS in pairs:
        raise ValueError(f"Metric with name \"{LOSS}\" is not allowed, because Estimator already defines a default "
                         "metric with the same name.")
    if GLOBAL_STEP in pairs:
        raise ValueError(f"Metric with name \"{GLOBAL_STEP}\" is not allowed, because Estimator already defines a "
                         "default metric with the same name.")
    pairs[LOSS] = mean(spec.loss)
    values = {key: pair[0] for key, pair in pairs.items()}
    return group(*flatten([pair[1] for pair in pairs.values()])), {**values, GLOBAL_STEP: global_step}


def recorded(pattern: str) -> Iterator[tuple[int, dict[str, float]]]:
    """Yield (global step, scalars by name) of each event with scalars in the event files that match a pattern."""
    for path in sorted(Glob(pattern)):
        for event in summary_iterator(path):
            values = {value.tag: value.simple_value for value in event.summary.value if value.HasField("simple_value")}
            if values:
                yield event.step, values


def write_results(folder: str, results: Mapping[str, Any], checkpoint_path: Any) -> None:
    """Log the results, and write them as summaries of their global step: scalars, or tensors of arrays."""
    step = int(results[GLOBAL_STEP])
    shown = ", ".join(f"{key} = {value}" for key, value in sorted(results.items()) if not isinstance(value, bytes))
    _log.info("Saving dict for global step %d: %s", step, shown)
    writer = FileWriterCache.get(folder)
    summary = _summary_pb2.Summary()
    for key in sorted(results):
        if key != GLOBAL_STEP and results[key] is not None:
            _add(summary, key, results[key])
    writer.add_summary(summary, step)
    if checkpoint_path is not None:
        _log.info("Saving 'checkpoint_path' summary for global step %d: %s", step, checkpoint_path)
        path = _summary_pb2.Summary()
        path.value.add(tag="checkpoint_path").tensor.CopyFrom(make_tensor_proto(os.fsdecode(checkpoint_path)))
        writer.add_summary(path, step)
    writer.flush()


def _add(summary: Any, key: str, value: Any) -> None:
    if isinstance(value, bytes):
        part = _summary_pb2.Summary.FromString(value)
        for i, one in enumerate(part.value):
            one.tag = f"{key}/{i}"
        summary.value.extend(part.value)
    elif np.ndim(value) == 0 and np.asarray(value).dtype.kind in "fiub":
        summary.value.add(tag=key, simple_value=float(value))
    elif isinstance(value, np.ndarray) and value.dtype.kind in "fiub":
        made = summary.value.add(tag=key, node_name=key)
        made.tensor.CopyFrom(make_tensor_proto(value))
        _log.info("Summary for np.ndarray is not visible in Tensorboard by default.")
    else:
        _log.warning("Skipping summary for %s, must be a float, np.float32, np.int64, np.int32 or int or np.ndarray or "
                     "a serialized string of Summary.", key)
