"""Signatures and docstrings as HTML."""
from __future__ import annotations

import html
import inspect
import re
from typing import Any

from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonConsoleLexer, PythonLexer

ITEM = re.compile(r"(\*{0,2}\w+(?:, \*{0,2}\w+)*): (.*)", re.DOTALL)
CODE = re.compile(r"`([^`\n]+)`|\b(tf\.[A-Za-z_][\w.]*\w)")
WIDTH = 88


def signature(name: str, value: Any, bound: bool = False) -> str:
    """Return the call of a function or class, without annotations; bound: of a method, without its first argument."""
    try:
        function = value.__func__ if isinstance(value, (classmethod, staticmethod)) else value
        given = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return ""
    if bound and not isinstance(value, staticmethod):
        given = given[1:]
    parts, starred = [], False
    for each in given:
        if each.kind is each.KEYWORD_ONLY and not starred:
            parts.append("*")
        starred = starred or each.kind in (each.KEYWORD_ONLY, each.VAR_POSITIONAL)
        sign = {each.VAR_POSITIONAL: "*", each.VAR_KEYWORD: "**"}.get(each.kind, "")
        parts.append(sign + each.name + ("" if each.default is each.empty else f"={_default(each.default)}"))
    line = f"{name}({', '.join(parts)})"
    if len(line) > WIDTH:
        line = f"{name}(\n    " + ",\n    ".join(parts) + ",\n)"
    return _highlighted(line, PythonLexer(), "call")


def _default(value: Any) -> str:
    if inspect.isfunction(value) or isinstance(value, type):
        return value.__name__
    text = repr(value)
    return f"{type(value).__name__}()" if " at 0x" in text else text


def _highlighted(code: str, lexer: Any, kind: str) -> str:
    made = highlight(code, lexer, HtmlFormatter(nowrap=True))
    return f'<div class="highlight {kind}" data-search-exclude><pre><code>{made}</code></pre></div>'


def summary(value: Any) -> str:
    """Return the first sentence of a docstring."""
    first = _doc(value).partition("\n\n")[0]
    return prose(re.split(r"(?<=\w\.)\s", first.partition(">>> ")[0], maxsplit=1)[0])


def _doc(value: Any) -> str:
    return inspect.getdoc(value) or ""


def body(value: Any) -> str:
    """Return the HTML of a docstring: paragraphs, lists of arguments, the example."""
    description, mark, example = _doc(value).partition(">>> ")
    parts = [_paragraph(each) for each in re.split(r"\n\s*\n", description.strip()) if each.strip()]
    return "".join(parts) + (_highlighted(mark + example, PythonConsoleLexer(), "example") if mark else "")


def _paragraph(text: str) -> str:
    """Return a paragraph, or a list where each line begins with the arguments that it is about."""
    items: list[list[str]] = []
    for line in text.split("\n"):
        if ITEM.fullmatch(line) and not line.startswith(" "):
            items.append([line])
        elif items:
            items[-1].append(line.strip())
        else:
            return f"<p>{prose(text)}</p>"
    rows = filter(None, (ITEM.fullmatch("\n".join(lines)) for lines in items))
    listed = "".join(f"<dt><code>{row[1]}</code></dt><dd>{prose(row[2])}</dd>" for row in rows)
    return f"<dl data-search-exclude>{listed}</dl>"


def prose(text: str) -> str:
    """Return text as HTML: what stands in backticks, and public names, as code."""
    parts, end = [], 0
    for found in CODE.finditer(text):
        parts += [html.escape(text[end:found.start()]), f"<code>{html.escape(found[1] or found[2])}</code>"]
        end = found.end()
    return "".join([*parts, html.escape(text[end:])])
