"""Strings element by element: case, whitespace, length, regular expressions, splitting; and joining along axes."""
from __future__ import annotations

import re
from collections.abc import Callable
from itertools import chain
from math import prod
from typing import Any

import numpy as np

from tfnb.core.arguments import TENSORS, describe
from tfnb.core.errors import OutOfRangeError
from tfnb.core.options import has_compiler
from tfnb.core.shape import Static, merge
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.operation import Tensor
from tfnb.kernels.library.text import automata, objects
from tfnb.kernels.library.text.coding import strip_span
from tfnb.kernels.library.text.spans import cut, joined, split_often
from tfnb.ops.declaration import shapes
from tfnb.ops.declaration.arguments import renamed
from tfnb.ops.declaration.declare import host, one_by_one, scalars
from tfnb.ops.declaration.dispatch import dispatched
from tfnb.ops.declaration.public import named, public
from tfnb.ops.strings.decoding import sparse_parts, split_at, split_by, strings
from tfnb.ops.strings.string_ops import (
    ONE_BYTE,
    StaticRegexFullMatch,
    full_matches,
    re2_pattern,
    simple_pattern,
    table_for,
)

FEW = 8                                                            # strings that are joined column by column
RADIX = 1 << 16                                                    # numbers that NumPy sorts by digits
SPACES = b" \t\n\v\f\r"
INSIDE = bytes(range(0x80, 0xC0))                                  # bytes of UTF-8 that begin no character


def each(fn: Callable[[bytes], Any], texts: np.ndarray, dtype: Any = object) -> np.ndarray:
    """Return `fn` of each string, in their shape."""
    found = map(fn, texts.ravel().tolist())
    if dtype is object:
        return strings([*found], texts.shape)
    return np.fromiter(found, dtype, texts.size).reshape(texts.shape)


# Case, whitespace, length

def _cased(change: str, texts: np.ndarray, encoding: bytes) -> np.ndarray:
    if encoding not in (b"", b"utf-8"):
        raise ValueError(f"Only utf-8 or '' (no encoding) is supported for `encoding`, got {encoding.decode()!r}")
    if not encoding:
        return each(getattr(bytes, change), texts)              # bytes change ASCII letters alone

    def changed(text: bytes) -> bytes:
        found: str = getattr(text.decode(errors="replace"), change)()
        return found.encode()
    return each(changed, texts)


@host("input: string -> output: string", shape=shapes.like_first, encoding="string = ''", lifts=one_by_one)
def StringLower(input: Any, *, encoding: bytes) -> Any:
    """Turn upper-case letters into lower-case ones: of ASCII, or of Unicode with the encoding "utf-8"."""
    return _cased("lower", input, encoding)


@host("input: string -> output: string", shape=shapes.like_first, encoding="string = ''", lifts=one_by_one)
def StringUpper(input: Any, *, encoding: bytes) -> Any:
    """Turn lower-case letters into upper-case ones: of ASCII, or of Unicode with the encoding "utf-8"."""
    return _cased("upper", input, encoding)


@host("input: string -> output: string", shape=shapes.like_first, lifts=one_by_one)
def StringStrip(input: Any) -> Any:
    """Take whitespace away from both ends of each string."""
    if input.size < objects.LEAST or not has_compiler():
        return each(lambda text: text.strip(SPACES), input)
    text, begins = joined(input)
    starts, stops = np.empty((2, input.size), np.int64)
    strip_span.run(input.size, text, begins, starts, stops)
    return strings(cut(text.tobytes(), starts, stops), input.shape)


@host("input: string -> output: int32", shape=shapes.like_first, unit="{'BYTE', 'UTF8_CHAR'} = 'BYTE'")
def StringLength(input: Any, *, unit: bytes) -> Any:
    """Count the bytes, or the characters in UTF-8, of each string."""
    if unit == b"BYTE":
        found = objects.lengths(input)
        return each(len, input, np.int32) if found is None else found.astype(np.int32).reshape(input.shape)
    return each(lambda text: len(text.translate(None, INSIDE)), input, np.int32)


