"""Axes of size 1 that labels, predictions and weights may have too many: the same with and without known ranks."""
from __future__ import annotations

import itertools

import numpy as np
import pytest

import tfnb as tf
from tfnb.losses.weights import remove_squeezable_dimensions, squeeze_weights
from tfnb.metrics.base import fitted

SHAPES = [(), (1,), (3,), (3, 1), (3, 2), (3, 2, 1), (1, 1)]


def fed(array, known):
    shape = {"all": array.shape, "rank": [None] * array.ndim, "nothing": None}[known]
    return tf.placeholder(tf.float32, shape)


def shapes_of(make, arrays, known):
    """The shapes of what `make` returns of placeholders of which so much is known, when it runs."""
    tf.reset_default_graph()
    places = [fed(array, how) for array, how in zip(arrays, known, strict=True)]
    with tf.Session() as session:
        found = session.run(list(make(*places)), dict(zip(places, arrays, strict=True)))
    return [value.shape for value in found]


def squeezed(labels, predictions, more):
    """What is to come out: the one whose rank is one too many loses its last axis, if that has size 1."""
    difference = len(predictions) - len(labels) - more
    if difference == 1 and predictions[-1:] == (1,):
        predictions = predictions[:-1]
    elif difference == -1 and labels[-1:] == (1,):
        labels = labels[:-1]
    return [labels, predictions]


@pytest.mark.parametrize("known", ["all", "rank", "nothing", "labels", "predictions"])
@pytest.mark.parametrize("more", [0, 1])
def test_labels_and_predictions(known, more):
    kinds = {"labels": ("all", "nothing"), "predictions": ("nothing", "all")}.get(known, (known, known))
    for labels, predictions in itertools.product(SHAPES, SHAPES):
        want = squeezed(labels, predictions, more)
        if known != "all" and abs(len(predictions) - len(labels) - more) == 1 and want == [labels, predictions]:
            continue                                # an axis that turns out to be larger when it runs: an error then
        arrays = [np.zeros(labels, "f"), np.zeros(predictions, "f")]
        found = shapes_of(lambda a, b: remove_squeezable_dimensions(a, b, more), arrays, kinds)
        assert found == want, (labels, predictions)


@pytest.mark.parametrize("known", [("all", "all"), ("nothing", "all"), ("all", "nothing"), ("nothing", "nothing")])
@pytest.mark.parametrize("weights, values, want", [
    ((3, 1), (3,), (3,)), ((3,), (3,), (3,)), ((), (3,), ()), ((3, 1), (3, 1), (3, 1)), ((1,), (3, 2), (1,)),
    ((3, 2, 1), (3, 2), (3, 2))])
def test_weights_with_an_axis_too_many(known, weights, values, want):
    arrays = [np.zeros(weights, "f"), np.zeros(values, "f")]
    assert shapes_of(lambda w, v: [squeeze_weights(w, v)], arrays, known) == [want]


@pytest.mark.parametrize("known", [("all", "all"), ("nothing", "all"), ("all", "nothing"), ("nothing", "nothing")])
@pytest.mark.parametrize("weights, values, want", [
    ((), (3,), ()), ((3,), (3,), (3,)), ((3, 1), (3,), (3,)), ((3,), (3, 2), (3, 1)), ((3, 2), (3, 2), (3, 2)),
    ((3, 2, 1), (3, 2), (3, 2)), ((1,), (3, 2), (1, 1))])
def test_weights_of_metrics(known, weights, values, want):
    arrays = [np.zeros(weights, "f"), np.zeros(values, "f")]
    assert shapes_of(lambda w, v: [fitted(v, None, w)[2]], arrays, known) == [want]
