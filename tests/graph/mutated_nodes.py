"""Random NodeDefs of every op, imported and run: `python tests/graph/mutated_nodes.py [seed [count]]`.

Prints a line for each op whose import or run raised what is no error of TensorFlow's, and a last line with counts. An
op that is being tried stands in the file named by $TFNB_FUZZ_AT: where the process died, it is the op that did it.
"""
from __future__ import annotations

import collections
import contextlib
import os
import random
import sys
import traceback
import warnings
from typing import Any

import numpy as np

import tfnb as tf
from tfnb.opdef import registry
from tfnb.opdef.index import MODULE_OF

DTYPES = [1, 2, 3, 4, 6, 7, 8, 9, 10, 14, 17, 19, 20, 21, 22, 23]
# They touch files, wait, or need a card: tests/tools/test_mutated_files.py and others play with them.
APART = {"ReadFile", "WriteFile", "MatchingFiles", "MergeV2Checkpoints", "SaveV2", "Save", "SaveSlices", "RestoreV2",
         "Restore", "RestoreSlice", "ShardedFilename"}


def attr_value(choose: random.Random, kind: str, attr: Any) -> Any:
    """A value of an attr: mostly of its kind, often odd."""
    made = tf.AttrValue()
    if choose.random() < 0.05:
        kind = choose.choice(["int", "float", "bool", "string", "type", "shape", "list(int)", "tensor", "func"])
    if kind.startswith("list("):
        made.list.SetInParent()
        for _ in range(choose.choice([0, 1, 2, 4, 4, 4])):
            single = attr_value(choose, kind[5:-1], attr)
            field = single.WhichOneof("value")
            if field in ("i", "f", "b", "s", "type"):
                getattr(made.list, field).append(getattr(single, field))
            elif field == "shape":
                made.list.shape.add().CopyFrom(single.shape)
    elif kind == "int":
        made.i = choose.choice([0, 1, 1, 2, 2, 3, 4, -1, -2, 7, 1 << 31, -(1 << 40), (1 << 63) - 1])
    elif kind == "float":
        made.f = choose.choice([0.0, 1.0, -1.0, 0.5, float("nan"), float("inf"), 1e30])
    elif kind == "bool":
        made.b = choose.random() < 0.5
    elif kind == "string":
        texts = [t.encode() for t in attr.allowed] if attr is not None and attr.allowed else []
        made.s = choose.choice([*texts, *texts, b"", b"NHWC", b"x", b"\xff\x00", b"mean"])
    elif kind == "type":
        made.type = choose.choice(DTYPES)
    elif kind == "shape":
        made.shape.SetInParent()
        if choose.random() < 0.2:
            made.shape.unknown_rank = True
        else:
            for _ in range(choose.randint(0, 3)):
                made.shape.dim.add(size=choose.choice([-1, 0, 1, 2, 3, 1 << 40]))
    elif kind == "tensor":
        made.tensor.CopyFrom(tf.make_tensor_proto(value(choose, choose.choice(["float32", "int32", "bool"]))))
    else:
        made.func.name = choose.choice(["", "f"])
    return made


def value(choose: random.Random, dtype: str) -> Any:
    """A small array, at times an odd one."""
    shape = choose.choice([(), (), (0,), (1,), (2,), (2,), (3,), (2, 2), (2, 3), (1, 2, 2, 1), (2, 4, 4, 3), (2, 0)])
    if dtype == "string":
        return np.full(shape, choose.choice([b"", b"a", b"1", b"\xff"]), object)
    numbers = np.array([choose.choice([0, 1, 1, 2, 3, -1, 5]) for _ in range(int(np.prod(shape)))]).reshape(shape)
    return np.asarray(numbers.astype(tf.as_dtype(dtype).as_numpy_dtype))


