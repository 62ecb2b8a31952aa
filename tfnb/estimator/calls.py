"""Calls of the functions that users give an Estimator: input_fn, model_fn and serving_input_receiver_fn."""
from __future__ import annotations

import inspect
import logging
from collections.abc import Callable
from typing import Any

from tfnb.data.dataset import Dataset
from tfnb.estimator.spec import EstimatorSpec
from tfnb.graph.parts.keys import GraphKeys
from tfnb.graph.stack import device, get_default_graph
from tfnb.train.sessions.hook import SessionRunHook

_log = logging.getLogger("tensorflow")
_MODEL_FN = ("features", "labels", "mode", "params", "self", "config")


def arguments(fn: Callable[..., Any]) -> tuple[str, ...]:
    """Return the names of a function's parameters that can be given by name; of a partial, those not bound yet."""
    kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    bound = getattr(fn, "keywords", None) or {}
    return tuple(name for name, p in inspect.signature(fn).parameters.items() if p.kind in kinds and name not in bound)


def takes_any(fn: Callable[..., Any]) -> bool:
    """Return whether a function takes arguments of any name."""
    return any(p.kind is p.VAR_KEYWORD for p in inspect.signature(fn).parameters.values())


def check_model_fn(model_fn: Callable[..., Any], params: Any) -> None:
    """Raise ValueError for a model_fn whose arguments are not those of one."""
    names = arguments(model_fn)
    if "features" not in names:
        raise ValueError(f"model_fn ({model_fn}) must include features argument.")
    if params is not None and "params" not in names and not takes_any(model_fn):
        raise ValueError(f"model_fn ({model_fn}) does not include params argument, but params ({params}) is passed to "
                         "Estimator.")
    required = [name for name, p in inspect.signature(model_fn).parameters.items()
                if p.default is p.empty and p.kind is not p.VAR_KEYWORD and p.kind is not p.VAR_POSITIONAL]
    if unknown := [name for name in names if name not in _MODEL_FN and name in required]:
        raise ValueError(f"model_fn ({model_fn}) has following not expected args: {unknown}")


class InitializerHook(SessionRunHook):
    """Hook that starts an iterator in each new session."""

    def __init__(self, iterator: Any) -> None:
        self._iterator = iterator

    def begin(self) -> None:
        """Find the initializer."""
        self._initializer = self._iterator.initializer

    def after_create_session(self, session: Any, coord: Any) -> None:
        """Run the initializer."""
        session.run(self._initializer)


def call_input_fn(input_fn: Callable[..., Any], mode: str, params: Any, config: Any) -> Any:
    """Call an input_fn on the CPU, with those of mode, params and config that it takes."""
    taken = arguments(input_fn)
    given = {"mode": mode, "params": params, "config": config}
    with device("/cpu:0"):
        return input_fn(**{name: value for name, value in given.items() if name in taken})


def _element(result: Any) -> tuple[Any, list[SessionRunHook]]:
    """Return (the next element of a dataset or any other result as it is, hooks that start it)."""
    if not isinstance(result, Dataset):
        return result, []
    iterator = result.make_initializable_iterator()
    return iterator.get_next(), [InitializerHook(iterator)]


def features_and_labels(result: Any) -> tuple[Any, Any, list[SessionRunHook]]:
    """Return (features, labels or None, hooks) of what an input_fn returned. Raises ValueError for other tuples."""
    value, hooks = _element(result)
    if isinstance(value, (list, tuple)) and not hasattr(value, "_fields"):
        if len(value) != 2:
            raise ValueError(f"input_fn should return (features, labels) as a len 2 tuple, got {len(value)} values.")
        return value[0], value[1], hooks
    return value, None, hooks


def features_alone(result: Any) -> tuple[Any, list[SessionRunHook]]:
    """Return (features, hooks) of what an input_fn for predictions returned; labels are left out."""
    if not isinstance(result, Dataset) and not get_default_graph().get_collection(GraphKeys.QUEUE_RUNNERS):
        _log.warning("Input graph does not use tf.data.Dataset or contain a QueueRunner. That means predict yields "
                     "forever. This is probably a mistake.")
    features, _, hooks = features_and_labels(result)
    return features, hooks


def call_model_fn(model_fn: Callable[..., Any], features: Any, labels: Any, mode: str, params: Any,
                  config: Any) -> EstimatorSpec:
    """Call a model_fn with the arguments that it takes. Raises ValueError for labels that it can't take, or its result.

    features, labels: of the input_fn.
    """
    taken, anything = arguments(model_fn), takes_any(model_fn)
    given: dict[str, Any] = {"mode": mode, "params": params, "config": config}
    kwargs = {name: value for name, value in given.items() if name in taken}
    if "labels" in taken or anything:
        kwargs["labels"] = labels
    elif labels is not None:
        raise ValueError("model_fn does not take labels, but input_fn returns labels.")
    _log.info("Calling model_fn.")
    made = model_fn(features=features, **kwargs)
    _log.info("Done calling model_fn.")
    if not isinstance(made, EstimatorSpec):
        raise ValueError(f"model_fn should return an EstimatorSpec, got {type(made).__name__}.")
    return made
