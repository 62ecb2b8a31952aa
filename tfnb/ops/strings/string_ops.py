"""String ops: joining, regular expressions, substrings."""
from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from functools import lru_cache
from math import prod
from operator import itemgetter
from typing import Any

import numpy as np

from tfnb.core.arguments import TENSORS, describe
from tfnb.core.lazy import lazy_module
from tfnb.core.options import IN_BROWSER, has_compiler
from tfnb.core.shape import Static, broadcast, merge
from tfnb.graph.parts.operation import Tensor
from tfnb.kernels.library.text import automata, objects
from tfnb.kernels.library.text.spans import cut, joined
from tfnb.ops.declaration import shapes
from tfnb.ops.declaration.declare import host
from tfnb.ops.declaration.dispatch import dispatched
from tfnb.ops.strings.decoding import strings
from tfnb.ops.strings.patterns import automaton

re2 = lazy_module("re2")                           # (no wheel of it runs in browsers)


def _joined(ctx: Any) -> list[Static]:
    """Return the shape that all inputs but the scalars have."""
    common: Static = None
    given = [ctx.shape(i) for i in range(len(ctx.op.inputs))]
    for shape in given:
        if shape != ():
            common = merge(common, shape)
    return [() if all(shape == () for shape in given) else common]


@host("inputs: N * string -> output: string", shape=_joined, N="int >= 0", separator="string = ''")
def StringJoin(inputs: Any, *, separator: bytes) -> Any:
    """Join strings element-wise, with `separator` between; scalars join with every element."""
    if not inputs:
        return np.array(b"", object)
    common = {array.shape for array in inputs if array.ndim}
    if len(common) > 1:
        raise ValueError("Input shapes do not match: " + ", ".join(str(list(a.shape)) for a in inputs))
    if not common:
        return np.array(separator.join([array[()] for array in inputs]), object)
    shape = common.pop()
    made = objects.joined_columns(inputs, separator)
    if made is not None:
        return strings(made, shape)
    columns = [array.ravel().tolist() if array.ndim else itertools.repeat(array[()], prod(shape)) for array in inputs]
    return strings([*map(separator.join, zip(*columns, strict=True))], shape)


@host("-> fact: string", shape=lambda ctx: [()])
def Fact() -> Any:
    """Return a fact about factorials: the op by which programs show how ops are added (`tf.user_ops.my_fact`)."""
    return np.array(b"0! == 1", object)


def my_fact() -> Tensor:
    """Return a scalar string with a fact about factorials."""
    tensor: Tensor = Fact()
    return tensor


@lru_cache(maxsize=64)
def re2_pattern(pattern: bytes) -> Any:
    """A compiled RE2 regular expression, which matches in time linear in the text: Python's can take 2 ** n steps.

    In a browser, which has no RE2, it is Python's, for bytes.
    """
    if IN_BROWSER:
        try:
            return re.compile(pattern)
        except re.error as error:
            raise ValueError(f"Invalid pattern: {pattern.decode(errors='replace')}, error: {error}") from None
    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(pattern, options)
    except re2.error as error:
        reason = error.args[0] if error.args else b""
        told = reason.decode(errors="replace") if isinstance(reason, bytes) else str(reason)
        raise ValueError(f"Invalid pattern: {pattern.decode(errors='replace')}, error: {told}") from None


# What both syntaxes have, with one meaning: bytes and classes of ASCII; at most one repetition, so that Python's search
# takes no more than the square of the length.
_ESCAPED = rb"\\[.,!?*+()\[\]{}|^$/\\\-]"
_CLASS = rb"\[\^?(?:[A-Za-z0-9]-[A-Za-z0-9]|[A-Za-z0-9 _.,!?<>/;:#@%='\"()*+$]|\\d|" + _ESCAPED + rb")+\]"
_ATOM = rb"(?:[A-Za-z0-9 _,!<>/;:#@%=&'\".-]|\\[dw]|" + _ESCAPED + b"|" + _CLASS + b")"
_SIMPLE = re.compile(_ATOM + rb"*(?:" + _ATOM + rb"[+*]" + _ATOM + rb"*)?")
_ANY_BYTE = re.compile(rb"\[\^|(?<!\\)\.")                  # a character, and so several bytes, outside of ASCII
ONE_BYTE = re.compile(_ATOM)
ASCII_END = 0x7F
MOST = 1 << 12                                     # bytes of a string: the square of it is to be no long time


def simple_pattern(pattern: bytes, texts: Sequence[bytes]) -> Any:
    """Return the pattern for Python's `re`, a tenth of the time a match, where that finds the same in these strings.

    None: for others, whose search by Python could take 2 ** n steps.
    """
    if not _SIMPLE.fullmatch(pattern) or max(map(len, texts), default=0) > MOST or (
            _ANY_BYTE.search(pattern) and not b"".join(texts).isascii()):
        return None
    try:
        return re.compile(pattern)
    except re.error:                               # a range from a later to an earlier letter
        return None


def table_for(pattern: bytes, texts: np.ndarray, whole: bool,
            groups: bool = False) -> tuple[automata.Automaton, np.ndarray, np.ndarray] | None:
    """Return the automaton of a valid pattern, the bytes of all strings and where each begins.

    None for few strings, and where there is no such automaton, or it is one for ASCII and they have other characters.
    """
    if texts.size < objects.LEAST or not has_compiler():
        return None
    made = automaton(pattern, whole, groups)
    if made is None:
        return None
    text, begins = joined(texts)
    return None if made[1] and len(text) and text.max() > ASCII_END else (made[0], text, begins)


