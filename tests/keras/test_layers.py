"""Layers beside Keras 3 of real TensorFlow with the same weights; masks, states and phases as 1.15 has them."""
from __future__ import annotations

import numpy as np
import pytest

import tfnb as tf

RANDOM = np.random.default_rng(3)


def drawn(*shape: int) -> np.ndarray:
    return RANDOM.normal(size=shape).astype(np.float32)


ROWS, IMAGES, VOLUMES, STEPS = drawn(2, 7, 3), drawn(2, 6, 5, 3), drawn(1, 4, 4, 5, 2), drawn(3, 4, 5)
SIGMOID = {"recurrent_activation": "sigmoid"}
# (class, arguments, input), and what Keras 3 calls arguments otherwise
CASES = [
    ("Dense", {"units": 4, "activation": "tanh"}, STEPS), ("Dense", {"units": 2, "use_bias": False}, drawn(3, 5)),
    ("Activation", {"activation": "selu"}, STEPS), ("Flatten", {}, IMAGES), ("Permute", {"dims": (3, 1, 2)}, IMAGES),
    ("Flatten", {"data_format": "channels_first"}, IMAGES), ("Reshape", {"target_shape": (5, -1)}, IMAGES),
    ("RepeatVector", {"n": 3}, drawn(2, 4)),
    ("Conv1D", {"filters": 4, "kernel_size": 3, "strides": 2, "padding": "same"}, ROWS),
    ("Conv1D", {"filters": 4, "kernel_size": 3, "dilation_rate": 2, "padding": "causal"}, ROWS),
    ("Conv2D", {"filters": 4, "kernel_size": (3, 2), "activation": "relu"}, IMAGES),
    ("Conv2D", {"filters": 4, "kernel_size": 3, "strides": (2, 1), "padding": "same"}, IMAGES),
    ("Conv2D", {"filters": 4, "kernel_size": 2, "dilation_rate": 2}, IMAGES),
    ("Conv3D", {"filters": 2, "kernel_size": 2}, VOLUMES),
    ("Conv2DTranspose", {"filters": 4, "kernel_size": 3, "strides": 2}, IMAGES),
    ("Conv2DTranspose", {"filters": 4, "kernel_size": 3, "strides": 2, "padding": "same"}, IMAGES),
    ("Conv2DTranspose", {"filters": 2, "kernel_size": 3, "strides": 2, "padding": "same", "output_padding": 1}, IMAGES),
    ("Conv3DTranspose", {"filters": 2, "kernel_size": 2, "strides": 2}, VOLUMES),
    ("SeparableConv1D", {"filters": 4, "kernel_size": 3, "depth_multiplier": 2}, ROWS),
    ("SeparableConv2D", {"filters": 4, "kernel_size": 3, "padding": "same"}, IMAGES),
    ("DepthwiseConv2D", {"kernel_size": 3, "depth_multiplier": 2}, IMAGES),
    ("UpSampling1D", {"size": 2}, ROWS), ("UpSampling2D", {"size": (2, 3)}, IMAGES), ("UpSampling3D", {}, VOLUMES),
    ("ZeroPadding1D", {"padding": (1, 2)}, ROWS), ("ZeroPadding2D", {"padding": ((1, 0), (2, 2))}, IMAGES),
    ("ZeroPadding3D", {"padding": 1}, VOLUMES), ("Cropping1D", {"cropping": (1, 2)}, ROWS),
    ("Cropping2D", {"cropping": ((1, 0), (2, 2))}, IMAGES), ("Cropping3D", {}, VOLUMES),
    ("MaxPooling1D", {"pool_size": 2}, ROWS), ("AveragePooling1D", {"pool_size": 2, "padding": "same"}, ROWS),
    ("MaxPooling2D", {"pool_size": (3, 2), "strides": 1}, IMAGES),
    ("AveragePooling2D", {"pool_size": 2, "padding": "same"}, IMAGES),
    ("MaxPooling3D", {"pool_size": 2}, VOLUMES), ("AveragePooling3D", {"pool_size": 2}, VOLUMES),
    *[(f"Global{mode}Pooling{rank}D", {}, x) for mode in ("Max", "Average")
      for rank, x in ((1, ROWS), (2, IMAGES), (3, VOLUMES))],
    ("Embedding", {"input_dim": 9, "output_dim": 3}, np.array([[0, 8], [3, 3]], np.int32)),
    ("BatchNormalization", {}, IMAGES), ("BatchNormalization", {"axis": 1, "scale": False}, ROWS),
    ("LayerNormalization", {"epsilon": 0.01}, STEPS), ("LayerNormalization", {"axis": [1, 2]}, STEPS),
    ("LeakyReLU", {"alpha": 0.1}, STEPS), ("PReLU", {"shared_axes": [1]}, STEPS), ("ELU", {"alpha": 0.5}, STEPS),
    ("ReLU", {"max_value": 1.0, "negative_slope": 0.1, "threshold": 0.2}, STEPS), ("Softmax", {"axis": 1}, STEPS),
    ("SimpleRNN", {"units": 4}, STEPS), ("SimpleRNN", {"units": 4, "return_sequences": True, "unroll": True}, STEPS),
    ("LSTM", {"units": 4, **SIGMOID}, STEPS), ("LSTM", {"units": 4, **SIGMOID, "return_sequences": True,
                                                       "go_backwards": True}, STEPS),
    ("GRU", {"units": 4, **SIGMOID, "reset_after": False, "return_sequences": True}, STEPS),
    ("ConvLSTM2D", {"filters": 3, "kernel_size": 3, "strides": 2, **SIGMOID}, drawn(2, 3, 6, 5, 2)),
    ("ConvLSTM2D", {"filters": 2, "kernel_size": 2, "padding": "same", "return_sequences": True, **SIGMOID},
     drawn(2, 3, 4, 4, 2)),
    *[(name, {}, [STEPS, drawn(3, 4, 5)]) for name in ("Add", "Subtract", "Multiply", "Average", "Maximum", "Minimum")],
    ("Add", {}, [STEPS, drawn(3, 1, 5)]), ("Concatenate", {"axis": 1}, [STEPS, drawn(3, 2, 5)]),
    ("Dot", {"axes": 2}, [STEPS, drawn(3, 2, 5)]), ("Dot", {"axes": (2, 1), "normalize": True}, [STEPS, drawn(3, 5)]),
    ("Attention", {"use_scale": True}, [STEPS, drawn(3, 2, 5)]),
    ("AdditiveAttention", {}, [STEPS, drawn(3, 2, 5), drawn(3, 2, 5)]),
]
ASK = """
import keras
from tensorflow.python.eager import context
result = []
with context.eager_mode():
    for (name, arguments, x), weights in zip(cases, weights):
        arguments = {renamed.get((name, key), key): value for key, value in arguments.items()}
        layer = getattr(keras.layers, name)(**arguments)
        layer(x)
        layer.set_weights(weights)
        result.append(np.array(layer(x)))
"""


