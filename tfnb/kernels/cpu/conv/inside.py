"""Convolutions over padded images that skip multiplications with padding.

    convolve(call, w, x, kernel, out, n, type)              launches of a convolution with n output channels
    filter_gradient(call, w, x, dy, out, meta)              launches of its gradient for the filter
    suits(w, type), suits_filter(w, n, type)                whether they apply and pay off

The rows of a tile (window_tiles.py) are the same pixel of different images, so they meet the same taps, and those that
meet padding are left out: of a 5 x 5 window over images of 14 x 14, padding "SAME", 16 %. No image is copied. A tile of
the filter's gradient belongs to one tap: its rows are output channels and its vectors input channels, summed over the
pixels that this tap does not read from the padding. Where rows do not go up in tiles, some tiles have one row less.

The split into items depends on shapes alone, so results don't depend on threads.

Measured on a Zen 4 core (peak 118 GFLOP/s), for 64 images of 14 x 14 x 32 and a 5 x 5 x 32 x 64 filter with padding
"SAME": 9.3 ms forward, 9.2 for the input's gradient, 9.6 for the filter's, of 9.1 that the products left take at the
peak (conv_tiles.py: 10.6, 10.3, 10.8).
"""
from __future__ import annotations

from tfnb.kernels.arrays.window import Window
from tfnb.kernels.cpu.conv.tiles import CALL, ITEMS, LEAST_WORK, PARTIAL_BYTES, TILE_CALL, source, tile_kernels, widened
from tfnb.kernels.launch import Address, Call, Launch, Meta, Word
from tfnb.kernels.library.copying import copy_box
from tfnb.kernels.llvm.window_tiles import SIZES, lanes, shape
from tfnb.kernels.sizes import exact, highest, lowest

LEAST_ROWS = 7                                          # of a tile: fewer leave the multipliers waiting
LEAST_SAVED = 0.03                                      # of the multiplications: what pays for reading many images
CACHE_BYTES = 768 << 10                                 # of the second cache, for the lines that a row of pixels meets
WAY_BYTES = 4096                                        # addresses so far apart share a line of the first cache
BAND_BYTES = 256 << 10
MOST_COUNTED = 1 << 17                                  # taps along an axis: of more, few meet padding, or most do

(X, C, H, W, OH, OW, KH, KW, SY, SX, DY, DX, TOP, LEFT, B, N, WIDE, OUT, SCRATCH, STEP, BANDS, BAND, SHORT, LONG,
 IMAGE, PARTS, UNITS, PER_ITEM, ROWS, MORE, TILES) = range(31)        # TILES: of ROWS rows and of MORE, two words each

INSIDE = """
@device
def taps_inside(place, stride, dilation, before, size, taps):
    '''Taps [first, last) of the window at `place` that meet the image.'''
    start = place * stride - before
    return max(0, (dilation - 1 - start) // dilation), min(taps, (size - 1 - start) // dilation + 1)

@device
def places_inside(tap, stride, dilation, before, size, first, last):
    '''Of places [first, last), those whose tap `tap` meets the image.'''
    shift = tap * dilation - before
    return max(first, (stride - 1 - shift) // stride), min(last, (size - 1 - shift) // stride + 1)
"""

