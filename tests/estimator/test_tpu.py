"""tf.contrib.tpu with use_tpu=False: a program as BERT's is, on the CPU."""
from __future__ import annotations

import numpy as np
import pytest

import tfnb as tf

SIZES = {"train_batch_size": 16, "eval_batch_size": 4, "predict_batch_size": 2}


def config(folder, **kwargs):
    return tf.contrib.tpu.RunConfig(
        cluster=None, master=None, model_dir=str(folder), save_checkpoints_steps=1000, tf_random_seed=1,
        tpu_config=tf.contrib.tpu.TPUConfig(
            iterations_per_loop=10, num_shards=8,
            per_host_input_for_training=tf.contrib.tpu.InputPipelineConfig.PER_HOST_V2), **kwargs)


def input_fn_of(seen):
    def input_fn(params):
        seen.append(params["batch_size"])
        x = np.random.RandomState(3).normal(size=(32, 2)).astype(np.float32)
        data = tf.data.Dataset.from_tensor_slices(({"x": x}, (x[:, 0] > x[:, 1]).astype(np.int32)))
        return data.batch(params["batch_size"], drop_remainder=True)
    return input_fn


def model_fn_of(seen, folder):
    def metric_fn(labels, logits):
        return {"accuracy": tf.metrics.accuracy(labels, tf.argmax(logits, 1))}

    def host_call(step, loss):
        with tf.contrib.summary.create_file_writer(str(folder)).as_default(), \
                tf.contrib.summary.always_record_summaries():
            tf.contrib.summary.scalar("loss", loss[0], step=step[0])
            return tf.contrib.summary.all_summary_ops()

    def model_fn(features, labels, mode, params):
        seen.append((mode, params.get("batch_size"), params["use_tpu"]))
        logits = tf.layers.dense(features["x"], 2, name="dense")
        if mode == tf.estimator.ModeKeys.PREDICT:
            return tf.contrib.tpu.TPUEstimatorSpec(mode, predictions={"class": tf.argmax(logits, 1)})
        loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
        if mode == tf.estimator.ModeKeys.EVAL:
            return tf.contrib.tpu.TPUEstimatorSpec(mode, loss=loss, eval_metrics=(
                metric_fn, {"labels": labels, "logits": logits}))
        step = tf.train.get_global_step()
        train = tf.train.AdamOptimizer(params["rate"]).minimize(loss, step)
        call = (host_call, [tf.reshape(step, [1]), tf.reshape(loss, [1])])
        return tf.contrib.tpu.TPUEstimatorSpec(mode, loss=loss, train_op=train, host_call=call)
    return model_fn


def test_a_model_for_tpus_trains_here(tmp_path):
    seen, sizes = [], []
    input_fn = input_fn_of(sizes)
    estimator = tf.contrib.tpu.TPUEstimator(
        use_tpu=False, model_fn=model_fn_of(seen, tmp_path / "host"), config=config(tmp_path / "model"),
        params={"rate": 0.1}, **SIZES)
    for _ in range(2):
        estimator.train(lambda params: input_fn(params).repeat(), steps=20)
    found = estimator.evaluate(input_fn, steps=8)
    assert found["accuracy"] > 0.85 and found["global_step"] == 40
    assert len(list(estimator.predict(input_fn))) == 32
    assert seen[0] == ("train", 16, False) and seen[-2:] == [("eval", 4, False), ("infer", 2, False)]
    assert (sizes[0], sizes[-2], sizes[-1]) == (16, 4, 2) and estimator.params == {"rate": 0.1}
    steps = [event.step for path in sorted((tmp_path / "host").iterdir())
             for event in tf.train.summary_iterator(path) if event.summary.value]
    assert len(steps) == 40 and set(steps) <= set(range(41))


def test_hyperparameters_get_the_batch_size(tmp_path):
    params = tf.contrib.training.HParams(rate=0.5)
    estimator = tf.estimator.tpu.TPUEstimator(lambda features, params: None, config=config(tmp_path), params=params,
                                              use_tpu=False, train_batch_size=3)
    assert estimator._params_of(lambda params: None, "input_fn", "train").batch_size == 3
    assert "batch_size" not in params


@pytest.mark.parametrize(("change", "error", "told"), [
    ({"use_tpu": True}, RuntimeError, "use_tpu=False"), ({"config": tf.estimator.RunConfig()}, ValueError, "RunConfig"),
    ({"params": {"batch_size": 1}}, ValueError, "reserved")])
def test_what_a_tpu_estimator_does_not_take(tmp_path, change, error, told):
    given = {"config": config(tmp_path), "use_tpu": False, **change}
    with pytest.raises(error, match=told):
        tf.contrib.tpu.TPUEstimator(lambda features, labels, mode, params: None, **given)


def test_input_functions_take_params(tmp_path):
    estimator = tf.contrib.tpu.TPUEstimator(lambda features, params: None, config=config(tmp_path), use_tpu=False)
    with pytest.raises(ValueError, match="does not include params argument"):
        estimator.train(lambda: None, steps=1)


def test_pairs_are_checked():
    spec = tf.contrib.tpu.TPUEstimatorSpec
    for pair, error in ((3, ValueError), ((3, []), TypeError), ((lambda a: None, [1, 2]), ValueError),
                        ((lambda a: None, 5), ValueError)):
        with pytest.raises(error, match="eval_metrics"):
            spec("eval", loss=tf.constant(1.0), eval_metrics=pair)
    with pytest.raises(ValueError, match="iterations_per_loop must be at least 1"):
        tf.contrib.tpu.TPUConfig(iterations_per_loop=0)
    with pytest.raises(ValueError, match="no TPU"):
        tf.contrib.tpu.RunConfig(cluster=object())
