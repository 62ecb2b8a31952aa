"""Models of Keras with the interface of scikit-learn's estimators."""
from __future__ import annotations

import copy
import inspect
from typing import Any

import numpy as np

from tfnb.core.absent import explain as _explain
from tfnb.keras.losses import functions as losses
from tfnb.keras.training.model import Model
from tfnb.keras.utils.arrays import to_categorical


class _Estimator:
    """A function that makes a compiled model, its arguments, and those of fit and predict."""

    model: Any

    def __init__(self, build_fn: Any = None, **sk_params: Any) -> None:
        self.build_fn, self.sk_params = build_fn, sk_params
        self.check_params(sk_params)

    def _builder(self) -> Any:
        if self.build_fn is None and not callable(self):
            raise ValueError(f"{type(self).__name__}: expected build_fn, a function that returns a compiled model, or "
                             "a subclass with __call__")
        return self if self.build_fn is None else self.build_fn

    def check_params(self, params: dict[str, Any]) -> None:
        """Raise ValueError for arguments that neither the function nor fit, predict and evaluate take."""
        taken = set(inspect.signature(self._builder()).parameters) | {"nb_epoch"}
        for method in (Model.fit, Model.predict, Model.evaluate):
            taken |= set(inspect.signature(method).parameters)
        unknown = set(params) - taken
        if unknown:
            raise ValueError(f"{', '.join(sorted(unknown))} is not a legal parameter")

    def get_params(self, **params: Any) -> dict[str, Any]:
        """Return the arguments of the constructor."""
        return {**copy.deepcopy(self.sk_params), "build_fn": self.build_fn}

    def set_params(self, **params: Any) -> Any:
        """Change arguments; returns the estimator."""
        self.check_params(params)
        self.sk_params.update(params)
        return self

    def filter_sk_params(self, fn: Any, override: Any = None) -> dict[str, Any]:
        """Return those of the arguments that a function takes, and what `override` has."""
        names = inspect.signature(fn).parameters
        return {**{name: value for name, value in self.sk_params.items() if name in names}, **(override or {})}

    def fit(self, x: Any, y: Any, **kwargs: Any) -> Any:
        """Make the model and train it; returns its History."""
        builder = self._builder()
        self.model = builder(**self.filter_sk_params(builder))
        loss = self.model.loss
        name = loss if isinstance(loss, str) else getattr(loss, "__name__", "")
        if name == losses.categorical_crossentropy.__name__ and np.ndim(y) != 2:
            y = to_categorical(y)
        return self.model.fit(x, y, **self.filter_sk_params(Model.fit, kwargs))


class KerasClassifier(_Estimator):
    """A classifier of scikit-learn.

    build_fn: a function that returns a compiled model; None: the method `__call__` of a subclass. Other arguments are
    those of build_fn, fit, predict and evaluate. Raises ValueError for others.

    >>> def build():
    ...     model = tf.keras.Sequential([tf.keras.layers.Dense(2, activation="softmax", input_dim=1)])
    ...     model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
    ...     return model
    >>> classifier = tf.keras.wrappers.scikit_learn.KerasClassifier(build, epochs=1, verbose=0)
    >>> _ = classifier.fit(np.array([[0.0], [1.0]]), np.array(["no", "yes"]))
    >>> set(classifier.predict(np.array([[0.5]]))) <= {"no", "yes"}
    True
    """

    def fit(self, x: Any, y: Any, **kwargs: Any) -> Any:
        """Make the model and train it on labels of any kind, or one-hot ones; returns its History."""
        y = np.asarray(y)
        if y.ndim == 2 and y.shape[1] > 1:
            self.classes_ = np.arange(y.shape[1])
        elif y.ndim == 1 or (y.ndim == 2 and y.shape[1] == 1):
            self.classes_ = np.unique(y)
            y = np.searchsorted(self.classes_, y)
        else:
            raise ValueError(f"Invalid shape for y: {y.shape}; expected labels, or one-hot vectors")
        self.n_classes_ = len(self.classes_)
        return super().fit(x, y, **kwargs)

    def predict_proba(self, x: Any, **kwargs: Any) -> Any:
        """Return the probabilities of the classes, (n, classes)."""
        found = self.model.predict(x, **self.filter_sk_params(Model.predict, kwargs))
        return np.hstack([1 - found, found]) if found.shape[1] == 1 else found

    def predict(self, x: Any, **kwargs: Any) -> Any:
        """Return the likeliest classes."""
        return self.classes_[np.argmax(self.predict_proba(x, **kwargs), axis=-1)]

    def score(self, x: Any, y: Any, **kwargs: Any) -> float:
        """Return the accuracy. Raises ValueError if the model was not compiled with that metric."""
        y = np.searchsorted(self.classes_, y)
        name = self.model.loss if isinstance(self.model.loss, str) else getattr(self.model.loss, "__name__", "")
        if name == losses.categorical_crossentropy.__name__ and y.ndim != 2:
            y = to_categorical(y)
        found = self.model.evaluate(x, y, **self.filter_sk_params(Model.evaluate, kwargs))
        values = found if isinstance(found, list) else [found]
        for metric, value in zip(self.model.metrics_names, values, strict=True):
            if metric in ("accuracy", "acc"):
                return float(value)
        raise ValueError('The model is not configured to compute accuracy. You should pass `metrics=["accuracy"]` to '
                         "the `model.compile()` method.")


class KerasRegressor(_Estimator):
    """A regressor of scikit-learn.

    build_fn: a function that returns a compiled model; None: the method `__call__` of a subclass. Other arguments are
    those of build_fn, fit, predict and evaluate. Raises ValueError for others.

    >>> def build():
    ...     model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_dim=1)])
    ...     model.compile("adam", "mse")
    ...     return model
    >>> regressor = tf.keras.wrappers.scikit_learn.KerasRegressor(build, epochs=1, verbose=0)
    >>> _ = regressor.fit(np.array([[0.0], [1.0]]), np.array([0.0, 1.0]))
    >>> regressor.predict(np.array([[0.5], [1.5]])).shape
    (2,)
    """

    def predict(self, x: Any, **kwargs: Any) -> Any:
        """Return the predictions."""
        return np.squeeze(self.model.predict(x, **self.filter_sk_params(Model.predict, kwargs)), axis=-1)

    def score(self, x: Any, y: Any, **kwargs: Any) -> float:
        """Return minus the loss: larger is better."""
        found = self.model.evaluate(x, y, **self.filter_sk_params(Model.evaluate, kwargs))
        return -float(found[0] if isinstance(found, list) else found)


_explain(__name__)
