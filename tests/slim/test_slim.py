"""tf.contrib.slim: the training loop and evaluation, and the networks by numbers that are published of them."""
from __future__ import annotations

import os

import numpy as np
import pytest

import tfnb as tf

slim = tf.contrib.slim
nets = slim.nets


def built(network, scope=None, **options):
    """(Output, end points, trained numbers, numbers of model variables) of a network in a graph of its own."""
    size = options.pop("size", None) or network.default_image_size
    with tf.Graph().as_default(), slim.arg_scope(scope if scope is not None else {}):
        out, points = network(tf.placeholder(tf.float32, [None, size, size, 3]), **options)
        sizes = [slim.model_analyzer.analyze_vars(found)[0] for found in (
            tf.trainable_variables(), slim.get_model_variables())]
        return out, points, *sizes


# Trained numbers: AlexNet by arithmetic (11 * 11 * 3 * 64 + 64 + ...), VGG of 11, 16 and 19 layers and ResNet v1 as
# torchvision states them, ResNet v2 as Keras' applications do.
@pytest.mark.parametrize("family, name, count", [
    ("alexnet", "alexnet_v2", 50_303_912), ("overfeat", "overfeat", 145_704_424), ("vgg", "vgg_a", 132_863_336),
    ("vgg", "vgg_16", 138_357_544), ("vgg", "vgg_19", 143_667_240)])
def test_plain_networks(family, name, count):
    module = getattr(nets, family)
    out, points, trained, _ = built(getattr(module, name), getattr(module, f"{name.partition('_')[0]}_arg_scope" if
                                    family != "alexnet" else "alexnet_v2_arg_scope")())
    assert trained == count and out.shape.as_list() == [None, 1000] and out.op.name == f"{name}/fc8/squeezed"
    assert points[f"{name}/fc8"] is out and points[f"{name}/pool5"].shape.ndims == 4
    assert built(getattr(module, name), num_classes=5, spatial_squeeze=False)[0].shape.as_list() == [None, 1, 1, 5]


@pytest.mark.parametrize("name, count", [("resnet_v1_50", 25_557_032), ("resnet_v1_101", 44_549_160),
                                         ("resnet_v2_50", 25_568_360)])
def test_residual_networks(name, count):
    version = name[:9]
    out, points, trained, _ = built(getattr(getattr(nets, version), name), nets.resnet_utils.resnet_arg_scope(),
                                    num_classes=1000)
    assert trained == count and out.shape.as_list() == [None, 1, 1, 1000] == points["predictions"].shape.as_list()
    assert [points[f"{name}/block{i}"].shape.as_list()[1:] for i in (1, 2, 3, 4)] == [
        [28, 28, 256], [14, 14, 512], [7, 7, 1024], [7, 7, 2048]]
    assert points[f"{name}/block1"] is points[f"{name}/block1/unit_3/bottleneck_{version[-2:]}"]
    assert points[f"{name}/block1/unit_1/bottleneck_{version[-2:]}/shortcut"].shape.as_list()[1:] == [56, 56, 256]


# Numbers of model variables, the moving averages with them, as the tests of slim state them.
@pytest.mark.parametrize("version, last, size, count", [
    (1, "Mixed_5c", [7, 7, 1024], 5_607_184), (2, "Mixed_5c", [7, 7, 1024], 10_173_112),
    (3, "Mixed_7c", [8, 8, 2048], 21_802_784)])
def test_inception(version, last, size, count):
    inception = nets.inception
    network = getattr(inception, f"inception_v{version}")
    scope = getattr(inception, f"inception_v{version}_arg_scope")()
    out, _, _, numbers = built(getattr(inception, f"inception_v{version}_base"), scope,
                               size=network.default_image_size)
    assert numbers == count and out.shape.as_list()[1:] == size and out.op.name.startswith(
        f"InceptionV{version}/{last}")
    out, points, _, _ = built(network, scope, num_classes=10, is_training=False)
    assert out.shape.as_list() == [None, 10] and out.op.name == f"InceptionV{version}/Logits/SpatialSqueeze"
    assert points["Logits"] is out and points["Predictions"].shape.as_list() == [None, 10]
    assert ("AuxLogits" in points) == (version == 3) and last in points