# Item i: the images of a tile (i // bands) and some rows of their outputs (i % bands).
FORWARD_SOURCE = """
LEVEL = 2
""" + TILE_CALL + INSIDE + f"""
def kernel(args, begin, end):
    c, h, w, oh, ow, kw = args[{C}], args[{H}], args[{W}], args[{OH}], args[{OW}], args[{KW}]
    n, wide = args[{N}], args[{WIDE}]
    line, run = w * c * {{bytes}}, kw * c * wide * {{bytes}}
    more, tiles = args[{MORE}], address_of(args) + 8 * {TILES}
    for i in range(begin, end):
        head = args[{SCRATCH}] + {CALL} + i * args[{STEP}]
        table = int64_array(head, 0)
        offsets = int64_array(head + 8 * more, 0)
        spare = head + 8 * (more + args[{KH}])
        group, band = i // args[{BANDS}], i % args[{BANDS}]
        tall = group < args[{LONG}]
        rows = more if tall else args[{ROWS}]
        first = group * args[{ROWS}] + min(group, args[{LONG}])
        for t in range(rows):
            table[t] = args[{X}] + (first + t) * args[{IMAGE}]
        for column in range(0, n, {{width}}):
            columns = min({{width}}, n - column)
            span = {{width}} if columns > {{lanes}} else {{lanes}}
            whole = columns == span
            for oy in range(band * args[{BAND}], min((band + 1) * args[{BAND}], oh)):
                top, bottom = taps_inside(oy, args[{SY}], args[{DY}], args[{TOP}], h, args[{KH}])
                for ox in range(ow):
                    left, right = taps_inside(ox, args[{SX}], args[{DX}], args[{LEFT}], w, kw)
                    start = ((oy * args[{SY}] - args[{TOP}]) * line
                             + (ox * args[{SX}] - args[{LEFT}] + left) * c * {{bytes}})
                    for ky in range(top, bottom):
                        offsets[ky - top] = start + ky * args[{DY}] * line
                    b = args[{B}] + ((top * kw + left) * c * wide + column) * {{bytes}}
                    place = ((first * oh + oy) * ow + ox) * n + column
                    out = args[{OUT}] + place * {{bytes}} if whole else spare
                    step = (oh * ow * n if whole else span) * {{bytes}}
                    tile(tiles + 16 if tall else tiles, columns, head, head + 8 * more, bottom - top,
                         (right - left) * c, {{bytes}}, b, wide * {{bytes}}, run, out, step, 0)
                    if not whole:
                        for t in range(rows):
                            copy_bytes(args[{OUT}] + (t * oh * ow * n + place) * {{bytes}},
                                       spare + t * span * {{bytes}}, columns * {{bytes}})
"""

# Item i: some bands of images (i // parts) and some taps (i % parts): partial[tap, n, c] = dy[pixels, n]' x[pixels, c].
FILTER_SOURCE = """
LEVEL = 2
""" + TILE_CALL + INSIDE + f"""
def kernel(args, begin, end):
    c, h, w, oh, ow, kw, n = args[{C}], args[{H}], args[{W}], args[{OH}], args[{OW}], args[{KW}], args[{N}]
    sy, sx, parts = args[{SY}], args[{SX}], args[{PARTS}]
    taps = args[{KH}] * kw
    each = (taps + parts - 1) // parts
    more, tiles = args[{MORE}], address_of(args) + 8 * {TILES}
    for i in range(begin, end):
        head = args[{SCRATCH}] + {CALL} + i * args[{STEP}]
        table = int64_array(head, 0)
        offsets = int64_array(head + 8 * more, 0)
        group, part = i // parts, i % parts
        begin_unit = group * args[{PER_ITEM}]
        for u in range(begin_unit, min(begin_unit + args[{PER_ITEM}], args[{UNITS}])):
            image, y0 = u // args[{BANDS}], u % args[{BANDS}] * args[{BAND}]
            y1 = min(y0 + args[{BAND}], oh)
            for oy in range(y0, y1):
                offsets[oy - y0] = (image * oh + oy) * ow * n * {{bytes}}
            for tap in range(part * each, min((part + 1) * each, taps)):
                shift_y, shift_x = tap // kw * args[{DY}] - args[{TOP}], tap % kw * args[{DX}] - args[{LEFT}]
                top, bottom = places_inside(tap // kw, sy, args[{DY}], args[{TOP}], h, y0, y1)
                left, right = places_inside(tap % kw, sx, args[{DX}], args[{LEFT}], w, 0, ow)
                target = args[{OUT}] + (group * taps + tap) * n * c * {{bytes}}
                if top >= bottom or left >= right:
                    if u == begin_unit:
                        nothing = {{type}}_array(target, 0)
                        for j in range(n * c):
                            nothing[j] = {{type}}(0)
                    continue
                source = args[{X}] + ((image * h + top * sy + shift_y) * w + left * sx + shift_x) * c * {{bytes}}
                for block in range(0, c, {{width}}):
                    row = 0
                    for piece in range(args[{SHORT}] + args[{LONG}]):
                        tall = piece < args[{LONG}]
                        rows = more if tall else args[{ROWS}]
                        for t in range(rows):
                            table[t] = args[{B}] + (left * n + row + t) * {{bytes}}
                        out = target + (row * c + block) * {{bytes}}
                        tile(tiles + 16 if tall else tiles, c - block, head, head + 8 * (more + top - y0),
                             bottom - top, right - left, n * {{bytes}}, source + block * {{bytes}},
                             sx * c * {{bytes}}, sy * w * c * {{bytes}}, out, c * {{bytes}}, u - begin_unit)
                        row += rows
"""

