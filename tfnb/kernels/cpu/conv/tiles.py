"""Direct convolution by register tiles (window_tiles.py), without unfolding the images.

    convolve(call, w, x, kernel, out, n, type)              launches of a convolution with n output channels
    filter_gradient(call, w, x, dy, out, meta)              launches of its gradient for the filter
    suits(w, type)                                          whether these two apply

A unit of work is some whole images, or a band of rows of a large one. It is copied, with its padding, to memory of the
item's own (UNIT_BYTES, so it stays in the second cache), unless there is no padding; then every tile of TILE pixels by
WIDTH channels goes over the rows of its windows, whose numbers lie side by side. The filter's gradient has tiles of
TILE of the filter's rows instead, summed over the pixels of a unit; each group of units has a sum of its own, and these
are added up in their order. The split into items depends on shapes alone, so results don't depend on threads.

Rows of windows that meet nothing but padding are left out.

Measured on a Zen 4 core (peak 118 GFLOP/s), for 64 images of 14 x 14 x 32 and a 5 x 5 x 32 x 64 filter with padding
"SAME": 10.5 ms forward, 10.4 for the input's gradient, 11.0 for the filter's, of 10.9 that all products would take at
the peak (the unfolded windows multiplied by OpenBLAS: 14.8, 15.4, 16.0).
"""
from __future__ import annotations

from math import prod

from tfnb.kernels.arrays.window import Window
from tfnb.kernels.launch import Address, Call, Code, Launch, Meta, Word
from tfnb.kernels.library.partial_sums import partial_sums
from tfnb.kernels.llvm.window_tiles import SIZES, lanes, shape
from tfnb.kernels.sizes import highest, lowest

UNIT_BYTES = 192 << 10
ITEMS = 16
LEAST_WORK = 1 << 20                                    # multiplications for which one more item pays
PARTIAL_BYTES = 8 << 20
MOST_ROOM = 1 << 26                                     # bytes of the rows that one row of windows meets, with padding
LEAST_TILES = 4                                         # of a unit: the last one may be in part empty

(X, C, H, W, OH, OW, KH, KW, SY, SX, DY, DX, TOP, LEFT, PH, PW, BATCH, IMAGES, BANDS, BAND, UNITS, PER_ITEM, SCRATCH,
 STEP, B, N, WIDE, OUT, PARTS, K, TABLE, ROOM, COPIED, TILE, TILES) = range(35)       # TILES: two words

CALL = 128                                              # bytes before an item's tables: the words of a tile's call

# A tile, a kernel of its own which those of many shapes share: expanded in each it took half of their compile time.
TILE_SOURCE = """
def kernel(args, begin, end):
    {kind}_tile_{type}_{rows}(args[0], args[1], args[2], args[3], args[4], args[5], args[6], args[7], args[8], args[9],
                              args[10])
"""

# Calls the first of two tiles where there are more columns than a vector has, else the second.
TILE_CALL = f"""
@device
def tile(tiles, columns, table, offsets, runs, length, step, b, b_step, b_run, c, c_step, add):
    at = table - {CALL}
    store(at, table)
    store(at + 8, offsets)
    store(at + 16, runs)
    store(at + 24, length)
    store(at + 32, step)
    store(at + 40, b)
    store(at + 48, b_step)
    store(at + 56, b_run)
    store(at + 64, c)
    store(at + 72, c_step)
    store(at + 80, add)
    call_kernel(load(tiles) if columns > {{lanes}} else load(tiles + 8), at, 0, 1)
"""

