"""Device names, full or partial ("/job:worker/replica:0/task:1/device:GPU:0"), and the merge of nested ones."""
from __future__ import annotations

from functools import lru_cache
from typing import Any

_FIELDS = ("job", "replica", "task", "device_type", "device_index")


class DeviceSpec:
    """Device specification, full or partial. A field that is None is unspecified (in a name: absent, or `*`).

    job: str; replica, task, device_index: int; device_type: "CPU", "GPU" (in capitals).

    >>> tf.DeviceSpec(job="worker", task=1, device_type="GPU", device_index=0).to_string()
    '/job:worker/task:1/device:GPU:0'
    >>> tf.DeviceSpec.from_string("/job:ps/device:CPU:0").job
    'ps'
    """

    __slots__ = _FIELDS

    def __init__(self, job: str | None = None, replica: int | None = None, task: int | None = None,
                 device_type: str | None = None, device_index: int | None = None) -> None:
        self.job, self.replica, self.task = job, replica, task
        self.device_type = device_type.upper() if device_type in ("cpu", "gpu") else device_type
        self.device_index = device_index

    @classmethod
    def from_string(cls, spec: str) -> DeviceSpec:
        """Parse a name such as "/gpu:0", "/job:ps/task:1" or "/device:CPU:*". Raises ValueError if it is invalid."""
        return cls().parse_from_string(spec)

    def parse_from_string(self, spec: str) -> DeviceSpec:
        """Replace all fields by those of a name and return self. Raises ValueError for an invalid name."""
        for field in _FIELDS:
            setattr(self, field, None)
        for part in spec.split("/"):
            words = part.split(":")
            if part and not self._read(words):
                raise ValueError(f"Unknown attribute {words[0]!r} in device name {spec!r}: expected job, replica, "
                                 "task, device, CPU or GPU, as in '/job:ps/task:0/device:GPU:0'")
        return self

    def _read(self, words: list[str]) -> bool:
        key, rest = words[0], words[1:]
        if key == "job" and len(rest) == 1:
            self.job = rest[0]
        elif key in ("replica", "task") and len(rest) == 1:
            setattr(self, key, _number(rest[0]))
        elif key == "device" and len(rest) in (1, 2):
            self.device_type, self.device_index = rest[0], _number(rest[1]) if len(rest) == 2 else None
        elif key.upper() in ("CPU", "GPU") and len(rest) <= 1:
            self.device_type, self.device_index = key.upper(), _number(rest[0]) if rest else None
        else:
            return False
        return True

    def merge_from(self, dev: DeviceSpec) -> None:
        """Overwrite every field that `dev` specifies."""
        for field in _FIELDS:
            if getattr(dev, field) is not None:
                setattr(self, field, getattr(dev, field))

    def make_merged_spec(self, dev: DeviceSpec) -> DeviceSpec:
        """Return a new spec: the fields that `dev` specifies, and this one's elsewhere."""
        made = self.replace()
        made.merge_from(dev)
        return made

    def replace(self, **fields: Any) -> DeviceSpec:
        """Return a copy with some fields changed. Raises TypeError for an unknown field."""
        return DeviceSpec(**{**{field: getattr(self, field) for field in _FIELDS}, **fields})

    def to_string(self) -> str:
        """Return the canonical name; an unspecified index of a specified device type is `*`."""
        parts = [f"/{key}:{getattr(self, key)}" for key in _FIELDS[:3] if getattr(self, key) is not None]
        if self.device_type is not None:
            parts.append(f"/device:{self.device_type}:{'*' if self.device_index is None else self.device_index}")
        return "".join(parts)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DeviceSpec) and self.to_string() == other.to_string()

    def __hash__(self) -> int:
        return hash(self.to_string())

    def __repr__(self) -> str:
        return f"DeviceSpec({self.to_string()!r})"


def _number(word: str) -> int | None:
    if word == "*":
        return None
    if not word.isdecimal():
        raise ValueError(f"expected a number or * in a device name, got {word!r}")
    return int(word)


@lru_cache(maxsize=1024)
def canonical(name: str) -> str:
    """Return the canonical form of a device name: "/gpu:0" -> "/device:GPU:0". Raises ValueError if it is invalid."""
    return DeviceSpec.from_string(name).to_string()


@lru_cache(maxsize=1024)
def merged(outer: str, inner: str) -> str:
    """Merge nested device scopes: the inner's fields, and the outer's where the inner leaves them unspecified."""
    spec = DeviceSpec.from_string(outer)
    spec.merge_from(DeviceSpec.from_string(inner))
    return spec.to_string()


def device_text(device: Any) -> str:
    """Return the name of a device given as a string, a DeviceSpec or None."""
    if device is None:
        return ""
    return device.to_string() if hasattr(device, "to_string") else str(device)
