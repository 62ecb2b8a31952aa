"""tf.train.Checkpoint: files that TensorFlow reads and writes, by the objects that own variables."""
from __future__ import annotations

import numpy as np
import pytest

import tfnb as tf

MODEL = '''
def build():
    w = tf.get_variable("w", [2], initializer=tf.zeros_initializer())
    b = tf.get_variable("b", initializer=1.0)
    optimizer = tf.train.AdamOptimizer(0.1)
    train = optimizer.minimize(tf.reduce_sum(tf.square(w - 3.0)) + b * b)
    module = tf.Module()
    module.v, module.items, module.d = tf.Variable(2.0), [tf.Variable(3.0)], {"k/.": tf.Variable(4.0)}
    return tf.train.Checkpoint(w=w, b=b, optimizer=optimizer, module=module, inner=tf.train.Checkpoint(w=w)), train
def values(session, checkpoint):
    variables = sorted(tf.global_variables(), key=lambda v: v.name)
    return [(v.op.name, np.asarray(session.run(v)).tolist()) for v in variables if "Variable" not in v.name]
def saved(path):
    with tf.Graph().as_default(), tf.Session() as session:
        checkpoint, train = build()
        session.run(tf.global_variables_initializer())
        for _ in range(3):
            session.run(train)
        with session.as_default():
            manager = tf.train.CheckpointManager(checkpoint, path, max_to_keep=2)
            kept = [manager.save() for _ in range(3)]
        assert manager.checkpoints == kept[1:] and manager.latest_checkpoint == kept[-1]
        return values(session, checkpoint)
def restored(path):
    with tf.Graph().as_default(), tf.Session() as session:
        checkpoint, train = build()
        manager = tf.train.CheckpointManager(checkpoint, path, max_to_keep=2)
        checkpoint.restore(manager.latest_checkpoint).assert_consumed().run_restore_ops(session)
        return values(session, checkpoint), len(manager.checkpoints), tf.train.list_variables(path)
'''


def test_checkpoints_pass_to_tensorflow_and_back(oracle, tmp_path):
    scope = {"tf": tf, "np": np}
    exec(MODEL, scope)
    ours, theirs = str(tmp_path / "ours"), str(tmp_path / "theirs")
    mine = scope["saved"](ours)
    # what each writes is what the other one reads
    there = oracle(f"{MODEL}\nresult = repr((saved({theirs!r}), restored({ours!r})))")
    written, read = eval(there)
    assert [name for name, _ in mine] == [name for name, _ in written]
    assert repr(scope["restored"](ours)) == repr(read)
    values, count, names = scope["restored"](theirs)
    assert repr(values) == repr(written) and count == 2
    assert names == read[2] and "module/d/k.S../.ATTRIBUTES/VARIABLE_VALUE" in dict(names)


def test_a_checkpoint_that_does_not_fit_says_so(tmp_path):
    with tf.Graph().as_default(), tf.Session() as session:
        w, q = tf.get_variable("w", [2]), tf.get_variable("q", [3], initializer=tf.ones_initializer())
        session.run(w.initializer)
        path = tf.train.Checkpoint(w=w).save(str(tmp_path / "c"), session)
        status = tf.train.Checkpoint(w=w, q=q).restore(path)
        assert status.assert_nontrivial_match() is status.expect_partial() is status
        with pytest.raises(AssertionError, match=r"q:0"):
            status.assert_consumed()
        status.initialize_or_restore(session)
        assert session.run(q).tolist() == [1, 1, 1]
        with pytest.raises(AssertionError, match=r"no variable in the program.*w/\.ATTRIBUTES"):
            tf.train.Checkpoint().restore(path).assert_consumed()
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"q:0.*expected shape \(3,\)"):
            tf.train.Checkpoint(w=q).restore(path).run_restore_ops(session)
        with pytest.raises(tf.errors.NotFoundError):
            tf.train.Checkpoint(w=w).restore(str(tmp_path / "nope"))
        with pytest.raises(AssertionError, match="nothing is being restored"):
            tf.train.Checkpoint(w=w).restore(None).run_restore_ops(session)
        with pytest.raises(ValueError, match="got 3 for 'w'"):
            tf.train.Checkpoint(w=3)
    with pytest.raises(ValueError, match="expected a session"):
        tf.train.Checkpoint(w=w).save(str(tmp_path / "c"))


def test_slots_that_are_made_after_the_restore_get_their_values(tmp_path):
    with tf.Graph().as_default(), tf.Session() as session:
        v, optimizer = tf.get_variable("v", initializer=1.0), tf.train.MomentumOptimizer(0.1, 0.9)
        train, checkpoint = optimizer.minimize(v * v), tf.train.Checkpoint(v=v, optimizer=optimizer)
        session.run(tf.global_variables_initializer())
        session.run(train)
        path = checkpoint.save(str(tmp_path / "c"), session)
    with tf.Graph().as_default(), tf.Session() as session:
        v, optimizer = tf.get_variable("v", initializer=5.0), tf.train.MomentumOptimizer(0.1, 0.9)
        status = tf.train.Checkpoint(v=v, optimizer=optimizer).restore(path)
        optimizer.minimize(v * v)
        status.assert_consumed().run_restore_ops(session)
        np.testing.assert_allclose(session.run([v, optimizer.get_slot(v, "momentum")]), [0.8, 2.0], rtol=1e-6)


def test_the_checkpoint_of_a_saver_is_read_by_names(tmp_path):
    with tf.Graph().as_default(), tf.Session() as session:
        v = tf.get_variable("v", initializer=7.0)
        session.run(v.initializer)
        path = tf.train.Saver().save(session, str(tmp_path / "model"))
        v.load(0.0, session)
        tf.train.Checkpoint(anything=v).restore(path).assert_consumed().run_restore_ops(session)
        assert session.run(v) == 7


def test_models_of_keras_are_kept_by_their_layers(tmp_path):
    with tf.Graph().as_default(), tf.Session() as session:
        tf.keras.backend.set_session(session)
        model = tf.keras.Sequential([tf.keras.layers.Dense(2, input_shape=(3,))])
        session.run(tf.global_variables_initializer())
        kernel = model.get_weights()[0]
        path = tf.train.Checkpoint(model=model).save(str(tmp_path / "c"), session)
        assert "model/layer_with_weights-0/kernel/.ATTRIBUTES/VARIABLE_VALUE" in dict(tf.train.list_variables(path))
        session.run(model.layers[0].kernel.initializer)
        tf.train.Checkpoint(model=model).restore(path).run_restore_ops(session)
        np.testing.assert_array_equal(model.get_weights()[0], kernel)
    tf.keras.backend.clear_session()


@pytest.mark.parametrize("data", [b"\x0a\xff\x01", b"\x08\x01", b"\x0a\x05\x0a\x03\x0a\x01x", b"\xff" * 200_000],
                         ids=["ends", "number for node", "bytes for number", "endless number"])
def test_a_damaged_object_graph_is_a_data_loss(tmp_path, data):
    with tf.Graph().as_default(), tf.Session() as session:
        v = tf.get_variable("v", initializer=7.0)
        path = str(tmp_path / "c")
        session.run(tf.raw_ops.SaveV2(prefix=path, tensor_names=["_CHECKPOINTABLE_OBJECT_GRAPH"],
                                      shape_and_slices=[""], tensors=[data]))
        with pytest.raises(tf.errors.DataLossError, match="damaged"):
            tf.train.Checkpoint(v=v).restore(path)
