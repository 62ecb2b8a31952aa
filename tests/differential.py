"""Snippets run here and by real TensorFlow: the same values, or errors of the same class, come out.

A snippet uses `tf` and `np`; what its last line is worth is compared. `sess` is a session of the default graph, made
after the part of the snippet before the line `---`, in which all variables are initialised.
"""
from __future__ import annotations

import textwrap
from collections.abc import Mapping
from typing import Any

import numpy as np

import tfnb
from tests.modes import compiling
from tfnb.core.options import options

# For snippets: arrays of normal numbers, and what fetches give in a second run, which is compiled.
ARRAYS = '''
r = np.random.RandomState(0)
def real(*shape):
    return r.normal(size=shape).astype(np.float32)
def complexes(*shape):
    return (r.normal(size=shape) + 1j * r.normal(size=shape)).astype(np.complex64)
def run(*fetches, feed=None):
    with tf.Session() as sess:
        for _ in range(2):
            found = sess.run(fetches, feed)
    return found
'''

# Run by both: `snippets` is a list of texts; `compile_mode` is ours alone.
RUNNER = '''
import ast

def plain(value):
    """Values that travel: arrays, numbers, strings, and containers with the names of their classes."""
    if isinstance(value, (np.ndarray, np.generic)):
        name, value = value.dtype.name, np.asarray(value)
        value = value.astype("float64") if name == "bfloat16" else value
        return "array" if np.ndim(value) else "scalar", name, value.tolist()
    if isinstance(value, dict):
        return type(value).__name__, [(plain(k), plain(v)) for k, v in value.items()]
    if isinstance(value, (list, tuple)):
        return type(value).__name__, [plain(v) for v in value]
    if value is None or isinstance(value, (bool, int, float, str, bytes)):
        return value
    return type(value).__name__

def outcome(action):
    """The value of `action()`, or the class of its error: of tf.errors, or else the builtin one below it."""
    try:
        return plain(action())
    except tf.errors.OpError as error:
        return "raises " + type(error).__name__
    except Exception as error:
        return "raises " + next(c.__name__ for c in type(error).__mro__ if c.__module__ == "builtins")

def last_value(text, scope):
    body = ast.parse(text).body
    if not body:
        return None
    exec(compile(ast.Module(body[:-1], []), "<snippet>", "exec"), scope)
    if not isinstance(body[-1], ast.Expr):
        exec(compile(ast.Module(body[-1:], []), "<snippet>", "exec"), scope)
        return None
    return eval(compile(ast.Expression(body[-1].value), "<snippet>", "eval"), scope)

def run_snippet(text):
    graph = tf.Graph()
    scope = {"tf": tf, "np": np, "graph": graph, "outcome": outcome}
    with graph.as_default():
        built, bar, text = text.rpartition("---\\n")
        exec(compile(built, "<snippet>", "exec"), scope)
        with tf.Session(graph=graph) as sess:
            scope["sess"] = sess
            if bar:
                sess.run(tf.global_variables_initializer())
            return last_value(text, scope)

result = [outcome(lambda text=text: run_snippet(text)) for text in snippets]
'''


def here(snippets: list[str]) -> list[Any]:
    """What each snippet gives with tfnb."""
    scope: dict[str, Any] = {"tf": tfnb, "np": np, "snippets": [textwrap.dedent(s) for s in snippets]}
    exec(compile(RUNNER, "<runner>", "exec"), scope)
    return scope["result"]


def there(oracle: Any, snippets: list[str]) -> list[Any]:
    """What each snippet gives with real TensorFlow."""
    return oracle(RUNNER, snippets=[textwrap.dedent(s) for s in snippets])


def alike(ours: Any, theirs: Any, tolerance: float) -> bool:
    """Return whether two outcomes are equal, the elements of their arrays up to a tolerance."""
    if not isinstance(theirs, (tuple, list)) or not isinstance(ours, type(theirs)) or len(ours) != len(theirs):
        return bool(ours == theirs)
    if theirs and theirs[0] in ("array", "scalar"):
        if ours[:2] != theirs[:2] or theirs[1] == "object" or np.shape(ours[2]) != np.shape(theirs[2]):
            return bool(ours == theirs)
        return np.allclose(ours[2], theirs[2], rtol=tolerance, atol=tolerance, equal_nan=True)
    return all(alike(a, b, tolerance) for a, b in zip(ours, theirs, strict=True))


def differences(oracle: Any, snippets: Mapping[str, str], setup: str = "", tolerance: float = 0.0,
                modes: tuple[str, ...] = ()) -> dict[str, tuple[Any, Any]]:
    """Return what tfnb and real TensorFlow give for named snippets, each after `setup`, where the two differ.

    modes: values of `options.compile` to run tfnb with, one after the other; by default as it is.
    """
    texts = [setup + text for text in snippets.values()]
    expected = there(oracle, texts)
    found = {}
    for mode in modes or (options.compile,):
        with compiling(mode):
            pairs = zip(snippets, here(texts), expected, strict=True)
            found.update({name: (ours, theirs) for name, ours, theirs in pairs if not alike(ours, theirs, tolerance)})
    return found
