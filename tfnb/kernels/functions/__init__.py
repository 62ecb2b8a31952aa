"""Kernel functions: a Python function that handles one item, specialized for CPU and GPU."""
