"""Values as text: `tf.strings.format`, `tf.print`; n-grams and fingerprints of strings; the time."""
from __future__ import annotations

import pprint
import sys
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from tfnb.core import nest
from tfnb.core.arguments import TENSORS, describe
from tfnb.core.options import has_compiler
from tfnb.core.program import log
from tfnb.core.shape import Static
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.kernels.library.text import hashes as kernels
from tfnb.ops.composite.sparse_tensor import SparseTensor
from tfnb.ops.declaration import shapes
from tfnb.ops.declaration.declare import host
from tfnb.ops.declaration.public import named, public
from tfnb.ops.strings.decoding import strings
from tfnb.ops.strings.hashing import fingerprint, hashed
from tfnb.ops.strings.unicode import checked_splits

ESCAPES = {ord("\n"): "\\n", ord("\r"): "\\r", ord("\t"): "\\t", ord('"'): '\\"', ord("'"): "\\'", ord("\\"): "\\\\"}


def _element(value: Any) -> str:
    """Return an element as TensorFlow writes it: the fewest of 6 and 9 (15 and 17) digits that say the number."""
    if isinstance(value, bytes):
        return '"' + "".join(ESCAPES.get(code, chr(code) if 32 <= code < 127 else f"\\{code:03o}")
                             for code in value) + '"'
    if isinstance(value, (bool, np.bool_)):
        return str(int(value))
    if isinstance(value, (np.floating, float)) or value.dtype.kind not in "iuc":
        single = np.dtype(type(value)) != np.float64
        number = float(value)
        short = f"{number:.{6 if single else 15}g}"
        same = np.float32(short) == np.float32(number) if single else float(short) == number
        return short if same or number != number else f"{number:.{9 if single else 17}g}"
    return str(value)


def _written(array: np.ndarray, ends: int, depth: int = 0) -> str:
    """Return an array in brackets, at most `ends` elements at each end of an axis, others as "..."."""
    if not array.ndim:
        return _element(array[()]) if ends or depth else "..."
    between = " " if array.ndim == 1 else "\n" * (array.ndim - 1) + " " * (depth + 1)
    count = len(array)
    start = min(ends, count)
    end = max(count - ends, start)
    parts = [_written(array[i, ...], ends, depth + 1) for i in (*range(start), *range(end, count))]
    if start < end:
        parts.insert(start, ("" if start else between) + "...")
    return "[" + between.join(parts) + "]"


@host("inputs: T -> output: string", shape=shapes.scalar, T="list(type) >= 0", template="string = '%s'",
      placeholder="string = '%s'", summarize="int = 3")
def StringFormat(inputs: Sequence[np.ndarray], *, template: bytes, placeholder: bytes, summarize: int) -> Any:
    """Put tensors, as text, in place of the placeholders of `template`."""
    pieces = template.split(placeholder)
    if len(pieces) != len(inputs) + 1:
        raise ValueError(f"num placeholders in template and num inputs must match: {len(pieces) - 1} vs. "
                         f"{len(inputs)}")
    made = pieces[0]
    for value, piece in zip(inputs, pieces[1:], strict=True):
        array = np.asarray(value)
        made += _written(array, array.size if summarize < 0 else min(summarize, array.size)).encode() + piece
    return np.array(made, object)


@public("strings.format")
@named("format")
def string_format(template: str, inputs: Any, placeholder: str = "{}", summarize: int = 3,
                  name: str | None = None) -> Tensor:
    """Return a scalar string: `template` with the tensors `inputs` (one or a list) in place of its placeholders.

    placeholder: what stands for a tensor. summarize: how many elements at each end of an axis are written, -1 for all.
    Raises ValueError where the placeholders are not as many as the tensors.

    >>> sess.run(tf.strings.format("x: {}", tf.range(10)))
    b'x: [0 1 2 ... 7 8 9]'
    """
    tensors = list(inputs) if isinstance(inputs, (list, tuple)) else [inputs]
    count = template.count(placeholder)
    if count != len(tensors):
        raise ValueError(f"The template expects {count} tensors, but the inputs only has {len(tensors)}. Please ensure "
                         "the number of placeholders in template matches inputs length.")
    text: Tensor = StringFormat(tensors, template=template, placeholder=placeholder, summarize=summarize, name=name)
    return text


_LOGS = {"log(info)": log.info, "log(warning)": log.warning, "log(error)": log.error}


