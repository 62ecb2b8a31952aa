"""TensorShape, Dimension and static shapes."""
from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfnb.core.shape import Dimension, TensorShape, as_shape, broadcast, is_known, merge, unknown_shape

SIZES = st.one_of(st.none(), st.integers(0, 3))
STATIC = st.one_of(st.none(), st.lists(SIZES, max_size=3).map(tuple))


def test_text() -> None:
    assert [str(TensorShape(d)) for d in ([1, 2, None], [], [3], None)] == ["(1, 2, ?)", "()", "(3,)", "<unknown>"]
    assert repr(TensorShape([1, None])) == "TensorShape([Dimension(1), Dimension(None)])"
    assert repr(TensorShape(None)) == "TensorShape(None)"


def test_what_may_be_a_shape() -> None:
    assert TensorShape(3) == [3] and TensorShape(np.array([2, 3])) == (2, 3) and TensorShape(np.int64(2)) == [2]
    assert TensorShape([Dimension(2), None]).as_list() == [2, None] and TensorShape(Dimension(2)) == [2]
    assert as_shape(TensorShape([1])) == [1]


@pytest.mark.parametrize("value, error", [
    ([1, "a"], TypeError), ([1, -1], ValueError), ("ab", TypeError), (3.5, TypeError), ([1.0], TypeError)])
def test_what_may_not(value: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        TensorShape(value)


def test_sequence() -> None:
    s = TensorShape([1, 2, None])
    assert len(s) == 3 and [d.value for d in s] == [1, 2, None] and s[1] == 2 and s[-1].value is None
    assert s[1:].as_list() == [2, None] and TensorShape(None)[1:3].as_list() == [None, None]
    assert TensorShape(None)[0].value is None and TensorShape(None)[1:].ndims is None
    assert not TensorShape(None) and TensorShape([])
    assert np.zeros(TensorShape([1, 2])).shape == (1, 2)
    with pytest.raises(IndexError):
        s[5]
    for read in (len, list, TensorShape.as_list):
        with pytest.raises(ValueError):
            read(TensorShape(None))         # type: ignore[operator]


def test_numbers() -> None:
    assert TensorShape([2, 3]).num_elements() == 6 and TensorShape([]).num_elements() == 1
    assert TensorShape([1, None]).num_elements() is None and TensorShape(None).num_elements() is None
    assert TensorShape([0]).rank == 1 and unknown_shape(2).as_list() == [None, None] and unknown_shape().ndims is None


@pytest.mark.parametrize("act, message", [
    (lambda s: s.merge_with([2, 3]), r"Shapes \(1, \?\) and \(2, 3\) are not compatible"),
    (lambda s: s.merge_with([1, 3, 2]), "not compatible"),
    (lambda s: s.assert_is_fully_defined(), r"Shape \(1, \?\) is not fully defined"),
    (lambda s: s.with_rank(3), r"Shape \(1, \?\) must have rank 3"),
    (lambda s: s.with_rank_at_least(3), "rank at least 3"), (lambda s: s.with_rank_at_most(1), "rank at most 1"),
    (lambda s: s.assert_same_rank([1]), "same rank"), (lambda s: s.assert_is_compatible_with([2, 3]), "incompatible")])
def test_errors(act: Callable[[TensorShape], Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        act(TensorShape([1, None]))


def test_combination() -> None:
    s = TensorShape([1, 2])
    assert s.concatenate([3]) == [1, 2, 3] and s.concatenate(None).ndims is None
    assert s + [3] == [1, 2, 3] and [3] + s == [3, 1, 2]
    assert s.most_specific_compatible_shape([1, 3]) == [1, None]
    assert s != [1, 3] and s != "nonsense" and TensorShape(None) == TensorShape(None)
    assert hash(s) == hash(TensorShape((1, 2))) and pickle.loads(pickle.dumps(s)) == s


def test_dimension() -> None:
    d = Dimension
    assert d(3) + 2 == 5 and 2 + d(3) == 5 and d(7) // 2 == 3 and 7 // d(2) == 3 and d(7) % 4 == 3 and 7 - d(2) == 5
    assert (d(3) * d(None)).value is None and (d(3) < d(None)) is None and (d(3) == None) is None  # noqa: E711
    assert d(3) < 4 and d(3) >= d(3) and d(3) != 4 and int(d(3)) == 3 and list(range(d(2))) == [0, 1]
    assert (str(d(None)), repr(d(3))) == ("?", "Dimension(3)") and d(3) != "a"
    assert d(None).merge_with(4) == 4


@pytest.mark.parametrize("act", [lambda d: d / 2, lambda d: 2 / d, lambda d: d + "a", lambda d: hash(d),
                                 lambda d: int(Dimension(None))])
def test_dimension_refuses(act: Callable[[Dimension], Any]) -> None:
    with pytest.raises(TypeError):
        act(Dimension(3))


@given(STATIC, STATIC)
def test_merge_is_symmetric_and_loses_nothing(a: Any, b: Any) -> None:
    try:
        both = merge(a, b)
    except ValueError:
        with pytest.raises(ValueError):
            merge(b, a)
        return
    assert both == merge(b, a) and merge(both, a) == both
    assert not is_known(a) or both == a


@given(st.lists(st.integers(0, 3), max_size=3).map(tuple), st.lists(st.integers(0, 3), max_size=3).map(tuple))
def test_broadcast_of_known_shapes_is_numpys(a: Any, b: Any) -> None:
    try:
        expected = np.broadcast_shapes(a, b)
    except ValueError:
        with pytest.raises(ValueError, match="Incompatible"):
            broadcast(a, b)
    else:
        assert broadcast(a, b) == expected


def test_broadcast_of_unknown_sizes() -> None:
    assert broadcast((None, 3), (1, 1)) == (None, 3) and broadcast((None,), (4,)) == (4,)
    assert broadcast((None,), (None,)) == (None,) and broadcast(None, (2,)) is None
