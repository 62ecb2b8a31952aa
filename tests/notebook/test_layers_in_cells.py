"""Cells that make layers, losses, metrics and recurrent networks: a re-run gives the same names, and nothing twice."""
from __future__ import annotations

import pytest

import tfnb as tf
from tfnb.notebook.cells.cells import Cells

CELLS = {
    "inputs": """
x = tf.placeholder(tf.float32, [None, 4], name="x")
h = tf.layers.dense(x, 5, activation=tf.nn.relu, kernel_regularizer=tf.nn.l2_loss)
h = tf.layers.batch_normalization(h, training=True)
""",
    "loss": """
out = tf.contrib.layers.fully_connected(tf.layers.dense(h, 2), 2)
loss = tf.losses.mean_squared_error(tf.zeros_like(out), out)
accuracy, update = tf.metrics.accuracy(tf.zeros([3]), tf.zeros([3]))
""",
    "rnn": """
cell = tf.nn.rnn_cell.MultiRNNCell([tf.nn.rnn_cell.BasicLSTMCell(3), tf.nn.rnn_cell.GRUCell(2)])
sequence, _ = tf.nn.dynamic_rnn(cell, tf.ones([2, 3, 4]), dtype=tf.float32)
""",
    "train": "train = tf.train.AdamOptimizer().minimize(loss)",
    "layer": "layer = tf.layers.Dense(3)",
    "call": "made = layer(h)",
}


class Notebook:
    sources = CELLS

    def __init__(self):
        self.cells, self.scope, self.count = Cells(), {"tf": tf}, 0

    def run(self, *keys):
        for key in keys:
            self.count += 1
            self.cells.begin(key, f"[{self.count}]")
            try:
                exec(self.sources[key], self.scope)
            except BaseException:                   # an interrupt too
                self.cells.rollback()
                raise
            self.cells.commit()

    @staticmethod
    def all_names():
        keys = ("variables", "trainable_variables", "local_variables", "losses", "regularization_losses", "update_ops")
        return ([sorted(each.name for each in tf.get_collection(key)) for key in keys],
                sorted(op.name for op in tf.get_default_graph().get_operations()))


@pytest.mark.parametrize("again", [["loss"], ["rnn"], ["call", "call"], ["loss", "rnn", "call", "inputs", "train"],
                                   ["layer", "call"]])
def test_a_rerun_gives_the_same_names(again):
    book = Notebook()
    book.run(*CELLS)
    before = book.all_names()
    book.run(*again)
    assert book.all_names() == before
    with tf.Session() as sess:
        sess.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        scope = book.scope
        sess.run([scope["made"], scope["sequence"], scope["update"]], {scope["x"]: [[1, 2, 3, 4]]})
