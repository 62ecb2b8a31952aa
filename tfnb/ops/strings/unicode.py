"""Unicode in strings: code points, transcoding between encodings, scripts.

Input encodings are those of Python's codecs, among them all that programs of TensorFlow name. Malformed bytes are
replaced by maximal subparts (Unicode 15, section 3.9), as ICU does.
"""
from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import numpy as np

from tfnb.core.options import has_compiler
from tfnb.core.shape import Static
from tfnb.kernels.library.text import unicode as kernels
from tfnb.kernels.library.text.spans import joined
from tfnb.ops.declaration import shapes
from tfnb.ops.declaration.declare import host
from tfnb.ops.declaration.public import public
from tfnb.ops.strings.decoding import strings
from tfnb.ops.strings.string_ops import re2_pattern
from tfnb.ops.strings.transforms import each

LARGEST = 0x10FFFF
LEAST = 16                          # strings from which kernels are quicker
UNKNOWN = 103                       # the code of ICU for characters that no script has
# Names of scripts at the place that is their code in ICU (UScriptCode); "-": no characters have it.
SCRIPTS = """
    Common Inherited Arabic Armenian Bengali Bopomofo Cherokee Coptic Cyrillic Deseret Devanagari Ethiopic
    Georgian Gothic Greek Gujarati Gurmukhi Han Hangul Hebrew Hiragana Kannada Katakana Khmer Lao Latin Malayalam
    Mongolian Myanmar Ogham Old_Italic Oriya Runic Sinhala Syriac Tamil Telugu Thaana Thai Tibetan
    Canadian_Aboriginal Yi Tagalog Hanunoo Buhid Tagbanwa Braille Cypriot Limbu Linear_B Osmanya Shavian Tai_Le
    Ugaritic - Buginese Glagolitic Kharoshthi Syloti_Nagri New_Tai_Lue Tifinagh Old_Persian Balinese Batak -
    Brahmi Cham - - - - Egyptian_Hieroglyphs - - - Pahawh_Hmong Old_Hungarian - Javanese Kayah_Li - - Lepcha
    Linear_A Mandaic - Meroitic_Hieroglyphs Nko Old_Turkic Old_Permic Phags_Pa Phoenician Miao - - - - - - Vai -
    Cuneiform - - Carian - Tai_Tham Lycian Lydian Ol_Chiki Rejang Saurashtra SignWriting Sundanese - Meetei_Mayek
    Imperial_Aramaic Avestan Chakma - Kaithi Manichaean Inscriptional_Pahlavi Psalter_Pahlavi -
    Inscriptional_Parthian Samaritan Tai_Viet - - Bamum Lisu - Old_South_Arabian Bassa_Vah Duployan Elbasan
    Grantha - - Mende_Kikakui Meroitic_Cursive Old_North_Arabian Nabataean Palmyrene Khudawadi Warang_Citi - - Mro
    Nushu Sharada Sora_Sompeng Takri Tangut - Anatolian_Hieroglyphs Khojki Tirhuta Caucasian_Albanian Mahajani
    Ahom Hatran Modi Multani Pau_Cin_Hau Siddham Adlam Bhaiksuki Marchen Newa Osage - - - Masaram_Gondi Soyombo
    Zanabazar_Square Dogra Gunjala_Gondi Makasar Medefaidrin Hanifi_Rohingya Sogdian Old_Sogdian Elymaic
    Nyiakeng_Puachue_Hmong Nandinagari Wancho Chorasmian Dives_Akuru Khitan_Small_Script Yezidi
""".split()
Piece = tuple[int | None, int]      # a code point, None for malformed bytes, and the byte where it begins


def _pieces(text: bytes, codec: str) -> Iterator[Piece]:
    """Yield the characters of encoded text, and where each begins."""
    at = 0
    while at < len(text):
        try:
            good, bad = text[at:].decode(codec), None
        except UnicodeDecodeError as error:
            good, bad = text[at:at + error.start].decode(codec), (at + error.start, at + error.end)
        if codec == "utf-8" and good.isascii():
            yield from zip(map(ord, good), range(at, at + len(good)), strict=True)
        else:
            place = at
            for letter in good:
                yield ord(letter), place
                place += len(letter.encode(codec))
        if bad is None:
            return
        yield None, bad[0]
        at = bad[1]


@lru_cache(64)
def _codec(name: bytes) -> str:
    """Return Python's name of an encoding. Raises ValueError for an unknown one."""
    text = name.decode(errors="replace")
    try:
        found = codecs.lookup(text).name
        "".encode(found)
    except (LookupError, UnicodeEncodeError):
        raise ValueError(f"Could not create converter for input encoding: {text}") from None
    return {"utf-16": "utf-16-be", "utf-32": "utf-32-be"}.get(found, found)


def _unmarked(text: bytes, name: bytes) -> bytes:
    """Return UTF-16 or UTF-32 of either byte order, as its mark says, in the big-endian one without a mark."""
    plain = re.sub(rb"[-_]", b"", name).lower()
    if plain not in (b"utf16", b"utf32") or not text:
        return text
    codec = plain.decode()
    marked = text.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE))
    return text.decode(codec, "replace").encode(codec + "-be") if marked else text


