"""Inputs of exported models: what a SavedModel is fed with, and the features made of it (`tf.estimator.export`)."""
from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Self

from tfnb.core import dtypes
from tfnb.core.arguments import ESTIMATORS, describe
from tfnb.graph.parts.operation import Tensor
from tfnb.ops.composite.sparse_tensor import SparseTensor
from tfnb.ops.control.source import placeholder
from tfnb.ops.io.parsing import parse_example


class _Receiver(NamedTuple):
    features: Any
    receiver_tensors: dict[str, Any]
    receiver_tensors_alternatives: Any = None


def _named(values: Any, name: str, what: str) -> Any:
    """Return tensors by name; a single one is called `name`. Raises ValueError for others."""
    if values is None:
        raise ValueError(f"{what} must be defined.")
    named = values if isinstance(values, Mapping) else {name: values}
    for key, value in named.items():
        if not isinstance(key, (str, int)):
            raise ValueError(f"{what} keys must be strings: {key}.")
        if not isinstance(value, (Tensor, SparseTensor)):
            raise ValueError(f"{what} {key} must be a Tensor or SparseTensor, got {value!r}.")
    return dict(named)


class ServingInputReceiver(_Receiver):
    """Input of an exported model, which a serving_input_receiver_fn returns.

    features: a dict of tensors for model_fn (a single tensor is called "feature"). receiver_tensors: a dict of
    placeholders that are fed (a single one is called "input"). receiver_tensors_alternatives: a dict of names to such
    dicts, other places of the graph that may be fed. Raises ValueError for what are no tensors.

    >>> x = tf.placeholder(tf.float32, [None, 2])
    >>> receiver = tf.estimator.export.ServingInputReceiver({"x": x / 255.0}, {"x": x})
    >>> receiver.receiver_tensors["x"] is x
    True
    """

    __slots__ = ()

    def __new__(cls, features: Any, receiver_tensors: Any, receiver_tensors_alternatives: Any = None) -> Self:
        """Check the members. Raises ValueError."""
        return super().__new__(cls, _named(features, "feature", "features"),
                               _named(receiver_tensors, "input", "receiver_tensors"),
                               _alternatives(receiver_tensors_alternatives))


class TensorServingInputReceiver(_Receiver):
    """Input of an exported model whose model_fn takes one tensor, and no dict.

    features: that tensor. receiver_tensors, receiver_tensors_alternatives: as of ServingInputReceiver. Raises
    ValueError for features that are no tensor.

    >>> x = tf.placeholder(tf.float32, [None, 2])
    >>> tf.estimator.export.TensorServingInputReceiver(x, x).receiver_tensors.keys()
    dict_keys(['input'])
    """

    __slots__ = ()

    def __new__(cls, features: Any, receiver_tensors: Any, receiver_tensors_alternatives: Any = None) -> Self:
        """Check the members. Raises ValueError."""
        if not isinstance(features, (Tensor, SparseTensor)):
            raise ValueError(f"feature must be a Tensor or SparseTensor, got {features!r}.")
        return super().__new__(cls, features, _named(receiver_tensors, "input", "receiver_tensors"),
                               _alternatives(receiver_tensors_alternatives))


def _alternatives(given: Any) -> Any:
    if given is None:
        return None
    if not isinstance(given, Mapping):
        raise ValueError(f"receiver_tensors_alternatives must be a dict: {given}.")
    return {name: _named(tensors, name, "receiver_tensors_alternatives") for name, tensors in given.items()}


def build_raw_serving_input_receiver_fn(features: Mapping[str, Any], default_batch_size: int | None = None
                                        ) -> Callable[[], ServingInputReceiver]:
    """Return a serving_input_receiver_fn that is fed with the features themselves.

    features: a dict of tensors, whose dtypes, shapes and names the placeholders get. default_batch_size: the size of
    their first axis; None: any.

    >>> receiver_fn = tf.estimator.export.build_raw_serving_input_receiver_fn({"x": tf.zeros([1, 2])})
    >>> receiver_fn().features["x"].shape
    TensorShape([Dimension(None), Dimension(2)])
    """
    def serving_input_receiver_fn() -> ServingInputReceiver:
        made = _placeholders(features, default_batch_size, "features")
        return ServingInputReceiver(made, made)
    return serving_input_receiver_fn


