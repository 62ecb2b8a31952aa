"""Sessions for training: monitored sessions, their hooks, supervisors."""