def _known_stream(ctx: Any) -> list[Static]:
    name = ctx.attrs["output_stream"]
    text = name.decode() if isinstance(name, bytes) else name
    if text not in ("stdout", "stderr", *_LOGS) and not text.startswith("file://"):
        raise ValueError(f"Unknown output stream: {text}, expected stdout, stderr, {', '.join(_LOGS)} or file://<path>")
    return []


@host("input: string ->", shape=_known_stream, ranks={"input": 0}, stateful=True, output_stream="string = 'stderr'",
      end="string = '\n'")
def PrintV2(input: Any, *, output_stream: bytes, end: bytes) -> tuple[()]:
    """Write a string and `end` to a stream: "stderr", "stdout", "log(info)", "file://<path>"... """
    name, text = output_stream.decode(), (input[()] + end).decode(errors="replace")
    if name in _LOGS:
        _LOGS[name]("%s", text)
    elif name.startswith("file://"):
        with open(name.removeprefix("file://"), "a", encoding="utf-8", newline="") as file:
            file.write(text)
    else:
        (sys.stdout if name == "stdout" else sys.stderr).write(text)
    return ()


def _stream(output_stream: Any) -> str:
    """Return the official name of a stream. Raises ValueError for another."""
    if output_stream is None:
        return "stderr"
    if isinstance(output_stream, str):
        return output_stream
    for stream, name in ((sys.stdout, "stdout"), (sys.stderr, "stderr"), (log.info, "log(info)"),
                         (log.warning, "log(warning)"), (log.error, "log(error)")):
        if output_stream is stream or output_stream == stream:
            return name
    raise ValueError(f"Unsupported output stream {output_stream}, expected sys.stdout, sys.stderr, tf.logging.info, "
                     "tf.logging.warning, tf.logging.error or 'file://<path>'")


def _described(value: Any, mark: str, tensors: list[Tensor]) -> str:
    """Return an argument of `tf.print` as part of a template; its tensors are appended to `tensors`."""
    if isinstance(value, str):
        return value

    def leaf(part: Any) -> Any:
        if isinstance(part, SparseTensor):
            tensors.extend(part.parts)
            return f"SparseTensor(indices={mark}, values={mark}, shape={mark})"
        if isinstance(part, Tensor):
            tensors.append(part)
            return mark
        return part
    return pprint.pformat(nest.map_structure(leaf, value)).replace(f"'{mark}'", mark)


@public("print")
@named("print")
def print_(*inputs: Any, output_stream: Any = None, summarize: int | None = 3, sep: str = " ", end: str = "\n",
           name: str | None = None) -> Operation:
    """`tf.print`: return an op that writes its arguments when it runs; see `tf.control_dependencies`.

    inputs: strings, tensors, SparseTensors, Python values, and lists and dicts of them. output_stream: sys.stderr
    (the default), sys.stdout, tf.logging.info, warning or error, or "file://<path>". summarize: how many elements at
    each end of an axis are written, -1 or None for all. sep: between arguments. end: after the last. Raises ValueError
    for another stream.

    >>> import sys
    >>> show = tf.print("x:", tf.range(3), output_stream=sys.stdout)
    >>> sess.run(show)
    x: [0 1 2]
    """
    stream = _stream(output_stream)
    only = inputs[0] if len(inputs) == 1 else None
    if isinstance(only, Tensor) and only.dtype.name == "string" and only.static == ():
        text = only
    else:
        mark = "{}"
        while any(mark in str(part) for part in nest.flatten(list(inputs)) if not isinstance(part, Tensor)):
            mark = mark[:1] + mark + mark[-1:]
        tensors: list[Tensor] = []
        template = sep.join(_described(value, mark, tensors) for value in inputs)
        text = StringFormat(tensors, template=template, placeholder=mark, summarize=-1 if summarize is None
                            else summarize)
    made: Operation = PrintV2(text, output_stream=stream, end=end, name=name)
    return made


# N-grams, fingerprints, time

def _grams(row: list[bytes], width: int, pad: int, left: bytes, right: bytes, separator: bytes) -> list[bytes]:
    if width > len(row) + 2 * pad:
        return []                                       # without an iterator for each of 2**31 places
    padded = [left] * pad + row + [right] * pad
    return [*map(separator.join, zip(*(padded[i:] for i in range(width)), strict=False))]


def _gram_shapes(ctx: Any) -> list[Static]:
    return [(None,), ctx.shape(1)]