def graph_of(choose: random.Random, spec: Any) -> tuple[Any, dict[str, Any]]:
    """A GraphDef with one node of an op, fed by placeholders; and values for these."""
    made, given = tf.GraphDef(), {}
    kinds = {attr.name: attr for attr in spec.attrs}
    node = tf.NodeDef(name="y", op=spec.name)
    for attr in spec.attrs:
        if not attr.has_default or choose.random() < 0.5:
            types = [tf.as_dtype(t).as_datatype_enum for t in attr.allowed] if attr.type == "type" else []
            node.attr[attr.name].CopyFrom(tf.AttrValue(type=choose.choice(types)) if types and choose.random() < 0.9
                                          else attr_value(choose, attr.type, attr))
    for arg in spec.inputs:
        count = 1
        if arg.number:
            count = choose.randint(0, 3)
            node.attr[arg.number].i = count
        if arg.type_list:
            count = len(node.attr[arg.type_list].list.type)
        for i in range(count):
            if arg.type_list:
                enum = node.attr[arg.type_list].list.type[i]
            elif arg.type in kinds:
                if arg.type not in node.attr:
                    node.attr[arg.type].type = tf.as_dtype(kinds[arg.type].default).as_datatype_enum
                enum = node.attr[arg.type].type
            else:
                enum = tf.as_dtype(arg.type).as_datatype_enum
            name = f"in{len(given)}"
            dtype = tf.as_dtype(enum % 100 or 1)
            if choose.random() < 0.03:
                dtype = tf.float32
            if dtype.name in ("resource", "variant"):
                made.node.add(name=name, op=choose.choice(["FIFOQueueV2", "StackV2", "Placeholder"]))
                made.node[-1].attr["component_types"].list.type.append(1)
                made.node[-1].attr["elem_type"].type = 1
                made.node[-1].attr["dtype"].type = 20
                node.input.append(name)
                given[name] = None
                continue
            array = value(choose, dtype.name)
            if arg.is_ref:
                made.node.add(name=name, op="VariableV2")
                made.node[-1].attr["shape"].shape.CopyFrom(tf.TensorShape(array.shape).as_proto())
                given[name] = None
            else:
                made.node.add(name=name, op="Placeholder")
                given[name] = array
            made.node[-1].attr["dtype"].type = dtype.as_datatype_enum
            node.input.append(name)
    if choose.random() < 0.03 and node.input:
        node.input.pop()
    made.node.add().CopyFrom(node)
    return made, given


ERRORS = (tf.errors.OpError, ValueError)
found: collections.Counter[str] = collections.Counter()


def attempt(choose: random.Random, spec: Any) -> None:
    """Import and run one graph three times."""
    graph_def, given = graph_of(choose, spec)
    with tf.Graph().as_default() as graph:
        try:
            tf.import_graph_def(graph_def, name="")
        except (*ERRORS, TypeError) as error:
            found["refused"] += 1
            if isinstance(error, TypeError) and "_class" not in str(error):
                report(spec, "import", error)
            return
        except Exception as error:
            report(spec, "import", error)
            return
        found["imported"] += 1
        op = graph.get_operation_by_name("y")
        feeds = {f"{name}:0": array for name, array in given.items() if array is not None}
        outcomes = []
        for variables in (True, False):
            with tf.Session(config=tf.ConfigProto(operation_timeout_in_ms=300)) as sess:
                for name, array in given.items():
                    source = graph.get_operation_by_name(name)
                    if array is None and source.type == "VariableV2" and variables:
                        t = source.outputs[0]
                        with graph.as_default(), contextlib.suppress(TypeError, *ERRORS):
                            shape = [1 if n is None else n for n in t.static or ()]
                            sess.run(tf.assign(t, tf.zeros(shape, t.dtype.base_dtype)))
                for _ in range(3):
                    try:
                        sess.run([t for t in op.outputs if t.dtype.name not in ("resource", "variant")] or op, feeds)
                        outcomes.append("value")
                    except ERRORS as error:
                        outcomes.append(type(error).__name__)
                    except Exception as error:
                        outcomes.append(type(error).__name__)
                        report(spec, "run", error)
            if not any(a is None for a in given.values()):
                break
        found["gave values" if outcomes[0] == "value" else "raised"] += 1
        if len(set(outcomes[:3])) > 1 and not spec.stateful and not any(arg.is_ref for arg in spec.inputs):
            report(spec, "runs differ", RuntimeError(str(outcomes)))


def report(spec: Any, when: str, error: Exception) -> None:
    """Print a line about what should not be."""
    found["raw"] += 1
    at = traceback.extract_tb(error.__traceback__)[-1] if error.__traceback__ else None
    place = f"{os.path.basename(at.filename)}:{at.lineno}" if at else ""
    print(f"{spec.name}: {when}: {type(error).__name__}: {str(error)[:100]!r} {place}", flush=True)


def main(seed: int, count: int) -> None:
    """Try all ops `count` times."""
    warnings.simplefilter("ignore")
    names = sorted(MODULE_OF)
    note = os.environ.get("TFNB_FUZZ_AT")
    for i in range(count):
        for name in names:
            if name in APART:
                continue
            if note:
                with open(note, "w") as file:
                    file.write(f"{name} {seed} {i}")
            attempt(random.Random(f"{seed} {i} {name}"), registry.find(name))
            found["graphs"] += 1
    print(dict(found))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 0, int(sys.argv[2]) if len(sys.argv) > 2 else 1)