# The images and rows of unit u; its copy with padding at `room`. Returns (address, images, rows, first pixel).
UNIT = f"""
@device
def take(args, u, room):
    c, h, w, sy, pw = args[{C}], args[{H}], args[{W}], args[{SY}], args[{PW}]
    bands, band, oh = args[{BANDS}], args[{BAND}], args[{OH}]
    image = u // bands if bands > 1 else u * args[{IMAGES}]
    images = 1 if bands > 1 else min(args[{IMAGES}], args[{BATCH}] - image)
    first = u % bands * band
    rows = min(band, oh - first)
    pixel = (image * oh + first) * args[{OW}]
    if args[{COPIED}] == 0:
        return args[{X}] + (image * h + first * sy) * w * c * {{bytes}}, images, rows, pixel
    left = min(max(args[{LEFT}], 0), pw)
    right = max(left, min(pw, w + args[{LEFT}]))
    out = {{type}}_array(room, 0)
    to = 0
    for i in range(image, image + images):
        for line in range(args[{PH}]):
            y = first * sy - args[{TOP}] + line
            if y < 0 or y >= h:
                for j in range(pw * c):
                    out[to + j] = {{type}}(0)
            else:
                source = ((i * h + y) * w - args[{LEFT}]) * c
                for j in range(left * c):
                    out[to + j] = {{type}}(0)
                copy_bytes(room + (to + left * c) * {{bytes}}, args[{X}] + (source + left * c) * {{bytes}},
                           (right - left) * c * {{bytes}})
                for j in range(right * c, pw * c):
                    out[to + j] = {{type}}(0)
            to += pw * c
    return room, images, rows, pixel
"""

# Rows [top, bottom) of the windows at rows oy to last: the others meet only padding. At least one.
INSIDE = f"""
@device
def inside(args, oy, last):
    sy, dy, kh, up = args[{SY}], args[{DY}], args[{KH}], args[{TOP}]
    top = max(0, (up - last * sy + dy - 1) // dy)
    bottom = min(kh, (args[{H}] - 1 + up - oy * sy) // dy + 1)
    return (top, bottom) if top < bottom else (0, 1)
"""

# Item i: some units. out[pixels, n] = windows[pixels, k] b[k, n].
FORWARD_SOURCE = """
LEVEL = 2
""" + TILE_CALL + UNIT + INSIDE + f"""
def kernel(args, begin, end):
    c, oh, ow, kh, kw, n, wide = args[{C}], args[{OH}], args[{OW}], args[{KH}], args[{KW}], args[{N}], args[{WIDE}]
    row = args[{PW}] * c * {{bytes}}
    image_step, down, right = args[{PH}] * row, args[{SY}] * row, args[{SX}] * c * {{bytes}}
    joined = args[{DX}] == 1 or kw == 1
    each = 1 if joined else kw
    runs, length = kh * each, kw * c if joined else c
    rows_of_tile, tiles = args[{TILE}], address_of(args) + 8 * {TILES}
    for i in range(begin, end):
        head = args[{SCRATCH}] + {CALL} + i * args[{STEP}]
        table = int64_array(head, 0)
        offsets = int64_array(head + args[{TABLE}], 0)
        spare = head + args[{TABLE}] + 8 * runs
        for r in range(runs):
            offsets[r] = (r * args[{DY}] * row if joined else
                          r // kw * args[{DY}] * row + r % kw * args[{DX}] * c * {{bytes}})
        for u in range(i * args[{PER_ITEM}], min((i + 1) * args[{PER_ITEM}], args[{UNITS}])):
            base, images, rows, pixel = take(args, u, head + args[{ROOM}])
            pixels, begin_row = images * rows * ow, pixel // ow % oh
            for column in range(0, n, {{width}}):
                columns = min({{width}}, n - column)
                span = {{width}} if columns > {{lanes}} else {{lanes}}
                for p in range(0, pixels, rows_of_tile):
                    first = max(0, min(p, pixels - rows_of_tile))
                    count = min(rows_of_tile, pixels)
                    image, oy, ox = first // (rows * ow), first // ow % rows, first % ow
                    last = oy + (ox + count - 1) // ow
                    top, bottom = 0, kh
                    if last < rows:
                        top, bottom = inside(args, begin_row + oy, begin_row + last)
                    for t in range(rows_of_tile):
                        table[t] = base + image * image_step + oy * down + ox * right
                        if t < count - 1:
                            ox += 1
                            if ox == ow:
                                ox = 0
                                oy += 1
                                if oy == rows:
                                    oy = 0
                                    image += 1
                    out = args[{OUT}] + ((pixel + first) * n + column) * {{bytes}}
                    whole = columns == span and count == rows_of_tile
                    tile(tiles, columns, head, head + args[{TABLE}] + 8 * top * each, (bottom - top) * each, length,
                         {{bytes}}, args[{B}] + (top * each * length * wide + column) * {{bytes}}, wide * {{bytes}},
                         length * wide * {{bytes}}, out if whole else spare, (n if whole else span) * {{bytes}}, 0)
                    if not whole:
                        for t in range(count):
                            copy_bytes(out + t * n * {{bytes}}, spare + t * span * {{bytes}}, columns * {{bytes}})
"""