class _Policy:
    """Treatment of malformed input and of control characters, by the attrs of an op.

    refuses_controls: those that are replaced are malformed, which "strict" refuses.
    """

    def __init__(self, attrs: Any, refuses_controls: bool = False) -> None:
        self.refuses_controls = refuses_controls and attrs["errors"] == b"strict"
        self.errors, self.substitute = attrs["errors"], attrs["replacement_char"]
        self.controls = attrs.get("replace_control_characters", False)
        if not 0 <= self.substitute <= LARGEST or 0xD800 <= self.substitute < 0xE000:
            raise ValueError(f"Replacement char must be a valid code point, got {self.substitute}")

    def code(self, code: int | None) -> int | None:
        """Return the code point to write, None for none. Raises ValueError for a malformed one if "strict"."""
        if code is not None and (code > 0x1F or not self.controls):
            return code
        if self.refuses_controls or code is None and self.errors == b"strict":
            raise ValueError("Invalid formatting on input string")
        return None if self.errors == b"ignore" else self.substitute

    def decoded(self, text: bytes, encoding: bytes) -> list[tuple[int, int]]:
        """Return code points and the bytes where they begin."""
        found = ((self.code(code), at) for code, at in _pieces(_unmarked(text, encoding), _codec(encoding)))
        return [(code, at) for code, at in found if code is not None]

    def valid(self, code: int) -> int | None:
        """Return the code point to write for an integer that may be none."""
        return self.code(code if 0 <= code <= LARGEST and not 0xD800 <= code < 0xE000 else None)


def _encoded(codes: list[int], encoding: bytes) -> bytes:
    return "".join(map(chr, codes)).encode(_codec(encoding))


_ERRORS: dict[str, str] = {"errors": "{'strict', 'replace', 'ignore'} = 'replace'", "replacement_char": "int = 65533",
                           "replace_control_characters": "bool = false"}


def _known(ctx: Any) -> None:
    _Policy(ctx.attrs)
    _codec(ctx.attrs.get("input_encoding", b"UTF-8"))


@public("strings.unicode_transcode")
@host("input: string -> output: string", shape=shapes.like_first, validate=_known, input_encoding="string",
      output_encoding="{'UTF-8', 'UTF-16-BE', 'UTF-32-BE'}", errors=_ERRORS["errors"],
      replacement_char=_ERRORS["replacement_char"], replace_control_characters="bool = false")
def UnicodeTranscode(input: Any, *, input_encoding: bytes, output_encoding: bytes, ctx: Any) -> Any:
    """Decode strings by `input_encoding` and encode them by `output_encoding`.

    errors: "strict" for an InvalidArgumentError at malformed input, "replace" for `replacement_char` in its place,
    "ignore" to leave it out. replace_control_characters: treat U+0000 to U+001F so, too.

    >>> sess.run(tf.strings.unicode_transcode(["caf\\u00e9"], "UTF-8", "UTF-16-BE"))
    array([b'\\x00c\\x00a\\x00f\\x00\\xe9'], dtype=object)
    """
    policy, codec = _Policy(ctx.attrs, refuses_controls=True), _codec(output_encoding)
    found = _decode_many(input, input_encoding, policy)
    if found is not None:
        splits, codes, _, replaced = found
        return input.copy() if codec == "utf-8" and not replaced else strings(
            kernels.encoded(codes, splits, codec), input.shape)
    return each(lambda text: _encoded([code for code, _ in policy.decoded(text, input_encoding)], output_encoding),
                input)


def _decode_many(texts: np.ndarray, encoding: bytes,
                 policy: _Policy) -> tuple[np.ndarray, np.ndarray, np.ndarray, int] | None:
    """Return row splits, code points, the bytes where they begin, and how many were replaced, by machine code.

    None for few strings in UTF-8, and for another encoding. Raises ValueError for malformed ones if "strict".
    """
    if texts.size < LEAST or not has_compiler() or _codec(encoding) != "utf-8":
        return None
    splits, codes, places, malformed, replaced = kernels.decoded(
        *joined(texts), -1 if policy.errors == b"ignore" else policy.substitute, policy.controls)
    if malformed and policy.errors == b"strict" or replaced and policy.refuses_controls:
        raise ValueError("Invalid formatting on input string")
    return splits, codes, places, replaced


def _decoded_shapes(ctx: Any) -> list[Static]:
    shape = ctx.shape(0)
    count = None if shape is None or None in shape else int(np.prod(shape, dtype=np.int64)) + 1
    return [(count,), *[(None,)] * (len(ctx.op.outputs) - 1)]


