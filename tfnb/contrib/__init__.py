"""What programs use of `tf.contrib`: data, layers, rnn, framework, slim, learn's digits."""
from tfnb.core.lazy import lazy_module as _lazy_module

data = _lazy_module("tfnb.contrib.data")
framework = _lazy_module("tfnb.contrib.framework")
layers = _lazy_module("tfnb.contrib.layers")
learn = _lazy_module("tfnb.contrib.learn")
rnn = _lazy_module("tfnb.contrib.rnn")
slim = _lazy_module("tfnb.contrib.slim")
training = _lazy_module("tfnb.contrib.training")
util = _lazy_module("tfnb.contrib.util")
