"""Placeholders, constants, groups, run-time checks, Python functions."""