# Item i: some units (i // parts) and some of the filter's rows (i % parts): partial[k, n] = windows' b[pixels, n].
FILTER_SOURCE = """
LEVEL = 2
""" + TILE_CALL + UNIT + f"""
@device
def beside(stride, dilation, before, size, tap, last, first, places):
    '''Of `places` places from the first, those from which taps `tap` to last meet the image; at least one.'''
    begin = max(0, (before - last * dilation + stride - 1) // stride - first)
    end = min(places, (size - 1 + before - tap * dilation) // stride + 1 - first)
    return (begin, end) if begin < end else (0, 1)

def kernel(args, begin, end):
    c, oh, ow, kw, wide, k = args[{C}], args[{OH}], args[{OW}], args[{KW}], args[{WIDE}], args[{K}]
    h, w = args[{H}], args[{W}]
    row = args[{PW}] * c * {{bytes}}
    parts = args[{PARTS}]
    rows_of_tile, tiles = args[{TILE}], address_of(args) + 8 * {TILES}
    pieces = (k + rows_of_tile - 1) // rows_of_tile
    each = (pieces + parts - 1) // parts
    for i in range(begin, end):
        head = args[{SCRATCH}] + {CALL} + i * args[{STEP}]
        table = int64_array(head, 0)
        offsets = int64_array(head + args[{TABLE}], 0)
        group, part = i // parts, i % parts
        start = group * args[{PER_ITEM}]
        for u in range(start, min(start + args[{PER_ITEM}], args[{UNITS}])):
            base, images, rows, pixel = take(args, u, head + args[{ROOM}])
            for r in range(rows):
                offsets[r] = r * args[{SY}] * row
            begin_row = pixel // ow % oh
            for column in range(0, wide, {{width}}):
                for piece in range(part * each, min((part + 1) * each, pieces)):
                    for t in range(rows_of_tile):
                        at = min(piece * rows_of_tile + t, k - 1)
                        tap = at // c
                        table[t] = (base + tap // kw * args[{DY}] * row
                                    + (tap % kw * args[{DX}] * c + at % c) * {{bytes}})
                    first = piece * rows_of_tile // c // kw
                    last = min(piece * rows_of_tile + rows_of_tile, k) - 1
                    top, bottom = beside(args[{SY}], args[{DY}], args[{TOP}], h, first, last // c // kw, begin_row,
                                         rows)
                    left, right = 0, ow
                    if first == last // c // kw:
                        left, right = beside(args[{SX}], args[{DX}], args[{LEFT}], w, piece * rows_of_tile // c % kw,
                                             last // c % kw, 0, ow)
                    for t in range(rows_of_tile):
                        table[t] += left * args[{SX}] * c * {{bytes}}
                    for image in range(images):
                        begin_pixel = pixel + (image * rows + top) * ow + left
                        tile(tiles, wide - column, head, head + args[{TABLE}] + 8 * top, bottom - top, right - left,
                             args[{SX}] * c * {{bytes}}, args[{B}] + (begin_pixel * wide + column) * {{bytes}},
                             wide * {{bytes}}, ow * wide * {{bytes}},
                             args[{OUT}] + ((group * pieces + piece) * rows_of_tile * wide + column) * {{bytes}},
                             wide * {{bytes}}, u - start + image)
                        for t in range(rows_of_tile):
                            table[t] += args[{PH}] * row
"""

