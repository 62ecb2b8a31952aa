"""Numbers in strings: parsing, CSV records, formatting.

Many spans of bytes are parsed by machine code (kernels/library/text/); what it leaves, and what is wrong, by Python.
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tfnb.core import dtypes
from tfnb.core.arguments import TENSORS, describe
from tfnb.core.dtypes import DType
from tfnb.core.errors import InvalidArgumentError, ResourceExhaustedError
from tfnb.core.options import has_compiler
from tfnb.core.shape import Static
from tfnb.graph.parts.operation import Tensor
from tfnb.kernels.library.text.numbers import HARD, MISSING, POWERS, decimal, fixed, parse_floats, parse_integers
from tfnb.kernels.library.text.records import ODD, split_record
from tfnb.kernels.library.text.spans import cut, joined
from tfnb.ops.declaration import shapes
from tfnb.ops.declaration.declare import host, one_by_one
from tfnb.ops.declaration.dispatch import dispatched
from tfnb.ops.strings.decoding import invalid, strings

_LARGEST = float(np.finfo(np.float32).max)
LEAST = 128                       # numbers: fewer are not worth machine code
BLOCK = 4096                      # numbers that are formatted at a time
MOST_TEXT = 1 << 30               # characters that AsString makes: Python's own formatting can't be interrupted


def number_of(text: bytes, dtype: DType) -> Any:
    """Return the number (a double, an int) that `text`, with spaces around it, is; None if it is none of the dtype."""
    if b"_" in text:
        return None
    try:
        if dtype.is_floating:
            return float.fromhex(text.decode()) if b"x" in text.lower() else float(text)
        number = int(text)
        return number if dtype.min <= number <= dtype.max else None
    except ValueError:
        return None


def _array(numbers: Any, dtype: DType) -> np.ndarray:
    """Return numbers of `number_of` as an array."""
    if dtype == dtypes.float32:
        made = np.array(numbers, np.float64)
        if not (abs(made) < _LARGEST).all():                        # infinity, or a float32 that overflows to it
            with np.errstate(over="ignore"):
                return made.astype(np.float32)
        return made.astype(np.float32)
    return np.array(numbers, dtype.np_dtype)


def parsed(text: np.ndarray, starts: np.ndarray, stops: np.ndarray, dtype: DType,
           missing: bytes = b"") -> tuple[np.ndarray, np.ndarray] | None:
    """Return the numbers in spans of a buffer, and which of them are missing: empty, or the word `missing`.

    Returns None if a span is no number of that dtype.
    """
    word = np.frombuffer(missing or b"\0", np.uint8), len(missing)
    states = np.empty(starts.shape, np.uint8)
    if dtype.is_floating:
        values = np.zeros(starts.shape, np.float64)
        parse_floats.run(starts.size, text, starts, stops, *word, POWERS, values, states)
    else:
        values = np.zeros(starts.shape, np.int64)
        high = min(dtype.max, np.iinfo(np.int64).max)
        parse_integers.run(starts.size, text, starts, stops, *word, dtype.min, high, values, states)
        values = values.view(np.uint64) if dtype == dtypes.uint64 else values
    for place in zip(*np.nonzero(states == HARD), strict=True):
        number = number_of(text[starts[place]:stops[place]].tobytes(), dtype)
        if number is None:
            return None
        values[place] = number
    return _array(values, dtype), states == MISSING


# CSV

def _fields(ctx: Any, line: bytes, delimiter: bytes, quotes: bool) -> list[bytes]:
    """Return the fields of a record, quoted ones (RFC 4180) without their quotes."""
    if not quotes or b'"' not in line:
        if quotes and (b"\n" in line or b"\r" in line):
            raise invalid(ctx, "Unquoted fields cannot have quotes/CRLFs inside")
        return line.split(delimiter)
    found, at = [], 0
    while True:
        if line[at:at + 1] == b'"':
            field, at = _quoted(ctx, line, at + 1)
            if at < len(line) and not line.startswith(delimiter, at):
                raise invalid(ctx, "Quoted field has to end with quote followed by delim or end")
        else:
            end = line.find(delimiter, at)
            field = line[at:] if end < 0 else line[at:end]
            if b'"' in field or b"\n" in field or b"\r" in field:
                raise invalid(ctx, "Unquoted fields cannot have quotes/CRLFs inside")
            at += len(field)
        found.append(field)
        if at >= len(line):
            return found
        at += len(delimiter)


def _quoted(ctx: Any, line: bytes, at: int) -> tuple[bytes, int]:
    """The field whose first quote is before `at`, and the place after its last one. Doubled quotes stand for one."""
    parts = []
    while True:
        end = line.find(b'"', at)
        if end < 0:
            raise invalid(ctx, "Quoted field has to end with quote followed by delim or end")
        parts.append(line[at:end])
        if line[end + 1:end + 2] != b'"':
            return b'"'.join(parts), end + 1
        at = end + 2


def _csv_shape(ctx: Any) -> list[Static]:
    for i in range(1, len(ctx.op.inputs)):
        shape = ctx.shape(i)
        if shape is not None and len(shape) > 1:
            raise ValueError(f"Shape must be at most rank 1 but is rank {len(shape)}: default {i - 1} has the shape "
                             f"{list(shape)}")
        if shape and (shape[0] or 0) > 1:
            raise ValueError("Shape of a default must be a length-0 or length-1 vector, or a scalar, got "
                             f"{list(shape)}")
    return [ctx.shape(0)] * len(ctx.op.outputs)


@host("records: string, record_defaults: OUT_TYPE -> output: OUT_TYPE", shape=_csv_shape,
      OUT_TYPE="list({float, double, int32, int64, string}) >= 1", field_delim="string = ','",
      use_quote_delim="bool = true", na_value="string = ''", select_cols="list(int) = []", lifts=one_by_one)
def DecodeCSV(records: Any, record_defaults: Any, *, OUT_TYPE: Any, field_delim: bytes, use_quote_delim: bool,
              na_value: bytes, select_cols: Any, ctx: Any) -> Any:
    """Parse CSV records: a tensor of the shape of `records` for each default, whose dtype it has.

    A field that is empty, or `na_value`, gets the default; an empty default means that there must be one.
    """
    for i, default in enumerate(record_defaults):
        if default.ndim > 1 or default.size > 1:
            raise invalid(ctx, f"There should only be 1 default per field but field {i} has a default of shape "
                               f"{list(default.shape)}")
    records_of = Records(ctx, records.ravel().tolist(), OUT_TYPE, record_defaults, field_delim, use_quote_delim,
                         na_value, select_cols)
    found = records_of.by_machine() or records_of.one_by_one()
    return [column.reshape(records.shape) for column in found]


class Records:
    """CSV records and what is asked of them: a column for each dtype."""

    def __init__(self, ctx: Any, lines: list[bytes], types: Sequence[DType], defaults: Sequence[np.ndarray],
                 delimiter: bytes, quotes: bool, missing: bytes, selected: Sequence[int]) -> None:
        self.ctx, self.lines, self.types, self.defaults = ctx, lines, types, defaults
        self.delimiter, self.quotes, self.missing, self.selected = delimiter, quotes, missing, selected
        self.columns_of: dict[DType, list[int]] = {}
        for i, dtype in enumerate(types):
            self.columns_of.setdefault(dtype, []).append(i)
        self.texts = frozenset(self.columns_of.get(dtypes.string, ()))

    def one_by_one(self) -> list[np.ndarray]:
        """Return the columns. Raises InvalidArgumentError for the first value, in order of records, that is wrong."""
        columns: list[list[Any]] = [[] for _ in self.types]
        for row, line in enumerate(self.lines):
            fields = _fields(self.ctx, line, self.delimiter, self.quotes)
            if self.selected:
                fields = [fields[i] for i in self.selected if i < len(fields)]
            if len(fields) != len(self.types):
                raise invalid(self.ctx, f"Expect {len(self.types)} fields but have {len(fields)} in record {row}")
            for i, field in enumerate(fields):
                columns[i].append(self._value(field, i, row))
        found: dict[int, np.ndarray] = {}
        for dtype, own in self.columns_of.items():             # all of a dtype at once: few records are common
            wanted = [columns[i] for i in own]
            made = map(strings, wanted) if dtype == dtypes.string else _array(wanted, dtype)
            found.update(zip(own, made, strict=True))
        return [found[i] for i in range(len(columns))]

    def _value(self, field: bytes, i: int, row: int) -> Any:
        """Return the value of field `i` of a record."""
        if field in (b"", self.missing):
            if not self.defaults[i].size:
                raise invalid(self.ctx, f"Field {i} is required but missing in record {row}!")
            return self.defaults[i].ravel()[0]
        if i in self.texts:
            return field
        dtype = self.types[i]
        number = number_of(field, dtype)
        if number is None:
            name = {"float32": "float", "float64": "double"}.get(dtype.name, dtype.name)
            raise invalid(self.ctx, f"Field {i} in record {row} is not a valid {name}: {field.decode('latin-1')}")
        return number

    def by_machine(self) -> list[np.ndarray] | None:
        """Return the columns; None where there are few, or something is wrong."""
        columns, most = len(self.types), max(self.selected, default=0)
        if not has_compiler() or len(self.lines) * columns < LEAST or len(self.delimiter) != 1 or \
                self.delimiter == b'"' or len(set(self.selected)) < len(self.selected) or most > 1 << 16:
            return None
        places = np.arange(columns)
        if self.selected:
            places = np.full(most + 1, -1)
            places[list(self.selected)] = np.arange(columns)
        split = self._split(places)
        if split is None:
            return None
        text, starts, stops, counts = split
        if not (counts > most if self.selected else counts == columns).all():
            return None
        found: dict[int, np.ndarray] = {}
        for dtype, own in self.columns_of.items():
            made = self._strings(text, starts, stops, own) if dtype == dtypes.string else \
                self._numbers(text, starts[own], stops[own], own, dtype)
            if made is None:
                return None
            found.update(zip(own, made, strict=True))
        return [found[i] for i in range(columns)]

    def _split(self, places: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray] | None:
        """Return a buffer, starts and ends of the fields in it [columns, records], and how many a record has."""
        count = len(self.lines)
        text, begins = joined(self.lines)
        starts, stops = np.zeros((2, len(self.types), count), np.int64)
        counts = np.empty(count, np.int64)
        split_record.run(count, text, begins, places, len(places), starts, stops, counts, count, self.delimiter[0],
                         int(self.quotes))
        more, size = [text.tobytes()], len(text)
        for row in np.flatnonzero(counts == ODD).tolist():
            try:
                fields = _fields(self.ctx, self.lines[row], self.delimiter, self.quotes)
            except InvalidArgumentError:
                return None                                    # an earlier record may be wrong, too
            counts[row] = len(fields)
            for place, field in zip(places.tolist(), fields, strict=False):
                if place >= 0:
                    starts[place, row], stops[place, row] = size, size + len(field)
                    more.append(field)
                    size += len(field)
        return (np.frombuffer(b"".join(more), np.uint8) if len(more) > 1 else text), starts, stops, counts

    def _numbers(self, text: np.ndarray, starts: np.ndarray, stops: np.ndarray, own: list[int],
                 dtype: DType) -> np.ndarray | None:
        """Return the columns `own` of numbers; None if a value is wrong, or missing and required."""
        made = parsed(text, starts, stops, dtype, self.missing)
        if made is None:
            return None
        values, missing = made
        for line, absent, i in zip(values, missing, own, strict=True):
            if absent.any():
                if not self.defaults[i].size:
                    return None
                line[absent] = self.defaults[i].ravel()[0]
        return values

    def _strings(self, text: np.ndarray, starts: np.ndarray, stops: np.ndarray,
                 own: list[int]) -> list[np.ndarray] | None:
        """Return the columns `own` of strings; None if a required one is missing."""
        whole, made = text.tobytes(), []
        for i in own:
            column = cut(whole, starts[i], stops[i])
            if b"" in column or self.missing in column:
                if not self.defaults[i].size:
                    return None
                default = self.defaults[i].ravel()[0]
                column = [default if field in (b"", self.missing) else field for field in column]
            made.append(strings(column))
        return made


# Numbers

@host("string_tensor: string -> output: out_type", shape=shapes.like_first,
      out_type="{float, double, int32, int64, uint32, uint64} = DT_FLOAT", lifts=one_by_one)
def StringToNumber(string_tensor: Any, *, out_type: DType, ctx: Any) -> Any:
    """Parse the numbers in strings."""
    if string_tensor.size >= LEAST and has_compiler():
        text, begins = joined(string_tensor)
        made = parsed(text, begins[:-1], begins[1:], out_type)
        if made is not None and not made[1].any():
            return made[0].reshape(string_tensor.shape)
    found = []
    for item in string_tensor.ravel().tolist():
        number = number_of(item, out_type)
        if number is None:
            raise invalid(ctx, f"StringToNumberOp could not correctly convert string: {item.decode('latin-1')}")
        found.append(number)
    return _array(found, out_type).reshape(string_tensor.shape)


@host("input: T -> output: string", shape=shapes.like_first,
      T="{float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64, complex64, "
        "complex128, bool, variant, string}", precision="int = -1", scientific="bool = false", shortest="bool = false",
      width="int = -1", fill="string = ''", lifts=one_by_one)
def AsString(input: Any, *, T: DType, precision: int, scientific: bool, shortest: bool, width: int, fill: bytes,
             ctx: Any) -> Any:
    """Format numbers as strings, as C's printf does; truth values as "true" and "false"."""
    if len(fill) > 1:
        raise invalid(ctx, f"Fill string must be one or fewer characters, got {fill!r}")
    if scientific and shortest:
        raise invalid(ctx, "Cannot select both scientific and shortest notation")
    if fill and fill not in (b" ", b"0", b"+", b"-", b"#"):
        raise invalid(ctx, f"Fill argument not supported: {fill!r}")
    if not (T.is_floating or T.is_complex or T == dtypes.string):
        if scientific or shortest:
            raise invalid(ctx, f"scientific and shortest format not supported for datatype {T.name}")
        if precision > -1:
            raise invalid(ctx, f"precision not supported for datatype {T.name}")
    if input.size * max(width, precision) > MOST_TEXT:
        raise ResourceExhaustedError(None, ctx.op, f"{input.size} strings of {max(width, precision)} characters: "
                                                   f"expected at most {MOST_TEXT} in all")
    if (T.is_floating or T.is_integer) and not (scientific or shortest or fill or width > -1) and \
            input.size >= LEAST and has_compiler():
        made = decimal(input) if T.is_integer else fixed(input, 6 if precision < 0 else precision)
        if made is not None:
            return strings(made, input.shape)
    flags = fill.decode() + (str(width) if width > -1 else "")
    digits = f".{precision}" if precision > -1 else ""
    form = _printf(flags, digits, T, "e" if scientific else "g" if shortest else "f")
    numbers = input.astype(np.float64) if T.is_floating else input
    flat = numbers.ravel().tolist()
    if isinstance(form, bytes):
        return strings(_formatted(form, flat), input.shape)
    return strings([*map(form, flat)], input.shape)


