"""Timelines of traced runs: `from tfnb.python.client import timeline`."""
# ruff: noqa: F401
from tfnb.runtime.timeline import Timeline
