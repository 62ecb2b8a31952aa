"""Architectures behind the modules of `tf.keras.applications`."""
