"""Parameters of distributions: conversion, checks, logits and probabilities; functions that several of them share."""
from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from math import log, pi, sqrt
from typing import Any

import numpy as np

from tfnb.control_flow.assertions import (
    assert_less,
    assert_less_equal,
    assert_near,
    assert_non_negative,
    assert_positive,
    assert_same_float_dtype,
)
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.operation import Tensor
from tfnb.graph.stack import control_dependencies, name_scope
from tfnb.ops.array.create import ones_like
from tfnb.ops.array.reshape import identity
from tfnb.ops.declaration.raw import raw

HALF_LOG_TWO_PI = 0.5 * log(2 * pi)


def number(value: Any, like: Tensor) -> Any:
    """Return a constant of the dtype of `like`."""
    return convert_to_tensor(np.asarray(value, like.dtype.base_dtype.as_numpy_dtype))


def floats(*named: tuple[str, Any], positive: Iterable[str] = (), validate: bool = False) -> list[Tensor]:
    """Return parameters as tensors of one float dtype (else ValueError), under their names.

    positive: the names of those that `validate` wants to be positive (else InvalidArgumentError of the run).
    """
    first: Any = None
    converted = {}
    for name, value in named:
        converted[name] = convert_to_tensor(value, name=f"{name}/input", preferred_dtype=first)
        first = first or converted[name].dtype
    checks = [assert_positive(converted[name]) for name in positive] if validate else []
    with control_dependencies(checks):
        found = [identity(tensor, name=name) for name, tensor in converted.items()]
    assert_same_float_dtype(found)
    return found


def checked(value: Tensor, checks: Sequence[Any]) -> Tensor:
    """Return a value that waits for assertions."""
    if not checks:
        return value
    with control_dependencies(list(checks)):
        found: Tensor = identity(value)
        return found


def ones_of(*tensors: Tensor) -> Tensor:
    """Return ones of the dtype of the tensors and of the shape that they broadcast to."""
    found = ones_like(tensors[0])
    for each in tensors[1:]:
        found = found * ones_like(each)
    return found


def where_defined(condition: Tensor, value: Tensor, allow_nan: bool, message: str, otherwise: float = np.nan) -> Any:
    """Return `value` where the condition holds and NaN (`otherwise`) elsewhere, or an assertion that it holds."""
    if allow_nan:
        found: Tensor = raw.SelectV2(condition, value, number(otherwise, value))
        return found
    bad = raw.Cast(raw.LogicalNot(condition), DstT="int32")
    return checked(value, [assert_less(bad, 1, message=message)])


def new_seed(seed: int | None, salt: str) -> int | None:
    """Return a seed that follows from another one and a word; None for None."""
    if seed is None:
        return None
    return int(hashlib.md5(f"{seed}{salt}".encode(), usedforsecurity=False).hexdigest()[:8], 16) & 0x7FFFFFFF


def logits_and_probs(logits: Any, probs: Any, multidimensional: bool = False, validate: bool = False,
                     name: str = "get_logits_and_probs", dtype: Any = None) -> tuple[Tensor, Tensor]:
    """Return both of logits and probabilities, of which one is given (else ValueError).

    multidimensional: of classes along the last axis, whose probabilities sum to 1. validate: whether runs check
    probabilities. dtype: the preferred one.
    """
    if (probs is None) == (logits is None):
        raise ValueError("Must pass probs or logits, but not both.")
    with name_scope(name, values=[probs, logits]):
        if probs is None:
            logits = convert_to_tensor(logits, name="logits", dtype=dtype)
            _float("logits", logits)
            return logits, raw.Softmax(logits) if multidimensional else raw.Sigmoid(logits)
        probs = convert_to_tensor(probs, name="probs", dtype=dtype)
        _float("probs", probs)
        probs = checked(probs, _probability_checks(probs, multidimensional) if validate else [])
        with name_scope("logits"):
            if multidimensional:
                return raw.Log(probs), probs
            return raw.Log(probs) - raw.Log1p(-probs), probs


def _float(name: str, tensor: Tensor) -> None:
    if not tensor.dtype.is_floating:
        raise TypeError(f"{name} must having floating type, got {tensor.dtype.name}")


def _probability_checks(probs: Tensor, multidimensional: bool) -> list[Any]:
    one = number(1, probs)
    if multidimensional:
        total = raw.Sum(probs, [-1])
        return [assert_non_negative(probs), assert_near(total, one, message="probs does not sum to 1")]
    return [assert_non_negative(probs, message="probs has components less than 0."),
            assert_less_equal(probs, one, message="probs has components greater than 1.")]


def integer_checks(value: Tensor, message: str = "value has non-integer components.") -> list[Any]:
    """Return assertions that values are integers and not negative."""
    return [assert_non_negative(value), whole(value, message)]


def whole(value: Tensor, message: str) -> Any:
    """Return the assertion that floats are integers."""
    rest = raw.Abs(value - raw.Floor(value)) if value.dtype.is_floating else value - value
    return assert_less_equal(rest, number(0, value), message=message)


# The normal distribution

def ndtr(x: Tensor) -> Any:
    """Return the CDF of the standard normal distribution."""
    root = number(sqrt(0.5), x)
    w = x * root
    z = raw.Abs(w)
    tail = raw.Erfc(z)
    return 0.5 * raw.SelectV2(raw.Less(z, root), 1 + raw.Erf(w), raw.SelectV2(raw.Greater(w, 0), 2 - tail, tail))


def log_ndtr(x: Tensor, terms: int = 3) -> Tensor:
    """Return the logarithm of `ndtr`: far below the mean by its asymptotic series, far above as -ndtr(-x)."""
    double = x.dtype.name == "float64"
    low, high = (-20.0, 8.0) if double else (-10.0, 5.0)
    far = raw.Minimum(x, number(low, x))
    square, total, term = raw.Square(far), ones_like(far), 1
    power = ones_like(far)
    for n in range(1, terms + 1):
        term *= -(2 * n - 1)
        power = power * square
        total = total + term / power
    series = -0.5 * square - raw.Log(-far) - HALF_LOG_TWO_PI + raw.Log(total)
    middle = raw.Log(ndtr(raw.Minimum(raw.Maximum(x, number(low, x)), number(high, x))))
    inside = raw.SelectV2(raw.Greater(x, number(low, x)), middle, series)
    found: Tensor = raw.SelectV2(raw.Greater(x, number(high, x)), -ndtr(-raw.Maximum(x, number(high, x))), inside)
    return found
