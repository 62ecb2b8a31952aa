"""Optimizers of canned models, by name."""
from __future__ import annotations

from typing import Any

from tfnb.train.optimizers.adagrad import AdagradOptimizer
from tfnb.train.optimizers.adam import AdamOptimizer
from tfnb.train.optimizers.ftrl import FtrlOptimizer
from tfnb.train.optimizers.gradient_descent import GradientDescentOptimizer
from tfnb.train.optimizers.optimizer import Optimizer
from tfnb.train.optimizers.rmsprop import RMSPropOptimizer

OPTIMIZERS: dict[str, Any] = {"Adagrad": AdagradOptimizer, "Adam": AdamOptimizer, "Ftrl": FtrlOptimizer,
                              "RMSProp": RMSPropOptimizer, "SGD": GradientDescentOptimizer}


def optimizer_of(given: Any, learning_rate: float) -> Any:
    """Return an optimizer: `given` itself, what it returns where it is a function, or the one of that name.

    learning_rate: of one by name. Raises ValueError for another name or type.
    """
    if isinstance(given, str):
        if given not in OPTIMIZERS:
            raise ValueError(f"Unsupported optimizer name: {given}. Supported names are: {sorted(OPTIMIZERS)}")
        return OPTIMIZERS[given](learning_rate=learning_rate)
    made = given() if callable(given) else given
    if not isinstance(made, Optimizer):
        raise ValueError(f"The given object is not an Optimizer instance. Given: {made}")
    return made
