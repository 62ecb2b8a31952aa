"""Canonical SVG text: sorted attributes, rounded numbers, escaped text. The same picture is always the same bytes."""
from __future__ import annotations

import re
from collections.abc import Iterable
from html import escape

BAD = re.compile(r"[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def number(value: float) -> str:
    """A coordinate with one decimal at most, and no "-0"."""
    text = f"{value:.1f}".removesuffix(".0")
    return "0" if text == "-0" else text


def short(value: float, digits: int = 4) -> str:
    """A number in a few digits: "0.0123", "5.2e-5"."""
    return f"{value:.{digits}g}".replace("e-0", "e-").replace("e+0", "e").replace("e+", "e")


def text(value: object) -> str:
    """Untrusted text, safe in an element or an attribute; characters that XML forbids become U+FFFD."""
    return escape(BAD.sub("\ufffd", str(value)), quote=True)


def element(tag: str, *children: str, **attributes: object) -> str:
    """One element. Attribute names: `class_` is class, other underscores are hyphens; None leaves one out.

    `children` are SVG text already; make text nodes with `text`. Attribute values are escaped here.
    """
    written = sorted((name.rstrip("_").replace("_", "-"), value) for name, value in attributes.items()
                     if value is not None)
    head = "".join(f' {name}="{number(value) if isinstance(value, (int, float)) else text(value)}"'
                   for name, value in written)
    return f"<{tag}{head}>{''.join(children)}</{tag}>" if children else f"<{tag}{head}/>"


def path(points: Iterable[tuple[float, float]], curve: bool = False) -> str:
    """Path data through points: straight, or (1 + 3n points) cubic Bezier."""
    pairs = [f"{number(x)} {number(y)}" for x, y in points]
    if not pairs:
        return ""
    return f"M{pairs[0]}{'C' if curve else 'L'}{' '.join(pairs[1:])}" if len(pairs) > 1 else f"M{pairs[0]}"


def identifier(prefix: str, name: str) -> str:
    """An id for `name`: letters, digits and -_. stay, everything else is written as its code point."""
    return prefix + "".join(c if c.isascii() and (c.isalnum() or c in "-_.") else f"~{ord(c):x}~" for c in name)
