"""Losses of layers that functions make when they are first asked for."""
from __future__ import annotations

from typing import Any

from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.operation import Tensor
from tfnb.graph.stack import get_default_graph, name_scope


class KeptLoss:
    """A loss that a function makes, once for each graph."""

    def __init__(self, function: Any) -> None:
        self._function = function
        self._made: Any = None

    def __call__(self) -> Tensor:
        made = self._made
        if made is None or made.graph is not get_default_graph() or made.op._dead is not None:
            self._made = made = convert_to_tensor(self._function())
            vars(made)["_unconditional_loss"] = True
        found: Tensor = made
        return found


class Regularization(KeptLoss):
    """The loss of a weight."""

    def __init__(self, variable: Any, regularizer: Any) -> None:
        def loss() -> Any:
            with name_scope(f"{variable.op.name}/Regularizer"):
                return regularizer(variable)
        super().__init__(loss)