def test_inception_v4():
    """Weights and twice the betas (there are no gammas) are the 42,679,816 numbers that are published of it."""
    inception = nets.inception
    with tf.Graph().as_default(), slim.arg_scope(inception.inception_v4_arg_scope()):
        out, points = inception.inception_v4(tf.placeholder(tf.float32, [None, 299, 299, 3]), 1000, is_training=False)
        sizes = {v.op.name: int(np.prod(v.shape.as_list())) for v in tf.trainable_variables()}
    main = {name: size for name, size in sizes.items() if "AuxLogits" not in name}
    assert sum(main.values()) + sum(size for name, size in main.items() if name.endswith("beta")) == 42_679_816
    assert {"InceptionV4/Mixed_3a/Branch_1/Conv2d_0a_3x3/weights", "InceptionV4/Logits/Logits/weights",
            "InceptionV4/Mixed_7d/Branch_2/Conv2d_0e_3x1/BatchNorm/beta", "InceptionV4/AuxLogits/Aux_logits/weights",
            "InceptionV4/AuxLogits/Conv2d_2a/weights"} <= sizes.keys()
    assert [points[f"Mixed_{name}"].shape.as_list()[1:] for name in ("5a", "5e", "6h", "7d")] == [
        [35, 35, 384], [35, 35, 384], [17, 17, 1024], [8, 8, 1536]]
    assert out.shape.as_list() == [None, 1000] == points["AuxLogits"].shape.as_list()


def test_mobilenet():
    """The features have 3,217,920 numbers, as slim's tests state; with gammas 3,206,976 of them are trained."""
    module = nets.mobilenet_v1
    layers = [slim.conv2d, slim.separable_conv2d]
    with slim.arg_scope(layers, normalizer_fn=slim.batch_norm) as scope:
        out, points, _, count = built(module.mobilenet_v1_base, scope, size=224)
    assert count == 3_217_920 and out.shape.as_list() == [None, 7, 7, 1024] and len(points) == 27
    out, points, trained, _ = built(module.mobilenet_v1, module.mobilenet_v1_arg_scope(), num_classes=5)
    assert trained == 3_206_976 + 1024 * 5 + 5 and out.op.name == "MobilenetV1/Logits/SpatialSqueeze"
    assert {"AvgPool_1a", "Logits", "Predictions", "Conv2d_7_depthwise"} <= points.keys()
    out, points, _, _ = built(module.mobilenet_v1_base, size=224, output_stride=8, depth_multiplier=0.25)
    assert out.shape.as_list() == [None, 28, 28, 256]
    with pytest.raises(ValueError, match="as final_endpoint, got 'Conv2d_99'"):
        built(module.mobilenet_v1_base, size=64, final_endpoint="Conv2d_99")


def test_mobilenet_v2():
    """Keras' application states 3,504,872 trained numbers for 1,000 classes."""
    module = nets.mobilenet_v2
    with tf.Graph().as_default(), slim.arg_scope(module.training_scope()):
        out, points = module.mobilenet(tf.placeholder(tf.float32, [None, 224, 224, 3]), 1000)
        sizes = {v.op.name: int(np.prod(v.shape.as_list())) for v in tf.trainable_variables()}
        dropped = [op for op in out.graph.get_operations() if op.name.startswith("MobilenetV2/Logits/Dropout")]
    assert sum(sizes.values()) == 3_504_872 and out.shape.as_list() == [None, 1000] and dropped
    assert {"MobilenetV2/Conv/weights", "MobilenetV2/expanded_conv/depthwise/depthwise_weights",
            "MobilenetV2/expanded_conv_1/expand/BatchNorm/gamma", "MobilenetV2/expanded_conv_16/project/weights",
            "MobilenetV2/Conv_1/weights", "MobilenetV2/Logits/Conv2d_1c_1x1/biases"} <= sizes.keys()
    assert "MobilenetV2/expanded_conv/expand/weights" not in sizes
    assert [points[f"layer_{i}"].shape.as_list()[1:] for i in (1, 4, 7, 14, 19)] == [
        [112, 112, 32], [56, 56, 24], [28, 28, 32], [14, 14, 96], [7, 7, 1280]]
    out, points, _, _ = built(module.mobilenet_base, size=224, output_stride=16, depth_multiplier=0.35)
    assert out.shape.as_list() == [None, 14, 14, 1280] and points["layer_18"].shape.as_list()[3] == 112
    assert built(module.mobilenet_base, size=64, final_endpoint="layer_7")[0].shape.as_list() == [None, 8, 8, 32]
    with pytest.raises(ValueError, match="as final_endpoint, got 'layer_20'"):
        built(module.mobilenet_base, size=64, final_endpoint="layer_20")


