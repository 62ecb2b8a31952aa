"""Device discovery and placement: the devices of a session, and the one that each op is assigned to.

The search for a GPU is lazy, since it imports numba.cuda and loads the driver: only when the devices are listed, or a
graph names one. Such a graph is placed as in TensorFlow 1: ops without a device of their own go to the GPU too, if
there is a kernel for them.
"""
from __future__ import annotations

import sys
from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import cache
from secrets import randbits
from typing import Any, NamedTuple

from tfnb.compile.planning.placement import has_gpu_kernel
from tfnb.compile.planning.plan import Plan
from tfnb.core.device import DeviceSpec
from tfnb.core.errors import InvalidArgumentError, NotFoundError
from tfnb.core.lazy import lazy_module
from tfnb.graph.graph import Graph
from tfnb.graph.parts.operation import Operation
from tfnb.graph.parts.references import ref_variable, refers
from tfnb.kernels.cuda import device as cuda
from tfnb.kernels.cuda.libraries import precision
from tfnb.kernels.cuda.memory import configure

_device_attributes = lazy_module("tfnb.proto.device_attributes_pb2")

HERE = "/job:localhost/replica:0/task:0"            # this process, where it is no tf.train.Server
MEMORY = 256 << 20          # bytes: what TensorFlow states for a CPU, whatever the machine has


@dataclass(frozen=True)
class DeviceAttributes:
    """The attributes of a device, as `Session.list_devices` returns them.

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
    """Return the CPUs of a session with this ConfigProto (or None): as many as `device_count` says, or one.

    task: the name of the process, the prefix of theirs. Raises NotFoundError for a count that is not positive.
    """
    counts = {} if config is None else config.device_count
    number = counts["CPU"] if "CPU" in counts else 1
    if number < 1:
        raise NotFoundError(None, None, f"No CPU devices are available in this process: device_count says {number}")
    return tuple(_cpu(task, i) for i in range(number))


def gpus_of(config: Any, task: str = HERE) -> tuple[DeviceAttributes, ...]:
    """Return the GPU of such a session: the machine's first, if there is one and `device_count` is not 0 for it."""
    counts = {} if config is None else config.device_count
    found = None if "GPU" in counts and counts["GPU"] < 1 else _gpu(task)
    return () if found is None else (found,)


def list_local_devices(session_config: Any = None) -> list[Any]:
    """Return the devices of this process as DeviceAttributes protos. session_config: a ConfigProto, or None."""
    return [_device_attributes.DeviceAttributes(name=d.name.removeprefix(HERE), device_type=d.device_type,
                                                memory_limit=d.memory_limit_bytes, incarnation=d.incarnation,
                                                physical_device_desc=d.description)
            for d in (*cpus_of(session_config), *gpus_of(session_config))]


class PhysicalDevice(NamedTuple):
    """A device of this machine. name: "/physical_device:CPU:0"; device_type: "CPU" or "GPU".

    >>> tf.config.list_physical_devices("CPU")
    [PhysicalDevice(name='/physical_device:CPU:0', device_type='CPU')]
    """

    name: str
    device_type: str


def list_physical_devices(device_type: str | None = None) -> list[PhysicalDevice]:
    """Return the CPU of this machine, and the GPU that graphs can be placed on, if there is one.

    device_type: "CPU" or "GPU", for those alone.

    >>> len(tf.config.list_physical_devices("CPU"))
    1
    """
    found = (*(cpus_of(None) if device_type != "GPU" else ()), *(gpus_of(None) if device_type != "CPU" else ()))
    return [PhysicalDevice(f"/physical_device:{each.device_type}:0", each.device_type) for each in found
            if device_type in (None, each.device_type)]


def set_memory_growth(device: Any, enable: bool) -> None:
    """Accept that memory of a GPU is taken as it is needed, which is always so.

    device: of `tf.config.list_physical_devices`. Raises ValueError for `enable=False`.

    >>> for gpu in tf.config.experimental.list_physical_devices("GPU"):
    ...     tf.config.experimental.set_memory_growth(gpu, True)
    """
    if not enable:
        raise ValueError(f"expected enable=True for {device}: memory of a GPU is taken as it is needed")


def get_memory_growth(device: Any) -> bool:
    """Return True: memory of a GPU is taken as it is needed. device: of `tf.config.list_physical_devices`.

    >>> tf.config.experimental.get_memory_growth(tf.config.list_physical_devices()[0])
    True
    """
    return True


def enable_tensor_float_32_execution(enabled: bool) -> None:
    """Let products of float32 on a GPU use TF32, or not; they may, unless this is called with False.

    enabled: whether they may. TF32 rounds the factors to 10 bits of mantissa and sums in float32: several times as
    fast, by cuBLASLt. The setting counts for what is compiled from now on; on the CPU, and without that library, it
    changes nothing.

    >>> tf.config.experimental.enable_tensor_float_32_execution(True)
    """
    precision.tf32 = bool(enabled)