# Item i: tap i of `groups` arrays of n x c numbers a tap, summed into the first of them, and turned to c x n.
SUM_SOURCE = """
INDEPENDENT = True

def kernel(args, begin, end):
    groups, taps, n, c = args[2], args[3], args[4], args[5]
    for i in range(begin, end):
        total = {type}_array(args[0] + {bytes} * i * n * c, 0)
        for group in range(1, groups):
            source = {type}_array(args[0] + {bytes} * (group * taps + i) * n * c, 0)
            for j in range(n * c):
                total[j] = total[j] + source[j]
        out = {type}_array(args[1] + {bytes} * i * n * c, 0)
        for k in range(c):
            for j in range(n):
                out[k * n + j] = total[j * c + k]
"""


def suits(w: Window, type_: str) -> bool:
    """Return whether there are enough images for tiles, and enough taps that meet padding."""
    if type_ not in SIZES or not w.pixels or not w.channels or (w.dilation_x > 1 and w.kernel_width > 1):
        return False
    used = _used(w)
    rows = _pieces(w.batch)[0]
    met = rows * w.width * w.channels * SIZES[type_] * ((w.kernel_height - 1) * w.dilation_y + 1)
    return used > 0 and used <= 1 - LEAST_SAVED and rows >= LEAST_ROWS and met <= CACHE_BYTES


def suits_filter(w: Window, n: int, type_: str) -> bool:
    """Return whether input channels fill the columns of tiles, and there are enough output channels for their rows.

    Half a tile is enough where the output channels, as columns, would not fill it either.
    """
    if type_ not in SIZES or not w.pixels or not w.channels or _pieces(n)[0] < LEAST_ROWS:
        return False
    width, half = shape(SIZES[type_])[1], lanes(SIZES[type_])
    return w.channels % (half if 0 < n % width <= half else width) == 0


