"""Models: networks that are compiled, trained, evaluated and saved: `tf.keras.Model`."""
from __future__ import annotations

from typing import Any

import numpy as np

from tfnb.core import nest
from tfnb.core.arguments import KERAS, describe
from tfnb.core.shape import TensorShape
from tfnb.graph.parts.operation import Tensor
from tfnb.graph.stack import get_default_graph, name_scope, owned_by
from tfnb.keras.backend.config import floatx
from tfnb.keras.backend.session import get_session
from tfnb.keras.engine.network import Network
from tfnb.keras.optimizers import lookup as optimizers
from tfnb.keras.saving.saved import Saved
from tfnb.keras.training import arrays, loops
from tfnb.keras.training.compiled import Compiled, compiled
from tfnb.keras.training.sources import first_inputs
from tfnb.ops.control.source import placeholder


class Model(Saved, Network):
    """A model: a graph of layers between inputs and outputs, or a subclass with a `call`.

    inputs, outputs: tensors, lists or dicts of them. name: by default "model", made unique.

    >>> inputs = tf.keras.Input((2,))
    >>> outputs = tf.keras.layers.Dense(1, kernel_initializer="zeros")(inputs)
    >>> model = tf.keras.Model(inputs, outputs)
    >>> model.compile(optimizer=tf.keras.optimizers.SGD(0.1), loss="mse")
    >>> x, y = np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([[1.0], [2.0]])
    >>> history = model.fit(x, y, epochs=200, verbose=0)
    >>> model.predict(x).round(1)
    array([[1.],
           [2.]], dtype=float32)
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._owner = self._compile_owner = get_default_graph().owner      # of ops that a later cell has it make
        self._compiled: Compiled | None = None
        self._compile_arguments: dict[str, Any] | None = None
        self._predict: Any = None
        self.stop_training = False
        self.history: Any = None
        self._own_metrics: list[tuple[Any, Any]] = []

    # compile

    _inputs_are_learned = False                 # from the first data

    def compile(self, optimizer: Any = "rmsprop", loss: Any = None, metrics: Any = None, loss_weights: Any = None,
                sample_weight_mode: Any = None, weighted_metrics: Any = None, target_tensors: Any = None,
                distribute: Any = None, **kwargs: Any) -> None:
        """Say how the model is trained.

        optimizer: a name, an optimizer of Keras or of tf.train. loss: a name, a function of (y_true, y_pred) or a Loss;
        a list or dict of these for several outputs. metrics: a list of names, functions or Metrics, or a list of lists
        or dict by output. loss_weights: factors of the losses of the outputs. sample_weight_mode: "temporal" for
        weights of time steps. weighted_metrics: metrics that take the weights of examples. target_tensors: tensors in
        place of placeholders for the targets. distribute: refused. Raises ValueError for unknown names.
        """
        if distribute is not None or kwargs.pop("run_eagerly", None):
            raise NotImplementedError("compile: distribution strategies and eager runs are not there")
        if kwargs:
            raise TypeError(f"compile: unexpected arguments {', '.join(kwargs)}: they would go to session.run")
        self.optimizer = optimizers.get(optimizer)
        self.loss, self.loss_weights, self.sample_weight_mode = loss or [], loss_weights, sample_weight_mode
        self._compile_arguments = {
            "loss": loss, "metrics": metrics, "loss_weights": loss_weights, "sample_weight_mode": sample_weight_mode,
            "weighted_metrics": weighted_metrics, "target_tensors": target_tensors}
        self._compiled, self._compile_owner = None, get_default_graph().owner
        if self.inputs is not None:
            self._finish_compile()

    def _finish_compile(self) -> Compiled:
        assert self._compile_arguments is not None
        with owned_by(self._compile_owner):
            self._compiled = compiled(self, self.optimizer, **self._compile_arguments)
            if self._compiled.trained or self.losses:
                self.total_loss = self._compiled.total_loss()
        return self._compiled

    def _ready(self, x: Any = None) -> Compiled:
        """Return what `compile` made. Raises RuntimeError before it was called."""
        if self._compile_arguments is None:
            raise RuntimeError("You must compile your model before training/testing. Use `model.compile(optimizer, "
                               "loss)`.")
        self._learn_inputs(x)
        return self._compiled or self._finish_compile()

    def _learn_inputs(self, x: Any) -> None:
        """Make the inputs of a model that does not know them like the first data; anew where they were taken back."""
        if self._inputs_are_learned and self.outputs[0].op._dead is not None:
            self._forget_inputs()
        if self.inputs is None:
            self._inputs_are_learned = True
            with owned_by(self._owner):
                self._set_inputs(x)

    def _forget_inputs(self) -> None:
        self.inputs = self.outputs = self._compiled = self._predict = None

    def _ready_for(self, stream: Any) -> None:
        """Raise RuntimeError before `compile`; a subclass learns its inputs from the first batch."""
        is_known = self.inputs is not None and self.outputs[0].op._dead is None
        if is_known or self._compile_arguments is None:
            self._ready()
        else:
            self._learn_inputs(first_inputs(stream))

    def _make_train_function(self) -> None:
        """Build the step that trains, with the optimizer's variables. Raises RuntimeError before `compile`."""
        ready = self._ready()
        ready.function("train", (False,) * len(ready.trained))

    @property
    def metrics_names(self) -> list[str]:
        """The names of what `evaluate` returns. Raises RuntimeError before `compile`."""
        return self._ready().names if self.inputs is not None and self._compile_arguments else ["loss"]

    @property
    def metrics(self) -> list[Any]:
        """The metrics of `compile` and those of layers."""
        return super().metrics if self._compiled is None else self._compiled.metrics

    def _added_metrics(self) -> list[Any]:
        """Return the metrics that `add_metric` made, in the model and in its layers."""
        found: list[Any] = super().metrics
        return [metric for metric in found if hasattr(metric, "_value_of_keras")]     # none of a model inside

    def _added_metric_values(self) -> list[Any]:
        return [metric._value_of_keras for metric in self._added_metrics()]

    def reset_metrics(self) -> None:
        """Set all metrics to their beginning."""
        self._ready().reset()

    @property
    def state_updates(self) -> list[Any]:
        """The updates that every run makes, those of stateful layers."""
        return [update for layer in self.layers if getattr(layer, "stateful", False)
                for update in (layer.state_updates if isinstance(layer, Model) else layer.updates)]

    # Models that are subclasses

    def build(self, input_shape: Any) -> None:
        """Make the variables of a subclass for inputs of a shape, with the batch; lists for several inputs."""
        if not self._is_graph_network and self.inputs is None:
            shapes = input_shape if isinstance(input_shape, list) else [input_shape]
            inputs = [placeholder(floatx(), TensorShape(shape)) for shape in shapes]
            self._set_inputs(inputs if isinstance(input_shape, list) else inputs[0])
        self.built = True

    def _build_once(self, inputs: Any) -> None:
        if self._is_graph_network:
            super()._build_once(inputs)
        self.built = True                                   # the call of a subclass builds its layers

    def _set_inputs(self, x: Any) -> None:
        """Make placeholders like the first data that a subclass gets, and call it on them."""
        def like(value: Any, number: int) -> Any:
            if isinstance(value, Tensor):
                return value
            found = arrays.array(value)
            kind = floatx() if found.dtype.kind == "f" else found.dtype.name
            return placeholder(kind, [None, *found.shape[1:]], name=f"input_{number}")
        if x is None:
            raise ValueError(f"The inputs of model {self.name!r} are not known yet: call it on data, or `build` it, "
                             "before")
        if isinstance(x, dict):
            structure: Any = {key: like(value, i + 1) for i, (key, value) in enumerate(sorted(x.items()))}
        elif isinstance(x, (list, tuple)) and all(np.ndim(each) > 1 or isinstance(each, Tensor) for each in x):
            structure = [like(value, i + 1) for i, value in enumerate(x)]
            structure = structure if len(structure) > 1 else structure[0]
        else:
            structure = like(x, 1)
        with name_scope(None):
            outputs = self(structure)
        self._input_structure, self._output_structure = structure, outputs
        self.inputs, self.outputs = nest.flatten(structure), nest.flatten(outputs)
        keys = sorted(structure) if isinstance(structure, dict) else None
        self.input_names = keys or [f"input_{i + 1}" for i in range(len(self.inputs))]
        self.output_names = [f"output_{i + 1}" for i in range(len(self.outputs))]

    # Batches

    def _batch(self, x: Any, y: Any = None, sample_weight: Any = None, class_weight: Any = None,
               has_targets: bool = True) -> tuple[list[Any], list[Any], list[Any]]:
        """Return (inputs, targets, weights), checked, in the order of the model."""
        self._learn_inputs(x)
        inputs = arrays.arranged(x, self.input_names, "input")
        shapes = [None if t.shape.ndims is None else tuple(t.shape.as_list()) for t in self.inputs]
        arrays.check_shapes(inputs, self.input_names, shapes, "input")
        if not has_targets:
            arrays.check_lengths(inputs, [], [])
            return inputs, [], []
        trained = self._ready(x).trained
        names = [each.name for each in trained]
        if y is None and trained:
            raise ValueError(f"Expected targets (y) for the outputs {', '.join(names)}, got None")
        if isinstance(y, (list, tuple)) and len(y) == len(self.output_names) > len(names):
            y = [value for value, name in zip(y, self.output_names, strict=True) if name in names]
        targets = arrays.arranged(y, names, "target") if trained else []
        arrays.check_shapes(targets, names, [each.target_shape for each in trained], "target")
        weights = arrays.weights_of(sample_weight, class_weight, targets, names, [each.mode for each in trained])
        arrays.check_lengths(inputs, targets, weights)
        return inputs, targets, weights

    def train_on_batch(self, x: Any, y: Any = None, sample_weight: Any = None, class_weight: Any = None,
                       reset_metrics: bool = True) -> Any:
        """Take a step on a batch; return the loss, or a list of loss and metrics.

        x, y: arrays, lists or dicts of them. sample_weight: a weight for each example. class_weight: dict of class to
        weight. reset_metrics: whether metrics are of this batch alone.
        """
        return self._on_batch("train", reset_metrics, x, y, sample_weight, class_weight)

    def test_on_batch(self, x: Any, y: Any = None, sample_weight: Any = None, reset_metrics: bool = True) -> Any:
        """Return the loss of a batch, or a list of loss and metrics; arguments as of `train_on_batch`."""
        return self._on_batch("test", reset_metrics, x, y, sample_weight, None)

    def _on_batch(self, kind: str, reset_metrics: bool, *data: Any) -> Any:
        batch = self._batch(*data)
        ready = self._ready()
        if reset_metrics:
            ready.reset()
        values = ready.on_batch(kind, *batch)
        return values[0] if len(values) == 1 else values

    def predict_on_batch(self, x: Any) -> Any:
        """Return the outputs for a batch of inputs, an array or a list of them."""
        inputs, _, _ = self._batch(x, has_targets=False)
        made = self._predict_batch(inputs)
        return made[0] if len(made) == 1 else made

    def _predict_batch(self, inputs: list[Any]) -> list[Any]:
        session = get_session()
        if self._predict is None or self._predict[0] is not session:
            self._predict = session, session.make_callable([self.outputs, self.state_updates], self.inputs)
        found: list[Any] = self._predict[1](*inputs)[0]
        return found

    # Loops

    def fit(self, x: Any = None, y: Any = None, batch_size: int | None = None, epochs: int = 1, verbose: int = 1,
            callbacks: Any = None, validation_split: float = 0.0, validation_data: Any = None, shuffle: Any = True,
            class_weight: Any = None, sample_weight: Any = None, initial_epoch: int = 0,
            steps_per_epoch: int | None = None, validation_steps: int | None = None, validation_freq: Any = 1,
            max_queue_size: int = 10, workers: int = 1, use_multiprocessing: bool = False, **kwargs: Any) -> Any:
        """Train for a number of epochs; return the History, whose `history` is a dict of lists by epoch.

        x: arrays, a list or dict of them, a generator or keras.utils.Sequence of (inputs, targets[, weights]), a
        tf.data dataset or iterator of these. y: the targets, of arrays. batch_size: 32 by default. verbose: 0 silent,
        1 progress bar, 2 a line for each epoch. callbacks: a list. validation_split: the last part of the data, which
        is not trained on. validation_data: (x, y[, sample_weight]) or what x may be. shuffle: the examples before each
        epoch, or "batch". class_weight: dict of class to weight. sample_weight: weights of examples. initial_epoch:
        number of the first epoch. steps_per_epoch: batches of an epoch, needed for endless streams. validation_steps,
        validation_freq: batches of validation, and the epochs between two. max_queue_size, workers,
        use_multiprocessing: accepted: batches are made in this thread.
        """
        epochs = kwargs.pop("nb_epoch", epochs)
        if kwargs:
            raise TypeError(f"Unrecognized keyword arguments: {', '.join(kwargs)}")
        return loops.fit(self, x, y, batch_size, epochs, verbose, callbacks, validation_split, validation_data, shuffle,
                         class_weight, sample_weight, initial_epoch, steps_per_epoch, validation_steps, validation_freq)

    def fit_generator(self, generator: Any, steps_per_epoch: int | None = None, epochs: int = 1, verbose: int = 1,
                      callbacks: Any = None, validation_data: Any = None, validation_steps: int | None = None,
                      validation_freq: Any = 1, class_weight: Any = None, max_queue_size: int = 10, workers: int = 1,
                      use_multiprocessing: bool = False, shuffle: bool = True, initial_epoch: int = 0) -> Any:
        """Train on a generator or Sequence, as `fit`."""
        return self.fit(generator, steps_per_epoch=steps_per_epoch, epochs=epochs, verbose=verbose,
                        callbacks=callbacks, validation_data=validation_data, validation_steps=validation_steps,
                        validation_freq=validation_freq, class_weight=class_weight, shuffle=shuffle,
                        initial_epoch=initial_epoch)

    def evaluate(self, x: Any = None, y: Any = None, batch_size: int | None = None, verbose: int = 1,
                 sample_weight: Any = None, steps: int | None = None, callbacks: Any = None, max_queue_size: int = 10,
                 workers: int = 1, use_multiprocessing: bool = False) -> Any:
        """Return the loss, or a list of loss and metrics, of data; arguments as of `fit`. steps: number of batches."""
        values = loops.evaluate(self, x, y, batch_size, verbose, sample_weight, steps, callbacks)
        return values[0] if len(values) == 1 else values

    def evaluate_generator(self, generator: Any, steps: int | None = None, callbacks: Any = None,
                           max_queue_size: int = 10, workers: int = 1, use_multiprocessing: bool = False,
                           verbose: int = 0) -> Any:
        """Return the loss, or a list of loss and metrics, of a generator or Sequence."""
        return self.evaluate(generator, steps=steps, callbacks=callbacks, verbose=verbose)

    def predict(self, x: Any, batch_size: int | None = None, verbose: int = 0, steps: int | None = None,
                callbacks: Any = None, max_queue_size: int = 10, workers: int = 1,
                use_multiprocessing: bool = False) -> Any:
        """Return the outputs for all inputs, an array or a list of them; arguments as of `fit`."""
        made = loops.predict(self, x, batch_size, verbose, steps, callbacks)
        return made[0] if len(made) == 1 else made

    def predict_generator(self, generator: Any, steps: int | None = None, callbacks: Any = None,
                          max_queue_size: int = 10, workers: int = 1, use_multiprocessing: bool = False,
                          verbose: int = 0) -> Any:
        """Return the outputs for all inputs of a generator or Sequence."""
        return self.predict(generator, steps=steps, callbacks=callbacks, verbose=verbose)


describe(globals(), KERAS)

