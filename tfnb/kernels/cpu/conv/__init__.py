"""Convolutions and pooling in tiles of vector registers."""