def full_matches(pattern: bytes, texts: np.ndarray) -> np.ndarray:
    """Return whether the whole of each string matches a pattern of RE2."""
    found = re2_pattern(pattern)
    table = table_for(pattern, texts, whole=True)
    if table is not None:
        return automata.whole_matches(*table).reshape(texts.shape)
    flat = texts.ravel().tolist()
    simple = simple_pattern(pattern, flat)
    matches = map((found if simple is None else simple).fullmatch, flat)
    return np.fromiter((match is not None for match in matches), bool, texts.size).reshape(texts.shape)


@host("input: string -> output: bool", shape=shapes.like_first, pattern="string")
def StaticRegexFullMatch(input: Any, *, pattern: bytes) -> Any:
    """Return whether the whole of each string matches the regular expression `pattern`, in the syntax of RE2."""
    return full_matches(pattern, input)


def _parts_shape(ctx: Any) -> list[Static]:
    merge(ctx.shape(1), ctx.shape(2))
    return [broadcast(ctx.shape(0), ctx.shape(1))]


def _part(text: bytes, pos: int, count: int, single: bool, where: int) -> bytes:
    """Return part of a string. single: a character is one byte; else one and those from 0x80 to 0xBF behind it."""
    begins: Sequence[int] = range(len(text)) if single else [
        i for i, byte in enumerate(text) if not i or byte & 0xC0 != 0x80]
    if abs(pos) > len(begins):
        raise ValueError(f"pos {pos} out of range for string b{text.decode(errors='replace')!r} at index {where}")
    start = pos + len(begins) if pos < 0 else pos
    stop = len(begins) if count < 0 else start + count
    return text[begins[start]:begins[stop] if stop < len(begins) else None] if start < len(begins) else b""


def _parts(texts: np.ndarray, starts: np.ndarray, counts: np.ndarray) -> list[bytes] | None:
    """Return parts of many strings, in one buffer; None if one begins beyond its string."""
    text, begins = joined(texts)
    sizes, starts, counts = np.diff(begins), starts.astype(np.int64), counts.astype(np.int64)
    if ((starts > sizes) | (starts < -sizes)).any():
        return None
    starts = np.where(starts < 0, starts + sizes, starts)
    stops = np.where((counts < 0) | (counts > sizes - starts), sizes, starts + counts)
    return cut(text.tobytes(), begins[:-1] + starts, begins[:-1] + stops)


@host("input: string, pos: T, len: T -> output: string", shape=_parts_shape, T="indextype",
      unit="{'BYTE', 'UTF8_CHAR'} = 'BYTE'")
def Substr(input: Any, pos: Any, len: Any, *, unit: bytes) -> Any:
    """Return the substrings from `pos` on (from the end, if it is negative), of at most `len` bytes or characters."""
    if pos.shape != len.shape:
        raise ValueError(f"pos and len should have the same shape, got: {list(pos.shape)} vs. {list(len.shape)}")
    texts, starts, counts = np.broadcast_arrays(input, pos, len)
    if unit == b"BYTE" and texts.size >= objects.LEAST:
        made = _parts(texts, starts.ravel(), counts.ravel())
        if made is not None:
            return strings(made, texts.shape)
    flat = texts.ravel().tolist()
    letters = unit == b"BYTE" or b"".join(flat).isascii()
    if letters and pos.size == 1 and min(map(bytes.__len__, flat), default=0) >= pos.min() >= 0 <= len.min():
        first = int(pos.min())
        part = itemgetter(slice(first, first + int(len.min())))
        return strings([*map(part, flat)], texts.shape)
    places = zip(flat, starts.ravel().tolist(), counts.ravel().tolist(), itertools.count(), strict=False)
    return strings([_part(text, start, count, letters, i) for text, start, count, i in places], texts.shape)


Fact.no_gradient("it has no inputs")
for _op in (StringJoin, StaticRegexFullMatch, Substr):
    _op.no_gradient("its input is a string")
Fact.no_gradient("it has no inputs")


@dispatched
def string_join(inputs: Sequence[Any], separator: str = "", name: str | None = None) -> Tensor:
    """Join strings of several tensors element-wise; scalars join with every element.

    >>> sess.run(tf.string_join(["a", ["b", "c"]], separator="-"))
    array([b'a-b', b'a-c'], dtype=object)
    """
    result: Tensor = StringJoin(inputs, separator=separator, name=name)
    return result


@dispatched
def substr(input: Any, pos: Any, len: Any, name: str | None = None, unit: str = "BYTE") -> Tensor:
    """Return the substrings from `pos` on, of at most `len` bytes, or characters for the unit "UTF8_CHAR".

    pos < 0 counts from the end. pos and len have one shape, to which the strings broadcast or which to theirs. Running
    it raises InvalidArgumentError for a position beyond its string.

    >>> sess.run(tf.substr(["hello", "world"], 1, 3))
    array([b'ell', b'orl'], dtype=object)
    """
    result: Tensor = Substr(input, pos, len, unit=unit, name=name)
    return result


describe(globals(), TENSORS)
