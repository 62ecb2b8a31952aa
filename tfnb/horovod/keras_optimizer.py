"""Horovod for models of Keras: optimizers that average gradients, collectives of values, files of models."""
from __future__ import annotations

from typing import Any

import numpy as np

from tfnb.horovod import transfer
from tfnb.horovod.collectives import Average, Compression, value_of
from tfnb.horovod.optimizer import DistributedOptimizer as distributed
from tfnb.horovod.optimizer import arguments, reduced_gradients
from tfnb.horovod.world import world
from tfnb.keras.optimizers.lookup import CLASSES
from tfnb.keras.optimizers.optimizer import Optimizer
from tfnb.keras.saving.models import load_model as load_keras_model
from tfnb.train.optimizers.optimizer import Optimizer as TrainOptimizer


def DistributedOptimizer(optimizer: Any, name: str | None = None, device_dense: str = "",       # noqa: N802
                         device_sparse: str = "", compression: Any = Compression.none, sparse_as_dense: bool = False,
                         gradient_predivide_factor: float = 1.0, op: Any = Average,
                         backward_passes_per_step: int = 1, average_aggregated_gradients: bool = False) -> Any:
    """Return an optimizer of Keras that averages the gradients of all ranks before it applies them.

    optimizer: of `tf.keras`, which is copied by its config, or of `tf.train`. name: "Distributed" and the name of its
    class by default. Other arguments as of `horovod.tensorflow`'s. The class has the name of the optimizer's, so that
    a saved model is loaded without Horovod, too. Raises ValueError for what is no optimizer.

    >>> hvd.init()
    >>> optimizer = hvd.keras.DistributedOptimizer(tf.keras.optimizers.SGD(0.1 * hvd.size()))
    >>> type(optimizer).__name__
    'SGD'
    """
    if isinstance(optimizer, TrainOptimizer) and not isinstance(optimizer, Optimizer):
        return distributed(optimizer, name, False, device_dense, device_sparse, compression, sparse_as_dense,
                           backward_passes_per_step, op, gradient_predivide_factor)
    if not isinstance(optimizer, Optimizer):
        raise ValueError(f"expected an optimizer of tf.keras, got {type(optimizer).__name__}")
    reduce = arguments(device_dense, device_sparse, compression, op, gradient_predivide_factor,
                       backward_passes_per_step)
    made = _averaging(type(optimizer), name, sparse_as_dense, reduce)
    return made.from_config(optimizer.get_config())


def _averaging(base: Any, name: str | None, sparse_as_dense: bool, reduce: dict[str, Any]) -> Any:
    """Return a class like `base`, and of its name, that averages gradients."""
    def get_gradients(self: Any, loss: Any, params: Any) -> list[Any]:
        """Return the gradients as the optimizer does, reduced over all ranks."""
        found = base.get_gradients(self, loss, params)
        return reduced_gradients(found, name or f"Distributed{base.__name__}", sparse_as_dense, reduce)
    return type(base.__name__, (base,), {"get_gradients": get_gradients, "__doc__": base.__doc__})


def allreduce(value: Any, name: str | None = None, average: bool = True, prescale_factor: float = 1.0,
              postscale_factor: float = 1.0) -> Any:
    """Return the average of a value over all ranks, an array or a number. Called now, in all ranks; no op.

    value: a number or array. name: for errors. average: False for the sum. prescale_factor, postscale_factor: factors.

    >>> hvd.init()
    >>> hvd.keras.allreduce(0.5)
    0.5
    """
    given = np.asarray(value) * prescale_factor if prescale_factor != 1.0 else np.asarray(value)
    found = value_of(given, Average if average else transfer.SUM, name or "value")
    return (found * postscale_factor if postscale_factor != 1.0 else found)[()]


def allgather(value: Any, name: str | None = None) -> Any:
    """Return the arrays of all ranks, concatenated along the first axis. Called now, in all ranks; no op.

    value: an array, at least a vector. name: for errors.

    >>> hvd.init()
    >>> hvd.keras.allgather([1, 2])
    array([1, 2])
    """
    return transfer.gather(world(), name or "value", np.asarray(value))


def broadcast(value: Any, root_rank: int, name: str | None = None) -> Any:
    """Return the value of rank `root_rank`, an array or a number. Called now, in all ranks; no op.

    value: a number or array. name: for errors.

    >>> hvd.init()
    >>> hvd.keras.broadcast([1, 2], 0)
    array([1, 2])
    """
    return np.array(transfer.broadcast(world(), [name or "value"], [np.asarray(value)], root_rank)[0])[()]


def load_model(filepath: Any, custom_optimizers: Any = None, custom_objects: Any = None,
               compression: Any = Compression.none) -> Any:
    """Return a model from a file, its optimizer made one that averages gradients.

    filepath: of `model.save`. custom_optimizers: classes of further optimizers. custom_objects: dict of name to class.
    compression: as of DistributedOptimizer.

    >>> hvd.init()
    >>> model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(2,))])
    >>> model.compile("sgd", "mse")
    >>> model.save("model.h5")
    >>> hvd.keras.load_model("model.h5").count_params()
    3
    """
    reduce = arguments("", "", compression, Average, 1.0, 1)
    classes = {cls.__name__: _averaging(cls, None, False, reduce) for cls in (*CLASSES, *(custom_optimizers or ()))}
    return load_keras_model(filepath, {**classes, **(custom_objects or {})})
