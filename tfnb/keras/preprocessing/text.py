"""Texts as sequences of integers: `tf.keras.preprocessing.text`."""
from __future__ import annotations

import hashlib
import json
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tfnb.core.absent import explain as _explain

FILTERS = '!"#$%&()*+,-./:;<=>?@[\\]^_`{|}~\t\n'


def text_to_word_sequence(text: str, filters: str = FILTERS, lower: bool = True, split: str = " ") -> list[str]:
    """Return the words of a text. filters: characters that separate words, too. lower: whether to make them lower case.

    split: the separator.

    >>> tf.keras.preprocessing.text.text_to_word_sequence("Hello, world!")
    ['hello', 'world']
    """
    text = text.lower() if lower else text
    for character in filters:
        text = text.replace(character, split)
    return [word for word in text.split(split) if word]


def one_hot(text: str, n: int, filters: str = FILTERS, lower: bool = True, split: str = " ") -> list[int]:
    """Return an integer in [1, n) for each word of a text, by Python's hash, which differs between processes.

    filters, lower, split: as of `text_to_word_sequence`.

    >>> len(tf.keras.preprocessing.text.one_hot("Hello, world!", 50))
    2
    """
    return hashing_trick(text, n, hash, filters, lower, split)


def hashing_trick(text: str, n: int, hash_function: Any = None, filters: str = FILTERS, lower: bool = True,
                  split: str = " ") -> list[int]:
    """Return an integer in [1, n) for each word of a text, by a hash: words may share one.

    hash_function: "md5", None for Python's, which differs between processes, or a function of a word. filters, lower,
    split: as of `text_to_word_sequence`.

    >>> tf.keras.preprocessing.text.hashing_trick("Hello, world!", 50, "md5")
    [12, 23]
    """
    fn: Callable[[str], int] = hash if hash_function is None else \
        (lambda word: int(hashlib.md5(word.encode()).hexdigest(), 16)) if hash_function == "md5" else hash_function
    return [fn(word) % (n - 1) + 1 for word in text_to_word_sequence(text, filters, lower, split)]


