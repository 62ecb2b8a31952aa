"""Parts of `tf.contrib` that programs use: data, layers, rnn, framework, slim, opt, learn's digits."""
from tfnb.core.lazy import lazy_module as _lazy_module

crf = _lazy_module("tfnb.contrib.crf")
data = _lazy_module("tfnb.contrib.data")
estimator = _lazy_module("tfnb.contrib.estimator")
framework = _lazy_module("tfnb.contrib.framework")
layers = _lazy_module("tfnb.contrib.layers")
learn = _lazy_module("tfnb.contrib.learn")
legacy_seq2seq = _lazy_module("tfnb.contrib.legacy_seq2seq")
lookup = _lazy_module("tfnb.contrib.lookup")
opt = _lazy_module("tfnb.contrib.opt")
rnn = _lazy_module("tfnb.contrib.rnn")
seq2seq = _lazy_module("tfnb.contrib.seq2seq")
slim = _lazy_module("tfnb.contrib.slim")
stateless = _lazy_module("tfnb.contrib.stateless")
tensorboard = _lazy_module("tfnb.contrib.tensorboard")
training = _lazy_module("tfnb.contrib.training")
util = _lazy_module("tfnb.contrib.util")