# Item i: row i; its n numbers to the first of `wide`, the others 0.
WIDEN_SOURCE = """
INDEPENDENT = True

def kernel(args, begin, end):
    n, wide = args[2], args[3]
    for i in range(begin, end):
        source = {type}_array(args[0] + i * n * {bytes}, 0)
        target = {type}_array(args[1] + i * wide * {bytes}, 0)
        for j in range(n):
            target[j] = source[j]
        for j in range(n, wide):
            target[j] = {type}(0)
"""


def suits(w: Window, type_: str) -> bool:
    """Return whether there are tiles for the type, enough pixels for one, and room for a padded copy between taps."""
    if type_ not in SIZES or w.pixels < shape(SIZES[type_])[0] or not w.taps * w.channels:
        return False
    line = (w.out_width - 1) * w.stride_x + (w.kernel_width - 1) * w.dilation_x + 1
    return _reach(w, 1) * line * w.channels * SIZES[type_] <= MOST_ROOM


def convolve(call: Call, w: Window, x: Address, kernel: Address, out: Address, n: int, type_: str) -> list[Launch]:
    """Return the launches of a convolution. x: images; kernel: (taps * channels, n); out: (pixels, n)."""
    size = SIZES[type_]
    tile, width = shape(size)
    k = w.taps * w.channels
    kernel, wide, launches = widened(call, kernel, type_, k, n)
    words, units, _, copy = _words(w, x, size)
    items = highest(1, lowest(lowest(ITEMS, units), w.pixels * k * n // LEAST_WORK))
    per_item = -(-units // items)
    items = -(-units // per_item)
    table = 8 * tile + 63 & -64
    room = table + 8 * w.taps + tile * width * size + 63 & -64
    step = CALL + (room + copy + 63 & -64)
    words[PER_ITEM:STEP + 1] = per_item, call.scratch(items * step).reach(items * step), step
    words[B:OUT + 1] = kernel.reach(k * wide * size), n, wide, out.reach(w.pixels * n * size)
    words[TABLE:] = table, room, int(copy > 0), tile, *tile_kernels(type_, tile, n)
    return [*launches, Launch(source(FORWARD_SOURCE, type_), tuple(words), items, 1 if items > 1 else 0,
                              "convolution")]


def filter_gradient(call: Call, w: Window, x: Address, dy: Address, out: Address, meta: Meta) -> list[Launch]:
    """Return the launches of a filter's gradient. x: images; dy: (pixels, n); out: (taps * channels, n), as `meta`."""
    size, type_, n = meta.itemsize, meta.type, meta.shape[3]
    tile = shape(size)[0]
    k = w.taps * w.channels
    dy, wide, launches = widened(call, dy, type_, w.pixels, n)
    words, units, band, copy = _words(w, x, size)
    tiles = -(-k // tile)
    most = highest(1, lowest(ITEMS, w.pixels * k * n // LEAST_WORK))
    whole = tiles * tile * wide * size
    groups = highest(1, lowest(lowest(most, units), max(2, PARTIAL_BYTES // whole)))
    per_item = -(-units // groups)
    groups = -(-units // per_item)
    parts = highest(1, lowest(tiles, most // groups))
    parts = -(-tiles // -(-tiles // parts))
    partial = call.scratch(groups * whole).reach(groups * whole)
    items = groups * parts
    table = 8 * tile + 63 & -64
    room = table + 8 * band + 63 & -64
    step = CALL + (room + copy + 63 & -64)
    words[PER_ITEM:STEP + 1] = per_item, call.scratch(items * step).reach(items * step), step
    words[B:] = (dy.reach(w.pixels * wide * size), n, wide, partial, parts, k, table, room, int(copy > 0), tile,
                 *tile_kernels(type_, tile, n))
    launches.append(Launch(source(FILTER_SOURCE, type_), tuple(words), items, 1 if items > 1 else 0,
                           "filter gradient"))
    return [*launches, partial_sums(call, partial, out, type_, groups, k, n, wide, tiles * tile)]


def widened(call: Call, source: Address, type_: str, rows: int, n: int) -> tuple[Address, int, list[Launch]]:
    """Widen `rows` rows of n elements to whole vectors; return address, row length and launches."""
    size, lane = SIZES[type_], lanes(SIZES[type_])
    wide = -(-n // lane) * lane
    if wide == n:
        return source, n, []
    target = call.scratch(rows * wide * size).reach(rows * wide * size)
    return target, wide, [Launch(WIDEN_SOURCE.format(type=type_, bytes=size),
                                 (source.reach(rows * n * size), target, n, wide), rows, max(1, (1 << 16) // wide),
                                 "rows to whole vectors")]


def _words(w: Window, x: Address, size: int) -> tuple[list[Word], int, int, int]:
    """Return the words that both sources share; the number of units, rows of a unit, bytes of its copy (0: none)."""
    high, wide = _reach(w, w.out_height), (w.out_width - 1) * w.stride_x + (w.kernel_width - 1) * w.dilation_x + 1
    copied = (w.top, w.left) != (0, 0) or high > w.height or wide > w.width
    if not copied:
        high, wide = w.height, w.width
    image = high * wide * w.channels * size
    images, band = _unit(w, image, wide * w.channels * size, shape(size)[0])
    bands = -(-w.out_height // band)
    units = w.batch * bands if bands > 1 else -(-w.batch // images)
    tall = _reach(w, band) if copied else w.height
    words: list[Word] = [0] * 36
    words[X:UNITS + 1] = [x.reach(w.elements * size), w.channels, w.height, w.width, w.out_height, w.out_width,
                          w.kernel_height, w.kernel_width, w.stride_y, w.stride_x, w.dilation_y, w.dilation_x, w.top,
                          w.left, tall, wide, w.batch, images, bands, band, units]
    return words, units, band, images * prod((tall, wide, w.channels, size)) if copied else 0


def _unit(w: Window, image: int, line: int, tile: int) -> tuple[int, int]:
    """Return the images, or rows of one image, in a unit. image, line: bytes of a copy and of a row of it."""
    enough = LEAST_TILES * tile                     # pixels
    if w.batch < ITEMS or image > UNIT_BYTES:
        fit = UNIT_BYTES // (line * w.stride_y) - (w.kernel_height - 1) * w.dilation_y // w.stride_y
        fit = max(fit, min(2 * w.kernel_height, w.out_height), -(-enough // w.out_width))
        bands = max(-(-w.out_height // fit), min(-(-ITEMS // w.batch), w.out_height * w.out_width // enough))
        if bands > 1:
            return 1, -(-w.out_height // bands)
    return max(1, min(w.batch, UNIT_BYTES // image,
                      max(-(-w.batch // ITEMS), -(-enough // (w.out_height * w.out_width))))), w.out_height


def _reach(w: Window, rows: int) -> int:
    """Return the rows of a padded image that `rows` rows of windows cover."""
    return (rows - 1) * w.stride_y + (w.kernel_height - 1) * w.dilation_y + 1


def tile_kernels(type_: str, rows: int, n: int) -> tuple[Code, Code]:
    """Return the kernels of tiles of WIDTH and of LANES columns: twice the same where `n` columns need but that."""
    rest, lane = n % shape(SIZES[type_])[1], lanes(SIZES[type_])
    wide, narrow = (Code(TILE_SOURCE.format(kind=kind, type=type_, rows=rows)) for kind in ("window", "narrow"))
    return (wide if n > lane else narrow), (narrow if 0 < rest <= lane else wide)


def source(text: str, type_: str) -> str:
    """Return the source of a kernel of tiles for a dtype."""
    size = SIZES[type_]
    return text.format(type=type_, bytes=size, width=shape(size)[1], lanes=lanes(size))
