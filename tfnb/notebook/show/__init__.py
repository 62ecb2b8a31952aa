"""Arrays and what holds them, as pages that fold: arrays, nested results, variables, sessions."""