def _decode(texts: np.ndarray, attrs: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return row splits, code points and the bytes where they begin, of strings in row-major order."""
    policy, dtype = _Policy(attrs), attrs["Tsplits"].np_dtype
    found = _decode_many(texts, attrs["input_encoding"], policy)
    if found is not None:
        splits, codes, places, _ = found
        return splits.astype(dtype, copy=False), codes, places
    rows = [policy.decoded(text, attrs["input_encoding"]) for text in texts.reshape(-1)]
    flat = np.array([piece for row in rows for piece in row], np.int64).reshape(-1, 2)
    return np.cumsum([0, *map(len, rows)]).astype(dtype), flat[:, 0].astype(np.int32), flat[:, 1].copy()


@host("input: string -> row_splits: Tsplits, char_values: int32", shape=_decoded_shapes, validate=_known,
      input_encoding="string", errors=_ERRORS["errors"], replacement_char=_ERRORS["replacement_char"],
      replace_control_characters="bool = false", Tsplits="{int32, int64} = DT_INT64")
def UnicodeDecode(input: Any, *, ctx: Any) -> Any:
    """Decode strings: the code points of all, in row-major order, and the row splits between the strings."""
    return _decode(input, ctx.attrs)[:2]


@host("input: string -> row_splits: Tsplits, char_values: int32, char_to_byte_starts: int64", shape=_decoded_shapes,
      validate=_known, input_encoding="string", errors=_ERRORS["errors"],
      replacement_char=_ERRORS["replacement_char"], replace_control_characters="bool = false",
      Tsplits="{int32, int64} = DT_INT64")
def UnicodeDecodeWithOffsets(input: Any, *, ctx: Any) -> Any:
    """Decode strings: as UnicodeDecode, and the byte of its string at which each code point begins."""
    return _decode(input, ctx.attrs)


def _rows(ctx: Any) -> list[Static]:
    splits = ctx.shape(1)
    return [(None if splits is None or splits[0] is None else max(splits[0] - 1, 0),)]


def checked_splits(splits: np.ndarray, count: int) -> list[tuple[int, int]]:
    """Return (start, end) of each row. Raises ValueError unless the splits ascend from 0 to `count`."""
    if not len(splits) or splits[0] != 0 or splits[-1] != count or (splits[1:] < splits[:-1]).any():
        raise ValueError(f"expected splits that ascend from 0 to {count}, got {splits[:20].tolist()}")
    bounds = splits.tolist()
    return list(zip(bounds[:-1], bounds[1:], strict=True))


@host("input_values: int32, input_splits: Tsplits -> output: string", shape=_rows, validate=_known,
      ranks={"input_values": 1, "input_splits": 1}, errors="{'ignore', 'replace', 'strict'} = 'replace'",
      output_encoding="{'UTF-8', 'UTF-16-BE', 'UTF-32-BE'}", replacement_char="int = 65533",
      Tsplits="{int32, int64} = DT_INT64")
def UnicodeEncode(values: Any, splits: Any, *, output_encoding: bytes, ctx: Any) -> Any:
    """Encode rows of code points as strings; what is no code point is replaced, left out or refused (`errors`)."""
    policy, codec = _Policy(ctx.attrs), _codec(output_encoding)
    if ((values >= 0) & (values <= LARGEST) & ((values < 0xD800) | (values > 0xDFFF))).all():
        rows = checked_splits(splits, len(values))
        if len(rows) >= LEAST and has_compiler():
            return strings(kernels.encoded(values, splits.astype(np.int64, copy=False), codec))
        whole = values.astype("<u4").tobytes().decode("utf-32-le")
        return strings([whole[a:b].encode(codec) for a, b in rows])
    codes = [policy.valid(code) for code in values.tolist()]
    return strings([_encoded([code for code in codes[a:b] if code is not None], output_encoding)
                    for a, b in checked_splits(splits, len(codes))])


@lru_cache(1)
def _script_table() -> np.ndarray:
    """Return the script of each code point, by the tables of RE2."""
    table = np.full(LARGEST + 1, UNKNOWN, np.int32)
    text = "".join(map(chr, [*range(0xD800), *range(0xE000, LARGEST + 1)])).encode()
    for code, name in enumerate(SCRIPTS):
        if name != "-":
            for match in re2_pattern(rb"\p{%s}+" % name.encode()).finditer(text):
                found = match.group().decode()              # a run of characters in code order
                table[[ord(letter) for letter in found]] = code
    return table


@public("strings.unicode_script")
@host("input: int32 -> output: int32", shape=shapes.like_first)
def UnicodeScript(input: Any) -> Any:
    """Return the script of code points, by the numbers of ICU (UScriptCode): 0 common, 8 Cyrillic, 17 Han, 25 Latin.

    -1 for what is no code point, 103 for one without a script.

    >>> sess.run(tf.strings.unicode_script([97, 0x416, 0x4e2d]))
    array([25,  8, 17], dtype=int32)
    """
    table = _script_table()
    return np.where((input >= 0) & (input <= LARGEST), table[np.clip(input, 0, LARGEST)], -1).astype(np.int32)


for _op in (UnicodeTranscode, UnicodeDecode, UnicodeDecodeWithOffsets, UnicodeEncode, UnicodeScript):
    _op.no_gradient("its values are characters")
