"""The geometry of convolutions and pools: the inputs that each window over an image covers."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

Attrs = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Window:
    """Windows of kernel_height x kernel_width taps over images.

    Output place (oy, ox) meets, at tap (ky, kx), the input at
    (oy * stride_y - top + ky * dilation_y, ox * stride_x - left + kx * dilation_x), which may lie outside (padding).
    """

    batch: int
    height: int
    width: int
    channels: int
    out_height: int
    out_width: int
    kernel_height: int
    kernel_width: int
    stride_y: int
    stride_x: int
    dilation_y: int
    dilation_x: int
    top: int
    left: int

    @property
    def taps(self) -> int:
        """Taps per window."""
        return self.kernel_height * self.kernel_width

    @property
    def pixels(self) -> int:
        """Output positions, over all images."""
        return self.batch * self.out_height * self.out_width

    @property
    def results(self) -> int:
        """Output elements of a pool, over all images."""
        return self.pixels * self.channels

    @property
    def elements(self) -> int:
        """Input elements, over all images."""
        return self.batch * self.height * self.width * self.channels

    @property
    def is_identity(self) -> bool:
        """Whether each output position reads only the input at the same position."""
        return (self.taps == 1 and (self.stride_y, self.stride_x, self.top, self.left) == (1, 1, 0, 0)
                and (self.out_height, self.out_width) == (self.height, self.width))

    @property
    def over_lines(self) -> Window:
        """The same windows, where each covers whole lines of the images, over one line of pixels: each was a line.

        Neither images nor filter change in memory. Windows that leave out a part of a line stay as they are.
        """
        whole = self.out_width == 1 and self.kernel_width == self.width and self.left == 0
        if not whole or self.dilation_x != 1 and self.width != 1:
            return self
        return replace(self, height=1, out_height=1, kernel_height=1, stride_y=1, dilation_y=1, top=0,
                       width=self.height, out_width=self.out_height, kernel_width=self.kernel_height,
                       stride_x=self.stride_y, dilation_x=self.dilation_y, left=self.top,
                       channels=self.width * self.channels)

    @property
    def is_inside(self) -> bool:
        """Whether no tap of any window is padding."""
        return (self.top == self.left == 0
                and (self.out_height - 1) * self.stride_y + (self.kernel_height - 1) * self.dilation_y < self.height
                and (self.out_width - 1) * self.stride_x + (self.kernel_width - 1) * self.dilation_x < self.width)


@dataclass(frozen=True, slots=True)
class Volume:
    """Windows over volumes: at each of their depths windows over images.

    Output depth o meets, at tap k, the input at depth o * stride - front + k * dilation. slices: the windows over the
    images of the output's depths, batch * out_depth of them.
    """

    batch: int
    depth: int
    out_depth: int
    kernel_depth: int
    stride: int
    dilation: int
    front: int
    slices: Window

    @property
    def images(self) -> Window:
        """The windows where all depths that a window covers are channels of one image."""
        return replace(self.slices, channels=self.kernel_depth * self.slices.channels)

    @property
    def planes(self) -> Window:
        """The windows over the images of all depths of the input."""
        return replace(self.slices, batch=self.batch * self.depth)

    @property
    def lines(self) -> Window:
        """The windows along the depth, over images of depth x all that `planes` gives at one depth."""
        wide = self.slices.out_height * self.slices.out_width
        return Window(self.batch, self.depth, wide, self.slices.channels, self.out_depth, wide, self.kernel_depth, 1,
                      self.stride, 1, self.dilation, 1, self.front, 0)


def spatial_axes(attrs: Attrs) -> tuple[int, ...]:
    """Return the axes of (depth,) height and width, then that of channels."""
    layout = attrs.get("data_format", b"NHWC")
    return tuple(map(layout.index, b"DHWC" if len(layout) == 5 else b"HWC"))


def channels_first(attrs: Attrs) -> bool:
    """Return whether the data format is NCHW or NCDHW."""
    return spatial_axes(attrs)[-1] == 1


def output_size(size: int | None, kernel: int | None, stride: int, dilation: int, padding: str,
                around: Sequence[int] = (0, 0)) -> int | None:
    """Return the number of windows along an axis, None where that is not known.

    around: padding before and after the axis, for EXPLICIT. Raises ValueError when the window does not fit.
    """
    if size is None or (kernel is None and padding != "SAME"):
        return None
    if padding == "SAME":
        return -(-size // stride)
    assert kernel is not None
    span, wide = (kernel - 1) * dilation + 1, size + sum(around)
    if wide < span:
        raise ValueError(f"Negative dimension size caused by subtracting {span} from {wide}")
    return (wide - span) // stride + 1


def along(attrs: Attrs, axis: int) -> tuple[int, int, str, tuple[int, int]]:
    """Return stride, dilation, padding and, for EXPLICIT, the padding before and after, of one axis."""
    dilations, paddings = attrs.get("dilations") or [1] * 5, attrs.get("explicit_paddings") or [0] * 10
    return (attrs["strides"][axis], dilations[axis], attrs["padding"].decode(),
            (paddings[2 * axis], paddings[2 * axis + 1]))


def window(shape: Sequence[int], kernel: Sequence[int], attrs: Attrs) -> Window:
    """Return the windows of `kernel` (height, width) over images of `shape`, by an op's attrs (strides, padding...)."""
    *_, y, x, c = spatial_axes(attrs)
    rows, top, stride_y, dilation_y = _place(shape[y], kernel[0], *along(attrs, y))
    columns, left, stride_x, dilation_x = _place(shape[x], kernel[1], *along(attrs, x))
    return Window(shape[0], shape[y], shape[x], shape[c], rows, columns, kernel[0], kernel[1], stride_y, stride_x,
                  dilation_y, dilation_x, top, left)


