"""`tf.keras.datasets`: data sets from files in ~/.keras/datasets, which are downloaded where there is a network."""
from tfnb.core.absent import explain as _explain
from tfnb.core.lazy import lazy_module as _lazy_module

boston_housing = _lazy_module("tfnb.keras.datasets.boston_housing")
cifar10 = _lazy_module("tfnb.keras.datasets.cifar10")
cifar100 = _lazy_module("tfnb.keras.datasets.cifar100")
fashion_mnist = _lazy_module("tfnb.keras.datasets.fashion_mnist")
imdb = _lazy_module("tfnb.keras.datasets.imdb")
mnist = _lazy_module("tfnb.keras.datasets.mnist")
reuters = _lazy_module("tfnb.keras.datasets.reuters")

_explain(__name__)
