"""Valid calls of ops: inputs and attrs, from the samples of other tests, by kind, written down, or of examples."""
from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

import tfnb as tf
from tests.autodiff.test_finite_differences import SAMPLES
from tests.every_op import OPS
from tests.ops.test_compiled_walk import EMPTY, MORE, NUMBERS, takes, values
from tests.safety.written import WRITTEN
from tests.samples import Record, explicit, from_examples, record
from tfnb.debug.tap import Tap, inspect_run
from tfnb.graph.parts.operation import Operation
from tfnb.opdef import kinds, registry
from tfnb.ops.declaration.construct import official

KEPT = 3                          # harvested calls of one op
STRUCTURE = (kinds.Flow, kinds.Placeholder, kinds.Const, kinds.Variable, kinds.Control, kinds.Loop)
# Their inputs are references of other kinds than arrays, functions, files or protos; no kernel sees them.
LEFT_OUT = {"StringFormat", "IsVariableInitialized", "CountUpTo", "PyFunc", "PyFuncStateless", "ReadFile", "WriteFile",
            "MatchingFiles", "ParseExample", "ParseExampleV2", "ParseSingleExample", "ParseSingleSequenceExample",
            "ParseSequenceExample", "ParseSequenceExampleV2", "Print", "PrintV2", "Assert", "Save",
            "SaveSlices", "SaveV2", "Restore", "RestoreSlice", "RestoreV2", "MergeV2Checkpoints",
            "ShardedFilename", "ShardedFilespec", "AddSparseToTensorsMap", "AddManySparseToTensorsMap",
            "TakeManySparseFromTensorsMap", "GetSessionTensor", "DeleteSessionTensor", "DestroyTemporaryVariable",
            "GenerateVocabRemapping", "LoadAndRemapMatrix",
            "Stage", "StagePeek",                  # what they do depends on the calls before
            "Batch", "Unbatch", "UnbatchGrad", "BatchFunction",
            "BarrierInsertMany", "BarrierTakeMany", "DecodeProtoV2", "EncodeProto",
            *(f"{kind}{what}" for kind in ("Map", "OrderedMap") for what in ("Stage", "Peek", "Unstage",
                                                                             "UnstageNoKey"))}


class _Harvest(Tap):
    def __init__(self) -> None:
        self.found: dict[str, dict[str, Record]] = {}

    def before(self, op: Operation, inputs: Any) -> None:
        """Keep what an op takes, if no call of the same dtypes, ranks and attrs is there yet."""
        if isinstance(op.spec, STRUCTURE) or any(t.dtype.name in ("resource", "variant") for t in op.inputs):
            return
        arrays = tuple(np.array(a, order="C") for a in inputs)
        made = record(op, arrays)
        key = repr([(a.dtype.name if a.dtype != np.float64 else "float32", a.shape) for a in arrays] + [made.attrs])
        self.found.setdefault(op.type, {}).setdefault(key, made)


@cache
def harvested() -> dict[str, list[Record]]:
    """Calls of the ops that the samples for gradients and kernels make, by op."""
    tap, random = _Harvest(), np.random.default_rng(1)
    for dtype in ("float32", "float64"):
        for fn, shapes in (s for table in (SAMPLES, MORE, EMPTY) for each in table.values() for s in each):
            with tf.Graph().as_default(), tf.Session() as sess:
                inputs = [tf.placeholder(dtype, shape) for shape in shapes]
                try:
                    made = fn(*inputs)
                except TypeError:                      # the sample is of another dtype
                    continue
                feeds = {x: random.integers(1, 5, x.shape.as_list()).astype(dtype) for x in inputs}
                inspect_run(sess, made, feeds).run(tap)
    return {op: list(found.values())[:KEPT] for op, found in tap.found.items()}


def by_kind(op: str) -> list[Record]:
    """Calls of an op of a regular kind."""
    spec, random = registry.find(op), np.random.default_rng(2)
    dtype = next((d for d in ("float32", "int32", "bool") if takes(op, d)), "float32")

    def made(arg: Any, shape: tuple[int, ...]) -> np.ndarray:
        own = not arg.type or any(a.name == arg.type for a in spec.attrs)
        if own and "indices" in arg.type:
            return np.array([0, 1], np.int32)
        return values(op, dtype if own else official(arg.type).name, shape, random)
    if isinstance(spec, kinds.Elementwise):
        if any(arg.is_list for arg in spec.inputs):
            return []
        return [Record(op, tuple(made(arg, (2, 3)) for arg in spec.inputs),
                       {name: _sample_attr(spec.attr(name)) for name in explicit(op)
                        if not spec.attr(name).has_default})]
    if isinstance(spec, kinds.Reduction):
        axes = () if spec.axes is not None else (np.array([1], np.int32),)
        return [Record(op, (made(spec.inputs[0], (2, 3, 4)), *axes))]
    if isinstance(spec, kinds.Rowwise):
        label = np.array([2, 0], np.int32)
        return [Record(op, tuple(label if op.startswith("Sparse") and i else made(arg, (2, 3))
                                 for i, arg in enumerate(spec.inputs)))]
    if isinstance(spec, kinds.Update):
        return [Record(op, tuple(made(arg, () if arg.name in NUMBERS else (2, 3)) for arg in spec.inputs))]
    if isinstance(spec, kinds.Scatter):
        form = spec.form
        given = []
        for i, arg in enumerate(spec.inputs):
            if i == form.indices:
                given.append(np.array([[1], [0]] if form.vectors else [1, 0], np.int32))
            else:
                given.append(made(arg, (3, 2) if arg.is_ref else (2, 2) if i in form.rows else ()))
        return [Record(op, tuple(given))]
    return []


def _sample_attr(attr: Any) -> Any:
    return {"type": tf.float32, "int": 1, "float": 0.5, "bool": False, "string": b""}[attr.type]


def _array(value: Any) -> np.ndarray:
    """An array, or what is none as float32 or int32."""
    found = np.asarray(value)
    narrow = {"float64": np.float32, "int64": np.int32}.get(found.dtype.name)
    return found if isinstance(value, np.ndarray) or narrow is None else found.astype(narrow)


def _written(op: str) -> list[Record]:
    spec, found = registry.find(op), []
    defaults = {name: spec.attr(name).default for name in explicit(op) if spec.attr(name).has_default}
    for inputs, attrs in WRITTEN.get(op, []):
        sizes = {i: len(x) for i, x in enumerate(inputs) if spec.inputs[i].is_list}
        arrays = tuple(_array(a) for i, x in enumerate(inputs) for a in (x if i in sizes else [x]))
        found.append(Record(op, arrays, {**defaults, **attrs}, tuple(sizes.items())))
    return found


@cache
def records(op: str) -> tuple[Record, ...]:
    """Valid calls of an op."""
    found = [*_written(op), *harvested().get(op, [])] or by_kind(op) or from_examples(op)
    return tuple(found)


def walked() -> list[str]:
    """The ops that compute with arrays: all but those whose inputs are of the runtime or that are structure."""
    return [name for name, spec in sorted(OPS.items())
            if not isinstance(spec, STRUCTURE) and name not in LEFT_OUT and spec.inputs
            and not any(arg.type in ("resource", "variant") or (arg.is_ref and arg.type == "string")
                        for arg in (*spec.inputs, *spec.outputs))]
