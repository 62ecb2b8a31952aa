"""Devices of this machine: `tf.config`."""
# ruff: noqa: F401
from tfnb.config import experimental
from tfnb.core.absent import explain as _explain
from tfnb.runtime.devices import list_physical_devices

_explain(__name__)
