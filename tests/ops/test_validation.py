"""One validation for all ways in which an op runs: ops/declaration/validate.py, and the reach of
kernels, compile/reach.py."""
from __future__ import annotations

import ast
import inspect
import os
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import FunctionType
from typing import Any
from zlib import crc32

import numpy as np
import pytest

import tfnb as tf
from tests import differential
from tests.every_op import OPS
from tests.ops import bad_arguments
from tests.samples import from_examples
from tfnb.kernels.launch import Address, Launch
from tfnb.opdef import kinds
from tfnb.opdef.index import MODULE_OF, PUBLIC
from tfnb.ops.declaration.declare import kernel
from tfnb.ops.declaration.shapes import like_first


@cache
def _functions(module: str) -> dict[int, list[ast.AST]]:
    """The functions of a module by the line where they begin; a decorated one begins with its decorator."""
    found: dict[int, list[ast.AST]] = {}
    for node in ast.walk(ast.parse(inspect.getsource(sys.modules[module]))):
        if isinstance(node, ast.FunctionDef | ast.Lambda):
            first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))])
            found.setdefault(first, []).append(node)
    return found


def _nodes(fn: FunctionType) -> list[ast.AST]:
    """Return where the source has `fn`: a lambda may stand in the line of the decorator of another function."""
    name = fn.__code__.co_name
    return [node for node in _functions(fn.__module__).get(fn.__code__.co_firstlineno, [])
            if getattr(node, "name", "<lambda>") == name]


def _called(fn: FunctionType) -> Iterator[Any]:
    """The functions of the ops' and kernels' modules that `fn` names, and those that it closes over."""
    cells = dict(zip(fn.__code__.co_freevars, fn.__closure__ or (), strict=True))
    for name in {node.id for root in _nodes(fn) for node in ast.walk(root) if isinstance(node, ast.Name)}:
        yield cells[name].cell_contents if name in cells else fn.__globals__.get(name)


def reached(*fns: Any) -> set[FunctionType]:
    """Return what these functions call of the ops' and kernels' modules, themselves included."""
    todo, seen = list(fns), set()
    while todo:
        one = todo.pop()
        one = getattr(one, "func", one)
        if isinstance(one, FunctionType) and one not in seen and one.__module__.startswith(
                ("tfnb.ops.", "tfnb.kernels.", "tfnb.opdef.ranks", __name__)):
            seen.add(one)
            todo += _called(one)
    return seen


def raises(form: Any, *validation: Any) -> list[str]:
    """Return where a NumPy form, or what it calls, raises; what `validation` calls too may, as it does so first."""
    return sorted(f"{fn.__module__}.{fn.__qualname__}" for fn in reached(form) - reached(*validation)
                  if any(isinstance(inner, ast.Raise) for node in _nodes(fn) for inner in ast.walk(node)))


def test_numpy_forms_of_ops_with_kernels_check_nothing() -> None:
    """What a NumPy form checks, compiled runs go without: an op states it (ops/declaration/validate.py)."""
    found = {name: where for name, op in OPS.items()
             if isinstance(op, (kinds.Kernel, kinds.Random)) and (op.cpu is not None or op.cuda is not None)
             if (where := raises(op.numpy, op.shape, op.validate))}
    assert not found, "\n".join(f"{name}: {where}" for name, where in found.items())


def test_a_planted_check_in_a_numpy_form_is_found() -> None:
    def shape(ctx: Any) -> list[Any]:
        return [_checked(ctx)]

    assert raises(lambda ctx, x: _refused(x)) == [f"{__name__}._refused"]
    assert not raises(lambda ctx, x: _checked(x), shape)
    assert not raises(lambda ctx, x: np.negative(x))


def _refused(x: Any) -> Any:
    raise ValueError(f"not {x}")


def _checked(x: Any) -> Any:
    if x is None:
        raise ValueError("a shape function says so first")
    return x


# Planted faults: what the engine says where a form of an op does not do what is stated of it

def _runs(fetch: tf.Tensor, feeds: dict[tf.Tensor, Any], runs: int = 2) -> list[Any]:
    with tf.Session() as sess:
        return [sess.run(fetch, feeds) for _ in range(runs)]


def test_outputs_are_held_against_the_shape_function(monkeypatch: pytest.MonkeyPatch) -> None:
    x = tf.placeholder(tf.float32, [None, 3])
    y = tf.gather(x, [0, 1], name="picked")
    monkeypatch.setitem(vars(OPS["GatherV2"]), "numpy", lambda ctx, x, i, axis: np.zeros((7, 3), np.float32))
    with pytest.raises(tf.errors.InternalError, match=r"picked: output 0 of GatherV2 has shape \(7, 3\), expected "
                                                      r"\(2, 3\)"):
        _runs(y, {x: np.ones((4, 3))})


