"""Strings in pieces, as rows of ragged tensors: bytes, characters, words, n-grams."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfnb.core import dtypes
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.operation import Tensor
from tfnb.graph.stack import name_scope
from tfnb.ops.array.create import range_
from tfnb.ops.array.joining import stack
from tfnb.ops.composite.sparse_tensor import SparseTensor
from tfnb.ops.declaration.arguments import renamed
from tfnb.ops.declaration.dispatch import handles
from tfnb.ops.declaration.public import named, public
from tfnb.ops.declaration.raw import raw
from tfnb.ops.math.casting import cast
from tfnb.ops.strings.decoding import StringSplit
from tfnb.ops.strings.transforms import StringSplitV2, reduce_join
from tfnb.ragged import partition
from tfnb.ragged.conversion import from_dense
from tfnb.ragged.joining import positive
from tfnb.ragged.tensor import RaggedTensor, as_tensor, is_ragged

Function = Callable[..., Any]


def _pieces(texts: Any, split: Callable[[Tensor], list[RaggedTensor]], name: str | None, scope: str) -> list[Any]:
    """Return what `split` makes of a vector of strings, in the rows of strings of any rank; vectors for one string."""
    with name_scope(name, scope, [texts]):
        texts = as_tensor(texts, dtypes.string, "input")
        if is_ragged(texts):
            made = split(texts.flat_values) if texts.flat_values.shape.ndims == 1 else _pieces(
                texts.flat_values, split, None, scope)
            return [texts.with_flat_values(each) for each in made]
        rank = texts.shape.ndims
        if rank is None:
            raise ValueError("Rank of input must be statically known.")
        if rank == 0:
            return [each.values for each in split(stack([texts]))]
        if rank == 1:
            return split(texts)
        return _pieces(from_dense(RaggedTensor, texts, None, None, rank - 1, dtypes.int64), split, None, scope)


@public("strings.bytes_split")
def bytes_split(input: Any, name: str | None = None) -> Any:
    """Split strings into their bytes: a RaggedTensor with one axis more than `input`; a vector for a single string.

    Raises ValueError for an unknown rank.

    >>> sess.run(tf.strings.bytes_split(["ab", "", "c"])).to_list()
    [[b'a', b'b'], [], [b'c']]
    """
    def split(texts: Tensor) -> list[RaggedTensor]:
        """Return the bytes of each string: the op splits at each byte where there is no delimiter."""
        return [_rows(texts, StringSplit(texts, "", skip_empty=False))]
    return _pieces(input, split, name, "StringsByteSplit")[0]


def _decoded(input: Any, encoding: str, errors: str, replacement_char: int, controls: bool, name: str | None,
             offsets: bool) -> list[Any]:
    """Return the code points of strings, and the bytes where they begin."""
    def split(texts: Tensor) -> list[RaggedTensor]:
        """Return rows of code points, and of offsets."""
        op = raw.UnicodeDecodeWithOffsets if offsets else raw.UnicodeDecode
        splits, *parts = op(texts, encoding, errors=errors, replacement_char=replacement_char,
                            replace_control_characters=controls)
        return [RaggedTensor._of(part, splits) for part in parts]
    return _pieces(input, split, name, "UnicodeDecodeWithOffsets" if offsets else "UnicodeDecode")


@public("strings.unicode_decode")
def unicode_decode(input: Any, input_encoding: str, errors: str = "replace", replacement_char: int = 0xFFFD,
                   replace_control_characters: bool = False, name: str | None = None) -> Any:
    """Decode strings to code points: an int32 RaggedTensor with one axis more than `input`.

    input_encoding: "UTF-8", "UTF-16-BE", "UTF-32-BE", or another name of an encoding. errors: "replace" for
    replacement_char in place of malformed bytes, "ignore" to leave them out, "strict" for an InvalidArgumentError.
    replace_control_characters: treat U+0000 to U+001F so, too. A single string gives a vector. Raises ValueError for
    an unknown rank.

    >>> sess.run(tf.strings.unicode_decode(["caf\\u00e9", "ab"], "UTF-8")).to_list()
    [[99, 97, 102, 233], [97, 98]]
    """
    return _decoded(input, input_encoding, errors, replacement_char, replace_control_characters, name, False)[0]


@public("strings.unicode_decode_with_offsets")
def unicode_decode_with_offsets(input: Any, input_encoding: str, errors: str = "replace",
                                replacement_char: int = 0xFFFD, replace_control_characters: bool = False,
                                name: str | None = None) -> tuple[Any, Any]:
    """Decode strings to code points, and to the byte at which each begins in its string (int64).

    The arguments are those of unicode_decode: input, input_encoding, errors, replacement_char,
    replace_control_characters.

    >>> codes, offsets = tf.strings.unicode_decode_with_offsets(["\\u00e9a"], "UTF-8")
    >>> sess.run(offsets).to_list()
    [[0, 2]]
    """
    codes, offsets = _decoded(input, input_encoding, errors, replacement_char, replace_control_characters, name, True)
    return codes, offsets


def _characters(codes: Any, encoding: str, errors: str, replacement_char: int) -> Any:
    """Return each code point as a string."""
    flat = codes.flat_values if is_ragged(codes) else codes
    encoding = encoding if encoding in ("UTF-8", "UTF-16-BE", "UTF-32-BE") else "UTF-8"
    each = raw.UnicodeEncode(flat, range_(raw.Size(flat) + 1), encoding, errors=errors,
                             replacement_char=replacement_char, Tsplits="int32")
    return codes.with_flat_values(each) if is_ragged(codes) else each


@public("strings.unicode_split")
def unicode_split(input: Any, input_encoding: str, errors: str = "replace", replacement_char: int = 0xFFFD,
                  name: str | None = None) -> Any:
    """Split strings into their characters: a RaggedTensor with one axis more than `input`.

    The arguments are those of unicode_decode: input, input_encoding, errors, replacement_char.

    >>> sess.run(tf.strings.unicode_split(["h\\u00e9", "x"], "UTF-8")).to_list()
    [[b'h', b'\\xc3\\xa9'], [b'x']]
    """
    with name_scope(name, "UnicodeSplit", [input]):
        codes = _decoded(input, input_encoding, errors, replacement_char, False, None, False)[0]
        return _characters(codes, input_encoding, "ignore", replacement_char)


@public("strings.unicode_split_with_offsets")
def unicode_split_with_offsets(input: Any, input_encoding: str, errors: str = "replace",
                               replacement_char: int = 0xFFFD, name: str | None = None) -> tuple[Any, Any]:
    """Split strings into their characters, and return the byte at which each begins in its string (int64), too.

    The arguments are those of unicode_decode: input, input_encoding, errors, replacement_char.

    >>> characters, offsets = tf.strings.unicode_split_with_offsets("h\\u00e9!", "UTF-8")
    >>> sess.run(offsets)
    array([0, 1, 3])
    """
    with name_scope(name, "UnicodeSplitWithOffsets", [input]):
        codes, offsets = _decoded(input, input_encoding, errors, replacement_char, False, None, True)
        return _characters(codes, input_encoding, "ignore", replacement_char), offsets


@public("strings.unicode_encode")
def unicode_encode(input: Any, output_encoding: str, errors: str = "replace", replacement_char: int = 0xFFFD,
                   name: str | None = None) -> Any:
    """Encode code points along the last axis as strings: the result has one axis less.

    input: int32, a Tensor or RaggedTensor. output_encoding: "UTF-8", "UTF-16-BE" or "UTF-32-BE". errors,
    replacement_char: as of unicode_decode, for integers that are no code points. Raises ValueError for a scalar.

    >>> sess.run(tf.strings.unicode_encode(tf.ragged.constant([[72, 233], [33]]), "UTF-8"))
    array([b'H\\xc3\\xa9', b'!'], dtype=object)
    """
    with name_scope(name, "UnicodeEncode", [input]):
        codes = as_tensor(input, name="input")
        rank = codes.shape.ndims
        if rank is None:
            raise ValueError("Rank of input_tensor must be statically known.")
        if rank == 0:
            raise ValueError("input_tensor's rank must be at least 1.")
        if is_ragged(codes):
            return _encoded(codes, output_encoding, errors, replacement_char)
        sizes: Any = raw.Shape(codes)
        rows = raw.Reshape(codes, stack([-1, sizes[-1]]))
        rows.set_shape([None, codes.shape.as_list()[-1]])
        made = _encoded(from_dense(RaggedTensor, rows, None, None, 1, dtypes.int64), output_encoding, errors,
                        replacement_char)
        whole = raw.Reshape(made, sizes[:-1])
        whole.set_shape(codes.shape[:-1])
        return whole


def _encoded(codes: RaggedTensor, encoding: str, errors: str, replacement_char: int) -> Any:
    inner = codes.values
    if is_ragged(inner):
        return codes.with_values(_encoded(inner, encoding, errors, replacement_char))
    if inner.shape.ndims > 1:
        return codes.with_values(unicode_encode(inner, encoding, errors, replacement_char))
    return raw.UnicodeEncode(inner, codes.row_splits, encoding, errors=errors, replacement_char=replacement_char)


@public("strings.ngrams")
def ngrams(data: Any, ngram_width: Any, separator: str = " ", pad_values: Any = None, padding_width: int | None = None,
           preserve_short_sequences: bool = False, name: str | None = None) -> Any:
    """Join each `ngram_width` neighbouring strings along the last axis.

    data: strings, a Tensor or RaggedTensor of rank 1 or more. ngram_width: a number, or a list of them, whose n-grams
    follow one another. separator: between the strings. pad_values: a string, or one for each end, that pads rows;
    padding_width: how many at each end, at most width - 1 (the default). preserve_short_sequences: a row that is too
    short for any n-gram is one, as it is. Returns a Tensor for a Tensor of rank 1, a RaggedTensor for one of more.
    Raises ValueError for a width below 1, a scalar, and a padding width without pads; TypeError for other pads.

    >>> words = tf.ragged.constant([["a", "b", "c"], ["d"]])
    >>> sess.run(tf.strings.ngrams(words, 2)).to_list()
    [[b'a b', b'b c'], []]
    """
    with name_scope(name, "StringNGrams", [data]):
        left, right = _pads(pad_values)
        widths = [ngram_width] if isinstance(ngram_width, int) else list(ngram_width)
        if any(width < 1 for width in widths):
            raise ValueError(f"All ngram_widths must be greater than 0. Got {ngram_width}")
        if padding_width is not None and padding_width < 1:
            raise ValueError(f"padding_width must be greater than 0. Got {padding_width}")
        if padding_width is not None and pad_values is None:
            raise ValueError("pad_values must be provided if padding_width is set.")
        rows = as_tensor(data, dtypes.string, "data")
        rank = rows.shape.ndims
        if rank == 0:
            raise ValueError("Data must have rank>0")
        pad = 0 if pad_values is None else -1 if padding_width is None else padding_width

        def grams(values: Tensor, splits: Tensor) -> RaggedTensor:
            """Return the n-grams of rows."""
            return RaggedTensor._of(*raw.StringNGrams(
                values, splits, separator=separator, ngram_widths=widths, left_pad=left, right_pad=right,
                pad_width=pad, preserve_short_sequences=preserve_short_sequences))
        if not is_ragged(rows) and rank == 1:
            return grams(rows, cast(stack([0, raw.Size(rows)]), dtypes.int64)).values
        if not is_ragged(rows):
            made = from_dense(RaggedTensor, rows, None, None, rank - 1, dtypes.int64)
            return _innermost(made, grams).to_tensor("")
        return _innermost(rows, grams)


def _pads(pad_values: Any) -> tuple[Any, Any]:
    """Return the pads of both ends. Raises TypeError for what are none."""
    if pad_values is None:
        return "", ""
    if isinstance(pad_values, (str, bytes)):
        return pad_values, pad_values
    if isinstance(pad_values, tuple) and len(pad_values) == 2 and all(isinstance(p, (str, bytes)) for p in pad_values):
        return pad_values
    raise TypeError(f"pad_values must be a string, tuple of strings, or None. Got {pad_values!r}")


def _innermost(rows: RaggedTensor, fn: Callable[[Tensor, Tensor], RaggedTensor]) -> Any:
    """Return `fn` of the values and row splits of the innermost ragged axis, in the rows of the outer ones."""
    inner = rows.values
    if is_ragged(inner):
        return rows.with_values(_innermost(inner, fn))
    if inner.shape.ndims != 1:
        return rows.with_values(_innermost(from_dense(RaggedTensor, inner, None, None, inner.shape.ndims - 1,
                                                      rows.row_splits.dtype), fn))
    return fn(inner, rows.row_splits)


def _rows(texts: Tensor, found: Any) -> RaggedTensor:
    """Return the pieces of a vector of strings, which an op gives as the parts of a SparseTensor."""
    sparse = SparseTensor(*found)
    indices: Any = sparse.indices
    return RaggedTensor.from_value_rowids(sparse.values, indices[:, 0], partition.size_of(texts, dtypes.int64),
                                          validate=False)


@public("strings.split")
@named("split")
def string_split_v2(input: Any = None, sep: str | None = None, maxsplit: int = -1, result_type: str = "SparseTensor",
                    source: Any = None, name: str | None = None) -> Any:
    """Split strings at `sep` (by default at whitespace), a row for each string.

    input (also `source`): strings, dense or ragged. maxsplit: the largest number of splits of each; -1 for any.
    result_type: "SparseTensor" or "RaggedTensor", with one axis more than the input (a single string is a row, too).
    Raises ValueError for another result type, and for an unknown rank.

    >>> words = tf.strings.split(["a,b", "c"], sep=",")
    >>> sess.run(tf.sparse_tensor_to_dense(words, default_value=""))
    array([[b'a', b'b'],
           [b'c', b'']], dtype=object)
    >>> sess.run(tf.strings.split(["a b", "c"], result_type="RaggedTensor")).to_list()
    [[b'a', b'b'], [b'c']]
    """
    _check_type(result_type)
    texts = as_tensor(renamed("input", input, "source", source), dtypes.string, "input")
    if texts.shape.ndims == 0:
        texts = stack([texts])

    def split(each: Tensor) -> list[RaggedTensor]:
        """Return the parts of each string."""
        return [_rows(each, StringSplitV2(each, sep or "", maxsplit=maxsplit))]
    made = _pieces(texts, split, name, "StringSplit")[0]
    return made if result_type == "RaggedTensor" else made.to_sparse()


def _check_type(result_type: str) -> None:
    if result_type not in ("SparseTensor", "RaggedTensor"):
        raise ValueError(f"result_type must be 'RaggedTensor' or 'SparseTensor', got {result_type!r}")


@public("string_split")
def string_split(source: Any, sep: str | None = None, skip_empty: bool = True, delimiter: Any = None,
                 result_type: str = "SparseTensor", name: str | None = None) -> Any:
    """Split a vector of strings at any of the characters of `sep` (by default the space), a row for each string.

    source: [n] strings. skip_empty: leave out empty parts. delimiter: the older name of `sep`. result_type:
    "SparseTensor" or "RaggedTensor" (else ValueError).

    >>> words = tf.string_split(["a cat", "dogs"])
    >>> sess.run(words.values), sess.run(words.indices)
    (array([b'a', b'cat', b'dogs'], dtype=object),
     array([[0, 0],
            [0, 1],
            [1, 0]]))
    """
    _check_type(result_type)
    marks = sep if sep is not None else " " if delimiter is None else delimiter
    texts = convert_to_tensor(source, dtype=dtypes.string)
    parts = StringSplit(texts, marks, skip_empty=skip_empty, name=name)
    return SparseTensor(*parts) if result_type == "SparseTensor" else _rows(texts, parts)


@handles(reduce_join)
def ragged_reduce_join(fn: Function, inputs: Any, axis: Any = None, keep_dims: Any = None, separator: str = "",
                       name: str | None = None, reduction_indices: Any = None, keepdims: Any = None) -> Any:
    """Join the strings of ragged rows along an axis; those of all axes by default."""
    axis = renamed("axis", axis, "reduction_indices", reduction_indices)
    if renamed("keepdims", keepdims, "keep_dims", keep_dims, default=False):
        raise ValueError("keepdims=True is not supported for RaggedTensors.")
    with name_scope(name, "RaggedReduceJoin", [inputs]):
        x = as_tensor(inputs)
        if axis is None:
            return fn(x.flat_values, separator=separator)
        axes = sorted((positive(a, x.shape.ndims) for a in ([axis] if isinstance(axis, int) else axis)), reverse=True)
        for each in axes:
            x = _joined(fn, x, each, separator)
        return x


def _joined(fn: Function, x: Any, axis: int, separator: str) -> Any:
    if not is_ragged(x):
        return fn(x, axis, separator=separator)
    if axis != 1 or is_ragged(x.values) or x.values.shape.ndims != 1:
        if axis < 2:
            raise ValueError(f"reduce_join of a ragged tensor expects its last axis, got axis={axis}")
        return x._with(_joined(fn, x.values, axis - 1, separator))
    made: Tensor = raw.UnsortedSegmentJoin(x.values, x.value_rowids(), cast(x.nrows(), dtypes.int32),
                                           separator=separator)
    return made
