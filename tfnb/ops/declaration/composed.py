"""Compositions on NumPy arrays: the interpreter's form of an op by the definitions and sums that are compiled."""
from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

import numpy as np

from tfnb.kernels.scalar.definition import Scalar, reference


class ArrayParts:
    """Builder of an op's arrays, with the methods of the Parts of compile/composing.py. attrs: those of the op."""

    def __init__(self, attrs: Any) -> None:
        self.attrs = attrs

    @staticmethod
    def map(definition: Scalar, *arrays: np.ndarray, **attrs: Any) -> np.ndarray:
        """Return a definition of the arrays, broadcast, in the dtype of the first one. attrs: its keywords."""
        kind = arrays[0].dtype.name
        return reference(definition, arrays, attrs, kind, [kind])[0]

    @staticmethod
    def sum(x: np.ndarray, axes: Collection[int]) -> np.ndarray:
        """Return the sums over axes, which stay as 1."""
        return np.asarray(x.sum(tuple(axes), np.float64, keepdims=True), x.dtype)

    @staticmethod
    def along(vector: np.ndarray, axis: int, rank: int) -> np.ndarray:
        """Return a vector as an array of a rank whose other axes are 1."""
        return vector.reshape([-1 if i == axis else 1 for i in range(rank)])

    @staticmethod
    def reshaped(array: np.ndarray, *sizes: int) -> np.ndarray:
        """Return the elements in another shape."""
        return array.reshape(sizes)

    @staticmethod
    def known(array: np.ndarray) -> np.ndarray:
        """Return a constant."""
        return array


def interpreted(composition: Callable[..., Any]) -> Callable[..., Any]:
    """Return the NumPy form of an op that has this composition."""
    def numpy(ctx: Any, *arrays: np.ndarray) -> Any:
        made = composition(ArrayParts(ctx.attrs), *arrays)
        return made[0] if len(made) == 1 else tuple(made)
    return numpy