@pytest.mark.parametrize("nbytes, text", [
    (4 * 12 + 1, "kernel 'planted' of GatherV2 reaches bytes 0 to 49 of input 0, expected at most 48"),
    (None, "kernel 'planted' of GatherV2 does not state how far it reaches in input 0")])
def test_a_kernel_that_reaches_behind_its_buffer_is_not_built(nbytes: int | None, text: str,
                                                              monkeypatch: pytest.MonkeyPatch) -> None:
    def launches(call: Any) -> list[Launch]:
        return [Launch("", (Address("input", 0, 0, nbytes),), 1, 0, "planted")]

    x = tf.placeholder(tf.float32, [None, 3])
    y = tf.gather(x, [0, 1], name="picked")
    monkeypatch.setitem(vars(OPS["GatherV2"]), "cpu", launches)
    with pytest.raises(tf.errors.InternalError, match=f"picked: {text}"):
        _runs(y, {x: np.ones((4, 3))})


def test_a_statement_of_reach_counts_from_its_offset() -> None:
    assert Address("input").reach(8) == Address("input", 0, 0, 8)
    assert Address("input").reach(8).at(4) == Address("input", 0, 4), "what is reached from there is stated anew"


def test_ranks_name_inputs() -> None:
    for op in OPS.values():
        assert set(op.ranks) <= {arg.name for arg in op.inputs}, op.name
    def f() -> None:
        """An op that is not declared."""

    with pytest.raises(ValueError, match=r"op f: ranks names \['y'\], which are not inputs"):
        kernel("x: T -> z: T", shape=like_first, numpy=None, ranks={"y": 1}, T="type")(f)


# Calls with one wrong argument: tests/ops/bad_arguments.py

# In TensorFlow these end the process.
CRASHES = ("scatter_nd empty shape: indices deeper (all fed)", "split_v: size_splits",
           "tensor scatter add: indices twice")
DIFFERENT = {
    "scatter_nd one": "indices of rank 1 are one vector of coordinates, as they are when the graph is built",
    "reshape two unknown: shape first (constant)": "a scalar is taken as a shape, as a fed one is",
    "reshape of nothing: shape first (constant)": "the same",
    "broadcast gradient: s1 shorter": "axes of size 1 in both need no sum",
    "fill: dims first": "a fed scalar is no shape, as a constant one is not",
    "concat: axis deeper": "a fed vector is no axis, as a constant one is not",
    "concat -1: axis deeper": "the same",
    "old concat: concat_dim deeper": "the same",
    "Betainc 0": "its inputs broadcast here; TensorFlow wants equal shapes, or scalars",
    "EuclideanNorm 0: input shorter": "TensorFlow's refusal is that of another dtype",
    "ExtractVolumePatches 0: input none": "no volume has patches; TensorFlow gives patches of nothing",
}


# On some wrong arguments of these TensorFlow ends, or does not come back; the errors of most are compared with its own
# by programs: test_sparse_structure.py, test_sparse_algebra.py, test_sets.py, test_fourier.py, test_audio.py,
# test_string_transforms.py, test_searching.py, test_counting.py, test_ctc.py, test_serialized.py, test_random.py,
# test_quantized.py.
BY_PROGRAMS = ("tfnb.ops.sparse.", "tfnb.ops.signal.", "tfnb.ops.strings.", "tfnb.ops.array.searching",
               "tfnb.ops.array.counting", "tfnb.variables.", "tfnb.ops.random.stateless", "tfnb.ops.io.",
               "tfnb.ops.nn.ctc", "tfnb.ops.quantized.")


def _plain(value: Any) -> Any:
    """Return an attr in a form that TensorFlow takes, too."""
    return value.decode() if isinstance(value, bytes) else value.name if isinstance(value, tf.DType) else value


def _examples() -> dict[str, tuple[str, dict[str, Any], dict[str, Any]]]:
    """Return good calls of the ops of families that export their names: the examples of their docstrings."""
    exported = {module for names in PUBLIC.values() for module in names.values()}
    found = {}
    for op in sorted(op for op, module in MODULE_OF.items() if module in exported
                     and not module.startswith(BY_PROGRAMS) and not OPS[op].stateful):       # those draw other numbers
        for number, call in enumerate(call for call in from_examples(op) if not call.sizes):
            args = {arg.name: value for arg, value in zip(OPS[op].inputs, call.arrays, strict=True)}
            found[f"{op} {number}"] = op, args, {name: _plain(value) for name, value in call.attrs.items()}
    return found


