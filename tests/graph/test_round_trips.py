"""import(export(g)) = g for random graphs with all that a GraphDef can hold; through TensorFlow as well.

Nodes are compared by name: an import makes each after those that it takes inputs from, as TensorFlow's does, while in
loops and conditions an Enter or Switch is made after the op that needs it.
"""
from __future__ import annotations

import numpy as np
import pytest
from google.protobuf import text_format

import tfnb as tf
from tests.compile.random_graphs import random_graph

GRAPHS, A_TIME = 1000, 100
DEVICES = ["", "/cpu:0", "/job:worker/task:1", "/device:GPU:0"]


def loop(x):
    return tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * 0.5 + tf.cast(i, tf.float32)), [0, x])[1]


def queue(x):
    made = tf.FIFOQueue(3, x.dtype, [x.shape], shared_name="shared")
    with tf.control_dependencies([made.enqueue(x)]):
        return made.dequeue()


def variable(x):
    made = tf.Variable(tf.zeros(x.shape), name="state", trainable=False)
    with tf.colocate_with(made):
        return tf.assign_add(made, x) + tf.constant(1.5, name="one")


EXTRAS = [loop, queue, variable, lambda x: tf.cond(tf.reduce_sum(x) > 0, lambda: x + 1.0, lambda: x),
          lambda x: tf.gradients(tf.reduce_sum(tf.tanh(x) * x), x)[0],
          lambda x: tf.as_string(x), lambda x: tf.split(tf.reshape(x, [-1, 1]), 2)[1],
          lambda x: tf.constant(np.array([b"a", b"\xff\0"], object)), lambda x: tf.cast(x, tf.bfloat16),
          lambda x: tf.map_fn(tf.exp, x), lambda x: tf.py_func(np.sin, [x], tf.float32)]


def build(seed):
    """A random graph with scopes, devices, control inputs and some of EXTRAS, as a GraphDef."""
    random = np.random.RandomState(seed)
    with tf.Graph().as_default() as graph:
        x, made, _ = random_graph(seed, (2, 3, 2), random.randint(3, 10))
        with tf.name_scope(f"scope{random.randint(3)}"), tf.device(DEVICES[random.randint(len(DEVICES))]), \
                tf.control_dependencies([t.op for t in made[:random.randint(3)]]):
            for extra in random.choice(EXTRAS, random.randint(1, 4), replace=False):
                extra(x)
        return graph.as_graph_def()


def again(graph_def):
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(graph_def, name="")
        return graph.as_graph_def()


def nodes(graph_def):
    """The nodes by name."""
    return {node.name: node for node in graph_def.node}


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, GRAPHS, A_TIME))
def test_graphs_come_back_as_they_went(first):
    for seed in range(first, first + A_TIME):
        graph_def = build(seed)
        made = again(graph_def)
        assert nodes(made) == nodes(graph_def) and made.versions == graph_def.versions, seed
        assert again(made) == made, seed
        if seed % 10 == 0:
            assert again(text_format.Parse(text_format.MessageToString(graph_def), tf.GraphDef())) == made, seed


@pytest.mark.slow
def test_graphs_come_back_from_tensorflow(oracle):
    sent = [build(seed) for seed in range(60)]
    returned = oracle("""
result = []
for data in sent:
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(tf.GraphDef.FromString(data), name="")
        result.append(graph.as_graph_def().SerializeToString())
""", sent=[graph_def.SerializeToString() for graph_def in sent])
    for seed, (graph_def, data) in enumerate(zip(sent, returned, strict=True)):
        ours, theirs = nodes(graph_def), nodes(again(tf.GraphDef.FromString(data)))
        assert ours.keys() == theirs.keys(), seed
        for name, node in ours.items():
            other = theirs[name]
            assert (node.op, list(node.input), dict(node.attr.items())) == \
                (other.op, list(other.input), {k: v for k, v in other.attr.items() if k in node.attr}), (seed, name)
