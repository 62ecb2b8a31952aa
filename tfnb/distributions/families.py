"""Bases that distributions share: parameters under two names, vectors along the last axis of one."""
from __future__ import annotations

from typing import Any

from tfnb.distributions.distribution import Distribution
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.operation import Tensor
from tfnb.ops.array.reshape import shape as shape_of


def logits_shapes(sample_shape: Any) -> dict[str, Tensor]:
    """Return the shapes of parameters by name, for samples of a shape."""
    return {"logits": convert_to_tensor(sample_shape, dtype="int32")}


def keep_parameters(distribution: Distribution, parameters: dict[str, Any]) -> None:
    """Replace the parameters by the arguments of a subclass's constructor, its `locals()`: `copy` passes them."""
    distribution._parameters = {key: value for key, value in parameters.items() if key not in ("self", "__class__")}


class OfLogits(Distribution):
    """Base of distributions of one result, or of classes, that probabilities or their logarithms give."""

    _logits: Tensor
    _probs: Tensor

    @property
    def logits(self) -> Tensor:
        """The log-odds of 1, or of a success; of classes the unnormalized log-probabilities."""
        return self._logits

    @property
    def probs(self) -> Tensor:
        """The probability of 1, or of a success; of classes the probabilities."""
        return self._probs


class OfVectors(Distribution):
    """Base of distributions over vectors as long as the last axis of a parameter."""

    _vector: Tensor

    def _batch_shape(self) -> Any:
        return self._vector.shape[:-1]

    def _batch_shape_tensor(self) -> Any:
        return shape_of(self._vector)[:-1]

    def _event_shape(self) -> Any:
        return self._vector.shape[-1:]

    def _event_shape_tensor(self) -> Any:
        return shape_of(self._vector)[-1:]
