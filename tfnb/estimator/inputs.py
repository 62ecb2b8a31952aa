"""Input functions over arrays in memory: `tf.estimator.inputs.numpy_input_fn` and `pandas_input_fn`."""
from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from tfnb.core.arguments import ESTIMATORS, describe
from tfnb.estimator.feeding import enqueue_data


def numpy_input_fn(x: Any, y: Any = None, batch_size: int = 128, num_epochs: int | None = 1,
                   shuffle: bool | None = None, queue_capacity: int = 1000, num_threads: int = 1
                   ) -> Callable[[], Any]:
    """Return an input_fn that feeds an Estimator with batches of arrays.

    x: an array, or a dict of names to arrays; y: the labels, too; None: no labels. batch_size: rows of a batch.
    num_epochs: how often the rows come; None: without end. shuffle: whether to draw them at random; must be given.
    queue_capacity: how many rows are drawn from. num_threads: threads that fill the queue, without num_epochs. The
    input_fn raises ValueError for arrays of different lengths, TypeError for others.

    >>> x, y = np.arange(4.0), np.array([0, 1, 0, 1])
    >>> input_fn = tf.estimator.inputs.numpy_input_fn({"x": x}, y, batch_size=2, shuffle=False)
    >>> features, labels = input_fn()
    >>> with tf.train.MonitoredSession() as session:
    ...     session.run([features["x"], labels])
    [array([0., 1.]), array([0, 1])]
    """
    if not isinstance(shuffle, bool):
        raise ValueError("shuffle must be provided and explicitly set as boolean (it is recommended to set it as True "
                         f"for training); got {shuffle}")

    def input_fn() -> Any:
        named = _arrays(x, "x")
        if not named:
            raise ValueError("x cannot be an empty dict")
        targets = {} if y is None else _arrays(y, "y")
        if isinstance(y, Mapping) and not y:
            raise ValueError("y cannot be empty dict, use None instead.")
        if both := set(named) & set(targets) if isinstance(y, Mapping) and isinstance(x, Mapping) else set():
            raise ValueError(f"{len(both)} duplicate keys are found in both x and y: {sorted(both)}")
        arrays = [*named.values(), *targets.values()]
        if len({len(array) for array in arrays}) > 1:
            shapes = {**{name: array.shape for name, array in named.items()},
                      **{f"y {name}".strip(): array.shape for name, array in targets.items()}}
            raise ValueError("Length of tensors in x and y is mismatched. All elements in x and y must have the same "
                             f"length. Shapes: {shapes}")
        found = enqueue_data(arrays, batch_size, num_epochs, shuffle, queue_capacity, num_threads)
        features = OrderedDict(zip(named, found[:len(named)], strict=True))
        labels = OrderedDict(zip(targets, found[len(named):], strict=True))
        return _unnamed(features, x) if y is None else (_unnamed(features, x), _unnamed(labels, y))
    return input_fn


def _arrays(data: Any, what: str) -> dict[str, np.ndarray]:
    """Return arrays by name, sorted; a single one has the name "". Raises TypeError for others."""
    if isinstance(data, np.ndarray):
        return {"": data}
    if not isinstance(data, Mapping):
        raise TypeError(f"{what} must be a dict or array; got {type(data).__name__}")
    for name, array in data.items():
        if not isinstance(array, np.ndarray):
            raise TypeError(f"{what}[{name!r}] must be a NumPy array; got {type(array).__name__}")
    return {name: data[name] for name in sorted(data)}


def _unnamed(found: Mapping[str, Any], given: Any) -> Any:
    return found if isinstance(given, Mapping) else found[""]


def pandas_input_fn(x: Any, y: Any = None, batch_size: int = 128, num_epochs: int | None = 1,
                    shuffle: bool | None = None, queue_capacity: int = 1000, num_threads: int = 1,
                    target_column: str = "target") -> Callable[[], Any]:
    """Return an input_fn that feeds an Estimator with rows of a pandas DataFrame, as `numpy_input_fn` does.

    x: the DataFrame, whose columns are the features by name. y: the labels, a Series or a DataFrame (then labels by
    name), of the same index; None: no labels. batch_size, num_epochs, shuffle, queue_capacity, num_threads: as of
    numpy_input_fn. target_column: a name for labels that x must not have. Raises ValueError for another index and if
    shuffle is not given, TypeError for what is no DataFrame.

    >>> import types
    >>> column = types.SimpleNamespace(values=np.array([1.0, 2.0]))         # of a DataFrame, of which this needs little
    >>> class Table(dict):
    ...     columns, index = ["x"], [0, 1]
    >>> input_fn = tf.estimator.inputs.pandas_input_fn(Table(x=column), batch_size=2, shuffle=False)
    >>> features = input_fn()
    >>> with tf.train.MonitoredSession() as session:
    ...     session.run(features["x"])
    array([1., 2.])
    """
    if not hasattr(x, "columns"):
        raise TypeError(f"x must be pandas.DataFrame. Got {type(x).__name__}.")
    if not isinstance(shuffle, bool):
        raise ValueError("shuffle must be provided and explicitly set as boolean (it is recommended to set it as True "
                         f"for training); got {shuffle}")
    if y is not None and not np.array_equal(x.index, y.index):
        raise ValueError(f"Index for x and y are mismatched.\nIndex for x: {x.index}\nIndex for y: {y.index}\n")
    if y is not None and target_column in x.columns:
        raise ValueError(f"Cannot use name {target_column} for target column: DataFrame already has a column with that "
                         f"name: {list(x.columns)}")
    labels = {name: y[name].values for name in y.columns} if hasattr(y, "columns") else \
        None if y is None else np.asarray(y.values)
    return numpy_input_fn({name: _column(x[name].values) for name in x.columns}, labels, batch_size, num_epochs,
                          shuffle, queue_capacity, num_threads)


def _column(values: Any) -> np.ndarray:
    """Return a column as an array; a column of a pandas type of its own, such as a category, as objects."""
    return values if isinstance(values, np.ndarray) else np.asarray(values, dtype=object)


describe(globals(), ESTIMATORS)
