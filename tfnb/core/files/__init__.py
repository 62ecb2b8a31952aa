"""Files: paths, their errors, and the functions of `tf.gfile`."""
