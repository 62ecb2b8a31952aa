"""Kernels that order, select and combine rows."""
