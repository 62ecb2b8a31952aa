"""tf.contrib.learn.preprocessing.VocabularyProcessor."""
from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import tfnb as tf

Processor = tf.contrib.learn.preprocessing.VocabularyProcessor
TEXT = ["the cat sat", "the dog's bark, the END", "a cat"]


def test_words_are_numbered_as_they_come() -> None:
    processor = Processor(4)
    rows = np.array(list(processor.fit_transform(TEXT)))
    assert rows.dtype == np.int64
    assert rows.tolist() == [[1, 2, 3, 0], [1, 4, 5, 1], [7, 2, 0, 0]]
    assert len(processor.vocabulary_) == 8 and processor.vocabulary_._mapping["END"] == 6
    assert list(processor.transform(["cat bird"]))[0].tolist() == [2, 0, 0, 0]
    assert list(processor.reverse(rows[:1])) == ["the cat sat <UNK>"]


def test_rare_words_are_unknown() -> None:
    processor = Processor(3, min_frequency=1).fit(TEXT)
    assert processor.vocabulary_._mapping == {"<UNK>": 0, "the": 1, "cat": 2}


def test_own_tokenizer_and_files(tmp_path: Path) -> None:
    processor = Processor(3, tokenizer_fn=lambda documents: (list(d) for d in documents)).fit(["ab", "ca"])
    path = str(tmp_path / "vocabulary")
    processor.save(path)
    found = Processor.restore(path)
    assert found.vocabulary_._mapping == processor.vocabulary_._mapping == {"<UNK>": 0, "a": 1, "b": 2, "c": 3}
    assert found.max_document_length == 3 and found.vocabulary_.get("new") == 0
    Path(path).write_bytes(b"\x80\x04pickle")
    with pytest.raises(ValueError, match="no vocabulary that tfnb saved"):
        Processor.restore(path)
    with pytest.raises(ValueError, match="support_reverse"):
        tf.contrib.learn.preprocessing.CategoricalVocabulary(support_reverse=False).reverse(0)


def test_bytes_of_documents_come_back_as_text():
    letters = tf.contrib.learn.preprocessing.ByteProcessor(5)
    rows = list(letters.transform(["héllo", b"\x00ab", ""]))
    assert [row.tolist() for row in rows] == [[104, 195, 169, 108, 108], [0, 97, 98, 0, 0], [0] * 5]
    assert list(letters.reverse(rows)) == ["héll", "\0ab", ""] and list(letters.reverse([[104, 195]])) == ["h"]