def made(name, arguments, x):
    """Return (layer, its output, weights drawn for it), with static and dynamic shapes that agree."""
    layer = getattr(tf.keras.layers, name)(**arguments)
    inputs = [tf.placeholder(each.dtype, [None, *each.shape[1:]]) for each in (x if isinstance(x, list) else [x])]
    output = layer(inputs if isinstance(x, list) else inputs[0])
    weights = [np.abs(drawn(*w.shape.as_list())) * 0.5 for w in layer.weights]
    layer.set_weights(weights)
    feed = dict(zip(inputs, x if isinstance(x, list) else [x], strict=True))
    session = tf.keras.backend.get_session()
    session.run(output, feed)                               # interpreted, then compiled
    value = session.run(output, feed)
    output.shape.assert_is_compatible_with(value.shape)
    computed = layer.compute_output_shape([each.shape for each in x] if isinstance(x, list) else x.shape)
    assert tf.TensorShape(computed).as_list() == list(value.shape), name
    again = type(layer).from_config(layer.get_config())
    assert again.get_config() == layer.get_config() and [tuple(w.shape) for w in weights] == [
        tuple(w.shape.as_list()) for w in layer.weights]
    return value, weights


@pytest.mark.slow
def test_layers_compute_what_those_of_keras_do(oracle):
    found = []
    for case in CASES:
        with tf.Graph().as_default(), tf.Session():
            found.append(made(*case))
    theirs = oracle(ASK, cases=CASES, weights=[weights for _, weights in found],
                    renamed={("LeakyReLU", "alpha"): "negative_slope"})
    different = {f"{name} {arguments}": np.abs(ours - there).max() if ours.shape == there.shape else there.shape
                 for (name, arguments, _), (ours, _), there in zip(CASES, found, theirs, strict=True)
                 if ours.shape != there.shape or not np.allclose(ours, there, rtol=2e-4, atol=2e-5)}
    assert different == {}


