"""Words as numbers: `tf.contrib.learn.preprocessing`."""
from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from tfnb.core.arguments import DATASETS, describe
from tfnb.core.files.gfile import GFile

# Official: capitals together, words that begin with one, and what else is made of letters, digits, ' and -.
TOKEN = re.compile(r"[A-Z]{2,}(?![a-z])|[A-Z][a-z]+(?=[A-Z])|[\'\w\-]+")
Tokenizer = Callable[[Iterable[str]], Iterable[Any]]


def tokenizer(iterator: Iterable[str]) -> Iterator[list[str]]:
    """The words of each document.

    >>> list(tf.contrib.learn.preprocessing.tokenizer(["It's a cat."]))
    [["It's", 'a', 'cat']]
    """
    for document in iterator:
        yield TOKEN.findall(document)


class CategoricalVocabulary:
    """Numbers for words: 0 is the unknown one, others are numbered as they come, until it is frozen.

    >>> vocabulary = tf.contrib.learn.preprocessing.CategoricalVocabulary()
    >>> vocabulary.get("cat"), vocabulary.get("dog"), vocabulary.reverse(2)
    (1, 2, 'dog')
    """

    def __init__(self, unknown_token: str = "<UNK>", support_reverse: bool = True) -> None:
        self._unknown_token, self._support_reverse = unknown_token, support_reverse
        self._mapping: dict[Any, int] = {unknown_token: 0}
        self._freq: Counter[Any] = Counter()
        self._freeze = False

    def __len__(self) -> int:
        return len(self._mapping)

    def freeze(self, freeze: bool = True) -> None:
        """Number no more words, or do again."""
        self._freeze = freeze

    def get(self, category: Any) -> int:
        """The number of a word; 0 for one that is not known when no more are numbered."""
        if category not in self._mapping and not self._freeze:
            self._mapping[category] = len(self._mapping)
        return self._mapping.get(category, 0)

    def add(self, category: Any, count: int = 1) -> None:
        """Count a word, and number it."""
        if self.get(category) > 0:
            self._freq[category] += count

    def trim(self, min_frequency: int, max_frequency: int = -1) -> None:
        """Keep the words that came more than `min_frequency` times (and fewer than `max_frequency`), most frequent
        first."""
        ordered = sorted(self._freq.items(), key=lambda pair: (-pair[1], isinstance(pair[0], str), pair[0]))
        kept = [(word, n) for word, n in ordered if n > min_frequency and (max_frequency <= 0 or n < max_frequency)]
        self._mapping = {self._unknown_token: 0, **{word: i for i, (word, _) in enumerate(kept, 1)}}
        self._freq = Counter(dict(kept))

    def reverse(self, class_id: int) -> Any:
        """The word of a number. Raises ValueError if the vocabulary was made without that."""
        if not self._support_reverse:
            raise ValueError("This vocabulary wasn't initialized with support_reverse to support reverse() function.")
        return list(self._mapping)[class_id]


