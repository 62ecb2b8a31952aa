"""The devices of a session, and on which of them each op is.

A GPU is looked for when somebody asks for the devices, or where a graph names one, and only then: what that takes (the
import of numba.cuda, the driver) is nothing for a program that needs none. Such a graph is placed as in TensorFlow 1:
what has no device of its own goes to the GPU too, where there is a kernel for it.
"""
from __future__ import annotations

import sys
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import cache
from secrets import randbits
from typing import Any

from tfnb.core.device import DeviceSpec
from tfnb.core.errors import InvalidArgumentError, NotFoundError
from tfnb.core.lazy import lazy_module
from tfnb.graph.operation import Operation
from tfnb.kernels.cuda import device as cuda

_device_attributes = lazy_module("tfnb.proto.device_attributes_pb2")

HERE = "/job:localhost/replica:0/task:0"            # this process, where it is no tf.train.Server
MEMORY = 256 << 20          # bytes: what TensorFlow states for a CPU, whatever the machine has


@dataclass(frozen=True)
class DeviceAttributes:
    """What `Session.list_devices` tells of a device.

    name: in full spelling; device_type: "CPU"; memory_limit_bytes: nominal; incarnation: a number that is another one
    in each process; description: of the hardware, where it is no CPU.
    """

    name: str
    device_type: str
    memory_limit_bytes: int
    incarnation: int
    description: str = ""

    def __repr__(self) -> str:
        return f"_DeviceAttributes({self.name}, {self.device_type}, {self.memory_limit_bytes}, {self.incarnation})"


@cache
def _cpu(task: str, index: int) -> DeviceAttributes:
    return DeviceAttributes(f"{task}/device:CPU:{index}", "CPU", MEMORY, randbits(63))


@cache
def _gpu(task: str) -> DeviceAttributes | None:
    found = cuda.gpu()
    return None if found is None else DeviceAttributes(f"{task}/device:GPU:0", "GPU", found.memory, randbits(63),
                                                       found.description)


def cpus_of(config: Any, task: str = HERE) -> tuple[DeviceAttributes, ...]:
    """The CPUs that a session with this ConfigProto (or None) has: as many as `device_count` says, or one.

    task: the name of the process, which begins theirs. Raises NotFoundError for a count that is not positive.
    """
    counts = {} if config is None else config.device_count
    number = counts["CPU"] if "CPU" in counts else 1
    if number < 1:
        raise NotFoundError(None, None, f"No CPU devices are available in this process: device_count says {number}")
    return tuple(_cpu(task, i) for i in range(number))


def gpus_of(config: Any, task: str = HERE) -> tuple[DeviceAttributes, ...]:
    """The GPU that such a session has: the first of the machine, if there is one and `device_count` is not 0 for it."""
    counts = {} if config is None else config.device_count
    found = None if "GPU" in counts and counts["GPU"] < 1 else _gpu(task)
    return () if found is None else (found,)


def list_local_devices(session_config: Any = None) -> list[Any]:
    """The devices of this process as DeviceAttributes protos. session_config: a ConfigProto, or None."""
    return [_device_attributes.DeviceAttributes(name=d.name.removeprefix(HERE), device_type=d.device_type,
                                                memory_limit=d.memory_limit_bytes, incarnation=d.incarnation,
                                                physical_device_desc=d.description)
            for d in (*cpus_of(session_config), *gpus_of(session_config))]


class Placer:
    """Which device of a session each op is on, as its ConfigProto (or None) wants it. task: see `cpus_of`.

    allow_soft_placement: what has no such device is on another one; log_device_placement: tell where each op is.
    """

    def __init__(self, config: Any, task: str = HERE) -> None:
        self._config, self._task = config, task
        self._cpus = cpus_of(config, task)
        self._soft = bool(config and config.allow_soft_placement)
        self._log = bool(config and config.log_device_placement)
        self._told: set[Operation] = set()

    @property
    def devices(self) -> tuple[DeviceAttributes, ...]:
        """All devices. The first look for a GPU takes its time."""
        return self._cpus + gpus_of(self._config, self._task)

    def device_of(self, op: Operation) -> str:
        """The device that the op is put on. Raises InvalidArgumentError if it asks for one that is not there."""
        if not op.device:
            return self._cpus[0].name
        devices = self.devices if "GPU" in op.device else self._cpus
        found = _match(op.device, tuple(d.name for d in devices), self._soft)
        if found is None:
            names = ", ".join(d.name for d in devices)
            hint = " With allow_soft_placement=True in its ConfigProto a session takes another device instead." \
                if _match(op.device, tuple(d.name for d in devices), True) else ""
            raise InvalidArgumentError(
                op.node_def, op, f"Cannot assign a device for operation {op.name}: it was explicitly assigned to "
                f"{op.device} but available devices are [ {names} ]. Make sure the device specification refers to a "
                f"valid device.{hint}")
        return found

    def check(self, ops: Iterable[Operation]) -> None:
        """Place all these ops. Raises InvalidArgumentError for one that can't be placed."""
        for op in ops:
            device = self.device_of(op) if op.device or self._log else ""
            if self._log and op not in self._told:
                self._told.add(op)
                print(f"{op.name}: ({op.type}): {device}", file=sys.stderr)


@cache
def _match(asked: str, names: Collection[str], soft: bool) -> str | None:
    """The first of the devices that has all that the name asks for; with `soft` type and index are only wishes."""
    want = DeviceSpec.from_string(asked)
    for wishes in (False, True) if soft else (False,):
        for name in names:
            spec = DeviceSpec.from_string(name)
            fields = ("job", "replica", "task") if wishes else DeviceSpec.__slots__
            if all(getattr(want, f) in (None, getattr(spec, f)) for f in fields):
                return name
    return None