@public("strings.lower")
@named("lower")
@dispatched
def string_lower(input: Any, encoding: str = "", name: str | None = None) -> Tensor:
    """Turn upper-case letters into lower-case ones.

    encoding: "" changes the letters of ASCII alone, "utf-8" those of Unicode. Running it raises InvalidArgumentError
    for another one.

    >>> sess.run(tf.strings.lower(["Hello World"]))
    array([b'hello world'], dtype=object)
    """
    made: Tensor = StringLower(input, encoding=encoding, name=name)
    return made


@public("strings.upper")
@named("upper")
@dispatched
def string_upper(input: Any, encoding: str = "", name: str | None = None) -> Tensor:
    """Turn lower-case letters into upper-case ones.

    encoding: "" changes the letters of ASCII alone, "utf-8" those of Unicode. Running it raises InvalidArgumentError
    for another one.

    >>> sess.run(tf.strings.upper(["Hello World"]))
    array([b'HELLO WORLD'], dtype=object)
    """
    made: Tensor = StringUpper(input, encoding=encoding, name=name)
    return made


@public("string_strip", "strings.strip")
@dispatched
def string_strip(input: Any, name: str | None = None) -> Tensor:
    """Take whitespace away from both ends of each string.

    >>> sess.run(tf.strings.strip(["  a b ", "c"]))
    array([b'a b', b'c'], dtype=object)
    """
    made: Tensor = StringStrip(input, name=name)
    return made


@public("strings.length")
@named("length")
@dispatched
def string_length(input: Any, name: str | None = None, unit: str = "BYTE") -> Tensor:
    """Count the bytes of each string, or with the unit "UTF8_CHAR" its characters: int32 of their shape.

    >>> sess.run(tf.strings.length(["hello", ""]))
    array([5, 0], dtype=int32)
    """
    made: Tensor = StringLength(input, unit=unit, name=name)
    return made


# Regular expressions

def _replaced(pattern: bytes, rewrite: bytes, everywhere: bool, texts: np.ndarray) -> np.ndarray:
    """Return strings in which matches are rewritten; `\1` stands for a group and `\\` for a backslash.

    As RE2 does: a rewrite that uses a group that is not there changes nothing, and one with another escape ends there,
    or, where one match is replaced, changes nothing.
    """
    found = re2_pattern(pattern)
    parts, whole = _rewriting(rewrite)
    if any(isinstance(part, int) and part > found.groups for part in parts) or not (whole or everywhere):
        return texts.copy()
    table = table_for(pattern, texts, whole=False, groups=any(isinstance(part, int) and part > 0 for part in parts))
    made = None if table is None else automata.replaced(*table, parts, everywhere)
    if made is not None:
        return strings(made, texts.shape)
    simple = simple_pattern(pattern, texts.ravel().tolist())
    if simple is None or not found.groups == 0 == sum(isinstance(part, int) for part in parts) or simple.fullmatch(b""):
        return each(lambda text: _rewritten(found, parts, text, everywhere), texts)
    new = b"".join(map(bytes, parts))
    single = [byte for byte in range(256) if simple.fullmatch(bytes([byte]))]
    if everywhere and len(new) <= 1 and ONE_BYTE.fullmatch(pattern):
        if not new:
            return each(lambda text: text.translate(None, bytes(single)), texts)
        letters = bytes.maketrans(bytes(single), new * len(single))
        return each(lambda text: text.translate(letters), texts)
    rewrite = new.replace(b"\\", rb"\\")
    return each(lambda text: simple.sub(rewrite, text, 0 if everywhere else 1), texts)


def _rewritten(found: Any, parts: list[bytes | int], text: bytes, everywhere: bool) -> bytes:
    made, end, last = [], 0, -1
    for match in found.finditer(text):
        start, after = match.span()
        if start == after and (start == last or start < len(text) and text[start] in INSIDE):
            continue                                # nothing is found right after a match, nor inside a character
        made += [text[end:start], *(part if isinstance(part, bytes) else match.group(part) or b"" for part in parts)]
        end = last = after
        if not everywhere:
            break
    return b"".join([*made, text[end:]])


