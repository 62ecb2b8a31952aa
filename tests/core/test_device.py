"""Device names."""
from __future__ import annotations

import pytest

from tfnb.core.device import DeviceSpec, canonical, device_text, merged


def test_fields_and_text() -> None:
    spec = DeviceSpec.from_string("/job:ps/replica:1/task:2/device:GPU:3")
    assert (spec.job, spec.replica, spec.task, spec.device_type, spec.device_index) == ("ps", 1, 2, "GPU", 3)
    assert spec.to_string() == "/job:ps/replica:1/task:2/device:GPU:3" == device_text(spec)
    assert DeviceSpec(device_type="gpu").to_string() == "/device:GPU:*" == canonical("/gpu:*")
    assert DeviceSpec.from_string("/cpu:0") == DeviceSpec(device_type="CPU", device_index=0)
    assert {DeviceSpec(job="a"): 1}[DeviceSpec.from_string("/job:a")] == 1 and device_text(None) == ""
    assert repr(DeviceSpec(job="a")) == "DeviceSpec('/job:a')" and DeviceSpec(job="a") != "/job:a"


@pytest.mark.parametrize("outer, inner, both", [
    ("/job:w/task:1", "/gpu:0", "/job:w/task:1/device:GPU:0"), ("/gpu:0", "/cpu:1", "/device:CPU:1"), ("", "", ""),
    ("/gpu:1", "/gpu:*", "/device:GPU:1"), ("/job:w", "/job:v/cpu:0", "/job:v/device:CPU:0")])
def test_inner_names_go_first(outer: str, inner: str, both: str) -> None:
    assert merged(outer, inner) == both


@pytest.mark.parametrize("name", ["abc", "/job", "/task:x", "/device:GPU:x", "/cpu:0:0", "/device"])
def test_no_device_names(name: str) -> None:
    with pytest.raises(ValueError):
        DeviceSpec.from_string(name)
