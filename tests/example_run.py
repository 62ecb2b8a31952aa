"""Execution of the examples in docstrings: `>>>` lines with `tf`, `np` and `sess`, a session over a fresh graph.

The results are printed as NumPy prints them, floats with four decimals and without the class of a scalar, so that the
text is the same for each version of NumPy. Runs in tfnb as in real TensorFlow: imports nothing of either.
"""
from __future__ import annotations

import contextlib
import doctest
import io
import linecache
import os
import re
import sys
import tempfile
from typing import Any

import numpy as np

NUMBER = re.compile(r"(?<![\w.])-?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?(?![\w.])")
WIDTH = 100


def show(value: Any) -> str:
    """Return the text of a result: arrays by NumPy with four decimals, scalars as Python's."""
    if isinstance(value, (np.ndarray, np.generic)) and value.ndim == 0 and value.dtype != object:
        return show(value.item()) if isinstance(value, np.generic) else f"array({show(value.item())})"
    if isinstance(value, np.ndarray):
        text = np.array_repr(value, max_line_width=75, precision=4, suppress_small=True)
        return re.sub(r"\n\n+", "\n", text)           # a blank line would end the expected text
    if isinstance(value, (float, complex)) and not isinstance(value, np.generic):
        return repr(complex(round(value.real, 4), round(value.imag, 4)) if isinstance(value, complex)
                    else round(value, 4) + 0.0)
    if isinstance(value, dict) and type(value) is dict:
        return _joined("{", [f"{key!r}: {show(item)}" for key, item in value.items()], "}")
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        parts = [f"{name}={show(item)}" for name, item in zip(value._fields, value, strict=True)]
        return _joined(f"{type(value).__name__}(", parts, ")")
    if type(value) is tuple:
        return _joined("(", [show(item) for item in value], ",)" if len(value) == 1 else ")")
    if type(value) is list:
        return _joined("[", [show(item) for item in value], "]")
    return repr(value)


def _joined(start: str, parts: list[str], end: str) -> str:
    line = start + ", ".join(parts) + end
    if len(line) <= WIDTH and "\n" not in line:
        return line
    return start + ",\n ".join(part.replace("\n", "\n ") for part in parts) + end


def same(got: str, want: str) -> bool:
    """Return whether two texts are equal but for whitespace and the last printed digit of floats."""
    def split(text: str) -> tuple[list[str], list[float]]:
        joined = re.sub(r"\s+", "", text)
        return NUMBER.split(joined), [float(number) for number in NUMBER.findall(joined)]
    if "..." in want:
        pattern = ".*".join(re.escape(part) for part in re.sub(r"\s+", "", want).split("..."))
        return re.fullmatch(pattern, re.sub(r"\s+", "", got), re.DOTALL) is not None
    (words, numbers), (wanted, expected) = split(got), split(want)
    return words == wanted and all(abs(a - b) <= 1.01e-4 + 1e-5 * abs(b)
                                   for a, b in zip(numbers, expected, strict=True))


def step(source: str, names: dict[str, Any]) -> str:
    """Execute one `>>>` and return what it prints; of an error, its class and first line of text."""
    def display(value: Any) -> None:
        if value is not None:
            print(show(value))
    printed, hook = io.StringIO(), sys.displayhook
    sys.displayhook = display
    linecache.cache["<example>"] = len(source), None, source.splitlines(keepends=True), "<example>"   # for inspect
    try:
        with contextlib.redirect_stdout(printed):
            exec(compile(source, "<example>", "single"), names)
    except (Exception, SystemExit) as error:
        first = next(filter(None, str(error).splitlines()), "")
        return printed.getvalue() + f"{type(error).__name__}: {first}".removesuffix(": ")
    finally:
        sys.displayhook = hook
    return printed.getvalue()


def steps(doc: str) -> list[tuple[str, str]]:
    """(source, expected text) of each `>>>` in a docstring; of an expected error the line with its class."""
    parsed = doctest.DocTestParser().get_examples(doc)
    return [(example.source, example.exc_msg or example.want) for example in parsed]


def run(tf: Any, sources: list[str]) -> list[str]:
    """Execute the steps of one example, in a fresh graph, session and working directory; return what each prints."""
    tf.reset_default_graph()
    tf.set_random_seed(1)
    before, flags = os.getcwd(), set(tf.flags.FLAGS)
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        os.chdir(folder)
        stack.callback(os.chdir, before)
        session = tf.InteractiveSession()
        stack.callback(session.close)
        names = {"tf": tf, "np": np, "sess": session}
        printed = [step(source, names) for source in sources]
        for name in set(tf.flags.FLAGS) - flags:
            delattr(tf.flags.FLAGS, name)
        tf.summary.FileWriterCache.clear()
        return printed
