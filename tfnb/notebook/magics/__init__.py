"""Magics: thin wrappers of the functions of `tfnb.notebook`."""
