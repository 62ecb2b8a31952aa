"""State of a session between runs, and records of traced runs."""
