"""Kernels of images: colors, crops, resizing."""
