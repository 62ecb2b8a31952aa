"""Version of tfnb, defined here only."""
from __future__ import annotations

__version__ = "0.1.0"