bad_arguments.TABLE.update(_examples())


# Inputs whose rank TensorFlow must know while the graph is built; here they may be fed.
RANK_KNOWN = tuple(f"{op} {number}" for op in ("SpaceToBatchND", "BatchToSpaceND") for number in range(3))


def _chosen(share: int) -> list[str]:
    """Every so many calls; all of them with TFNB_STRESS=1."""
    share = 1 if os.environ.get("TFNB_STRESS") else share
    return [name for name, _, _ in bad_arguments.manners() if not crc32(name.encode()) % share]


def _same(a: Any, b: Any) -> bool:
    if a[0] != "value" or b[0] != "value":
        return bool(a == b)
    return len(a[1]) == len(b[1]) and all(
        x.shape == y.shape and x.dtype == y.dtype and (x.dtype.kind in "OSV" or np.allclose(x, y, 1e-4, 1e-5))
        for x, y in zip(a[1], b[1], strict=True))


def test_the_first_run_says_what_later_ones_say() -> None:
    found = bad_arguments.outcomes(tf, set(_chosen(25)), 3)
    bad = [f"{name}: {runs}" for name, runs in found.items() if not all(_same(runs[0], run) for run in runs)]
    assert not bad, "\n".join(bad)
    classes = {run[1] for runs in found.values() for run in runs if run[0] != "value"}
    assert classes == {"ValueError", "InvalidArgumentError"}


def test_errors_are_those_of_tensorflow(oracle: Any) -> None:
    """Known shapes may make an error earlier, or later, than in TensorFlow: a ValueError or one of the run."""
    names = [name for name in _chosen(60) if not name.startswith((*CRASHES, *DIFFERENT)) and not (
        name.startswith(RANK_KNOWN) and name.endswith("(all fed)"))]
    source = Path(bad_arguments.__file__).read_text()
    theirs = oracle(f"{source}\nTABLE.update(examples)\nresult = outcomes(tf, names, 1)", names=names,
                    examples=_examples())
    bad = []
    for name, runs in bad_arguments.outcomes(tf, names, 1).items():
        ours, (other,) = runs[0], theirs[name]
        refused = {("build", "ValueError"), ("run", "InvalidArgumentError")}
        if not _same(ours, other) and not (ours[0] != "value" != other[0] and {ours, other} == refused):
            bad.append(f"{name}: {ours}, TensorFlow {other}")
    assert not bad, "\n".join(bad)


# Public functions: an error while the graph is built

@pytest.mark.parametrize("build", [
    lambda x: tf.concat([], 0), lambda x: tf.map_fn(lambda v: v, []), lambda x: tf.matrix_diag(0),
    lambda x: tf.diag_part(tf.ones([2, 5])), lambda x: tf.expand_dims(x, [0, 1]),
    lambda x: tf.reduce_sum(x, axis=[[0], [1]]), lambda x: tf.fill([-1, 2], 0.0), lambda x: tf.fill([[1, 2]], 0.0),
    lambda x: tf.clip_by_norm(tf.constant(1.0), [1.0, 2.0]), lambda x: tf.clip_by_norm(x, [1.0, 2.0, 3.0, 4.0]),
    lambda x: tf.random_uniform([2], minval=[1, 2], maxval=5, dtype=tf.int32),
    lambda x: tf.scatter_nd([[0]], [1.0], [0]), lambda x: tf.tile(x, [[2, 3], [3, 4]]), lambda x: tf.nn.top_k(x, -7),
    lambda x: tf.range([1, 2]), lambda x: tf.reverse(x, 0), lambda x: tf.transpose(x, [[0, 1]])])
def test_wrong_ranks_and_sizes_are_value_errors(build: Any) -> None:
    with pytest.raises(ValueError):
        build(tf.ones([2, 3]))


@pytest.mark.parametrize("make", [tf.random_normal, tf.zeros, lambda shape: tf.random_uniform(shape, 0, 5, tf.int32),
                                  lambda shape: tf.broadcast_to(1.0, shape)])
def test_more_axes_than_arrays_have_are_refused_in_every_run(make):
    sizes = tf.placeholder(tf.int32)
    made = make(sizes)
    with tf.Session() as session:
        for _ in range(3):
            with pytest.raises(tf.errors.InvalidArgumentError):
                session.run(made, {sizes: np.ones(70, np.int32)})
            assert session.run(made, {sizes: np.ones(3, np.int32)}).shape == (1, 1, 1)


