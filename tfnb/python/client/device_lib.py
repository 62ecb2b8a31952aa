"""The devices of this process: `from tfnb.python.client import device_lib`."""
# ruff: noqa: F401
from tfnb.runtime.devices import list_local_devices