def _rewriting(rewrite: bytes) -> tuple[list[bytes | int], bool]:
    """Return the bytes and numbers of groups that a rewrite is made of, and whether it has no other escapes."""
    parts: list[bytes | int] = []
    for text, mark in re.findall(rb"([^\\]+)|\\(.?)", rewrite, re.DOTALL):
        if not text and not mark.isdigit() and mark != b"\\":
            return parts, False
        parts.append(int(mark) if mark.isdigit() else text or mark)
    return parts, True


@host("input: string -> output: string", shape=shapes.like_first, pattern="string", rewrite="string",
      replace_global="bool = true")
def StaticRegexReplace(input: Any, *, pattern: bytes, rewrite: bytes, replace_global: bool) -> Any:
    """Replace matches of the regular expression `pattern`, in the syntax of RE2, by `rewrite`."""
    return _replaced(pattern, rewrite, replace_global, input)


@host("input: string, pattern: string, rewrite: string -> output: string", shape=shapes.like_first,
      ranks={"pattern": 0, "rewrite": 0}, replace_global="bool = true")
def RegexReplace(input: Any, pattern: Any, rewrite: Any, *, replace_global: bool) -> Any:
    """Replace matches of the regular expression `pattern`, in the syntax of RE2, by `rewrite`."""
    return _replaced(pattern[()], rewrite[()], replace_global, input)


@host("input: string, pattern: string -> output: bool", shape=shapes.like_first, ranks={"pattern": 0})
def RegexFullMatch(input: Any, pattern: Any) -> Any:
    """Return whether the whole of each string matches the regular expression `pattern`, in the syntax of RE2."""
    return full_matches(pattern[()], input)


def _text(value: Any) -> bool:
    return isinstance(value, (str, bytes))


@public("strings.regex_full_match")
@dispatched
def regex_full_match(input: Any, pattern: Any, name: str | None = None) -> Tensor:
    """Return whether the whole of each string matches a regular expression: bool of their shape.

    pattern: in the syntax of RE2, a str or a scalar tensor. Running it raises InvalidArgumentError for one that is
    none.

    >>> sess.run(tf.strings.regex_full_match(["TF lib", "lib TF"], ".*lib$"))
    array([ True, False])
    """
    if _text(pattern):
        matched: Tensor = StaticRegexFullMatch(input, pattern=pattern, name=name)
        return matched
    found: Tensor = RegexFullMatch(input, pattern, name=name)
    return found


@public("regex_replace", "strings.regex_replace")
@dispatched
def regex_replace(input: Any, pattern: Any, rewrite: Any, replace_global: bool = True,
                  name: str | None = None) -> Tensor:
    r"""Replace the matches of a regular expression in each string.

    pattern: in the syntax of RE2. rewrite: what takes the place of a match, with \1 to \9 for groups and \0 for all of
    it. Both are str or scalar tensors. replace_global: False for the first match only. Running it raises
    InvalidArgumentError for a pattern that is none.

    >>> sess.run(tf.strings.regex_replace(["a-b", "c"], "([a-z])-", r"<\1>"))
    array([b'<a>b', b'c'], dtype=object)
    """
    if _text(pattern) and _text(rewrite):
        static: Tensor = StaticRegexReplace(input, pattern=pattern, rewrite=rewrite, replace_global=replace_global,
                                            name=name)
        return static
    made: Tensor = RegexReplace(input, pattern, rewrite, replace_global=replace_global, name=name)
    return made


# Joining along axes, splitting

def _joined_shape(ctx: Any) -> list[Static]:
    given, axes = ctx.shape(0), ctx.value(1)
    if given is None or axes is None:
        return [None]
    found = [axis % len(given) for axis in _checked(axes, len(given))]
    return [tuple(1 if i in found else n for i, n in enumerate(given) if ctx.attrs["keep_dims"] or i not in found)]


