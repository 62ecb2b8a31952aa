"""From fetches to a plan: pruning, placement, scheduling, loops and branches."""