def _formatted(form: bytes, values: list[Any]) -> list[bytes]:
    """Return each value as `form` writes it: a block at a time as one text, which takes half the time."""
    made: list[bytes] = []
    for at in range(0, len(values), BLOCK):
        block = values[at:at + BLOCK]
        made += (b"\n".join([form] * len(block)) % tuple(block)).split(b"\n")
    return made


def _printf(flags: str, digits: str, dtype: DType, letter: str) -> Callable[[Any], bytes] | bytes:
    """Return what formats a Python value of a dtype, or the form of `%` for numbers."""
    if dtype == dtypes.string:
        return f"%{flags.lstrip('0')}s".encode().__mod__
    if dtype.is_bool:
        return lambda x: b"true" if x else b"false"
    one = f"%{flags}d".encode() if dtype.is_integer else f"%{flags}{digits}{letter}".encode()
    if dtype.is_complex:
        return lambda x: b"(%s,%s)" % (one % x.real, one % x.imag)
    return one


for _op in (DecodeCSV, StringToNumber, AsString):
    _op.no_gradient("it deals with strings")


# The user's functions

def decode_csv(records: Any, record_defaults: Sequence[Any], field_delim: str = ",", use_quote_delim: bool = True,
               name: str | None = None, na_value: str = "", select_cols: Sequence[int] | None = None) -> list[Tensor]:
    """Parse CSV records (RFC 4180), into a tensor for each default: of its dtype, of the shape of `records`.

    A field that is empty or `na_value` gets the default; where that is empty, it raises InvalidArgumentError.
    select_cols: the numbers of the columns to take, in order. Raises ValueError if there are not as many as defaults.

    >>> name, age = tf.decode_csv(["Ada,36", "Alan,"], record_defaults=[[""], [0]])
    >>> sess.run([name, age])
    [array([b'Ada', b'Alan'], dtype=object), array([36,  0], dtype=int32)]
    """
    if select_cols is not None:
        if any(a >= b for a, b in zip(select_cols, select_cols[1:], strict=False)):
            raise ValueError(f"select_cols is not strictly increasing: {list(select_cols)}")
        if select_cols and select_cols[0] < 0:
            raise ValueError(f"select_cols contains negative values: {list(select_cols)}")
        if len(select_cols) != len(record_defaults):
            raise ValueError("Length of select_cols and record_defaults do not match.")
    made: list[Tensor] = DecodeCSV(records, list(record_defaults), field_delim=field_delim,
                                   use_quote_delim=use_quote_delim, na_value=na_value,
                                   select_cols=list(select_cols or ()), name=name)
    return made


@dispatched
def string_to_number(string_tensor: Any = None, out_type: Any = dtypes.float32, name: str | None = None,
                     input: Any = None) -> Tensor:
    """Parse the numbers in strings. input: another name of `string_tensor`.

    >>> sess.run(tf.string_to_number(["1.5", "-2"]))
    array([ 1.5, -2. ], dtype=float32)
    """
    tensor: Tensor = StringToNumber(input if string_tensor is None else string_tensor, out_type=out_type, name=name)
    return tensor


@dispatched
def as_string(input: Any, precision: int = -1, scientific: bool = False, shortest: bool = False, width: int = -1,
              fill: str = "", name: str | None = None) -> Tensor:
    """Format numbers. precision: digits after the point; scientific, shortest: "1.5e+00", "1.5"; width, fill: pad.

    >>> sess.run(tf.as_string([1.5, -2.0], precision=2))
    array([b'1.50', b'-2.00'], dtype=object)
    """
    tensor: Tensor = AsString(input, precision=precision, scientific=scientific, shortest=shortest, width=width,
                              fill=fill, name=name)
    return tensor


describe(globals(), TENSORS)
