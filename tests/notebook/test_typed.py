"""Values that are typed into a view."""
import numpy as np
import pytest

from tfnb.notebook.debug.typed import typed_value

OLD = np.array([1.0, 2.0, 4.0], np.float32)


@pytest.mark.parametrize("text, want", [
    ("0", [0, 0, 0]), ("-1.5", [-1.5, -1.5, -1.5]), ("[1, 2, 3]", [1, 2, 3]), ("value * 2 - 1", [1, 3, 7]),
    ("[1, 2, 3] * 2", [2, 4, 6]), ("-value / 0", [-np.inf] * 3), ("nan", [np.nan] * 3),
    ("(inf, 0, -inf)", [np.inf, 0, -np.inf])])
def test_numbers_lists_and_arithmetic(text, want):
    found = typed_value(text, OLD)
    assert found.dtype == np.float32 and np.array_equal(found, np.array(want, np.float32), equal_nan=True)
    found[0] = 9                                # an array of its own
    assert OLD[0] == 1.0


def test_words_and_truths():
    assert typed_value("'b'", np.array([b"a"], object)).tolist() == [b"b"]
    assert typed_value("False", np.array(True)).tolist() is False


@pytest.mark.parametrize("text, old, why", [
    ("0.5", np.array([1, 2]), "there is no such int64"), ("nan", np.array([1, 2]), "there is no such int64"),
    ("300", np.array(1, np.uint8), "there is no such uint8"), ("1j", OLD, "it is complex"),
    ("[]", OLD, "it has the shape \\[0\\]"), ("[[1, 2, 3]]", OLD, "it has the shape \\[1, 3\\]")])
def test_what_has_no_place_is_no_value(text, old, why):
    with pytest.raises(ValueError, match=why):
        typed_value(text, old)


@pytest.mark.parametrize("text", [
    "", "1 +", "1 / 0", "[1, 2]", "[[1], [2, 3]]", "__import__('os').getcwd()", "value.dtype", "open('x')",
    "value ** 9999999", "lambda: 0", "names", "-" * 3000 + "1"])
def test_nothing_else_is_evaluated(text):
    with pytest.raises(ValueError, match="no value|can't stand for"):
        typed_value(text, OLD)


@pytest.mark.parametrize("text, old, want", [
    ("[5]", OLD, [5, 5, 5]), ("[[1], [2]]", np.zeros((2, 3)), [[1] * 3, [2] * 3]), ("1j", np.zeros(1, complex), [1j]),
    ("[1, 2, 3]", np.zeros((2, 3)), [[1, 2, 3]] * 2), ("True", np.zeros(2, np.int32), [1, 1]),
    ("255", np.zeros(1, np.uint8), [255]), ("value * 2", np.array([3], np.int8), [6]), ("2.0", np.array([1]), [2])])
def test_what_is_broadcast_and_converted(text, old, want):
    found = typed_value(text, old)
    assert found.dtype == old.dtype and found.shape == old.shape and found.tolist() == want


@pytest.mark.parametrize("text, old, why", [
    ("[1, 2]", np.zeros((2, 3)), r"the shape \[2\]"), ("-1", np.zeros(1, np.uint8), "no such uint8"),
    ("[[1, 2, 3]] * 1", np.zeros(3), r"the shape \[1, 3\]"), ("[[1, 2], [3, 4]]", np.zeros((2, 3)), "the shape")])
def test_what_is_not_broadcast(text, old, why):
    with pytest.raises(ValueError, match=why):
        typed_value(text, old)
