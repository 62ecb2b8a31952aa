"""Devices of this machine: `tf.config`."""
# ruff: noqa: F401, I001
from tfnb.config import experimental, threading
from tfnb.core.absent import explain as _explain
from tfnb.runtime.devices import PhysicalDevice, list_physical_devices
from tfnb.runtime.process_config import (
    LogicalDevice, VirtualDeviceConfiguration as LogicalDeviceConfiguration, get_soft_device_placement,
    get_virtual_device_configuration as get_logical_device_configuration, get_visible_devices, list_logical_devices,
    set_soft_device_placement, set_virtual_device_configuration as set_logical_device_configuration,
    set_visible_devices,
)

_explain(__name__)
