"""Lookup tables: `tf.lookup`."""
# ruff: noqa: F401
from tfnb.core.absent import explain as _explain
from tfnb.core.lazy import lazy_module as _lazy_module
from tfnb.lookup.initializers import KeyValueTensorInitializer, TextFileIndex, TextFileInitializer
from tfnb.lookup.static import StaticHashTable
from tfnb.lookup.vocabulary import StaticVocabularyTable

experimental = _lazy_module("tfnb.lookup.experimental")
_explain(__name__)
