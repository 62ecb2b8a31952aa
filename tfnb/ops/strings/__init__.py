"""Strings: joining, conversion to numbers, edit distance."""
