"""Clusters: their specifications, servers in this process, and TensorFlow's servers as children of it."""