@pytest.mark.skipif(not os.environ.get("TFNB_STRESS"), reason="3 s")
def test_inception_resnet_v2():
    """Keras' application, without a side branch, states 55,813,192 trained numbers for 1,000 classes."""
    module = nets.inception_resnet_v2
    with tf.Graph().as_default(), slim.arg_scope(module.inception_resnet_v2_arg_scope()):
        out, points = module.inception_resnet_v2(tf.placeholder(tf.float32, [None, 299, 299, 3]), 1000)
        sizes = {v.op.name: int(np.prod(v.shape.as_list())) for v in tf.trainable_variables()}
    assert sum(size for name, size in sizes.items() if "AuxLogits" not in name) == 55_813_192
    assert {"InceptionResnetV2/Repeat/block35_10/Branch_2/Conv2d_0c_3x3/weights",
            "InceptionResnetV2/Repeat_1/block17_20/Conv2d_1x1/biases", "InceptionResnetV2/AuxLogits/Logits/weights",
            "InceptionResnetV2/Repeat_2/block8_9/Branch_1/Conv2d_0b_1x3/BatchNorm/beta",
            "InceptionResnetV2/Block8/Branch_0/Conv2d_1x1/weights", "InceptionResnetV2/Logits/Logits/biases",
            "InceptionResnetV2/AuxLogits/Conv2d_2a_5x5/weights"} <= sizes.keys()
    assert [points[name].shape.as_list()[1:] for name in ("Mixed_5b", "Mixed_6a", "Mixed_7a", "Conv2d_7b_1x1")] == [
        [35, 35, 320], [17, 17, 1088], [8, 8, 2080], [8, 8, 1536]]
    assert out.shape.as_list() == [None, 1000] == points["AuxLogits"].shape.as_list()


@pytest.mark.parametrize("name, channels, count", [("lenet", 1, 3_274_634), ("cifarnet", 3, 1_756_426)])
def test_small_networks(name, channels, count):
    """Numbers by arithmetic: 5 * 5 * channels * 32 + 32..."""
    module = getattr(nets, name)
    network, size = getattr(module, name), getattr(module, name).default_image_size
    with tf.Graph().as_default(), slim.arg_scope(getattr(module, f"{name}_arg_scope")(0.1)):
        out, points = network(tf.zeros([2, size, size, channels]), is_training=True)
        assert out is points["Logits"] and points["Predictions"].shape.as_list() == [2, 10]
        assert slim.model_analyzer.analyze_vars(tf.trainable_variables())[0] == count
        assert len(tf.losses.get_regularization_losses()) == (4 if name == "lenet" else 2)
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            np.testing.assert_allclose(sess.run(points["Predictions"]).sum(1), 1, rtol=1e-5)
        assert network(tf.zeros([2, size, size, channels]), 0, scope="features")[0].shape.ndims == 2


def test_inception_v3_has_its_odd_names_and_widths():
    with tf.Graph().as_default():
        nets.inception.inception_v3(tf.zeros([1, 299, 299, 3]), 10, depth_multiplier=0.5)
        names = {v.op.name for v in tf.trainable_variables()}
        shape = slim.get_unique_variable("InceptionV3/Mixed_6b/Branch_1/Conv2d_0b_1x7/weights").shape.as_list()
    assert shape == [1, 7, 64, 64]
    assert {f"InceptionV3/{name}/weights" for name in (
        "Mixed_5c/Branch_1/Conv_1_0c_5x5", "Mixed_6a/Branch_0/Conv2d_1a_1x1", "Mixed_7b/Branch_1/Conv2d_0b_3x1",
        "Mixed_7c/Branch_2/Conv2d_0d_3x1", "AuxLogits/Conv2d_2a_5x5", "Logits/Conv2d_1c_1x1")} <= names
    with pytest.raises(ValueError, match="depth_multiplier greater than zero, got 0"):
        nets.inception.inception_v3(tf.zeros([1, 299, 299, 3]), depth_multiplier=0)
    with pytest.raises(ValueError, match="as final_endpoint, got 'Mixed_9z'"):
        nets.inception.inception_v2_base(tf.zeros([1, 224, 224, 3]), "Mixed_9z")


