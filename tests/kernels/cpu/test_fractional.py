"""Fractional pools by machine code: as on NumPy arrays."""
from __future__ import annotations

import numpy as np
import pytest

from tfnb.kernels.arrays import fractional as arrays
from tfnb.kernels.library.image import fractional as kernels


@pytest.mark.parametrize("overlapping", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int64"])
def test_windows_of_all_sizes(dtype, overlapping):
    random = np.random.default_rng(0)
    for shape in ((3, 9, 11, 3), (2, 20, 7, 1), (1, 4, 5, 2)):
        x = (random.normal(size=shape) * 9).round(1).astype(dtype)
        if x.dtype.kind == "f":
            x[0, 1, 1:3] = np.nan
        rows, columns = ([0, *np.sort(random.choice(np.arange(1, size), count, False)), size]
                         for size, count in ((shape[1], 3), (shape[2], 4)))
        borders = np.array(rows), np.array(columns)
        spans = arrays.windows(*borders, shape, overlapping)
        counts = arrays.counts(*borders, shape, overlapping)
        dy = random.integers(-5, 5, (shape[0], 4, 5, shape[3])).astype(dtype)
        close = {"rtol": 1e-6 if dtype == "float32" else 1e-14, "atol": 1e-5 if dtype == "float32" else 1e-14}
        np.testing.assert_array_equal(kernels.maxima(x, spans), arrays.max_pool(x, *borders, overlapping))
        np.testing.assert_allclose(arrays.shared(kernels.sums(x, spans), counts),
                                   arrays.avg_pool(x, *borders, overlapping), **close)
        np.testing.assert_allclose(kernels.maxima_gradient(x, dy, spans),
                                   arrays.max_pool_gradient(x, dy, *borders, overlapping), **close)
        np.testing.assert_allclose(kernels.means_gradient(shape, dy, spans).astype(dtype),
                                   arrays.avg_pool_gradient(shape, dy, *borders, overlapping), **close)
