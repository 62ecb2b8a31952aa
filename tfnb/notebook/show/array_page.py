"""An array as a piece of static HTML: its figures and a small heat map, within 10 kB however large it is.

Only a sample of large arrays is read: a view with strides, no copy. Nothing in it needs a kernel or a script; the
picture is enlarged by dragging its corner.
"""
from __future__ import annotations

import base64

import numpy as np

from tfnb.core.text import counted, cut
from tfnb.kernels.arrays.png import encode_png
from tfnb.notebook.drawing.heat_map import GAP, picture
from tfnb.notebook.drawing.heat_map_svg import colours
from tfnb.notebook.drawing.svg import short
from tfnb.notebook.drawing.svg import text as escaped
from tfnb.notebook.drawing.tensor_stats import as_reals, stats

MOST = 1 << 18          # elements that are read
SIDE = 72               # cells of a picture along each side, at most: random colours in them are 8 kB
IMAGE, TILE = 8, 16     # pixels of the least image, and of what is shown of one
LEVELS = 24             # colours on each side of zero: few of them pack well
ROOM = 168              # pixels of a picture
NARROWEST, FLATTEST = 24, 12                            # the least width and height: a column, a row
FEW = 8                 # arrays of at most this many elements show them
LETTERS = 200           # of elements that are printed
MUTED = "opacity:0.75"


def sample(array: np.ndarray, most: int = MOST) -> np.ndarray:
    """Return a view of at most about `most` elements, evenly spaced along the longest axes."""
    while array.size > most:
        axis = int(np.argmax(array.shape))
        step = min(array.shape[axis], -(-array.size // most))
        array = array[(slice(None),) * axis + (slice(None, None, max(2, step)),)]
    return array


def kind_of(array: np.ndarray) -> str:
    """Return dtype and shape in a few letters: "float32[64, 10]"."""
    return f"{array.dtype.name}[{', '.join(map(str, array.shape))}]" if array.shape else array.dtype.name


def words_of(array: np.ndarray) -> str:
    """Return dtype, shape, and the figures of at most MOST elements, or the elements, if they are few."""
    if array.size <= FEW or as_reals(array[:0] if array.ndim else array) is None:
        return f"{kind_of(array)}  {_elements(array)}"
    part = sample(array)
    found = stats(part)
    if found is None:
        return kind_of(array)
    bad = f", {found.nan:.2%} NaN" * bool(found.nan) + f", {found.inf:.2%} inf" * bool(found.inf)
    figures = f"{short(found.low)} to {short(found.high)}, mean {short(found.mean)}, sd {short(found.std)}" \
        if found.low == found.low else "nothing finite"
    few = f", by {part.size:,} of them" if part.size < array.size else ""
    return f"{kind_of(array)}  {array.size:,} elements: {figures}{bad}{few}"


def _elements(array: np.ndarray) -> str:
    first = array.reshape(-1)[:FEW] if array.flags.c_contiguous else sample(array, FEW).reshape(-1)[:FEW]
    numbers = array.dtype.kind == "f"
    items = (one.item() if isinstance(one, np.generic) else one for one in first)
    shown = ", ".join(short(one) if numbers else cut(repr(one), 40) for one in items)
    more = ", …" if array.size > FEW else ""
    return cut(f"[{shown}{more}]" if array.ndim else shown, LETTERS)


def array_html(array: np.ndarray) -> str:
    """Return the picture of an array and its scale; "" for one element, and for what has no numbers.

    A picture is an image of 1 pixel a cell, which the browser enlarges to the room that it has.
    """
    if array.size < 2 or as_reals(array[:0] if array.ndim else array) is None:
        return ""
    tiles, note = _tiles(array)
    drawn = picture(sample(tiles))
    cells = _thinned(drawn.values)
    limit = drawn.limit or 1.0
    with np.errstate(all="ignore"):             # gaps are a huge number
        levels = np.round(cells / limit * LEVELS) * (limit / LEVELS)
    levelled = np.where(np.isfinite(cells) & (cells != GAP), levels, cells)
    rows, columns = cells.shape
    png = base64.b64encode(encode_png(_opaque(colours(levelled, limit, drawn.side)), 9)).decode()
    ratio = min(max(columns / rows, NARROWEST / ROOM), ROOM / FLATTEST)
    wide = round(ROOM * min(1.0, ratio))
    image = (f'<img alt="{escaped(kind_of(array))} as a heat map" src="data:image/png;base64,{png}" '
             'style="display:block;image-rendering:pixelated;margin:0;max-width:none;width:100%;'
             f'box-sizing:border-box;border:1px solid #8888;aspect-ratio:{ratio:.3g}"/>')
    frame = (f'<div tabindex="0" title="drag the corner to enlarge" style="max-width:100%;min-width:24px;'
             f'overflow:hidden;resize:both;width:{wide}px">{image}</div>')
    scale = f"0 white · {short(limit * drawn.side, 3)} dark" if drawn.side else \
        f"{short(-limit, 3)} blue · 0 white · {short(limit, 3)} orange"
    words = escaped("; ".join(filter(None, (scale, note))))
    return f'<div style="margin:2px 0 4px 18px">{frame}<small style="{MUTED}">{words}</small></div>'


def _tiles(array: np.ndarray) -> tuple[np.ndarray, str]:
    """Lay out as many images or filters as fit, a tile for each channel; a word on it. Other arrays stay.

    Images are [examples, height, width, channels], filters [height, width, inputs, outputs].
    """
    if array.ndim != 4 or not array.size:
        return array, ""
    if min(array.shape[1:3]) >= IMAGE:
        step = -(-max(array.shape[1:3]) // TILE)
        count = max(1, SIDE // (-(-array.shape[2] // step) + 1))
        tiles = array[:count, ::step, ::step, :count].transpose(1, 2, 3, 0)
        return tiles, f"across: {counted(tiles.shape[3], 'example')}, down: {counted(tiles.shape[2], 'channel')}"
    if max(array.shape[:2]) <= TILE:
        down, across = (max(1, SIDE // (size + 1)) for size in array.shape[:2])
        tiles = array[:, :, :down, :across]
        return tiles, f"across: {counted(tiles.shape[3], 'output')}, down: {counted(tiles.shape[2], 'input')}"
    return array, ""


def _thinned(cells: np.ndarray) -> np.ndarray:
    """Keep at most SIDE cells along each side, evenly spaced."""
    rows, columns = (-(-size // SIDE) for size in cells.shape)
    return cells[::rows, ::columns]


def _opaque(pixels: np.ndarray) -> np.ndarray:
    """RGB, if nothing is transparent: a quarter less."""
    return np.ascontiguousarray(pixels[..., :3]) if bool((pixels[..., 3] == 255).all()) else pixels
