"""`tf.contrib.learn.preprocessing`."""
from tfnb.data.vocabulary import ByteProcessor, CategoricalVocabulary, VocabularyProcessor, tokenizer

__all__ = ["ByteProcessor", "CategoricalVocabulary", "VocabularyProcessor", "tokenizer"]
