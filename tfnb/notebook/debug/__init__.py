"""NaN search, stepping, values on edges, timelines, failed cells."""
