"""`tf.contrib.learn.preprocessing`."""
from tfnb.core.absent import explain as _explain
from tfnb.data.vocabulary import ByteProcessor, CategoricalVocabulary, VocabularyProcessor, tokenizer

__all__ = ["ByteProcessor", "CategoricalVocabulary", "VocabularyProcessor", "tokenizer"]

_explain(__name__)
