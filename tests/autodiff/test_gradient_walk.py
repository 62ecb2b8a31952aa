"""Every differentiable op: its gradient compiled as interpreted, and as real TensorFlow's, which gets the same graph.

The interpreted gradients are compared with finite differences in test_finite_differences.py; its samples are used here.
"""
from __future__ import annotations

import zlib

import numpy as np
import pytest

import tfnb as tf
from tests.autodiff.test_finite_differences import SAMPLES, differentiable, sampled, samples
from tfnb.autodiff.gradients import is_trainable
from tfnb.core.options import options
from tfnb.opdef import kinds, registry

REGULAR = (kinds.Elementwise, kinds.Reduction, kinds.Rowwise)
NAMES = [name for name in differentiable() if name in SAMPLES or isinstance(registry.OPS[name], REGULAR)]
GROUPS = [NAMES[i:i + 24] for i in range(0, len(NAMES), 24)]
# What TensorFlow 2 can't be asked for, with the reason.
NOT_COMPARED = {
    **dict.fromkeys(("Batch", "Unbatch"), "gradients of tf.contrib.batching, which TensorFlow 2 has not"),
    **dict.fromkeys(("Enter", "Exit", "NextIteration"), "a GraphDef does not tell which ops are in the loop"),
    "TopK": "removed in version 7 of GraphDefs",
    **dict.fromkeys(("Mod", "TruncateMod", "SoftsignGrad", "Snapshot", "MaxPoolGradGradV2", "MaxPoolGradWithArgmax",
                     "MaxPoolGradGradWithArgmax"), "it has no gradient there"),
    **dict.fromkeys(("AvgPool3D", "AvgPool3DGrad"), "it has no kernel for double precision"),
    "PadV2": "there what is padded with has no gradient",
}
ASK = """
result = []
for data, ys, xs, feeds, weights in cases:
    with tf.Graph().as_default():
        made = tf.import_graph_def(tf.GraphDef.FromString(data), return_elements=ys + xs, name="")
        try:
            found = tf.gradients(made[:len(ys)], made[len(ys):], weights)
            wanted = [tf.zeros([]) if g is None else tf.convert_to_tensor(g) for g in found]
            with tf.Session() as sess:
                result.append(([g is None for g in found], sess.run(wanted, dict(zip(made[len(ys):], feeds)))))
        except Exception as error:
            result.append(type(error).__name__ + ": " + str(error)[:300])
"""


def sample_graphs(name):
    """For each sample of an op: its inputs, outputs that have gradients, values, and weights of the outputs."""
    for number, (fn, shapes, domain) in enumerate(samples(name)):
        random = np.random.default_rng(zlib.crc32(f"{name} {number}".encode()))
        xs = [tf.placeholder(tf.float64, shape) for shape in shapes]
        made = fn(*xs)
        ys = [y for y in (made if isinstance(made, (list, tuple)) else [made]) if is_trainable(y)]
        values = [sampled(domain, shape, random) for shape in shapes]
        yield xs, ys, values, [random.uniform(0.5, 1.5, y.shape.as_list()) if y.shape.is_fully_defined() else None
                               for y in ys]


def gradients(ys, xs, weights):
    found = tf.gradients(ys, xs, [None if w is None else tf.constant(w) for w in weights])
    return [g if g is None else tf.convert_to_tensor(g) for g in found]


@pytest.mark.parametrize("names", GROUPS, ids=[f"{g[0]} to {g[-1]}" for g in GROUPS])
def test_compiled_as_interpreted(names, monkeypatch):
    fetches, feeds = {}, {}
    for name in names:
        for number, (xs, ys, values, weights) in enumerate(sample_graphs(name)):
            found = gradients(ys, xs, weights)
            fetches[name, number] = [g for g in found if g is not None]
            feeds.update(zip(xs, values, strict=True))
    results = []
    for mode in ("never", "always"):
        monkeypatch.setattr(options, "compile", mode)
        with tf.Session() as sess:
            results.append(sess.run(fetches, feeds))
    for key, want in results[0].items():
        for a, b in zip(want, results[1][key], strict=True):
            np.testing.assert_allclose(b, a, rtol=1e-9, atol=1e-12, err_msg=str(key))


def test_as_tensorflow(oracle):
    cases, ours, labels = [], [], []
    for name in NAMES:
        if name in NOT_COMPARED:
            continue
        tf.reset_default_graph()
        for number, (xs, ys, values, weights) in enumerate(sample_graphs(name)):
            data = tf.get_default_graph().as_graph_def().SerializeToString()
            cases.append((data, [y.name for y in ys], [x.name for x in xs], values, weights))
            found = gradients(ys, xs, weights)
            with tf.Session() as sess:
                got = sess.run([g for g in found if g is not None], dict(zip(xs, values, strict=True)))
            ours.append(([g is None for g in found], got))
            labels.append((name, number))
    faults = []
    for label, (none, mine), answer in zip(labels, ours, oracle(ASK, cases=cases), strict=True):
        if isinstance(answer, str):
            faults.append(f"{label}: {answer}")
            continue
        theirs = [g for absent, g in zip(*answer, strict=True) if not absent]
        if none != answer[0]:
            faults.append(f"{label}: without gradient here {none}, there {answer[0]}")
        elif not all(a.dtype == b.dtype and a.shape == b.shape and np.allclose(a, b, rtol=1e-6, atol=1e-9)
                     for a, b in zip(mine, theirs, strict=True)):
            faults.append(f"{label}: here {[a.tolist() for a in mine]}, there {[b.tolist() for b in theirs]}")
    assert not faults, "\n".join(fault[:600] for fault in faults)


def keeps(name, dtype):
    attrs = {attr.name: attr for attr in registry.OPS[name].attrs}
    kind = attrs.get("T")
    return kind is not None and (not kind.allowed or {"float32": "float", "float16": "half"}[dtype] in kind.allowed)


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_dtypes_and_shapes_are_kept(dtype):
    tested = 0
    for name in NAMES:
        if not keeps(name, dtype):
            continue
        tf.reset_default_graph()
        for fn, shapes, _ in samples(name):
            xs = [tf.placeholder(dtype, shape) for shape in shapes]
            try:
                made = fn(*xs)
                ys = [y for y in (made if isinstance(made, (list, tuple)) else [made]) if is_trainable(y)]
                found = gradients(ys, xs, [None] * len(ys))
            except TypeError:                      # the sample mixes in numbers of float64, the gradient other ops
                continue
            for g, x in zip(found, xs, strict=True):
                assert g is None or (g.dtype == x.dtype and g.shape.is_compatible_with(x.shape)), name
            tested += 1
    assert tested > 80