def _checked(axes: np.ndarray, rank: int) -> list[int]:
    """Return the axes as given. Raises ValueError for one beyond the rank."""
    found: list[int] = axes.reshape(-1).tolist()
    for axis in found:
        if not -rank <= axis < rank:
            raise ValueError(f"Invalid reduction dimension {axis} for input with {rank} dimension(s)")
    return found


def _axes(ctx: Any, axes: np.ndarray, rank: int) -> list[int]:
    """Return the axes to join along. Raises OutOfRangeError for one beyond the rank, ValueError for one given twice."""
    try:
        places = [axis % rank for axis in _checked(axes, rank)]
    except ValueError as error:
        raise OutOfRangeError(None, ctx.op, str(error)) from None
    if len(set(places)) < len(places):
        raise ValueError(f"Duplicate reduction dimension {next(a for a in places if places.count(a) > 1)}")
    return places


@host("inputs: string, reduction_indices: int32 -> output: string", shape=_joined_shape, keep_dims="bool = false",
      separator="string = ''")
def ReduceJoin(inputs: Any, axes: Any, *, keep_dims: bool, separator: bytes, ctx: Any) -> Any:
    """Join strings along axes, the first one fastest; along none, where none are given."""
    found = _axes(ctx, axes, inputs.ndim)
    if not found:
        return inputs.copy()
    left = [i for i in range(inputs.ndim) if i not in found]
    count = int(np.prod([inputs.shape[i] for i in found], dtype=np.int64))
    sizes = [inputs.shape[i] for i in left]
    rows = np.transpose(inputs, left + found[::-1]).reshape(int(np.prod(sizes, dtype=np.int64)), count)
    made = objects.joined_columns([*rows.T], separator) if 0 < count <= FEW else None
    if made is None:
        made = [separator.join(row) for row in rows.tolist()]
    return strings(made).reshape([1 if i in found else n for i, n in enumerate(inputs.shape)] if keep_dims else sizes)


@public("reduce_join", "strings.reduce_join")
@dispatched
def reduce_join(inputs: Any, axis: Any = None, keep_dims: bool | None = None, separator: str = "",
                name: str | None = None, reduction_indices: Any = None, keepdims: bool | None = None) -> Tensor:
    """Join strings along `axis` (by default all axes, the last one fastest).

    axis (also `reduction_indices`): an int or a list, of which the first one is fastest. keepdims (also `keep_dims`):
    reduced axes stay, with size 1. separator: stands between two strings. Raises ValueError for an axis beyond the
    rank.

    >>> sess.run(tf.strings.reduce_join([["a", "b"], ["c", "d"]], 1, separator="+"))
    array([b'a+b', b'c+d'], dtype=object)
    >>> sess.run(tf.strings.reduce_join([["a", "b"], ["c", "d"]]))
    b'abcd'
    """
    axis = renamed("axis", axis, "reduction_indices", reduction_indices)
    keep = renamed("keepdims", keepdims, "keep_dims", keep_dims)
    texts = convert_to_tensor(inputs)
    if axis is None:
        rank = texts.shape.ndims
        if rank is None:
            raise ValueError("expected an axis, or inputs whose rank is known")
        axis = list(range(rank))[::-1]
    made: Tensor = ReduceJoin(texts, axis, keep_dims=bool(keep), separator=separator, name=name)
    return made


def _segments_joined(ctx: Any) -> list[Static]:
    given, ids, count = ctx.shape(0), ctx.shape(1), ctx.value(2)
    merge(ctx.shape(2), ())
    if given is None or ids is None:
        return [None]
    merge(given[:len(ids)], ids)
    return [(None if count is None else int(count), *given[len(ids):])]


@host("inputs: string, segment_ids: Tindices, num_segments: Tnumsegments -> output: string", shape=_segments_joined,
      separator="string = ''", Tindices="indextype", Tnumsegments="indextype = DT_INT32")