def pool_window(shape: Sequence[int], attrs: Attrs) -> Window:
    """Return the windows of a pool over images of `shape`, by the attrs of an op (ksize, strides, padding...)."""
    y, x, _ = spatial_axes(attrs)
    return _within(window(shape, [attrs["ksize"][y], attrs["ksize"][x]], attrs))


def pool_volume(shape: Sequence[int], attrs: Attrs) -> Volume:
    """Return the windows of a pool over volumes of `shape`, by the attrs of an op (ksize, strides, padding...)."""
    axes = spatial_axes(attrs)[:3]
    v = volume(shape, [attrs["ksize"][axis] for axis in axes], attrs)
    front, taps = _useful(v.depth, v.out_depth, v.stride, v.front, v.kernel_depth)
    return replace(v, front=front, kernel_depth=taps, slices=_within(v.slices))


def _within(w: Window) -> Window:
    """Return a pool's windows without taps that are padding everywhere: a window may be far larger than its image."""
    top, rows = _useful(w.height, w.out_height, w.stride_y, w.top, w.kernel_height)
    left, columns = _useful(w.width, w.out_width, w.stride_x, w.left, w.kernel_width)
    return replace(w, top=top, left=left, kernel_height=rows, kernel_width=columns)


def _useful(size: int, out: int, stride: int, before: int, kernel: int) -> tuple[int, int]:
    """Return the padding before an axis and the number of taps, less the first and last ones that are all padding."""
    first = min(max(0, before - max(0, out - 1) * stride), kernel - 1)
    last = min(kernel, max(size + before, first + 1))
    return before - first, last - first


def volume(shape: Sequence[int], kernel: Sequence[int], attrs: Attrs) -> Volume:
    """Return the windows of `kernel` (depth, height, width) over volumes of `shape`, by the attrs of an op."""
    z = spatial_axes(attrs)[0]
    places, front, stride, dilation = _place(shape[z], kernel[0], *along(attrs, z))
    slices = window(shape, kernel[1:], attrs)
    return Volume(shape[0], shape[z], places, kernel[0], stride, dilation, front,
                  replace(slices, batch=shape[0] * places))


def _place(size: int, kernel: int, stride: int, dilation: int, padding: str,
           around: tuple[int, int]) -> tuple[int, int, int, int]:
    """Return the number of windows, the padding before, stride and dilation."""
    out = output_size(size, kernel, stride, dilation, padding, around)
    assert out is not None
    if padding == "SAME":
        missing = max(0, (out - 1) * stride + (kernel - 1) * dilation + 1 - size)
        return out, missing // 2, stride, dilation
    return out, around[0], stride, dilation
