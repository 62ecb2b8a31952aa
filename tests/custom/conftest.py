"""Ops that a test declares are known to that test only."""
import pytest

from tfnb.opdef import registry


@pytest.fixture(autouse=True)
def own_ops():
    before = dict(registry.CUSTOM)
    yield
    registry.restore_custom(before)
