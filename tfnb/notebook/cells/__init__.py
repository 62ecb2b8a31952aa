"""Cells that own ops: comparison of runs, effects on other cells, journal."""
