"""Conversions between str and bytes, and suggestions for misspelled names."""
from __future__ import annotations

import ast
import numbers
import os
import re
import reprlib
from collections.abc import Callable, Iterable, Sequence
from difflib import get_close_matches
from typing import Any

import numpy as np

integral_types = (numbers.Integral, np.integer)
real_types = (numbers.Real, np.integer, np.floating)
complex_types = (numbers.Complex, np.number)
bytes_or_text_types = (bytes, str)


def as_bytes(bytes_or_text: Any, encoding: str = "utf-8") -> bytes:
    """Return `bytes_or_text` as bytes: a str in `encoding`. Raises TypeError for anything else.

    >>> tf.compat.as_bytes("text"), tf.compat.as_bytes(b"text")
    (b'text', b'text')
    """
    if isinstance(bytes_or_text, (bytes, bytearray)):
        return bytes(bytes_or_text)
    if isinstance(bytes_or_text, str):
        return bytes_or_text.encode(encoding)
    raise TypeError(f"Expected binary or unicode string, got {bytes_or_text!r}")


def as_text(bytes_or_text: Any, encoding: str = "utf-8") -> str:
    """Return `bytes_or_text` as str: bytes from `encoding`. Raises TypeError for anything else.

    >>> tf.compat.as_text(b"text"), tf.compat.as_text("text")
    ('text', 'text')
    """
    if isinstance(bytes_or_text, str):
        return bytes_or_text
    if isinstance(bytes_or_text, bytes):
        return bytes_or_text.decode(encoding)
    raise TypeError(f"Expected binary or unicode string, got {bytes_or_text!r}")


def as_str_any(value: Any) -> str:
    """Return `value` as str: bytes decoded, `str` of anything else.

    >>> tf.compat.as_str_any(b"text"), tf.compat.as_str_any(3)
    ('text', '3')
    """
    return as_text(value) if isinstance(value, bytes) else str(value)


def path_to_str(path: Any) -> Any:
    """Return a path object as str; anything else unchanged.

    >>> tf.compat.path_to_str("data")
    'data'
    """
    return as_str_any(os.fspath(path)) if hasattr(path, "__fspath__") else path


def expression(text: str) -> re.Pattern[str]:
    """Compile a regular expression. Raises ValueError, with the reason, for an invalid one."""
    try:
        return re.compile(text)
    except re.error as error:
        raise ValueError(f"{text!r} is no regular expression: {error}") from None


def shown(value: Any) -> str:
    """Return `repr(value)`; of lists and dicts nested too deeply for that, its outermost levels."""
    try:
        return repr(value)
    except RecursionError:
        return reprlib.repr(value)


def cut(text: str, most: int) -> str:
    """Truncate `text` to `most` characters, ending in "…" if it is longer."""
    return text if len(text) <= most else text[:most - 1] + "…"


def counted(count: int, noun: str) -> str:
    """Return a count with its noun in the singular or plural: 1 tensor, 2,000 tensors."""
    return f"{count:,} {noun}{'s' * (count != 1)}"


def names_of(tree: ast.AST) -> tuple[set[str], set[str]]:
    """Return the names that Python code reads, and those that it binds, parameters among them."""
    names = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
    reads = {node.id for node in names if isinstance(node.ctx, ast.Load)}
    binds = {node.id for node in names if not isinstance(node.ctx, ast.Load)}
    return reads, binds | {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}


def listed(names: Sequence[str], few: int) -> str:
    """Return the first few names, and the count of the others: a, b and 3 more."""
    more = f" and {len(names) - few} more" if len(names) > few else ""
    return ", ".join(names[:few]) + more


def did_you_mean(word: str, known: Iterable[str], cutoff: float = 0.6, show: Callable[[str], str] = repr) -> str:
    """Return the end of a message on an unknown name: "; did you mean 'loss'?", or "" if none of `known` is close.

    One that begins with the word, or is it in a scope, is nearest. cutoff: how near, 0 to 1; show: how the nearest one
    is written.
    """
    names = list(known)
    within = [name for name in names if len(word) > 2 and name.startswith(word) or name.endswith(f"/{word}")]
    near = sorted(within, key=len) or get_close_matches(word, names, n=1, cutoff=cutoff)
    return f"; did you mean {show(near[0])}?" if near else ""