def blocks(module, name):
    block = getattr(module, f"{name}_block")
    return [block("block1", base_depth=1, num_units=2, stride=2), block("block2", base_depth=2, num_units=2, stride=2)]


@pytest.mark.parametrize("name", ["resnet_v1", "resnet_v2"])
def test_dense_features_are_the_features_between(name):
    # Rates in place of strides: every other pixel is that of the network with strides.
    module = getattr(nets, name)
    images = np.random.RandomState(0).rand(1, 33, 30, 3).astype(np.float32)
    with tf.Graph().as_default(), tf.Session() as sess, slim.arg_scope(nets.resnet_utils.resnet_arg_scope()):
        tf.set_random_seed(0)
        found = [getattr(module, name)(images, blocks(module, name), is_training=False, global_pool=False,
                                       output_stride=stride, reuse=stride == 4, scope="net")[0] for stride in (None, 4)]
        nominal, dense = found[0], nets.resnet_utils.subsample(found[1], 4)
        sess.run(tf.global_variables_initializer())
        np.testing.assert_allclose(*sess.run([dense, nominal]), rtol=1e-4, atol=1e-4)
        with pytest.raises(ValueError, match="output_stride.* got 32: they reach 4"):
            getattr(module, name)(images, blocks(module, name), output_stride=128, scope="other")


def test_conv2d_same_keeps_every_second_pixel():
    ramp = np.add.outer(np.arange(4.0), np.arange(4.0)).astype(np.float32)
    with tf.Graph().as_default(), tf.Session() as sess, \
            slim.arg_scope([slim.conv2d], activation_fn=None, weights_initializer=tf.ones_initializer()):
        x = ramp.reshape(1, 4, 4, 1)
        each = slim.conv2d(x, 1, 3, scope="c")
        some = nets.resnet_utils.conv2d_same(x, 1, 3, stride=2, scope="d")
        sess.run(tf.global_variables_initializer())
        each, some = sess.run([each, some])
    np.testing.assert_allclose(some, each[:, ::2, ::2])


def images(count=64):
    """Pictures of a bright left or right half, and which."""
    random = np.random.RandomState(0)
    labels = random.randint(0, 2, count)
    x = random.rand(count, 16, 16, 3).astype(np.float32)
    x[labels == 0, :, :8] += 1
    x[labels == 1, :, 8:] += 1
    return x, labels


def model(training, logits_of=2, scope="tiny"):
    x, labels = images()
    block = [nets.resnet_v1.resnet_v1_block("block1", base_depth=2, num_units=2, stride=2)]
    with slim.arg_scope(nets.resnet_utils.resnet_arg_scope(batch_norm_decay=0.8)):
        net, _ = nets.resnet_v1.resnet_v1(x, block, logits_of, is_training=training, include_root_block=False,
                                          global_pool=False, scope=scope)
    logits = slim.fully_connected(slim.flatten(net), 2, activation_fn=None, scope="out")
    return logits, labels


def test_a_small_resnet_is_trained_evaluated_and_restored(tmp_path):
    logs = str(tmp_path / "logs")
    with tf.Graph().as_default():
        tf.set_random_seed(1)
        logits, labels = model(True)
        tf.losses.sparse_softmax_cross_entropy(labels, logits)
        train_op = slim.learning.create_train_op(tf.losses.get_total_loss(), tf.train.AdamOptimizer(0.05),
                                                 clip_gradient_norm=5.0, gradient_multipliers={"out/biases": 2.0})
        seen = []

        def step(*arguments):
            seen.append(slim.learning.train_step(*arguments))
            return seen[-1]
        last = slim.learning.train(train_op, logs, step, number_of_steps=25, save_summaries_secs=0)
    path = tf.train.latest_checkpoint(logs)
    assert path.endswith("model.ckpt-25") and last < 0.5 * seen[0][0]
    with tf.Graph().as_default():
        slim.get_or_create_global_step()
        logits, labels = model(False)
        accuracy, update = slim.metrics.streaming_accuracy(tf.argmax(logits, 1), labels)
        tf.summary.scalar("accuracy", accuracy)
        found = slim.evaluation.evaluation_loop("", logs, str(tmp_path / "eval"), num_evals=2, eval_op=update,
                                                final_op=accuracy, max_number_of_evaluations=1)
        assert found >= 0.9
        assert tf.gfile.Glob(str(tmp_path / "eval" / "events*"))
    with tf.Graph().as_default(), tf.Session() as sess:                 # features for another task
        model(False)
        restore = slim.assign_from_checkpoint_fn(path, slim.get_variables_to_restore(exclude=["out"]))
        sess.run(tf.global_variables_initializer())
        restore(sess)
        name = "tiny/block1/unit_2/bottleneck_v1/conv2/BatchNorm/moving_mean"
        np.testing.assert_array_equal(sess.run(slim.get_unique_variable(name)), tf.train.load_variable(path, name))
        assert not sess.run(slim.get_unique_variable("out/biases")).any()


