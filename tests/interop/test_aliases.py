"""One function has several public names in TensorFlow: tfnb has all of them, and the constants of public modules."""
from __future__ import annotations

from typing import Any

import tfnb as tf

# The groups of names that TensorFlow gives one object, and the values of constants of its public modules. Of later
# editions and of programs beside TensorFlow (Keras, estimators) are the names that are left out.
NAMES = """
import types
apart = {"compat", "python", "keras", "estimator", "app", "flags", "lite", "tpu", "distribute", "core", "experimental",
         "mock"}
groups, constants, kept = {}, {}, []

def walk(module, path, around):
    for name in dir(module):
        if name.startswith("_") or name in apart:
            continue
        try:
            found = getattr(module, name)
        except Exception:
            continue
        place = path + "." + name
        if isinstance(found, types.ModuleType):
            lazy = "Lazy" in type(found).__name__            # not of TensorFlow itself
            if not lazy and len(around) < 4 and id(found) not in around:
                walk(found, place, around | {id(found)})
        elif callable(found):
            kept.append(found)
            groups.setdefault(id(found), {place}).add(place)
        elif isinstance(found, (str, int)):
            constants[place] = found

walk(tf, "tf", frozenset())
result = [sorted(group) for group in groups.values() if len(group) > 1], constants
"""
# What says how TensorFlow was compiled, and what belongs to functions that tfnb does not have.
OTHER_CONSTANTS = ("tf.COMPILER", "tf.CXX", "tf.MONOLITHIC", "tf.sysconfig", "tf.version.COMPILER", "tf.data.")


def found(name: str) -> Any:
    """The object of a dotted name; None if there is none."""
    value: Any = tf
    for part in name.split(".")[1:]:
        value = getattr(value, part, None)
    return value


def test_all_names_of_a_function_are_there(oracle: Any) -> None:
    groups, constants = oracle(NAMES)
    assert len(groups) > 250
    known = [(group, [name for name in group if found(name) is not None]) for group in groups]
    missing = {name for group, here in known if here for name in group if name not in here}
    missing = {name for name in missing if not name.startswith("tf.math.special.")}     # since TensorFlow 2.4
    assert missing == set()
    expected = {name: value for name, value in constants.items() if not name.startswith(OTHER_CONSTANTS)}
    release = {name for name in expected if name.endswith("VERSION") and "SCHEMA" not in name}
    assert {name: found(name) for name in expected.keys() - release} == {name: expected[name] for name in
                                                                         expected.keys() - release}
    assert {name for name in release if found(name) is None} == set()


def test_versions_are_those_of_the_graphs_that_are_written() -> None:
    written = tf.Graph().as_graph_def().versions
    assert (written.producer, written.min_consumer) == (tf.GRAPH_DEF_VERSION, tf.version.GRAPH_DEF_VERSION_MIN_CONSUMER)
    assert tf.version.VERSION == tf.VERSION == "1.15.0" and tf.GIT_VERSION == f"tfnb {tf.__version__}"


def test_dtypes_are_listed_under_both_names() -> None:
    dtypes = [name for name in dir(tf) if isinstance(found(f"tf.{name}"), tf.DType)]
    assert len(dtypes) > 20 and all(getattr(tf.dtypes, name) is getattr(tf, name) for name in dtypes)
    quantized = {dtype.base_dtype.name for dtype in tf.QUANTIZED_DTYPES}
    assert quantized == {"qint8", "quint8", "qint16", "quint16", "qint32"}
    assert all(dtype.is_quantized for dtype in tf.QUANTIZED_DTYPES) and len(tf.QUANTIZED_DTYPES) == 10
