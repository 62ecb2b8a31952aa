"""IPython hooks by which cells own ops; running again, and why."""
