"""`tf.contrib.slim.nets`: well-known networks for images."""
from tfnb.core.absent import explain as _explain
from tfnb.core.lazy import lazy_module as _lazy_module

alexnet = _lazy_module("tfnb.slim.nets.alexnet")
cifarnet = _lazy_module("tfnb.slim.nets.cifarnet")
inception = _lazy_module("tfnb.slim.nets.inception")
inception_resnet_v2 = _lazy_module("tfnb.slim.nets.inception_resnet_v2")
lenet = _lazy_module("tfnb.slim.nets.lenet")
mobilenet_v1 = _lazy_module("tfnb.slim.nets.mobilenet_v1")
mobilenet_v2 = _lazy_module("tfnb.slim.nets.mobilenet_v2")
overfeat = _lazy_module("tfnb.slim.nets.overfeat")
resnet_utils = _lazy_module("tfnb.slim.nets.resnet_utils")
resnet_v1 = _lazy_module("tfnb.slim.nets.resnet_v1")
resnet_v2 = _lazy_module("tfnb.slim.nets.resnet_v2")
vgg = _lazy_module("tfnb.slim.nets.vgg")

_explain(__name__)
