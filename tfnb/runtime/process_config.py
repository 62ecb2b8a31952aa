"""Settings of this process: the defaults of sessions that are made without a ConfigProto (`tf.config`)."""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from tfnb.core.lazy import lazy_module
from tfnb.core.options import options
from tfnb.runtime.devices import PhysicalDevice, list_physical_devices

_config_pb2 = lazy_module("tfnb.proto.config_pb2")


@dataclass
class _Chosen:
    """Settings that the program made. cpus: number of virtual CPUs; hidden: types of invisible devices."""

    soft: bool = False
    log: bool = False
    intra: int = 0
    inter: int = 0
    cpus: int = 1
    hidden: set[str] = field(default_factory=set)


_chosen = _Chosen()


def session_config(given: Any) -> Any:
    """Return the ConfigProto of a new session: the given one, else one of the settings, or None where none was made."""
    if given is not None or _chosen == _Chosen():
        return given
    made = _config_pb2.ConfigProto(allow_soft_placement=_chosen.soft, log_device_placement=_chosen.log,
                                   intra_op_parallelism_threads=_chosen.intra,
                                   inter_op_parallelism_threads=_chosen.inter, device_count={"CPU": _chosen.cpus})
    for kind in _chosen.hidden:
        made.device_count[kind] = 0
    return made


class LogicalDevice(NamedTuple):
    """A device of a session, as ops name it. name: "/device:CPU:0"; device_type: "CPU" or "GPU".

    >>> tf.config.list_logical_devices("CPU")
    [LogicalDevice(name='/device:CPU:0', device_type='CPU')]
    """

    name: str
    device_type: str


class VirtualDeviceConfiguration(NamedTuple):
    """A virtual device. memory_limit: must be None, as CPUs have no limit.

    >>> tf.config.experimental.VirtualDeviceConfiguration().memory_limit is None
    True
    """

    memory_limit: float | None = None


def list_logical_devices(device_type: str | None = None) -> list[LogicalDevice]:
    """Return the devices of sessions: visible ones, virtual CPUs one by one. device_type: "CPU" or "GPU", for those.

    >>> len(tf.config.experimental.list_logical_devices("CPU"))
    1
    """
    return [LogicalDevice(f"/device:{each.device_type}:{i}", each.device_type)
            for each in get_visible_devices(device_type)
            for i in range(_chosen.cpus if each.device_type == "CPU" else 1)]


def get_visible_devices(device_type: str | None = None) -> list[PhysicalDevice]:
    """Return the devices that sessions may use. device_type: "CPU" or "GPU", for those alone.

    >>> tf.config.get_visible_devices("CPU")
    [PhysicalDevice(name='/physical_device:CPU:0', device_type='CPU')]
    """
    return [each for each in list_physical_devices(device_type) if each.device_type not in _chosen.hidden]


def set_visible_devices(devices: Any, device_type: str | None = None) -> None:
    """Let sessions that are made from now on, without a ConfigProto, use these devices alone.

    devices: of tf.config.list_physical_devices, or one of them. device_type: "CPU" or "GPU": the visible ones of that
    type; None: of all. Raises ValueError for another device, or if no CPU is left.

    >>> tf.config.set_visible_devices([], "GPU")
    >>> tf.config.get_visible_devices("GPU")
    []
    >>> tf.config.set_visible_devices(tf.config.list_physical_devices())
    """
    wanted = [devices] if isinstance(devices, PhysicalDevice) else list(devices)
    there = list_physical_devices()
    for each in wanted:
        if each not in there:
            raise ValueError(f"Unrecognized device: {each!r}: expected some of {there}")
        if device_type not in (None, each.device_type):
            raise ValueError(f"Unrecognized device: {each!r}: it is no {device_type}")
    types = {"CPU", "GPU"} if device_type is None else {device_type}
    hidden = types - {each.device_type for each in wanted}
    if "CPU" in hidden:
        raise ValueError("the CPU must be visible: sessions run on it what a GPU has no kernel for")
    _chosen.hidden = (_chosen.hidden - types) | hidden


def get_virtual_device_configuration(device: Any) -> list[VirtualDeviceConfiguration] | None:
    """Return the virtual devices of a device, None if there are none. device: of tf.config.list_physical_devices.

    >>> tf.config.experimental.get_virtual_device_configuration(tf.config.list_physical_devices("CPU")[0])
    """
    _check_device(device)
    is_split = device.device_type == "CPU" and _chosen.cpus > 1
    return [VirtualDeviceConfiguration()] * _chosen.cpus if is_split else None