def _placeholders(tensors: Mapping[str, Any], batch_size: int | None, what: str) -> dict[str, Any]:
    """Return placeholders by name like some tensors, for batches of `batch_size`. Raises ValueError for scalars."""
    made = {}
    for name, tensor in tensors.items():
        shape = tensor.get_shape().as_list()
        if not shape:
            raise ValueError(f"{what} must have a first axis for the batch, got {tensor}")
        made[name] = placeholder(tensor.dtype.base_dtype, [batch_size, *shape[1:]],
                                 name=tensor.op.name.rpartition("/")[2])
    return made


class _Supervised(NamedTuple):
    features: Any
    labels: Any
    receiver_tensors: dict[str, Any]


class SupervisedInputReceiver(_Supervised):
    """Features and labels of a model that is exported for training or evaluation, and the placeholders to feed.

    features, labels: a tensor or a dict of tensors. receiver_tensors: placeholders by name. Raises ValueError for what
    are no tensors.
    """

    __slots__ = ()

    def __new__(cls, features: Any, labels: Any, receiver_tensors: Any) -> Self:
        """Check the members. Raises ValueError."""
        for value, what in ((features, "feature"), (labels, "label")):
            _named(value, what, f"{what}s")
        return super().__new__(cls, features, labels, _named(receiver_tensors, "input", "receiver_tensors"))


def build_raw_supervised_input_receiver_fn(features: Any, labels: Any, default_batch_size: int | None = None
                                           ) -> Callable[[], SupervisedInputReceiver]:
    """Return a function whose result has placeholders for features and labels themselves.

    features, labels: a tensor or a dict of tensors, whose dtypes, shapes and names the placeholders get.
    default_batch_size: the size of their first axis; None: any. Raises ValueError for a name of a feature that is also
    one of a label.

    >>> receiver_fn = tf.estimator.experimental.build_raw_supervised_input_receiver_fn(
    ...     {"x": tf.zeros([1, 2])}, {"y": tf.zeros([1])})
    >>> sorted(receiver_fn().receiver_tensors), receiver_fn().labels["y"].shape
    (['x', 'y'], TensorShape([Dimension(None)]))
    """
    named = _named(features, "input", "features"), _named(labels, "label", "labels")
    if common := sorted(map(str, named[0].keys() & named[1].keys())):
        raise ValueError(f"keys must be unique between features and labels, found in both: {common}")

    def supervised_input_receiver_fn() -> SupervisedInputReceiver:
        made = [_placeholders(tensors, default_batch_size, what)
                for tensors, what in zip(named, ("features", "labels"), strict=True)]
        parts = [made[i] if isinstance(given, Mapping) else next(iter(made[i].values()))
                 for i, given in enumerate((features, labels))]
        return SupervisedInputReceiver(parts[0], parts[1], {**made[0], **made[1]})
    return supervised_input_receiver_fn


def build_parsing_serving_input_receiver_fn(feature_spec: Mapping[str, Any], default_batch_size: int | None = None
                                            ) -> Callable[[], ServingInputReceiver]:
    """Return a serving_input_receiver_fn that is fed with serialized tf.train.Example messages, in "examples".

    feature_spec: a dict of names to FixedLenFeature, VarLenFeature..., as of tf.parse_example. default_batch_size: the
    number of examples; None: any.

    >>> spec = {"x": tf.FixedLenFeature([2], tf.float32)}
    >>> receiver = tf.estimator.export.build_parsing_serving_input_receiver_fn(spec)()
    >>> receiver.receiver_tensors["examples"].name
    'input_example_tensor:0'
    """
    def serving_input_receiver_fn() -> ServingInputReceiver:
        examples = placeholder(dtypes.string, [default_batch_size], name="input_example_tensor")
        return ServingInputReceiver(parse_example(examples, feature_spec), {"examples": examples})
    return serving_input_receiver_fn


describe(globals(), ESTIMATORS)
