"""Finite: one bad number anywhere in some arrays is noticed, and none where there is none."""
import numpy as np
import pytest

from tfnb.kernels.library.finite import Finite


def arrays():
    rng = np.random.default_rng(2)
    return [rng.normal(size=shape).astype(dtype) for shape in ((), (3,), (0, 2), (17, 65)) for dtype in ("f4", "f8")]


def test_large_and_small_finite_numbers_are_fine():
    some = arrays()
    for a, limits in ((some[-2], np.finfo(np.float32)), (some[-1], np.finfo(np.float64))):
        a[0, :4] = limits.max, limits.min, limits.smallest_subnormal, -0.0
    assert Finite(some)() and Finite([])()


@pytest.mark.parametrize("bad", [np.nan, -np.nan, np.inf, -np.inf])
def test_a_bad_number_is_noticed_wherever_it_stands(bad):
    some = arrays()
    finite = Finite(some)
    for a in some:
        for place in {0, a.size // 2, a.size - 1} if a.size else ():
            before = a.reshape(-1)[place]
            a.reshape(-1)[place] = bad
            assert not finite(), (a.dtype, a.shape, place)
            a.reshape(-1)[place] = before
            assert finite()
