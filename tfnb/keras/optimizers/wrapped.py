"""Optimizers of `tf.train` in models of Keras."""
from __future__ import annotations

from typing import Any

from tfnb.graph.parts.operation import Operation
from tfnb.graph.stack import control_dependencies
from tfnb.keras.backend.session import track_variable
from tfnb.train.optimizers.optimizer import Optimizer
from tfnb.variables.variable import Variable


class TFOptimizer:
    """A `tf.train` optimizer that takes the steps of a model. optimizer: it."""

    def __init__(self, optimizer: Optimizer) -> None:
        self.optimizer = optimizer
        self._iterations: Variable | None = None

    @property
    def iterations(self) -> Any:
        """The variable that counts steps, an int64 scalar."""
        if self._iterations is None:
            self._iterations = Variable(0, trainable=False, name="iterations", dtype="int64", use_resource=True)
            track_variable(self._iterations)
        return self._iterations

    def get_updates(self, loss: Any, params: Any) -> list[Operation]:
        """Return a list of the op that takes a step to minimize `loss` by updating the variables."""
        pairs = self.optimizer.compute_gradients(loss, params)
        with control_dependencies(None):
            steps = self.iterations
        step = self.optimizer.apply_gradients(pairs, global_step=steps)
        for variable in self.optimizer.variables():
            track_variable(variable)
        return [step]

    @property
    def weights(self) -> Any:
        """Not there. Raises NotImplementedError: files of models hold the state of optimizers of Keras alone."""
        raise NotImplementedError("an optimizer of tf.train has no weights for Keras: use one of tf.keras.optimizers")

    def get_config(self) -> Any:
        """Not there. Raises NotImplementedError, as `weights`."""
        raise NotImplementedError("an optimizer of tf.train has no config: use one of tf.keras.optimizers")