def value_of(output, feed=None):
    return tf.keras.backend.get_session().run(output, feed)


def test_layers_with_weights_of_each_place_are_convolutions_where_these_are_equal():
    for name, other, x in (("LocallyConnected1D", "Conv1D", ROWS), ("LocallyConnected2D", "Conv2D", IMAGES)):
        with tf.Graph().as_default(), tf.Session():
            local = getattr(tf.keras.layers, name)(4, 3, strides=2)
            shared = getattr(tf.keras.layers, other)(4, 3, strides=2)
            y, z = local(tf.constant(x)), shared(tf.constant(x))
            kernel = drawn(*shared.kernel.shape.as_list())
            places = local.kernel.shape.as_list()[0]
            local.set_weights([np.repeat(kernel.reshape(1, -1, 4), places, 0), np.zeros(local.bias.shape.as_list())])
            shared.set_weights([kernel, np.zeros(4)])
            np.testing.assert_allclose(value_of(y), value_of(z), rtol=1e-4, atol=1e-5)


def test_layers_of_cudnn_are_those_with_two_biases():
    for name, other, gates in (("CuDNNLSTM", tf.keras.layers.LSTM(4, recurrent_activation="sigmoid"), 4),
                               ("CuDNNGRU", tf.keras.layers.GRU(4, recurrent_activation="sigmoid",
                                                                reset_after=True), 3)):
        with tf.Graph().as_default(), tf.Session():
            layer = getattr(tf.keras.layers, name)(4)
            other = type(other).from_config(other.get_config())
            y, z = layer(tf.constant(STEPS)), other(tf.constant(STEPS))
            kernel, recurrent, bias = drawn(5, 4 * gates), drawn(4, 4 * gates), drawn(8 * gates)
            layer.set_weights([kernel, recurrent, bias])
            parts = bias.reshape(2, -1)
            other.set_weights([kernel, recurrent, parts if gates == 3 else parts.sum(0)])
            np.testing.assert_allclose(value_of(y), value_of(z), rtol=1e-4, atol=1e-5)