class VocabularyProcessor:
    """Documents as rows of numbers of words, cut or filled up with 0 to `max_document_length`.

    min_frequency: words that come so often or less are unknown; vocabulary: one that exists; tokenizer_fn: documents ->
    words of each, by default `tokenizer`.

    >>> words = tf.contrib.learn.preprocessing.VocabularyProcessor(max_document_length=4)
    >>> list(words.fit_transform(["a cat sat", "a dog"]))
    [array([1, 2, 3, 0]), array([1, 4, 0, 0])]
    """

    def __init__(self, max_document_length: int, min_frequency: int = 0,
                 vocabulary: CategoricalVocabulary | None = None, tokenizer_fn: Tokenizer | None = None) -> None:
        self.max_document_length, self.min_frequency = max_document_length, min_frequency
        self.vocabulary_ = vocabulary or CategoricalVocabulary()
        self._tokenizer: Tokenizer = tokenizer_fn or tokenizer

    def fit(self, raw_documents: Iterable[str], unused_y: Any = None) -> VocabularyProcessor:
        """Number the words of the documents, and freeze the vocabulary."""
        for tokens in self._tokenizer(raw_documents):
            for token in tokens:
                self.vocabulary_.add(token)
        if self.min_frequency > 0:
            self.vocabulary_.trim(self.min_frequency)
        self.vocabulary_.freeze()
        return self

    def transform(self, raw_documents: Iterable[str]) -> Iterator[np.ndarray]:
        """An int64 vector of `max_document_length` numbers for each document."""
        for tokens in self._tokenizer(raw_documents):
            row = np.zeros(self.max_document_length, np.int64)
            for i, token in zip(range(self.max_document_length), tokens, strict=False):
                row[i] = self.vocabulary_.get(token)
            yield row

    def fit_transform(self, raw_documents: Iterable[str], unused_y: Any = None) -> Iterator[np.ndarray]:
        """`fit`, then `transform`."""
        documents = list(raw_documents)
        return self.fit(documents).transform(documents)

    def reverse(self, documents: Iterable[Iterable[int]]) -> Iterator[str]:
        """The words of each row of numbers, with spaces between."""
        for row in documents:
            yield " ".join(self.vocabulary_.reverse(int(number)) for number in row)

    def save(self, filename: str) -> None:
        """Write it to a file, as JSON (TensorFlow pickles it); the tokenizer is not part of it."""
        words = self.vocabulary_
        text = json.dumps({"max_document_length": self.max_document_length, "min_frequency": self.min_frequency,
                           "words": [[word, words._freq[word]] for word in words._mapping], "frozen": words._freeze})
        with GFile(filename, "w") as file:
            file.write(text)

    @classmethod
    def restore(cls, filename: str) -> VocabularyProcessor:
        """Read a file that `save` wrote. Raises ValueError for another one (TensorFlow's are pickles, never read)."""
        with GFile(filename, "rb") as file:
            data = file.read()
        try:
            read = json.loads(data)
            words = CategoricalVocabulary(read["words"][0][0])
            words._mapping = {word: i for i, (word, _) in enumerate(read["words"])}
            words._freq = Counter({word: n for word, n in read["words"] if n})
            words.freeze(read["frozen"])
            return cls(read["max_document_length"], read["min_frequency"], words)
        except (ValueError, KeyError, IndexError, TypeError) as error:
            raise ValueError(f"{filename} is no vocabulary that tfnb saved: {error}") from None


class ByteProcessor:
    """Documents as rows of bytes of their UTF-8, cut or filled up with 0 to `max_document_length`.

    >>> letters = tf.contrib.learn.preprocessing.ByteProcessor(max_document_length=4)
    >>> rows = list(letters.fit_transform(["cat", "horses"]))
    >>> rows[0], list(letters.reverse(rows))
    (array([ 99,  97, 116,   0], dtype=uint8), ['cat', 'hors'])
    """

    def __init__(self, max_document_length: int) -> None:
        self.max_document_length = max_document_length

    def fit(self, x: Any) -> ByteProcessor:
        """Do nothing: bytes need no vocabulary."""
        return self

    def transform(self, x: Iterable[Any]) -> Iterator[np.ndarray]:
        """Yield a uint8 vector of `max_document_length` bytes for each document, a string or bytes."""
        for document in x:
            data = document.encode("utf-8") if isinstance(document, str) else bytes(document)
            found = np.frombuffer(data, np.uint8)[:self.max_document_length]
            yield np.pad(found, (0, self.max_document_length - len(found)))

    def fit_transform(self, x: Iterable[Any]) -> Iterator[np.ndarray]:
        """`fit`, then `transform`."""
        return self.fit(x).transform(x)

    def reverse(self, x: Iterable[Any]) -> Iterator[str]:
        """Yield the text of each row of bytes, up to the zeros at its end; a character that was cut is left out."""
        for row in x:
            yield np.asarray(row, np.uint8).tobytes().rstrip(b"\0").decode("utf-8", "ignore")


describe(globals(), DATASETS)