def convolve(call: Call, w: Window, x: Address, kernel: Address, out: Address, n: int, type_: str) -> list[Launch]:
    """Return the launches of a convolution. x: images; kernel: (taps * channels, n); out: (pixels, n)."""
    size = SIZES[type_]
    kernel, wide, launches = widened(call, kernel, type_, w.taps * w.channels, n)
    image = w.height * w.width * w.channels * size
    if image % WAY_BYTES == 0:
        x, image, apart = _apart(call, x, w.batch, image)
        launches += apart
    rows, longer, count = _pieces(w.batch)
    work = w.pixels * w.taps * w.channels * n // count
    bands, band = _bands(w.out_height, lowest(2 * ITEMS // count, work // LEAST_WORK))
    step = CALL + (8 * (rows + 1 + w.kernel_height) + (rows + 1) * shape(size)[1] * size + 63 & -64)
    words = _words(w, x)
    items = count * bands
    words[X] = x.reach((w.batch - 1) * image + w.elements // w.batch * size)
    words[B:PARTS] = (kernel.reach(w.taps * w.channels * wide * size), n, wide, out.reach(w.pixels * n * size),
                      call.scratch(items * step).reach(items * step), step, bands, band, count - longer, longer, image)
    words[ROWS:] = _tiles(type_, rows, n)
    return [*launches, Launch(source(FORWARD_SOURCE, type_), tuple(words), items, 1 if items > 1 else 0,
                              "convolution")]


def filter_gradient(call: Call, w: Window, x: Address, dy: Address, out: Address, meta: Meta) -> list[Launch]:
    """Return the launches of a filter's gradient. x: images; dy: (pixels, n); out: (taps * channels, n), as `meta`."""
    size, type_, n = meta.itemsize, meta.type, meta.shape[3]
    line = (w.width * w.channels * w.stride_y + w.out_width * n) * size
    bands, band = _bands(w.out_height, -(-w.out_height * line // BAND_BYTES))
    units = w.batch * bands
    most = highest(1, lowest(ITEMS, w.pixels * w.taps * w.channels * n // LEAST_WORK))
    whole = w.taps * w.channels * n * size
    per_item = -(-units // highest(1, lowest(lowest(most, units), max(2, PARTIAL_BYTES // whole))))
    groups = -(-units // per_item)
    parts = highest(1, lowest(w.taps, most // groups))
    rows, longer, count = _pieces(n)
    step = CALL + (8 * (rows + 1 + band) + 63 & -64)
    items = groups * parts
    words, partial = _words(w, x), call.scratch(groups * whole).reach(groups * whole)
    words[X] = x.reach(w.elements * size)
    words[B:] = (dy.reach(w.pixels * n * size), n, n, partial, call.scratch(items * step).reach(items * step), step,
                 bands, band, count - longer, longer, 0, parts, units, per_item, *_tiles(type_, rows, w.channels))
    return [Launch(source(FILTER_SOURCE, type_), tuple(words), items, 1 if items > 1 else 0, "filter gradient"),
            Launch(SUM_SOURCE.format(type=type_, bytes=size),
                   (partial, out.reach(whole), groups, w.taps, n, w.channels), w.taps,
                   highest(1, (1 << 16) // (groups * n * w.channels)), "partial sums")]


def _pieces(total: int) -> tuple[int, int, int]:
    """Return the tiles of `total` rows: rows of the shorter ones, how many have one row more, how many there are."""
    count = highest(1, -(-total // shape(4)[0]))
    return total // count, total % count, count


def _bands(rows: int, count: int) -> tuple[int, int]:
    """Cut `rows` into about `count` parts: return the number of parts, and rows of each."""
    band = -(-rows // highest(1, lowest(rows, count)))
    return -(-rows // band), band


def _used(w: Window) -> float:
    """Return the fraction of taps that meet images; 0 where some window meets nothing but padding."""
    share = 1.0
    for places, stride, dilation, before, size, taps in (
            (w.out_height, w.stride_y, w.dilation_y, w.top, w.height, w.kernel_height),
            (w.out_width, w.stride_x, w.dilation_x, w.left, w.width, w.kernel_width)):
        if places * taps > MOST_COUNTED:
            return 0.0
        met = [sum(0 <= place * stride - before + tap * dilation < size for tap in range(taps))
               for place in range(places)]
        if not min(met, default=0):
            return 0.0
        share *= sum(met) / (places * taps)
    return share


def _apart(call: Call, x: Address, images: int, nbytes: int) -> tuple[Address, int, list[Launch]]:
    """Return a copy whose images stand a cache line further apart."""
    step = nbytes + 64
    target = call.scratch(images * step)
    axes = [(images, nbytes // 8, step // 8), (nbytes // 8, 1, 1)]
    return target, step, copy_box(call, x, target, "uint64", axes)


def _words(w: Window, x: Address) -> list[Word]:
    words: list[Word] = [0] * 34
    words[X:B] = [x, w.channels, w.height, w.width, w.out_height, w.out_width, w.kernel_height, w.kernel_width,
                  w.stride_y, w.stride_x, w.dilation_y, w.dilation_x, w.top, w.left]
    return words


def _tiles(type_: str, rows: int, columns: int) -> tuple[Word, ...]:
    """Return the words from ROWS on, for tiles of `rows` rows, or one more, and some of `columns` columns."""
    rows, columns = exact(rows), exact(columns)
    more = min(rows + 1, shape(SIZES[type_])[0])
    return rows, more, *tile_kernels(type_, rows, columns), *tile_kernels(type_, more, columns)
