"""Kernels that scan bytes: numbers, CSV records, serialized messages."""
