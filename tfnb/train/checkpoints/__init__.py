"""Checkpoints: savers, their state file, readers, meta graphs."""
