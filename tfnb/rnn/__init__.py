"""Recurrent networks: cells, and the loops over time around them."""
