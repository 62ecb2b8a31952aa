"""Iterators: their names and handles, what they share, which datasets they take."""
from __future__ import annotations

from typing import Any

import pytest

import tfnb as tf

D = tf.data.Dataset


def test_names_of_nodes() -> None:
    dataset = D.range(3)
    iterator = dataset.make_initializable_iterator()
    assert iterator.get_next().op.name == "IteratorGetNext" and iterator.get_next("mine").op.name == "mine"
    assert iterator.make_initializer(dataset).name == "MakeIterator_1"
    assert iterator.make_initializer(dataset, name="begin").name == "begin"
    first = iterator.string_handle()
    assert first is iterator.string_handle() and first.op.name == "IteratorToStringHandle"
    other = iterator.string_handle("handle")
    assert other.op.name == "handle" and other is not iterator.string_handle("handle")
    with tf.Session() as session:
        session.run(iterator.initializer)
        a, b = session.run([first, other])
        assert a == b


def test_shared_names() -> None:
    resources = [iterator._iterator_resource.op for iterator in (
        tf.data.Iterator.from_structure(tf.int64, []), tf.data.Iterator.from_structure(tf.int64, [], "both"),
        D.range(3).make_initializable_iterator(), D.range(3).make_initializable_iterator("both"))]
    assert [op.get_attr("shared_name") for op in resources] == [b"", b"both", b"", b"both"]
    assert [op.get_attr("container") for op in resources] == [b""] * 4


def test_iterators_of_one_shared_name_are_one() -> None:
    def taken(first: str | None, second: str | None) -> list[Any]:
        iterators = [tf.data.Iterator.from_structure(tf.int64, [], name) for name in (first, second)]
        begin = iterators[0].make_initializer(D.range(9))
        elements = [iterator.get_next() for iterator in iterators]
        with tf.Session() as session:
            session.run(begin)
            return [session.run(element) for element in (*elements, *elements)]
    assert taken("both", "both") == [0, 1, 2, 3]
    with pytest.raises(tf.errors.FailedPreconditionError):
        taken("one", "another")
    with pytest.raises(tf.errors.FailedPreconditionError):
        taken(None, None)


def test_a_structure_without_shapes_takes_all_shapes() -> None:
    iterator = tf.data.Iterator.from_structure((tf.int64, tf.float32))
    element = iterator.get_next()
    assert [t.shape.ndims for t in element] == [None, None]
    datasets = [D.from_tensors((tf.constant([1] * n, tf.int64), [[2.0]])) for n in (1, 3)]
    with tf.Session() as session:
        for n, dataset in zip((1, 3), datasets, strict=True):
            session.run(iterator.make_initializer(dataset))
            assert [value.shape for value in session.run(element)] == [(n,), (1, 1)]


def test_shapes_of_datasets_fit_those_of_the_iterator() -> None:
    iterator = tf.data.Iterator.from_structure({"a": tf.float32, "b": tf.int64}, {"a": [None, 2], "b": []})
    good = D.from_tensors({"a": [[1.0, 2.0]], "b": tf.constant(3, tf.int64)})
    assert iterator.make_initializer(good).type == "MakeIterator"
    for a, b, error in (([1.0, 2.0], 3, "shapes"), ([[1.0, 2.0, 3.0]], 3, "shapes"), ([[1.0, 2.0]], [3], "shapes"),
                        ([[1, 2]], 3, "types")):
        bad = D.from_tensors({"a": a, "b": tf.constant(b, tf.int64)})
        with pytest.raises(TypeError, match=f"Expected output {error} .*but got dataset with output {error}"):
            iterator.make_initializer(bad)


def test_a_handle_may_be_text() -> None:
    first = D.range(5).make_initializable_iterator(shared_name="first")
    with tf.Session() as session:
        session.run(first.initializer)
        handle = session.run(first.string_handle())
        again = tf.data.Iterator.from_string_handle(handle.decode(), tf.int64, []).get_next()
        assert [session.run(again), session.run(first.get_next()), session.run(again)] == [0, 1, 2]
        with pytest.raises(TypeError):
            tf.data.Iterator.from_string_handle(3, tf.int64, [])