class Tokenizer:
    """Texts as sequences of word indices, which are ranks by frequency from 1; 0 is for padding.

    num_words: only the num_words - 1 most frequent words count. filters, lower, split: as of `text_to_word_sequence`.
    char_level: whether characters are the words. oov_token: the word for others, index 1. document_count: the number
    of texts so far.

    >>> tokenizer = tf.keras.preprocessing.text.Tokenizer()
    >>> tokenizer.fit_on_texts(["the cat sat", "the dog"])
    >>> tokenizer.texts_to_sequences(["the dog sat"])
    [[1, 4, 3]]
    """

    def __init__(self, num_words: int | None = None, filters: str = FILTERS, lower: bool = True, split: str = " ",
                 char_level: bool = False, oov_token: str | None = None, document_count: int = 0,
                 **kwargs: Any) -> None:
        if kwargs:
            raise TypeError(f"Unrecognized keyword arguments: {kwargs}")
        self.word_counts: OrderedDict[str, int] = OrderedDict()
        self.word_docs: dict[str, int] = defaultdict(int)
        self.index_docs: dict[int, int] = defaultdict(int)
        self.word_index: dict[str, int] = {}
        self.index_word: dict[int, str] = {}
        self.num_words, self.filters, self.lower, self.split = num_words, filters, lower, split
        self.char_level, self.oov_token, self.document_count = char_level, oov_token, document_count

    def _words(self, text: Any) -> list[str]:
        if isinstance(text, list):
            return [word.lower() for word in text] if self.lower else text
        if self.char_level:
            return list(text.lower() if self.lower else text)
        return text_to_word_sequence(text, self.filters, self.lower, self.split)

    def fit_on_texts(self, texts: Any) -> None:
        """Count the words of texts, strings or lists of words, and number them."""
        for text in texts:
            self.document_count += 1
            words = self._words(text)
            for word in words:
                self.word_counts[word] = self.word_counts.get(word, 0) + 1
            for word in set(words):
                self.word_docs[word] += 1
        ranked = [word for word, _ in sorted(self.word_counts.items(), key=lambda pair: -pair[1])]
        names = ranked if self.oov_token is None else [self.oov_token, *ranked]
        self.word_index = {word: index for index, word in enumerate(names, 1)}
        self.index_word = {index: word for word, index in self.word_index.items()}
        self.index_docs = defaultdict(int, {self.word_index[word]: n for word, n in self.word_docs.items()})

    def fit_on_sequences(self, sequences: Any) -> None:
        """Count in how many sequences of indices each occurs: for `sequences_to_matrix` where there were no texts."""
        for sequence in sequences:
            self.document_count += 1
            for index in set(sequence):
                self.index_docs[index] += 1

    def texts_to_sequences(self, texts: Any) -> list[list[int]]:
        """Return the indices of the words that count."""
        return list(self.texts_to_sequences_generator(texts))

    def texts_to_sequences_generator(self, texts: Any) -> Iterator[list[int]]:
        """Yield the indices of each text."""
        other = self.word_index.get(self.oov_token) if self.oov_token is not None else None
        for text in texts:
            found = [self.word_index.get(word) for word in self._words(text)]
            kept = [index if index is not None and (not self.num_words or index < self.num_words) else other
                    for index in found]
            yield [index for index in kept if index is not None]

    def sequences_to_texts(self, sequences: Any) -> list[str]:
        """Return the words of sequences of indices, joined by blanks."""
        return list(self.sequences_to_texts_generator(sequences))

    def sequences_to_texts_generator(self, sequences: Any) -> Iterator[str]:
        """Yield the words of each sequence, joined by blanks."""
        for sequence in sequences:
            found = [self.index_word.get(index) if not self.num_words or index < self.num_words else None
                     for index in sequence]
            words = [self.oov_token if word is None else word for word in found]
            yield " ".join(word for word in words if word is not None)

    def texts_to_matrix(self, texts: Any, mode: str = "binary") -> Any:
        """Return a row for each text, a column for each word. mode: as of `sequences_to_matrix`."""
        return self.sequences_to_matrix(self.texts_to_sequences(texts), mode)

    def sequences_to_matrix(self, sequences: Any, mode: str = "binary") -> Any:
        """Return a row for each sequence, a column for each index.

        mode: "binary", "count", "freq" (share of the sequence) or "tfidf", else ValueError.
        """
        if not self.num_words and not self.word_index:
            raise ValueError("Specify a dimension (`num_words` argument), or fit on some text data first.")
        if mode == "tfidf" and not self.document_count:
            raise ValueError("Fit the Tokenizer on some data before using tfidf mode.")
        if mode not in ("binary", "count", "freq", "tfidf"):
            raise ValueError(f"Unknown vectorization mode: {mode!r}: expected binary, count, freq or tfidf")
        made = np.zeros((len(sequences), self.num_words or len(self.word_index) + 1))
        for row, sequence in zip(made, sequences, strict=True):
            kept = [index for index in sequence if index < made.shape[1]]
            for index in set(kept):
                count = kept.count(index)
                if mode == "tfidf":
                    idf = np.log(1 + self.document_count / (1 + self.index_docs.get(index, 0)))
                    row[index] = (1 + np.log(count)) * idf
                else:
                    row[index] = {"binary": 1, "count": count, "freq": count / len(sequence)}[mode]
        return made

    def get_config(self) -> dict[str, Any]:
        """Return the arguments of the constructor and the counts, those as JSON."""
        dicts = {name: json.dumps(getattr(self, name)) for name in ("word_counts", "word_docs", "index_docs",
                                                                    "index_word", "word_index")}
        return {**{name: getattr(self, name) for name in ("num_words", "filters", "lower", "split", "char_level",
                                                          "oov_token", "document_count")}, **dicts}

    def to_json(self, **kwargs: Any) -> str:
        """Return the tokenizer as JSON, which `tokenizer_from_json` reads."""
        return json.dumps({"class_name": type(self).__name__, "config": self.get_config()}, **kwargs)


def tokenizer_from_json(json_string: str) -> Tokenizer:
    """Return the tokenizer of a text that `to_json` made. json_string: the text.

    >>> tokenizer = tf.keras.preprocessing.text.Tokenizer()
    >>> tokenizer.fit_on_texts(["a b"])
    >>> tf.keras.preprocessing.text.tokenizer_from_json(tokenizer.to_json()).word_index
    {'a': 1, 'b': 2}
    """
    config = dict(json.loads(json_string)["config"])
    kept = {name: json.loads(config.pop(name)) for name in ("word_counts", "word_docs", "index_docs", "index_word",
                                                            "word_index")}
    made = Tokenizer(**config)
    made.word_counts = OrderedDict(kept["word_counts"])
    made.word_docs, made.word_index = defaultdict(int, kept["word_docs"]), kept["word_index"]
    made.index_docs = defaultdict(int, {int(key): value for key, value in kept["index_docs"].items()})
    made.index_word = {int(key): value for key, value in kept["index_word"].items()}
    return made


_explain(__name__)