def UnsortedSegmentJoin(inputs: Any, ids: Any, count: Any, *, separator: bytes) -> Any:
    """Join strings by segment id; a segment without strings is empty."""
    if ids.shape != inputs.shape[:ids.ndim]:
        raise ValueError(f"segment_ids.shape {list(ids.shape)} does not start that of inputs, {list(inputs.shape)}")
    total, inner = int(count), inputs.shape[ids.ndim:]
    if ids.size and not 0 <= ids.min() <= ids.max() < total:
        raise ValueError(f"segment_ids must be between 0 and num_segments, {total}, got {ids.reshape(-1).tolist()}")
    columns = prod(inner)
    segments = (ids.reshape(-1, 1).astype(np.int64) * columns + np.arange(columns)).reshape(-1)
    order = np.argsort(segments.astype(np.uint16) if total * columns < RADIX else segments, kind="stable")
    texts, segments = inputs.reshape(-1)[order].tolist(), segments[order]
    starts = np.flatnonzero(np.diff(segments, prepend=-1))
    made = np.full(total * columns, b"", object)
    if len(starts):
        bounds = [*starts.tolist(), len(texts)]
        made[segments[starts]] = strings([separator.join(texts[a:b]) for a, b in zip(bounds, bounds[1:], strict=False)])
    return made.reshape(total, *inner)


@public("strings.unsorted_segment_join")
def unsorted_segment_join(inputs: Any, segment_ids: Any, num_segments: Any, separator: str = "",
                          name: str | None = None) -> Tensor:
    """Join strings by segment id, in their order; a segment without strings is empty.

    segment_ids: int32 or int64, the shape of `inputs` or its leading part. num_segments: a scalar. separator: stands
    between two strings. Running it raises InvalidArgumentError for an id that is not between 0 and num_segments.

    >>> sess.run(tf.strings.unsorted_segment_join(["this", "a", "is"], [0, 1, 0], 2, separator=" "))
    array([b'this is', b'a'], dtype=object)
    """
    made: Tensor = UnsortedSegmentJoin(inputs, segment_ids, num_segments, separator=separator, name=name)
    return made


@host("input: string, sep: string -> indices: int64, values: string, shape: int64",
      shape=lambda ctx: [(None, 2), (None,), (2,)], ranks={"input": 1}, validate=scalars("sep"), maxsplit="int = -1")
def StringSplitV2(input: Any, sep: Any, *, maxsplit: int) -> Any:
    """Split strings at a separator into a sparse tensor; at runs of whitespace for the empty one.

    maxsplit: the largest number of splits of a string; -1 for any.
    """
    mark = sep[()]
    if mark and input.size >= objects.LEAST and has_compiler():
        return sparse_parts(*split_often(input, mark, maxsplit))
    if mark and maxsplit < 0:
        texts = input.tolist()
        made = split_by(texts, mark) or (split_at(texts, mark, False) if len(mark) == 1 else None)
        if made is not None:
            return sparse_parts(*made)
    rows = [text.split(mark, maxsplit) if mark else _words(text, maxsplit) for text in input]
    return sparse_parts([*chain.from_iterable(rows)], np.fromiter(map(len, rows), np.int64, len(rows)))


def _words(text: bytes, most: int) -> list[bytes]:
    """Return the words of a text; the last one, after `most` splits, is what is left, also if that is nothing."""
    if most <= 0:
        return [text] if most == 0 else text.split()
    words: list[bytes] = []
    rest = text.lstrip(SPACES)
    while rest and len(words) < most:
        word = rest.split(None, 1)[0]
        words.append(word)
        rest = rest[len(word):].lstrip(SPACES)
    return [*words, rest] if len(words) == most else words


for _op in (StringLower, StringUpper, StringStrip, StringLength, StaticRegexReplace, RegexReplace, RegexFullMatch,
            ReduceJoin, UnsortedSegmentJoin, StringSplitV2):
    _op.no_gradient("its input is a string")


describe(globals(), TENSORS)
