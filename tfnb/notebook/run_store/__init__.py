"""Trainings of notebooks and what is kept of them on disk."""
