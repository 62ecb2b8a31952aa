"""The estimators of `tf.contrib.learn`, over those of `tf.estimator`."""
