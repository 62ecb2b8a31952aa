"""What a program builds and computes, as plain data: run by TensorFlow 1.15's Python (3.7) and by tfnb alike."""
import fnmatch
import importlib
import re
import sys
from zlib import crc32

import numpy as np

ADDRESS = re.compile(r" at 0x[0-9a-f]+")


def data(*shape):
    """Return a fixed float32 array with values in [-1, 1]."""
    return np.sin(np.arange(1, 1 + int(np.prod(shape)), dtype=np.float64) * 1.7).reshape(shape).astype(np.float32)


def ids(limit, *shape):
    """Return a fixed int32 array with values in [0, limit)."""
    return (np.arange(int(np.prod(shape))) * 7 % 5 % limit).reshape(shape).astype(np.int32)


def weights(name, shape, dtype):
    """Return what a variable of that name is set to, so that both systems compute with the same numbers."""
    count = int(np.prod(shape))
    values = 0.3 * np.sin(np.arange(count) * 0.9 + crc32(name.encode()) % 1000)
    if "variance" in name or "Variance" in name or name.endswith("gamma:0"):
        values = values + 1
    return values.reshape(shape).astype(dtype)


def flat(tf, value, path=""):
    """Yield (path, tensor or plain value) of a structure."""
    if isinstance(value, dict):
        for key in value:
            yield from flat(tf, value[key], f"{path}.{key}")
    elif isinstance(value, (list, tuple)) and not isinstance(value, (tf.SparseTensorValue,)):
        for number, one in enumerate(value):
            yield from flat(tf, one, f"{path}[{number}]")
    elif isinstance(value, tf.SparseTensor):
        yield f"{path}.indices", value.indices
        yield f"{path}.values", value.values
    else:
        yield path, value


def name_of(item):
    """Return the name of what a collection holds."""
    name = getattr(item, "name", None)
    return name if isinstance(name, str) else ADDRESS.sub("", type(item).__name__)


def nets(tf):
    """Return the module of slim's networks, which TensorFlow imports on demand only."""
    if tf.__name__.startswith("tensorflow"):
        importlib.import_module("tensorflow.contrib.slim.nets")
        return sys.modules["tensorflow.contrib.slim.nets"]
    return tf.contrib.slim.nets


def numbers(value):
    """Return an array as its shape and up to 12 of its values, spread over it, and its sum."""
    array = np.asarray(value)
    if array.dtype.kind in "OSU":
        return [list(array.shape), [one.decode("latin1") if isinstance(one, bytes) else str(one)
                                    for one in array.ravel()[:12]]]
    if array.dtype.kind == "b":
        array = array.astype(np.int32)
    if array.dtype.kind == "c":
        array = np.stack([array.real, array.imag])
    some = array.ravel()[:: max(1, array.size // 11)][:12]
    return [list(array.shape), [float(f"{one:.6g}") for one in [*some.tolist(), float(array.sum(dtype=np.float64))]]]


def measure(tf, code, wanted="*"):
    """Run `code` over a fresh graph and return what it built: variables, collections, names and values of `result`.

    `code` may set `fill = False` to keep the variables' own initial values, `steps` to ops that run once each before
    `result`, and `feed`.
    """
    tf.reset_default_graph()
    scope = {"tf": tf, "np": np, "data": data, "ids": ids, "nets": lambda: nets(tf)}
    exec(compile(code, "<program>", "exec"), scope)
    graph = tf.get_default_graph()
    result = list(flat(tf, scope.get("result", ())))
    named = list(flat(tf, scope.get("named", ())))
    collections = {key if isinstance(key, str) else str(key[0]): [name_of(item) for item in graph.get_collection(key)]
                   for key in graph.get_all_collection_keys()
                   if not (isinstance(key, str) and key in ("cond_context", "while_context"))
                   and not (isinstance(key, tuple) and not fnmatch.fnmatch(str(key[0]), "*variable_store*"))}
    collections.pop("__variable_store", None)
    collections.pop("__varscope", None)
    collections.pop("__variable_scope_store", None)
    collections.pop("('__variable_store',)", None)
    variables = {v.name: v for v in tf.global_variables() + tf.local_variables()}
    found = {
        "variables": [[v.name, v.shape.as_list() if v.shape.ndims is not None else None, v.dtype.base_dtype.name]
                      for v in variables.values()],
        "collections": {key: items for key, items in collections.items()
                        if items and (key.isidentifier() or "/" in key)},
        "names": [[path, one.name] for path, one in result + named if hasattr(one, "op")],
        "shapes": [[path, one.shape.as_list() if one.shape.ndims is not None else None]
                   for path, one in result if hasattr(one, "op") and hasattr(one, "shape")],
        "values": []}
    if scope.get("run", True):
        with tf.Session() as session:
            session.run([tf.global_variables_initializer(), tf.local_variables_initializer(),
                         tf.tables_initializer()])
            if scope.get("fill", True):
                for name, v in variables.items():
                    if v.dtype.base_dtype.is_floating and "/Adam" not in name and v.shape.is_fully_defined():
                        v.load(weights(name, v.shape.as_list(), v.dtype.base_dtype.as_numpy_dtype), session)
            feed = scope.get("feed") or {}
            for step in scope.get("steps", ()):
                session.run(step, feed)
            fetched = [one for _, one in result if hasattr(one, "op")]
            got = iter(session.run([one for one in fetched if not isinstance(one, tf.Operation)], feed))
            for path, one in result:
                if isinstance(one, tf.Operation):
                    continue
                found["values"].append([path, numbers(next(got) if hasattr(one, "op") else one)])
    return found
