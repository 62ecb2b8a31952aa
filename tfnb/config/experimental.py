"""Devices of this machine, by their names of TensorFlow 1.15: `tf.config.experimental`."""
# ruff: noqa: F401
from tfnb.core.absent import explain as _explain
from tfnb.runtime.devices import get_memory_growth, list_physical_devices, set_memory_growth

_explain(__name__)