def test_masked_steps_leave_states_as_they_are():
    x = STEPS.copy()
    x[1, 2:] = 0
    with tf.Graph().as_default(), tf.Session():
        layer = tf.keras.layers.LSTM(4, return_sequences=True)
        masked = layer(tf.keras.layers.Masking()(tf.constant(x)))
        short = layer(tf.constant(x[1:2, :2]))
        ours, wanted = value_of([masked, short])
        np.testing.assert_allclose(ours[1, :2], wanted[0], rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(ours[1, 2:], [wanted[0, 1]] * 2, rtol=1e-5, atol=1e-6)
        unrolled = tf.keras.layers.LSTM(4, return_sequences=True, unroll=True)
        again = unrolled(tf.keras.layers.Masking()(tf.constant(x)))
        unrolled.set_weights(layer.get_weights())
        np.testing.assert_allclose(value_of(again), ours, rtol=1e-4, atol=1e-6)


def test_a_stateful_layer_goes_on_where_it_stopped():
    with tf.Graph().as_default(), tf.Session():
        whole, parts = tf.keras.layers.GRU(4), tf.keras.layers.GRU(4, stateful=True)
        x = tf.placeholder(tf.float32, [3, 2, 5])
        y, z = whole(tf.constant(STEPS)), parts(x)
        parts.set_weights(whole.get_weights())
        wanted = value_of(y)
        for _ in range(2):
            value_of([z, parts.updates], {x: STEPS[:, :2]})
            np.testing.assert_allclose(value_of(z, {x: STEPS[:, 2:]}), wanted, rtol=1e-4, atol=1e-6)
            parts.reset_states()


def test_initial_states_and_those_that_come_out():
    with tf.Graph().as_default(), tf.Session():
        layer = tf.keras.layers.LSTM(4, return_state=True)
        first, h, c = layer(tf.constant(STEPS[:, :2]))
        second = layer(tf.constant(STEPS[:, 2:]), initial_state=[h, c])[0]
        third = layer(tf.constant(STEPS))[0]
        ours, wanted, one, state = value_of([second, third, first, h])
        np.testing.assert_allclose(ours, wanted, rtol=1e-4, atol=1e-6)
        assert (one == state).all()
        with pytest.raises(ValueError, match="has 2 states but was passed 1"):
            layer(tf.constant(STEPS), initial_state=[h])


@pytest.mark.parametrize("mode", ["sum", "mul", "ave", "concat", None])
def test_both_directions_are_those_of_two_layers(mode):
    k = tf.keras.layers
    with tf.Graph().as_default(), tf.Session():
        layer = k.Bidirectional(k.GRU(4, return_sequences=True), merge_mode=mode)
        y = layer(tf.constant(STEPS))
        a, b = k.GRU(4, return_sequences=True), k.GRU(4, return_sequences=True)
        p, q = a(tf.constant(STEPS)), b(tf.constant(STEPS[:, ::-1].copy()))
        weights = layer.get_weights()
        a.set_weights(weights[:3])
        b.set_weights(weights[3:])
        ours, forward, backward = value_of([y, p, q])
        backward = backward[:, ::-1]
        wanted = {"sum": forward + backward, "mul": forward * backward, "ave": (forward + backward) / 2,
                  "concat": np.concatenate([forward, backward], -1), None: [forward, backward]}[mode]
        np.testing.assert_allclose(ours, wanted, rtol=1e-4, atol=1e-6)
        again = k.Bidirectional.from_config(layer.get_config())
        assert again.get_config() == layer.get_config()


def test_a_layer_for_each_step():
    k = tf.keras.layers
    with tf.Graph().as_default(), tf.Session():
        layer, inner = k.TimeDistributed(k.Conv2D(3, 2)), k.Conv2D(3, 2)
        x = drawn(2, 3, 4, 4, 2)
        y, z = layer(tf.constant(x)), inner(tf.constant(x.reshape(6, 4, 4, 2)))
        inner.set_weights(layer.get_weights())
        assert [w.name for w in layer.weights] == ["time_distributed/kernel:0", "time_distributed/bias:0"]
        ours, wanted = value_of([y, z])
        np.testing.assert_allclose(ours, wanted.reshape(ours.shape), rtol=1e-4, atol=1e-6)
        assert layer.compute_output_shape([2, 3, 4, 4, 2]).as_list() == [2, 3, 3, 3, 3]


def test_a_function_as_a_layer_comes_back_from_its_config():
    factor = 3.0
    with tf.Graph().as_default(), tf.Session():
        layer = tf.keras.layers.Lambda(lambda x, power=2: factor * x ** power, arguments={"power": 3})
        again = tf.keras.layers.Lambda.from_config(layer.get_config())
        assert value_of([layer(tf.constant(2.0)), again(tf.constant(2.0))]) == [24.0, 24.0]


def test_masks_go_through_wrappers():
    k = tf.keras.layers
    x = np.array([[1, 2, 0], [3, 0, 0]], np.int32)
    with tf.Graph().as_default(), tf.Session():
        embedded = k.Embedding(5, 4, mask_zero=True)(tf.constant(x))
        steps = k.TimeDistributed(k.Dense(3))(embedded)
        assert value_of(steps._keras_mask).tolist() == (x != 0).tolist()
        layer = k.Bidirectional(k.LSTM(2))
        y = layer(steps)
        forward = layer.forward_layer(steps[1:, :1])
        np.testing.assert_allclose(*(each[1, :2] if len(each) > 1 else each[0] for each in value_of([y, forward])),
                                   rtol=1e-5, atol=1e-6)


def test_columns_of_features_are_trained():
    fc = tf.feature_column
    columns = [fc.numeric_column("age"), fc.embedding_column(fc.categorical_column_with_identity("kind", 3), 2)]
    with tf.Graph().as_default(), tf.Session():
        layer = tf.keras.layers.DenseFeatures(columns)
        features = {"age": tf.constant([[3.0], [4.0]]), "kind": tf.constant([[0], [2]])}
        y, again = layer(features), layer(features)
        assert [w.name for w in layer.trainable_weights] == ["dense_features/kind_embedding/embedding_weights:0"]
        table = np.arange(6.0).reshape(3, 2)
        layer.set_weights([table])
        ours, same = value_of([y, again])
        assert ours.tolist() == same.tolist() == [[3, 0, 1], [4, 4, 5]]
        assert layer.compute_output_shape(None).as_list() == [None, 3]


def test_gates_are_hard_sigmoids_by_default():
    with tf.Graph().as_default(), tf.Session():
        layer = tf.keras.layers.LSTM(2)
        y = layer(tf.constant(STEPS))
        kernel, recurrent, bias = value_of(layer.weights)
        assert bias.tolist() == [0, 0, 1, 1, 0, 0, 0, 0]
        h = c = np.zeros((3, 2), np.float32)
        for t in range(4):
            i, f, g, o = np.split(STEPS[:, t] @ kernel + h @ recurrent + bias, 4, 1)
            gate = lambda x: np.clip(0.2 * x + 0.5, 0, 1)           # noqa: E731
            c = gate(f) * c + gate(i) * np.tanh(g)
            h = gate(o) * np.tanh(c)
        np.testing.assert_allclose(value_of(y), h, rtol=1e-4, atol=1e-6)


def test_the_reset_gate_may_come_after_the_product():
    with tf.Graph().as_default(), tf.Session():
        layer = tf.keras.layers.GRU(2, recurrent_activation="sigmoid", reset_after=True)
        y = layer(tf.constant(STEPS))
        kernel, recurrent, bias = weights = [drawn(*w.shape.as_list()) for w in layer.weights]
        layer.set_weights(weights)
        h = np.zeros((3, 2), np.float32)
        for t in range(4):
            xz, xr, xh = np.split(STEPS[:, t] @ kernel + bias[0], 3, 1)
            hz, hr, hh = np.split(h @ recurrent + bias[1], 3, 1)
            z, r = 1 / (1 + np.exp(-xz - hz)), 1 / (1 + np.exp(-xr - hr))
            h = z * h + (1 - z) * np.tanh(xh + r * hh)
        np.testing.assert_allclose(value_of(y), h, rtol=1e-4, atol=1e-6)


def test_dropout_follows_the_learning_phase():
    with tf.Graph().as_default(), tf.Session() as session:
        phase = tf.keras.backend.learning_phase()
        x = tf.ones([50, 40])
        y = tf.keras.layers.Dropout(0.5)(x)
        assert (session.run(y) == 1).all() and set(np.unique(session.run(y, {phase: True}))) == {0, 2}
        noisy = tf.keras.layers.LSTM(4, dropout=0.5, recurrent_dropout=0.5)(tf.constant(STEPS))
        tf.keras.backend.get_session()
        runs = [session.run(noisy, {phase: value}) for value in (False, False, True, True)]
        np.testing.assert_allclose(runs[0], runs[1], rtol=1e-5, atol=1e-6)
        assert not np.allclose(runs[2], runs[3])


def test_batch_normalization_learns_averages_by_its_updates():
    with tf.Graph().as_default(), tf.Session():
        layer = tf.keras.layers.BatchNormalization(momentum=0.5, fused=False)
        x = drawn(8, 3)
        layer(tf.constant(x), training=True)
        value_of(layer.updates)
        np.testing.assert_allclose(value_of(layer.moving_mean), 0.5 * x.mean(0), rtol=1e-4, atol=1e-6)
        np.testing.assert_allclose(value_of(layer.moving_variance), 0.5 + 0.5 * x.var(0), rtol=1e-4)


@pytest.mark.parametrize("make, message", [
    (lambda k: k.Dense(2)(tf.placeholder(tf.float32, [None, None])), "should be defined"),
    (lambda k: k.Conv2D(2, 3)(tf.ones([1, 2])), "expected ndim=4, found ndim=2"),
    (lambda k: k.Conv2D(2, 3, padding="full"), "padding"), (lambda k: k.Reshape((7, -1))(tf.ones([2, 6])), "reshape"),
    (lambda k: k.Permute((0, 1)), "permutation"), (lambda k: k.Add()(tf.ones([2, 2])), "at least 2 inputs"),
    (lambda k: k.Add()([tf.ones([2, 2]), tf.ones([2, 3])]), "broadcast"),
    (lambda k: k.Concatenate()([tf.ones([2, 2]), tf.ones([3, 2])]), "matching shapes"),
    (lambda k: k.Dot(1)([tf.ones([2, 2]), tf.ones([2, 3])]), "2 != 3"),
    (lambda k: k.UpSampling2D(interpolation="cubic"), "cubic"), (lambda k: k.ReLU(max_value=-1), "negative value"),
    (lambda k: k.LSTM(2, unroll=True)(tf.placeholder(tf.float32, [1, None, 2])), "unroll"),
    (lambda k: k.RNN(3), "call"), (lambda k: k.LocallyConnected1D(2, 3, padding="same"), "valid"),
    (lambda k: k.LSTM(2, stateful=True)(tf.placeholder(tf.float32, [None, 3, 2])), "batch size")])
def test_wrong_arguments_are_refused(make, message):
    with tf.Graph().as_default(), pytest.raises(ValueError, match=message):
        make(tf.keras.layers)
