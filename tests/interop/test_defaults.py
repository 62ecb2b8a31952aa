"""Defaults of arguments: those of TensorFlow, for all functions, classes and methods that both have."""
from __future__ import annotations

import tfnb as tf

# Run by both. A symbol is a path from `tf` on.
DEFAULTS = """
import inspect

def defaults(fn):
    try:
        parameters = inspect.signature(fn).parameters.items()
    except (TypeError, ValueError):
        return {}
    found = {name: tuple(p.default) if isinstance(p.default, list) else p.default for name, p in parameters}
    return {name: (type(default).__name__, default) for name, default in found.items()
            if isinstance(default, (bool, int, float, str, tuple)) and "<" not in repr(default)}

def found_at(symbol):
    value = tf
    for part in symbol.split("."):
        value = getattr(value, part, None)
    found = {(symbol, name): default for name, default in defaults(value).items()}
    if inspect.isclass(value):
        for method in dir(value):
            if not method.startswith("_"):
                found.update(((symbol + "." + method, name), default)
                             for name, default in defaults(inspect.getattr_static(value, method)).items())
    return found

result = {key: default for symbol in symbols for key, default in found_at(symbol).items()}
"""
MODULES = ("", "app.", "data.", "distributions.", "gfile.", "image.", "initializers.", "io.", "layers.", "linalg.",
           "losses.", "math.", "metrics.", "nn.", "nn.rnn_cell.", "python_io.", "random.", "saved_model.", "sparse.",
           "strings.", "summary.", "test.", "train.")


def symbols() -> list[str]:
    found = []
    for module in MODULES:
        place = tf
        for part in module.split(".")[:-1]:
            place = getattr(place, part, None)
        found += [module + name for name in dir(place) if not name.startswith("_")]
    return found


def test_defaults_are_those_of_tensorflow(oracle):
    scope = {"tf": tf, "symbols": symbols()}
    exec(DEFAULTS, scope)
    theirs = oracle(DEFAULTS, symbols=symbols())
    both = scope["result"].keys() & theirs.keys()
    assert len(both) > 700
    differences = {key for key in both if scope["result"][key] != theirs[key]}
    # Sessions of a TestCase ask for a GPU only where a test does.
    assert {(symbol, name) for symbol, name in differences if name != "use_gpu"} == set()
