"""One-line summaries of fetched values."""
import numpy as np
import pytest

from tfnb.core.describe import one_line


@pytest.mark.parametrize(("value", "line"), [
    (None, "done"),
    (np.float32(0.5), "float32 0.5"),
    (np.zeros((0, 3), np.float32), "float32[0, 3] empty"),
    (np.array([1, 2, 3]), "int64[3] [1, 2, 3]"),
    (np.arange(10, dtype=np.int32), "int32[10] n=10 in [0, 9] mean 4.5"),
    (np.array([True] * 7 + [False]), "bool[8] n=8 7 true"),
    (b"abc", "3 bytes b'abc'"),
    ([np.float32(1), None], "[float32 1., done]"),
    ({"a": np.int32(1)}, "{a: int32 1}"),
    (np.array([1, 3] * 4, np.float32), "float32[8] n=8 in [1, 3] mean 2 sd 1"),
    (np.array([np.nan, np.inf, 1, 1, 1, 1, 1]), "float64[7] n=7 in [1, 1] mean 1 sd 0 1 NaN! 1 inf!"),
    (np.full(9, np.nan), "float64[9] n=9 9 NaN!"),
])
def test_lines(value, line):
    assert one_line(value) == line


def test_lines_stay_short():
    for value in (b"x" * 1000, np.array([b"word" * 99] * 20, object), "é" * 500, np.full(6, 1e-17)):
        assert len(one_line(value)) < 120
