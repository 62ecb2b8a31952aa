"""`Dimension`: the size of one axis in TensorFlow 1, which may be unknown."""
from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any


class Dimension:
    """Size of one axis: `value` is an int, or None if unknown. Arithmetic with an unknown size gives an unknown size.

    Comparisons with an unknown size give None, as TensorFlow 1 does.

    >>> tf.Dimension(2) * tf.Dimension(3) == 6, tf.Dimension(None).value
    (True, None)
    """

    __slots__ = ("_value",)

    def __init__(self, value: Any) -> None:
        self._value = size_of(value)

    @property
    def value(self) -> int | Any:
        """The size, or None."""
        return self._value

    def is_compatible_with(self, other: Any) -> bool:
        """Return whether the sizes are equal or one is unknown."""
        other = as_dimension(other)._value
        return self._value is None or other is None or self._value == other

    def assert_is_compatible_with(self, other: Any) -> None:
        """Raise ValueError if both sizes are known and differ."""
        if not self.is_compatible_with(other):
            raise ValueError(f"Dimensions {self} and {other} are not compatible")

    def merge_with(self, other: Any) -> Dimension:
        """Return the known size of the two. Raises ValueError if both are known and differ."""
        other = as_dimension(other)
        self.assert_is_compatible_with(other)
        return Dimension(other._value if self._value is None else self._value)

    def _with(self, other: Any, fn: Callable[[int, int], int], swap: bool = False) -> Any:
        try:
            number = as_dimension(other)._value
        except (TypeError, ValueError):
            return NotImplemented
        if self._value is None or number is None:
            return Dimension(None)
        return Dimension(fn(number, self._value) if swap else fn(self._value, number))

    def __add__(self, other: Any) -> Any:
        return self._with(other, operator.add)

    def __radd__(self, other: Any) -> Any:
        return self._with(other, operator.add)

    def __sub__(self, other: Any) -> Any:
        return self._with(other, operator.sub)

    def __rsub__(self, other: Any) -> Any:
        return self._with(other, operator.sub, swap=True)

    def __mul__(self, other: Any) -> Any:
        return self._with(other, operator.mul)

    def __rmul__(self, other: Any) -> Any:
        return self._with(other, operator.mul)

    def __floordiv__(self, other: Any) -> Any:
        return self._with(other, operator.floordiv)

    def __rfloordiv__(self, other: Any) -> Any:
        return self._with(other, operator.floordiv, swap=True)

    def __mod__(self, other: Any) -> Any:
        return self._with(other, operator.mod)

    def __rmod__(self, other: Any) -> Any:
        return self._with(other, operator.mod, swap=True)

    def __truediv__(self, other: Any) -> Any:
        raise TypeError(f"unsupported operand type(s) for /: 'Dimension' and {type(other).__name__!r}, "
                        "please use // instead")

    def __rtruediv__(self, other: Any) -> Any:
        raise TypeError(f"unsupported operand type(s) for /: {type(other).__name__!r} and 'Dimension', "
                        "please use // instead")

    def _compare(self, other: Any, fn: Callable[[int, int], bool]) -> Any:
        number = as_dimension(other)._value
        return None if self._value is None or number is None else fn(self._value, number)

    def __lt__(self, other: Any) -> Any:
        return self._compare(other, operator.lt)

    def __le__(self, other: Any) -> Any:
        return self._compare(other, operator.le)

    def __gt__(self, other: Any) -> Any:
        return self._compare(other, operator.gt)

    def __ge__(self, other: Any) -> Any:
        return self._compare(other, operator.ge)

    def __eq__(self, other: object) -> Any:
        try:
            return self._compare(other, operator.eq)
        except (TypeError, ValueError):
            return NotImplemented

    def __ne__(self, other: object) -> Any:
        try:
            return self._compare(other, operator.ne)
        except (TypeError, ValueError):
            return NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __bool__(self) -> bool:
        return bool(self._value)

    def __int__(self) -> int:
        return self._value  # type: ignore[return-value]  # int() itself raises TypeError for None

    def __index__(self) -> int:
        return self._value  # type: ignore[return-value]

    def __str__(self) -> str:
        return "?" if self._value is None else str(self._value)

    def __repr__(self) -> str:
        return f"Dimension({self._value})"

    def __reduce__(self) -> tuple[Any, tuple[int | None]]:
        return Dimension, (self._value,)


def as_dimension(value: Any) -> Dimension:
    """Convert an int, None or a Dimension to a Dimension. Raises TypeError or ValueError as `Dimension` does."""
    return value if isinstance(value, Dimension) else Dimension(value)


def size_of(value: Any) -> int | None:
    """Return the size in `value` (an integer, None or a Dimension). Raises TypeError or ValueError as Dimension."""
    if value is None or isinstance(value, Dimension):
        return None if value is None else value._value
    try:
        size = operator.index(value)
    except TypeError:
        raise TypeError(f"Dimension value must be an integer or None, got {value!r} of type "
                        f"{type(value).__name__}") from None
    if size < 0:
        raise ValueError(f"Dimension {size} must be >= 0")
    return size
