"""Devices of this machine, by their names of TensorFlow 1.15: `tf.config.experimental`."""
# ruff: noqa: F401
from tfnb.runtime.devices import get_memory_growth, list_physical_devices, set_memory_growth