def set_virtual_device_configuration(device: Any, logical_devices: Sequence[VirtualDeviceConfiguration]) -> None:
    """Let sessions that are made from now on, without a ConfigProto, have several CPUs.

    device: the CPU of tf.config.list_physical_devices; a GPU can't be split, ValueError. logical_devices: a
    VirtualDeviceConfiguration for each; one with a memory limit raises ValueError.

    >>> cpu = tf.config.list_physical_devices("CPU")[0]
    >>> two = [tf.config.experimental.VirtualDeviceConfiguration()] * 2
    >>> tf.config.experimental.set_virtual_device_configuration(cpu, two)
    >>> tf.config.list_logical_devices("CPU")[1].name
    '/device:CPU:1'
    >>> tf.config.experimental.set_virtual_device_configuration(cpu, two[:1])
    """
    _check_device(device)
    if device.device_type != "CPU":
        raise ValueError(f"{device.name} can't be split into virtual devices: tfnb takes memory of a GPU as needed")
    if any(each.memory_limit is not None for each in logical_devices):
        raise ValueError("Setting memory limit on CPU virtual devices is currently not supported")
    if not logical_devices:
        raise ValueError("logical_devices must have at least one VirtualDeviceConfiguration, got none")
    _chosen.cpus = len(logical_devices)


def _check_device(device: Any) -> None:
    if device not in list_physical_devices():
        raise ValueError(f"Unrecognized device: {device!r}: expected one of {list_physical_devices()}")


def get_soft_device_placement() -> bool:
    """Return whether sessions without a ConfigProto place ops elsewhere whose device is not there.

    >>> tf.config.get_soft_device_placement()
    False
    """
    return _chosen.soft


def set_soft_device_placement(enabled: bool) -> None:
    """Set `allow_soft_placement` for sessions that are made from now on without a ConfigProto.

    enabled: whether ops are placed elsewhere whose device is not there.

    >>> tf.config.set_soft_device_placement(True)
    >>> tf.config.get_soft_device_placement()
    True
    >>> tf.config.set_soft_device_placement(False)
    """
    _chosen.soft = bool(enabled)


def get_log_device_placement() -> bool:
    """Return whether sessions without a ConfigProto log the device of each op.

    >>> tf.debugging.get_log_device_placement()
    False
    """
    return _chosen.log


def set_log_device_placement(enabled: bool) -> None:
    """Set `log_device_placement` for sessions that are made from now on without a ConfigProto.

    enabled: whether the device of each op is logged.

    >>> tf.debugging.set_log_device_placement(False)
    """
    _chosen.log = bool(enabled)


def get_intra_op_parallelism_threads() -> int:
    """Return the number of threads of a large kernel, 0 where it was not set.

    >>> tf.config.threading.get_intra_op_parallelism_threads()
    0
    """
    return _chosen.intra


def set_intra_op_parallelism_threads(num_threads: int) -> None:
    """Set the number of threads of a large kernel, for sessions that are made from now on without a ConfigProto.

    num_threads: 1: none but the caller's; more: a wish; 0: the default.

    >>> tf.config.threading.set_intra_op_parallelism_threads(1)
    >>> tf.config.threading.get_intra_op_parallelism_threads()
    1
    >>> tf.config.threading.set_intra_op_parallelism_threads(0)
    """
    _chosen.intra = int(num_threads)


def get_inter_op_parallelism_threads() -> int:
    """Return the number that was set, 0 without.

    >>> tf.config.threading.get_inter_op_parallelism_threads()
    0
    """
    return _chosen.inter


def set_inter_op_parallelism_threads(num_threads: int) -> None:
    """Keep a number of ops to run at a time, without effect: ops of a run go one after another.

    num_threads: the number.

    >>> tf.config.threading.set_inter_op_parallelism_threads(0)
    """
    _chosen.inter = int(num_threads)


def enable_check_numerics(stack_height_limit: int = 30, path_length_limit: int = 50) -> None:
    """Let each run from now on raise InvalidArgumentError, with the op, where NaN or infinity comes up.

    The same as `tfnb.core.options.options.nan_check = True`. stack_height_limit, path_length_limit: accepted, without
    effect: the error names the user's line.

    >>> tf.debugging.enable_check_numerics()
    >>> sess.run(tf.log(tf.zeros([2])) + 1.0)
    Traceback (most recent call last):
        ...
    InvalidArgumentError: ...
    >>> tf.debugging.disable_check_numerics()
    """
    options.nan_check = True


def disable_check_numerics() -> None:
    """Undo `tf.debugging.enable_check_numerics`.

    >>> tf.debugging.disable_check_numerics()
    """
    options.nan_check = False
