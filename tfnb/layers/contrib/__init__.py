"""Layers of `tf.contrib.layers` and `tf.contrib.framework`."""
