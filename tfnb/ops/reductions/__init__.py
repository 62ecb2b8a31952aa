"""Reductions and contractions over axes."""
