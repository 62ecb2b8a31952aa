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

# Run by both: `snippets` is a list of texts; `compile_mode` is ours alone.
RUNNER = '''
import ast

def plain(value):
    """Values that travel: arrays, numbers, strings, and containers with the names of their classes."""
    if isinstance(value, (np.ndarray, np.generic)):
        return "array" if np.ndim(value) else "scalar", value.dtype.name, np.asarray(value).tolist()
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


def differences(oracle: Any, snippets: Mapping[str, str], setup: str = "") -> dict[str, tuple[Any, Any]]:
    """Of named snippets, each after `setup`: what tfnb and real TensorFlow give, where that is not the same."""
    texts = [setup + text for text in snippets.values()]
    pairs = zip(snippets, here(texts), there(oracle, texts), strict=True)
    return {name: (ours, theirs) for name, ours, theirs in pairs if ours != theirs}
