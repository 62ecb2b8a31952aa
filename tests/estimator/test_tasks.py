"""The place of a process in the cluster that TF_CONFIG describes."""
from __future__ import annotations

import json
import threading

import numpy as np
import pytest

import tfnb as tf

CLUSTER = {"chief": ["a:1"], "ps": ["b:1", "b:2"], "worker": ["c:1", "c:2"]}


def config(monkeypatch, cluster=CLUSTER, **task):
    monkeypatch.setenv("TF_CONFIG", json.dumps({"cluster": cluster, "task": task}))
    return tf.estimator.RunConfig()


@pytest.mark.parametrize("kind, index, chief, number, target", [
    ("chief", 0, True, 0, "grpc://a:1"), ("worker", 1, False, 2, "grpc://c:2"), ("ps", 0, False, 3, "grpc://b:1")])
def test_tasks_of_a_cluster(monkeypatch, kind, index, chief, number, target):
    found = config(monkeypatch, type=kind, index=index)
    assert (found.task_type, found.task_id, found.is_chief, found.master) == (kind, index, chief, target)
    assert (found.num_ps_replicas, found.num_worker_replicas, found.global_id_in_cluster) == (2, 3, number)
    assert found.cluster_spec == tf.train.ClusterSpec(CLUSTER) and found.evaluation_master == ""


def test_one_process_and_the_evaluator(monkeypatch):
    for cluster, task in (({}, {}), ({"chief": ["a:1"]}, {"type": "chief", "index": 0})):
        found = config(monkeypatch, cluster, **task)
        assert (found.master, found.is_chief, found.num_worker_replicas, found.num_ps_replicas) == ("", True, 1, 0)
    found = config(monkeypatch, type="evaluator", index=0)
    assert (found.master, found.is_chief, found.num_worker_replicas, found.task_type) == ("", False, 0, "evaluator")


@pytest.mark.parametrize("cluster, task, match", [
    ({"worker": ["a:1", "b:1"]}, {"type": "worker", "index": 0}, "must have one \"chief\""),
    ({**CLUSTER, "chief": ["a:1", "a:2"]}, {"type": "chief", "index": 0}, "only one \"chief\""),
    (CLUSTER, {"type": "worker"}, "type and index"), (CLUSTER, {"type": "worker", "index": 7}, "not in its cluster"),
    (CLUSTER, {"type": "boss", "index": 0}, "not in its cluster"),
    ({}, {"type": "boss", "index": 0}, "must be one of")])
def test_what_does_not_fit(monkeypatch, cluster, task, match):
    with pytest.raises(ValueError, match=match):
        config(monkeypatch, cluster, **task)


def test_an_evaluator_follows_checkpoints(monkeypatch, tmp_path):
    def model_fn(features, labels, mode):
        w = tf.get_variable("w", [], initializer=tf.zeros_initializer())
        loss = tf.losses.mean_squared_error(labels, w * features["x"])
        step = tf.train.get_global_step()
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=tf.train.GradientDescentOptimizer(0.1).minimize(
            loss, global_step=step))

    x = np.array([1.0, 2.0], np.float32)
    input_fn = tf.estimator.inputs.numpy_input_fn({"x": x}, 3 * x, 2, num_epochs=None, shuffle=False)
    training = tf.estimator.TrainSpec(input_fn, max_steps=40)
    evaluation = tf.estimator.EvalSpec(input_fn, steps=1, start_delay_secs=0, throttle_secs=0)
    config(monkeypatch, type="evaluator", index=0)
    evaluator = tf.estimator.Estimator(model_fn, str(tmp_path))
    found = []
    thread = threading.Thread(target=lambda: found.append(
        tf.estimator.train_and_evaluate(evaluator, training, evaluation)))
    thread.start()
    monkeypatch.delenv("TF_CONFIG")
    tf.estimator.Estimator(model_fn, str(tmp_path)).train(input_fn, max_steps=40)
    thread.join()
    assert found[0][0]["global_step"] == 40 and found[0][0]["loss"] < 0.01
