"""`tf.contrib.learn.preprocessing`."""
from tfnb.data.vocabulary import CategoricalVocabulary, VocabularyProcessor, tokenizer

__all__ = ["CategoricalVocabulary", "VocabularyProcessor", "tokenizer"]
