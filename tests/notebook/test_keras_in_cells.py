"""Cells with models of Keras: re-runs of each, in any order, and training that was interrupted."""
from __future__ import annotations

import numpy as np
import pytest

import tfnb as tf
from tests.notebook.test_layers_in_cells import Notebook

X = np.random.RandomState(0).randn(40, 3).astype(np.float32)
CELLS = {
    "sequential": """
model = tf.keras.Sequential([L.Dense(4, activation="relu", input_shape=(3,)), L.Dropout(0.2), L.Dense(1)])
""",
    "deferred": "model = tf.keras.Sequential([L.Dense(4, activation='relu'), L.Dropout(0.2), L.Dense(1)])",
    "compile": "model.compile('adam', 'mse', metrics=['mae'])",
    "fit": "model.fit(X, Y, verbose=0)",
    "predict": "found = model.predict(X)",
    "evaluate": "scores = model.evaluate(X, Y, verbose=0)",
    "layer": "layer = L.LSTM(4)",
    "call": "made = layer(tf.constant(X[:, None]))",
    "interrupted": """
class Stop(tf.keras.callbacks.Callback):
    def on_batch_end(self, batch, logs=None):
        raise KeyboardInterrupt
model.fit(X, Y, verbose=0, callbacks=[Stop()])
""",
}


class Book(Notebook):
    sources = CELLS

    def __init__(self):
        super().__init__()
        tf.keras.backend.clear_session()
        self.scope.update(L=tf.keras.layers, X=X, Y=X.sum(1))


@pytest.mark.parametrize("kind", ["sequential", "deferred"])
@pytest.mark.parametrize("again", [["fit", "fit"], ["compile", "fit"], ["evaluate", "predict", "fit", "predict"]])
def test_a_model_is_trained_on_where_a_cell_is_run_again(kind, again):
    book = Book()
    book.run(kind, "compile", "fit", "predict", "evaluate")
    model, before = book.scope["model"], book.scope["scores"]
    names, weights = book.all_names(), model.get_weights()
    book.run(*again, "evaluate")
    assert book.scope["scores"][0] < before[0] and book.all_names() == names
    assert all((now != then).any() for now, then in zip(model.get_weights(), weights, strict=True))
    assert not book.cells.marks


@pytest.mark.parametrize("kind", ["sequential", "deferred"])
def test_a_new_model_takes_the_place_of_the_old_one(kind):
    book = Book()
    book.run(kind, "compile", "fit", "predict", "evaluate")
    old, count = book.scope["model"], len(tf.get_default_graph().get_operations())
    book.run(kind, "compile", "fit", "predict", "evaluate")
    model = book.scope["model"]
    assert model is not old and len(tf.get_default_graph().get_operations()) == count
    assert len(model.weights) == 4 and len(model.optimizer.weights) == 9


@pytest.mark.parametrize("kind", ["sequential", "deferred"])
def test_training_goes_on_after_an_interrupt(kind):
    book = Book()
    book.run(kind, "compile")
    with pytest.raises(KeyboardInterrupt):
        book.run("interrupted")
    book.run("fit", "predict", "evaluate", "fit")
    with pytest.raises(KeyboardInterrupt):
        book.run("interrupted")
    book.run("fit", "evaluate")


def test_a_layer_of_another_cell_is_called_again():
    book = Book()
    book.run("layer", "call")
    before = book.scope["made"].op.name
    book.run("call", "call")
    layer, made = book.scope["layer"], book.scope["made"]
    assert made.op.name == before and len(layer.weights) == 3
    assert tf.keras.backend.get_session().run(made).shape == (40, 4)
