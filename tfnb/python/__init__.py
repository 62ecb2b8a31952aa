"""Modules at the paths that programs import from TensorFlow's package: `from tfnb.python.client import timeline`."""
