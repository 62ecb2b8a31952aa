"""How far kernels say that they reach: to the end of what they take and make, where that lies dense, and no less."""
from __future__ import annotations

import numpy as np
import pytest

import tfnb as tf
from tfnb.compile import reach
from tfnb.core.options import options

IMAGE, FILTER = np.random.RandomState(1).rand(2, 5, 6, 3).astype("f"), np.ones((3, 2, 3, 4), "f")
BOXES = np.array([[0, 0, 1, 1], [0.1, 0.2, 0.9, 0.7], [1, 1, 0, 0]], "f")


def boxes():
    tf.add_to_collection("boxes", tf.constant(BOXES))
    return tf.get_collection("boxes")[0], [1, 0, 1]


CASES = {
    "resize": lambda x: tf.image.resize_bilinear(x, [7, 4]),
    "enlarged": lambda x: tf.image.resize_nearest_neighbor(x, [9, 12]),
    "cubic": lambda x: tf.image.resize_bicubic(x, [3, 11]),
    "resize back": lambda x: tf.gradients(tf.image.resize_bilinear(x, [7, 4]), x)[0],
    "argmax": lambda x: tf.argmax(x, 2),
    "cumsum": lambda x: tf.cumsum(x, 1),
    "padded": lambda x: tf.pad(x, [[0, 0], [1, 0], [3, 0], [2, 0]]),
    "strided back": lambda x: tf.gradients(tf.square(x[:, ::2, 1:, ::-1]), x)[0],
    "conv": lambda x: tf.nn.conv2d(x, FILTER, [1, 1, 1, 1], "SAME"),
    "max pool": lambda x: tf.nn.max_pool(x, [1, 2, 2, 1], [1, 1, 1, 1], "SAME"),
    "gather": lambda x: tf.gather(x, [1, 0, 1], axis=2),
    "one hot": lambda x: tf.one_hot(tf.cast(x[0, 0] * 4, tf.int32), 5),
    "crops": lambda x: tf.image.crop_and_resize(x, BOXES, [1, 0, 1], [4, 4]),
    "crops back": lambda x: tf.gradients(tf.square(tf.image.crop_and_resize(x, BOXES, [1, 0, 1], [4, 4])), x)[0],
    "boxes back": lambda x: tf.gradients(tf.image.crop_and_resize(x, *boxes(), [4, 4]), tf.get_collection("boxes"))[0],
    "volumes": lambda x: tf.nn.conv3d(x[..., None], np.ones((2, 2, 2, 1, 3), "f"), [1, 2, 1, 1, 1], "SAME"),
    "volumes back": lambda x: tf.gradients(tf.square(tf.nn.conv3d(
        x[..., None], np.ones((2, 2, 2, 1, 3), "f"), [1, 2, 1, 1, 1], "SAME")), x)[0],
}


@pytest.mark.parametrize("name", CASES)
def test_dense_buffers_are_reached_to_their_ends(name, monkeypatch):
    monkeypatch.setattr(options, "compile", "always")
    ends, real = {}, reach.Places._checked

    def looked_at(self, launch, arg, word):
        if arg.kind in ("input", "output", "scratch") and arg.nbytes is not None:
            place = self.node.op.type, launch.label, arg.kind, arg.index, word.buffer.nbytes
            ends[place] = max(ends.get(place, 0), word.offset + arg.nbytes)
        return real(self, launch, arg, word)
    monkeypatch.setattr(reach.Places, "_checked", looked_at)
    x = tf.placeholder(tf.float32, IMAGE.shape)
    with tf.Session() as session:
        session.run(CASES[name](x), {x: IMAGE})
    assert ends and {place: end for place, end in ends.items() if end != place[-1]} == {}
