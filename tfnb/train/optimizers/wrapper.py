"""Base class of optimizers around others."""
from __future__ import annotations

from typing import Any

from tfnb.train.optimizers.optimizer import Optimizer
from tfnb.variables.variable import Variable


class OptimizerWrapper(Optimizer):
    """Base class: gradients, slots and variables are those of another optimizer."""

    def __init__(self, opt: Optimizer, use_locking: bool, name: str) -> None:
        super().__init__(use_locking, name)
        self._opt = opt

    def compute_gradients(self, *args: Any, **kwargs: Any) -> list[tuple[Any, Any]]:
        """Compute the gradients, as the optimizer inside does."""
        return self._opt.compute_gradients(*args, **kwargs)

    def get_slot(self, *args: Any, **kwargs: Any) -> Variable | Any:
        """Return a slot of the optimizer inside."""
        return self._opt.get_slot(*args, **kwargs)

    def get_slot_names(self, *args: Any, **kwargs: Any) -> list[str]:
        """Return the names of the slots of the optimizer inside."""
        return self._opt.get_slot_names(*args, **kwargs)

    def variables(self) -> list[Variable]:
        """Return the variables of the optimizer inside."""
        return self._opt.variables()
