"""3-D convolutions and pools on NumPy arrays, by those over images (window_arrays.py).

Volumes are (batch, depth, height, width, channels) here, filters (depth, height, width, in, out). A convolution takes
the depths that a window meets as channels of one image. A pool goes over images first, then along the depth.
"""
from __future__ import annotations

import numpy as np

from tfnb.kernels.arrays import windows as arrays
from tfnb.kernels.arrays.window import Volume


def convolve(x: np.ndarray, kernel: np.ndarray, v: Volume) -> np.ndarray:
    """Compute the sum over taps and input channels, for each output channel."""
    out = arrays.convolve(unfold(x, v), flat_filter(kernel), v.images)
    return out.reshape(v.batch, v.out_depth, *out.shape[1:])


def convolve_input_gradient(kernel: np.ndarray, dy: np.ndarray, v: Volume) -> np.ndarray:
    """Return the gradient of `convolve` for its input."""
    columns = arrays.convolve_input_gradient(flat_filter(kernel), _images(dy), v.images)
    apart = columns.reshape(v.batch, v.out_depth, *columns.shape[1:3], v.kernel_depth, v.slices.channels)
    out = np.zeros((v.batch, v.depth, *columns.shape[1:3], v.slices.channels), dy.dtype)
    for place, tap, z in _meetings(v):
        out[:, z] += apart[:, place, :, :, tap]
    return out


def convolve_filter_gradient(x: np.ndarray, dy: np.ndarray, v: Volume) -> np.ndarray:
    """Return the gradient of `convolve` for its filter."""
    flat = arrays.convolve_filter_gradient(unfold(x, v), _images(dy), v.images)
    apart = flat.reshape(*flat.shape[:2], v.kernel_depth, v.slices.channels, flat.shape[3])
    return np.ascontiguousarray(apart.transpose(2, 0, 1, 3, 4))


def unfold(x: np.ndarray, v: Volume) -> np.ndarray:
    """Return (batch * out depth, height, width, kernel depth * channels): the depths of each window side by side."""
    out = np.zeros((v.batch, v.out_depth, *x.shape[2:4], v.kernel_depth, x.shape[4]), x.dtype)
    for place, tap, z in _meetings(v):
        out[:, place, :, :, tap] = x[:, z]
    return out.reshape(v.batch * v.out_depth, *x.shape[2:4], v.kernel_depth * x.shape[4])


def flat_filter(kernel: np.ndarray) -> np.ndarray:
    """Return a filter (depth, height, width, in, out) as one over images: (height, width, depth * in, out)."""
    depth, height, width, taken, out = kernel.shape
    return kernel.transpose(1, 2, 0, 3, 4).reshape(height, width, depth * taken, out)


def max_pool(x: np.ndarray, v: Volume) -> np.ndarray:
    """Return the maximum of each window."""
    return _volumes(arrays.max_pool(_largest(x, v), v.lines), v)


def max_pool_gradient(x: np.ndarray, dy: np.ndarray, v: Volume) -> np.ndarray:
    """Return the gradient of `max_pool`: each of `dy` goes to the first maximum of its window."""
    middle = arrays.max_pool_gradient(_largest(x, v), dy.reshape(_line_shape(v, v.out_depth)), v.lines)
    return arrays.max_pool_gradient(_images(x), middle.reshape(_plane_shape(v)), v.planes).reshape(x.shape)


def at_largest(x: np.ndarray, values: np.ndarray, v: Volume) -> np.ndarray:
    """Return the elements of `values` at the position of the first maximum of each window."""
    middle = arrays.at_largest(_images(x), _images(values), v.planes).reshape(_line_shape(v, v.depth))
    return _volumes(arrays.at_largest(_largest(x, v), middle, v.lines), v)


def avg_pool(x: np.ndarray, v: Volume) -> np.ndarray:
    """Return the mean of each window; padding is not counted."""
    middle = arrays.avg_pool(_images(x), v.planes).reshape(_line_shape(v, v.depth))
    return _volumes(arrays.avg_pool(middle, v.lines), v)


def avg_pool_gradient(dy: np.ndarray, v: Volume) -> np.ndarray:
    """Return the gradient of `avg_pool`."""
    middle = arrays.avg_pool_gradient(dy.reshape(_line_shape(v, v.out_depth)), v.lines)
    found = arrays.avg_pool_gradient(middle.reshape(_plane_shape(v)), v.planes)
    return found.reshape(v.batch, v.depth, *found.shape[1:])


def _largest(x: np.ndarray, v: Volume) -> np.ndarray:
    """Return the maxima of windows over the images of all depths, as images along the depth."""
    return arrays.max_pool(_images(x), v.planes).reshape(_line_shape(v, v.depth))


def _line_shape(v: Volume, depth: int) -> tuple[int, int, int, int]:
    return v.batch, depth, v.slices.out_height * v.slices.out_width, v.slices.channels


def _plane_shape(v: Volume) -> tuple[int, int, int, int]:
    return v.batch * v.depth, v.slices.out_height, v.slices.out_width, v.slices.channels


def _meetings(v: Volume) -> list[tuple[int, int, int]]:
    """Return (output depth, tap, input depth) of all that meet."""
    found = [(o, k, o * v.stride - v.front + k * v.dilation) for o in range(v.out_depth) for k in range(v.kernel_depth)]
    return [(o, k, z) for o, k, z in found if 0 <= z < v.depth]


def _images(x: np.ndarray) -> np.ndarray:
    """Return volumes as the images of all their depths."""
    return x.reshape(x.shape[0] * x.shape[1], *x.shape[2:])


def _volumes(x: np.ndarray, v: Volume) -> np.ndarray:
    """Return images along the depth as volumes."""
    return x.reshape(v.batch, v.out_depth, v.slices.out_height, v.slices.out_width, v.slices.channels)