@host("data: string, data_splits: Tsplits -> ngrams: string, ngrams_splits: Tsplits", shape=_gram_shapes,
      ranks={"data": 1, "data_splits": 1}, separator="string", ngram_widths="list(int) >= 0", left_pad="string",
      right_pad="string", pad_width="int", preserve_short_sequences="bool", Tsplits="{int32, int64} = DT_INT64")
def StringNGrams(data: Any, splits: Any, *, separator: bytes, ngram_widths: Sequence[int], left_pad: bytes,
                 right_pad: bytes, pad_width: int, preserve_short_sequences: bool) -> Any:
    """Join each `width` neighbouring strings of a row, for each of the widths; rows are given by their splits.

    pad_width: how many pads stand at each end of a row, at most width - 1; -1 for that many.
    preserve_short_sequences: a row that is too short for any n-gram is one.
    """
    if any(width < 1 for width in ngram_widths):
        raise ValueError(f"expected widths of 1 or more, got {list(ngram_widths)}")
    rows = []
    for a, b in (checked_splits(splits, len(data)) if len(splits) else ()):
        row: list[bytes] = data[a:b].tolist()
        made = [gram for width in ngram_widths for gram in
                _grams(row, width, width - 1 if pad_width < 0 else min(pad_width, width - 1), left_pad, right_pad,
                       separator)]
        if not made and row and preserve_short_sequences:
            if pad_width < 0:
                raise ValueError("preserve_short_sequences with a pad width of -1 needs at least one width")
            made = [separator.join([left_pad] * pad_width + row + [right_pad] * pad_width)]
        rows.append(made)
    ends = np.cumsum([0, *map(len, rows)]) if len(splits) else np.zeros(0)
    return strings([gram for row in rows for gram in row]), ends.astype(splits.dtype)


def _digest_shape(ctx: Any) -> list[Static]:
    data, method = ctx.shape(0), ctx.value(1)
    if data == ():
        raise ValueError("Shape must be at least rank 1 but is rank 0: data")
    if method is not None and method.shape == () and method[()] != b"farmhash64":
        raise ValueError(f"Unsupported method: {method[()].decode(errors='replace')}, expected farmhash64")
    return [(data[0] if data else None, 8)]


@host("data: T, method: string -> fingerprint: uint8", shape=_digest_shape, validate=_digest_shape,
      ranks={"method": 0}, T="type")
def Fingerprint(data: Any, method: Any) -> Any:
    """Compute the 64-bit fingerprint of each row of `data`, as 8 bytes: FarmHash's, by the method "farmhash64"."""
    if data.dtype == object:
        digests = hashed(fingerprint, kernels.fingerprints, data)
        if data.ndim == 1:
            return digests.view(np.uint8).reshape(-1, 8)
        data = digests.reshape(data.shape)
    if has_compiler():
        return kernels.fingerprints_of_rows(data).view(np.uint8).reshape(-1, 8)
    rows = np.fromiter((fingerprint(row.tobytes()) for row in data), np.uint64, len(data))
    return rows.view(np.uint8).reshape(-1, 8)


@public("fingerprint")
@named("fingerprint")
def fingerprints(data: Any, method: Any = "farmhash64", name: str | None = None) -> Tensor:
    """Compute the 64-bit fingerprint of each row of `data`, as 8 bytes: uint8 [rows, 8].

    data: of any dtype, [rows, ...]. method: "farmhash64". Raises ValueError for a scalar, or another method.

    >>> sess.run(tf.fingerprint([[1, 2], [3, 4]]))
    array([[ 76,  18, 253, 133, 168, 204, 240,  10],
           [254, 162,  60, 240, 103, 244,  53, 255]], dtype=uint8)
    """
    digests: Tensor = Fingerprint(data, method, name=name)
    return digests


@public("timestamp")
@host("-> ts: double", shape=shapes.scalar, transient=True)
def Timestamp() -> Any:
    """Return the time when it runs: seconds since 1970-01-01 UTC, float64.

    >>> float(sess.run(tf.timestamp())) > 1.7e9
    True
    """
    return np.float64(time.time())


for _op in (StringFormat, StringNGrams, Fingerprint):
    _op.no_gradient("it makes strings or hashes")
PrintV2.no_gradient("it has no output")
Timestamp.no_gradient("it has no inputs")


describe(globals(), TENSORS)
