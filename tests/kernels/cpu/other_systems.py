"""A training step whose kernels are made for other systems: `python -m tests.kernels.cpu.other_systems NEON TRIPLE...`

Kernels get the register tiles of that processor, run here, and are emitted for each system as well. Prints the steps'
results, and for each system what its objects refer to, as JSON.
"""
from __future__ import annotations

import json
import os
import sys
from contextlib import contextmanager
from unittest import mock

import llvmlite.binding as llvm
import numpy as np

from tfnb.kernels import c_library
from tfnb.kernels.llvm import codegen, jit, microkernel, natives

# triple -> the processor's name and features, and platform.machine() there.
SYSTEMS = {"x86_64-pc-windows-msvc": ("x86-64-v3", "+avx2,+fma,+f16c", "AMD64"),
           "aarch64-pc-windows-msvc": ("generic", "+neon", "ARM64"),
           "x86_64-apple-darwin": ("x86-64-v3", "+avx2,+fma,+f16c", "x86_64"),
           "arm64-apple-darwin": ("apple-m1", "+neon", "arm64"),
           "aarch64-unknown-linux-gnu": ("generic", "+neon", "aarch64"),
           "x86_64-unknown-linux-gnu": ("x86-64-v3", "+avx2,+fma,+f16c", "x86_64")}


@contextmanager
def target(triple):
    """LLVM's target and what asks for the machine's name, as on that system."""
    processor, features, machine = SYSTEMS[triple]
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    found = llvm.Target.from_triple(triple).create_target_machine(cpu=processor, features=features, opt=3, jit=True)
    with mock.patch.object(codegen, "machine", lambda: found), \
            mock.patch.object(natives.platform, "machine", lambda: machine):
        yield


def program(tf):
    """A training step: products, a convolution, pooling, random numbers, softmax, halves; with TFNB_STRESS a loop."""
    tf.set_random_seed(1)
    x = tf.placeholder(tf.float32, [4, 8, 8, 3])
    hidden = tf.nn.dropout(tf.layers.conv2d(x, 4, 3, activation=tf.nn.relu), rate=0.5)
    hidden = tf.layers.flatten(tf.layers.max_pooling2d(hidden, 2, 2))
    if os.environ.get("TFNB_STRESS"):
        steps = tf.reshape(hidden, [4, 3, 12])
        hidden = tf.nn.dynamic_rnn(tf.nn.rnn_cell.BasicLSTMCell(4), steps, dtype=tf.float32)[0][:, -1]
    logits = tf.layers.dense(hidden, 5) + tf.reduce_sum(tf.sin(hidden) * tf.cos(hidden))
    loss = tf.losses.sparse_softmax_cross_entropy([0, 1, 2, 3], logits)
    train = tf.train.AdamOptimizer().minimize(loss)
    half = tf.reduce_sum(tf.cast(tf.exp(tf.cast(x, tf.float16)), tf.float32))
    large = tf.reduce_sum(tf.square(tf.matmul(tf.reshape(tf.range(40. * 50.) / 1e3, [40, 50]), tf.ones([50, 30]))))
    return x, train, [loss, half, large, tf.reduce_sum(tf.lgamma(hidden + 1)), tf.reduce_sum(tf.cumsum(logits, 1))]


def main():
    """Run the program with the tiles of the first system's processor."""
    triples = sys.argv[1:]
    features = SYSTEMS[triples[0]][1]
    asked = {triple: set() for triple in triples}
    kernels = 0
    compile_source = codegen.compile_source

    def compile_for_all(text, symbol):
        nonlocal kernels
        kernels += 1
        for triple in triples:
            with target(triple):
                asked[triple] |= c_library.undefined_symbols(compile_source(text, symbol))
        return compile_source(text, symbol)
    with mock.patch.object(microkernel, "processor_features", lambda: features), \
            mock.patch.object(codegen, "compile_source", compile_for_all):
        import tfnb as tf
        x, train, fetches = program(tf)
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            feed = {x: np.linspace(0, 1, 4 * 8 * 8 * 3, dtype=np.float32).reshape(4, 8, 8, 3)}
            for _ in range(3):
                results = session.run([train, *fetches], feed)[1:]
    assert jit.stats().compiled == kernels
    print(json.dumps({"kernels": kernels, "results": [float(value) for value in results],
                      "asked": {triple: sorted(names) for triple, names in asked.items()}}))


if __name__ == "__main__":
    main()
