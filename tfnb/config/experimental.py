"""Devices of this machine, by their names of TensorFlow 1.15: `tf.config.experimental`."""
# ruff: noqa: F401, I001
from tfnb.core.absent import explain as _explain
from tfnb.runtime.devices import (
    enable_tensor_float_32_execution, get_memory_growth, list_physical_devices, set_memory_growth,
    tensor_float_32_execution_enabled,
)
from tfnb.runtime.process_config import (
    VirtualDeviceConfiguration, get_virtual_device_configuration, get_visible_devices, list_logical_devices,
    set_virtual_device_configuration, set_visible_devices,
)

_explain(__name__)
