"""tf.config: sessions that are made without a ConfigProto take its settings; others don't."""
from __future__ import annotations

import numpy as np
import pytest

import tfnb as tf
from tfnb.core.options import options
from tfnb.runtime import process_config


@pytest.fixture(autouse=True)
def fresh(monkeypatch):
    monkeypatch.setattr(process_config, "_chosen", process_config._Chosen())
    monkeypatch.setattr(options, "nan_check", options.nan_check)
    with tf.Graph().as_default():
        yield


def test_sessions_take_the_settings(capfd):
    with tf.device("/device:GPU:7"):
        x = tf.constant(2.0) * 3
    with tf.Session() as sess, pytest.raises(tf.errors.InvalidArgumentError, match="available devices"):
        sess.run(x)
    tf.config.set_soft_device_placement(True)
    tf.debugging.set_log_device_placement(True)
    with tf.Session() as sess:
        assert sess.run(x) == 6 and "CPU:0" in capfd.readouterr().err
    with tf.Session(config=tf.ConfigProto()) as sess, pytest.raises(tf.errors.InvalidArgumentError):
        sess.run(x)


def test_virtual_cpus_are_devices_of_sessions():
    cpu, = tf.config.list_physical_devices("CPU")
    virtual = tf.config.experimental.VirtualDeviceConfiguration
    tf.config.experimental.set_virtual_device_configuration(cpu, [virtual(), virtual()])
    assert tf.config.experimental.get_virtual_device_configuration(cpu) == [virtual(), virtual()]
    with tf.device("/cpu:1"):
        x = tf.constant(1.0) + 1
    with tf.Session() as sess:
        assert sess.run(x) == 2
        assert [d.name.rpartition("/")[2] for d in sess.list_devices()][:2] == ["device:CPU:0", "device:CPU:1"]
    for call, match in ((lambda: tf.config.experimental.set_virtual_device_configuration(cpu, [virtual(10)]), "limit"),
                        (lambda: tf.config.set_visible_devices([]), "CPU must be visible"),
                        (lambda: tf.config.set_visible_devices([cpu], "GPU"), "is no GPU"),
                        (lambda: tf.config.set_visible_devices(["cpu"]), "Unrecognized device: 'cpu'")):
        with pytest.raises(ValueError, match=match):
            call()


def test_numerics_are_checked_from_then_on():
    x = tf.placeholder(tf.float32)
    y = tf.log(x) * 0
    with tf.Session() as sess:
        assert np.isnan(sess.run(y, {x: 0}))
        tf.debugging.enable_check_numerics()
        with pytest.raises(tf.errors.InvalidArgumentError, match="Log"):
            sess.run(y, {x: 0})
        tf.debugging.disable_check_numerics()
        assert np.isnan(sess.run(y, {x: 0}))


def test_stubs_are_put_back():
    class Base:
        kept = 1

        @staticmethod
        def one():
            return 1

    class Inner(Base):
        pass
    stubs = tf.test.StubOutForTesting()
    stubs.SmartSet(Inner, "one", staticmethod(lambda: 2))
    stubs.Set(Base, "kept", 5)
    assert Inner.one() == 2 and Base().kept == 5
    stubs.CleanUp()
    assert Inner.one() == Base().one() == 1 and Base.kept == 1 and "one" not in vars(Inner)
    with pytest.raises(AttributeError):
        stubs.Set(Base, "absent", 1)


def test_specifications_of_arrays():
    array = tf.TensorArray(tf.float32, 2, dynamic_size=True, element_shape=[3])
    spec = tf.type_spec_from_value(array)
    assert spec == tf.TensorArraySpec([3], dynamic_size=True) != tf.TensorArraySpec([3])
    assert tf.TensorArraySpec([None], dynamic_size=True).is_compatible_with(array)
    assert not tf.TensorArraySpec([4], dynamic_size=True).is_compatible_with(array)