@pytest.mark.parametrize("make", [tf.random_normal, tf.zeros, lambda sizes: tf.broadcast_to(tf.ones([2, 1]), sizes),
                                  lambda sizes: tf.tile(tf.ones([1, 1, 1]), sizes),
                                  lambda sizes: tf.reshape(tf.ones([8]), sizes),
                                  lambda sizes: tf.slice(tf.ones([4, 2, 1]), [0, 0, 0], sizes),
                                  lambda sizes: tf.scatter_nd([[0, 0, 0]], [1.0], sizes)])
def test_negative_sizes_are_refused_in_every_run(make):
    sizes = tf.placeholder(tf.int32)
    made = make(sizes)
    with tf.Session() as session:
        for wrong in ([4, 2, -2147483648], [4, -2, 1], [-3, 2, 1]):
            for _ in range(3):
                with pytest.raises(tf.errors.InvalidArgumentError):
                    session.run(made, {sizes: wrong})
                assert session.run(made, {sizes: [4, 2, 1]}).size == 8


def test_what_folds_is_validated_once(monkeypatch):
    pack = OPS["Pack"]
    calls, own = [], pack.shape
    monkeypatch.setitem(vars(pack), "shape", lambda ctx: calls.append(getattr(ctx, "concrete", False)) or own(ctx))
    x = tf.placeholder(tf.float32, [None])
    packed = tf.stack([tf.constant(2), tf.constant(3)])
    assert calls == [False]
    y = tf.reshape(x, packed)                           # its shape is the value
    assert calls == [False, True] and y.shape.as_list() == [2, 3]
    with tf.Session() as sess:
        sess.run(y, {x: np.ones(6)})
        del calls[:]
        sess.run(y, {x: np.ones(6)})                    # the program is built
        assert calls == [True]


def test_values_are_checked_where_they_fold():
    picked = tf.gather(tf.constant([1.0, 2.0]), tf.placeholder_with_default(tf.constant([5]), [1]))
    folded = tf.gather(tf.constant([1.0, 2.0]), tf.constant([5]))
    with tf.Session() as sess:
        for y in (picked, folded):
            for _ in range(3):
                with pytest.raises(tf.errors.InvalidArgumentError, match="5"):
                    sess.run(y)


SINGLES = {f"{name} of shape {shape}": f"""
a, ONE = tf.placeholder(tf.{dtype}), np.int64(1)
y = {call}
[outcome(lambda: float(np.sum(sess.run(y, {{a: np.ones({shape})}})))) for _ in range(3)]"""
           for name, dtype, call in (("Fill", "float32", "tf.raw_ops.Fill(dims=[2, 3], value=a)"),
                                     ("start", "int64", "tf.raw_ops.Range(start=a, limit=np.int64(5), delta=ONE)"),
                                     ("limit", "int64", "tf.raw_ops.Range(start=tf.constant(0, tf.int64), limit=a, "
                                      "delta=ONE)"),
                                     ("SplitV", "int32", "tf.split(np.ones((4, 4)), [2, 2], axis=a)[0]"))
           for shape in ((), (1,), (1, 1), (2,))}
SINGLES |= {f"{op} with values {shape}": f"""
v = tf.placeholder(tf.float32)
y = tf.raw_ops.{op}(sp_indices=np.int64([[0, 0], [1, 1]]), sp_values=v, sp_shape=np.int64([2, 2]),
                    dense=np.ones((1, 2), np.float32))
[outcome(lambda: float(np.sum(sess.run(y, {{v: np.ones({shape})}})))) for _ in range(3)]"""
            for op in ("SparseDenseCwiseMul", "SparseDenseCwiseDiv") for shape in ((2,), (2, 2), (1, 2), (2, 1), (3,))}
SINGLES |= {f"logits {a}, labels {b}": f"""
x, y = tf.placeholder(tf.float32), tf.placeholder(tf.float32)
z = [*tf.raw_ops.SoftmaxCrossEntropyWithLogits(features=x, labels=y)]
made = [sess.run(z, {{x: np.arange(np.prod({a})).reshape({a}) / 4, y: np.ones({b}) / 2}}) for _ in range(3)]
[np.round(part, 4) for run in made for part in run]"""
            for a, b in (((2, 1), (2, 3)), ((2, 3), (2, 1)), ((1, 3), (2, 3)), ((2, 3), (1, 1)), ((1, 1), (2, 3)))}
