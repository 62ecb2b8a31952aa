"""Dataset ops, their steps, and iterators."""