def test_train_starts_from_a_checkpoint_by_init_fn_and_takes_own_steps(tmp_path):
    seen = []
    with tf.Graph().as_default():
        v = tf.get_variable("v", initializer=4.0)
        with tf.Session() as sess:
            sess.run(v.initializer)
            path = tf.train.Saver().save(sess, str(tmp_path / "first"))
    with tf.Graph().as_default():
        v = tf.get_variable("v", initializer=0.0)
        train_op = slim.learning.create_train_op(v * v, tf.train.GradientDescentOptimizer(0.25))

        def step(sess, *arguments):
            loss, stop = slim.learning.train_step(sess, *arguments)
            seen.append(loss)
            return loss, stop or len(seen) == 3
        assert slim.learning.train(train_op, None, step, init_fn=slim.assign_from_checkpoint_fn(path, [v])) == 1.0
    assert seen == [16.0, 4.0, 1.0]


def test_train_ends_with_its_input():
    with tf.Graph().as_default():
        x = tf.train.input_producer([1.0, 2.0], shuffle=False, num_epochs=1).dequeue()
        v = tf.get_variable("v", initializer=0.0)
        train_op = slim.learning.create_train_op(tf.square(v - x), tf.train.GradientDescentOptimizer(0.25))
        assert slim.learning.train(train_op, None) == 2.25


@pytest.mark.parametrize("options, message", [
    ({"number_of_steps": 0}, "positive number_of_steps or None, got 0"), ({"saver": "it"}, "no saver where logdir"),
    ({"trace_every_n_steps": 5}, "no trace_every_n_steps where logdir"), ({"sync_optimizer": "it"}, "None as sync")])
def test_train_refuses(options, message):
    with tf.Graph().as_default(), pytest.raises(ValueError, match=message):
        slim.learning.train(tf.constant(1.0), None, **options)


def test_gradients_are_multiplied_sparse_ones_too():
    with tf.Graph().as_default(), tf.Session() as sess:
        v = tf.get_variable("v", initializer=[1.0, 2.0])
        gradient = tf.gradients(tf.gather(v, [1]), v)[0]
        (found, _), = slim.learning.multiply_gradients([(gradient, v)], {v: 3.0})
        assert isinstance(found, tf.IndexedSlices) and sess.run(found.values) == [3.0]
        for pairs, factors, message in (([], {"v": 1.0}, "grads_and_vars"), ([(gradient, v)], {}, "multipliers"),
                                        ([(None, v)], {"v": 1.0}, "got None for v")):
            with pytest.raises(ValueError, match=message):
                slim.learning.multiply_gradients(pairs, factors)


def test_traces_are_written(tmp_path):
    with tf.Graph().as_default():
        v = tf.get_variable("v", initializer=4.0)
        train_op = slim.learning.create_train_op(v * v, tf.train.GradientDescentOptimizer(0.25))
        slim.learning.train(train_op, str(tmp_path), number_of_steps=2, trace_every_n_steps=2)
    assert len(list(tmp_path.glob("tf_trace-*.json"))) == 1        # at step 0, and training ends at 2


def test_models_are_described(capsys):
    with tf.Graph().as_default():
        v = tf.get_variable("v", [2, 3], tf.float64)
        assert slim.model_analyzer.analyze_vars([v], print_info=True) == (6, 48)
        assert slim.model_analyzer.analyze_ops(tf.get_default_graph(), print_info=True) > 6
    printed = capsys.readouterr().out
    assert "v:0 (float64_ref 2x3) [6, bytes: 48]" in printed and "v -> (VariableV2 2x3) [6]" in printed