SINGLES |= {f"assign to a slice, {resource}: {a}, {b}": f"""
v = tf.get_variable("v", initializer=np.zeros((3, 4), np.float32), use_resource={resource})
a, b, strides = (tf.placeholder(tf.int32, shape) for shape in (None, None, [None]))
y = tf.strided_slice(v, a, b, strides, var=v).assign(tf.ones([]), name="set")
sess = tf.Session()
sess.run(v.initializer)
[outcome(lambda: sess.run([y.op], {{a: {a}, b: {b}, strides: [1] * len({a})}})) for _ in range(3)]"""
            for resource in (False, True) for a, b in (([0], [1, 2]), ([0, 1], [2]), ([0, 1], [2, 3]))}


def test_one_element_and_sparse_values_as_in_tensorflow(oracle):
    assert differential.differences(oracle, SINGLES) == {}


def test_an_empty_array_that_numpy_has_not():
    x, size = tf.placeholder(tf.float32), tf.placeholder(tf.int32)
    for make in (tf.image.resize_bicubic, tf.image.resize_bilinear):
        y = make(x, size)
        with tf.Session() as sess:
            for _ in range(3):
                with pytest.raises(tf.errors.InvalidArgumentError, match="no array of shape"):
                    sess.run(y, {x: np.ones((0, 4, 5, 2)), size: [2**31 - 1] * 2})
            assert sess.run(y, {x: np.ones((0, 4, 5, 2)), size: [3, 2]}).shape == (0, 3, 2, 2)


def test_more_outputs_than_a_graph_has_room_for():
    with pytest.raises(ValueError, match="4,194,304 outputs"):
        tf.dynamic_partition([1.0], [0], 2**31 - 1)


@pytest.mark.parametrize("bounds", [(0.0, np.inf, 1.0), (0.0, np.nan, 1.0), (0.0, 1e30, 1.0), (0.0, 1.0, 1e-40)])
def test_a_range_of_no_number_of_elements(bounds):
    with pytest.raises(ValueError, match="2\\*\\*63"):
        tf.range(*bounds)
    fed = [tf.placeholder(tf.float32, []) for _ in bounds]
    y = tf.range(*fed)
    with tf.Session() as sess:
        for _ in range(3):
            with pytest.raises(tf.errors.InvalidArgumentError, match="2\\*\\*63"):
                sess.run(y, dict(zip(fed, bounds, strict=True)))


def test_what_is_memoized_of_a_host_call_follows_shapes_and_values() -> None:
    """MirrorPad looks at its paddings, SparseTensorDenseMatMul checks its indices."""
    x, pads = tf.placeholder(tf.float32), tf.placeholder(tf.int32)
    padded = tf.raw_ops.MirrorPad(input=x, paddings=pads, mode="REFLECT")
    indices, rows = tf.placeholder(tf.int64, [None, 2]), tf.placeholder(tf.float32, [None, 2])
    product = tf.raw_ops.SparseTensorDenseMatMul(a_indices=indices, a_values=[2.0], a_shape=[2, 3], b=rows)
    row = np.arange(4, dtype=np.float32)
    with tf.Session() as sess:
        for _ in range(3):
            assert sess.run(padded, {x: row, pads: [[1, 0]]}).tolist() == [1, 0, 1, 2, 3]
            assert sess.run(padded, {x: row, pads: [[0, 2]]}).tolist() == [0, 1, 2, 3, 2, 1]
            assert sess.run(padded, {x: row[:2], pads: [[0, 1]]}).tolist() == [0, 1, 0]
            with pytest.raises(tf.errors.InvalidArgumentError, match="3 should be|less than|must be"):
                sess.run(padded, {x: row[:2], pads: [[0, 3]]})
            feed = {indices: [[1, 2]], rows: np.ones([3, 2])}
            assert sess.run(product, feed).tolist() == [[0, 0], [2, 2]]
            with pytest.raises(tf.errors.InvalidArgumentError):
                sess.run(product, feed | {indices: [[1, 3]]})
            with pytest.raises(tf.errors.InvalidArgumentError):
                sess.run(product, feed | {rows: np.ones([2, 2])})


def test_host_calls_see_variables_that_get_other_memory() -> None:
    v, given = tf.Variable([3.0, 1.0], validate_shape=False), tf.placeholder(tf.float32)
    found = tf.raw_ops.ListDiff(x=v, y=[1.0])
    with tf.Session() as sess:
        assign = tf.assign(v, given, validate_shape=False)
        for values in ([3.0, 1.0], [1.0, 4.0, 5.0], [1.0, 6.0, 7.0], [8.0]):
            sess.run(assign, {given: values})
            for _ in range(3):
                assert sess.run(found)[0].tolist() == [x for x in values if x != 1.0]