def tensor_float_32_execution_enabled() -> bool:
    """Return whether products of float32 on a GPU may use TF32.

    >>> tf.config.experimental.tensor_float_32_execution_enabled()
    True
    """
    return precision.tf32


class Placer:
    """Placer of ops on the devices of a session, by its ConfigProto (or None). task: see `cpus_of`.

    allow_soft_placement: an op whose device does not exist is placed on another one; log_device_placement: log the
    device of each op.
    """

    def __init__(self, config: Any, task: str = HERE) -> None:
        self._config, self._task = config, task
        self._cpus = cpus_of(config, task)
        self._soft = bool(config and config.allow_soft_placement)
        self._log = bool(config and config.log_device_placement)
        self._told: set[Operation] = set()
        self._gpu: DeviceAttributes | None = None  # the one that the graph uses

    @property
    def devices(self) -> tuple[DeviceAttributes, ...]:
        """All devices. The first access imports numba.cuda to search for a GPU."""
        return self._cpus + gpus_of(self._config, self._task)

    def gpu_ops(self, graph: Graph) -> Callable[[Operation], bool] | None:
        """Return the ops of the graph that are placed on a GPU; None if the graph names no GPU, or there is none.

        From now on `device_of` speaks of this graph as it is.
        """
        named = any("GPU" in op.device for op in graph.get_operations())
        self._gpu = next(iter(gpus_of(self._config, self._task)), None) if named else None
        if self._gpu is None:
            return None
        if self._config is not None:
            asked = self._config.gpu_options
            configure(asked.per_process_gpu_memory_fraction, asked.allow_growth)
        return self._is_on_gpu

    def _is_on_gpu(self, op: Operation) -> bool:
        return self._gpu is not None and self.device_of(op) == self._gpu.name

    def device_of(self, op: Operation) -> str:
        """Return the device that the op is placed on; ops on references are colocated with the variable if possible.

        Raises InvalidArgumentError if it asks for one that is not there, or for a GPU that has no kernel for it.
        """
        refs = [ref_variable(t) for t in (*op.outputs, *op.inputs) if refers(t)]
        asked = (refs[0].device if refs else "") or op.device
        gpu = self._gpu
        if not asked:
            return self._cpus[0].name if gpu is None or not all(map(has_gpu_kernel, (op, *refs))) else gpu.name
        found = _match(asked, self._names(), False) or (_match(asked, self._names(), True) if self._soft else None)
        if found is None:
            raise self._absent(op, asked)
        if gpu is None or found != gpu.name or has_gpu_kernel(op):
            return found
        if self._soft or refs or not DeviceSpec.from_string(asked).device_type:
            return self._cpus[0].name
        raise InvalidArgumentError(
            op.node_def, op, f"Cannot assign a device for operation {op.name}: Could not satisfy explicit device "
            f"specification '{asked}' because no supported kernel for GPU devices is available ({op.type}). With "
            "allow_soft_placement=True in its ConfigProto a session runs it on the CPU.")

    def _names(self) -> tuple[str, ...]:
        return tuple(d.name for d in ((self._gpu,) if self._gpu is not None else ()) + self._cpus)

    def _absent(self, op: Operation, asked: str) -> InvalidArgumentError:
        names = ", ".join(d.name for d in self.devices)
        hint = " With allow_soft_placement=True in its ConfigProto a session takes another device instead." \
            if _match(asked, self._names(), True) else ""
        return InvalidArgumentError(
            op.node_def, op, f"Cannot assign a device for operation {op.name}: it was explicitly assigned to "
            f"{asked} but available devices are [ {names} ]. Make sure the device specification refers to a "
            f"valid device.{hint}")

    def ran_on(self, op: Operation, gpu: bool) -> str:
        """Return the device that ran an op. gpu: whether a GPU ran it (an op placed there may fall back to the CPU)."""
        if gpu and self._gpu is not None:
            return self._gpu.name
        found = self.device_of(op)
        return self._cpus[0].name if self._gpu is not None and found == self._gpu.name else found

    def check(self, plan: Plan) -> None:
        """Place all ops of a plan. Raises InvalidArgumentError for one that can't be placed."""
        on_gpu = plan.gpu_ops()
        for op in plan.graph_ops():
            device = self.ran_on(op, op in on_gpu) if op.device or self._log else ""
            if self._log and op not in self._told:
                self._told.add(op)
                print(f"{op.name}: ({op.type}): {device}", file=sys.stderr)


@cache
def _match(asked: str, names: Collection[str], soft: bool) -> str | None:
    """Return the first device that matches all parts of a name; with `soft` type and index are preferences only."""
    want = DeviceSpec.from_string(asked)
    for wishes in (False, True) if soft else (False,):
        for name in names:
            spec = DeviceSpec.from_string(name)
            fields = ("job", "replica", "task") if wishes else DeviceSpec.__slots__
            if all(getattr(want, f) in (None, getattr(spec, f)) for f in fields):
                return name
    return None
