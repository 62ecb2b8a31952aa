"""Compiled models: the total loss, the metrics, and the functions that train, test and predict on a batch."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tfnb.core.program import log
from tfnb.graph.stack import get_default_graph, name_scope, owned_by
from tfnb.keras.backend.phase import symbolic_phase
from tfnb.keras.backend.session import get_session
from tfnb.keras.backend.values import batch_set_value
from tfnb.keras.training.endpoint import Endpoint, by_output, metrics_by_output
from tfnb.ops.control.group import group
from tfnb.ops.math.arithmetic import add_n

Step = Callable[..., list[Any]]


class Compiled:
    """Part of a model that `compile` makes.

    A batch is (inputs, targets, weights), lists of arrays in the order of the model. The losses are built with weights
    of examples when a program first gives some.
    """

    def __init__(self, model: Any, optimizer: Any, endpoints: list[Endpoint]) -> None:
        self.model, self.optimizer, self.endpoints = model, optimizer, endpoints
        self.trained = [each for each in endpoints if each.loss is not None]
        self.collected = list(model.trainable_weights)
        self._owner = get_default_graph().owner             # the cell of `compile`, which the ops of training belong to
        self._losses: dict[tuple[bool, ...], tuple[Any, list[Any]]] = {}
        self._functions: dict[Any, Step] = {}
        self._made: dict[Any, Any] = {}                     # the session and the last op of each function

    # What is fetched

    @property
    def metrics(self) -> list[Any]:
        """The metrics, those of the losses of several outputs included."""
        return [*self.loss_metrics, *(metric for each in self.endpoints for metric, _ in each.metrics),
                *self.model._added_metrics()]

    @property
    def loss_metrics(self) -> list[Any]:
        """The means of the losses of each output, where there are several."""
        return [each.loss_metric for each in self.trained if each.loss_metric is not None]

    @property
    def names(self) -> list[str]:
        """The names of what training and testing return: loss, losses of outputs, metrics."""
        return ["loss", *(metric.name for metric in self.metrics)]

    def reset(self) -> None:
        """Set all metrics to their beginning."""
        for metric in self.metrics:
            metric.reset_states()

    def total_loss(self, has_weights: tuple[bool, ...] | None = None) -> Any:
        """Return the loss that training minimizes. has_weights: for each trained output, whether examples have some."""
        return self._built(has_weights or (False,) * len(self.trained))[0]

    def _built(self, has_weights: tuple[bool, ...]) -> tuple[Any, list[Any]]:
        """(total loss, values of losses of outputs and of metrics) with weights for some outputs."""
        if has_weights not in self._losses or self._losses[has_weights][0].op._dead is not None:
            total, results = self._build_losses(has_weights)
            with name_scope("metrics"):
                results += [each.metric_value(metric, is_weighted) for each in self.trained
                            for metric, is_weighted in each.metrics]
            results += self.model._added_metric_values()
            self._losses[has_weights] = total, results
        return self._losses[has_weights]

    def _build_losses(self, has_weights: tuple[bool, ...]) -> tuple[Any, list[Any]]:
        parts, values = [], []
        with name_scope("loss"):
            for each, has in zip(self.trained, has_weights, strict=True):
                with name_scope(f"{each.name}_loss"):
                    value = each.loss_value(each.weights() if has else None)
                if each.loss_metric is not None:
                    values.append(each.loss_metric(value))
                parts.append(each.loss_weight * value)
            parts += self.model.losses
            if not parts:
                raise ValueError("The model cannot be compiled because it has no loss to optimize.")
            total = parts[0] if len(parts) == 1 else add_n(parts)
        return total, values

    # Functions of a batch

    def function(self, kind: str, has_weights: tuple[bool, ...] = ()) -> Step:
        """Return the function of (inputs, targets, weights) that trains, tests or predicts: kind."""
        key = kind, has_weights
        session = get_session()
        made, step = self._made.get(key, (None, None))
        if made is not session or step._dead is not None:   # taken back, where its first run was interrupted
            with owned_by(self._owner):
                fetches, feeds = getattr(self, f"_{kind}")(has_weights)
            session = get_session()                         # initializes what was made
            self._functions[key], self._made[key] = session.make_callable(fetches, feeds), (session, fetches[-1])
        return self._functions[key]

    def ops(self, kind: str) -> list[Any]:
        """Return what the function `kind` fetches, without weights of examples: loss, metrics, and the step last."""
        fetches: list[Any] = getattr(self, f"_{kind}")((False,) * len(self.trained))[0]
        return fetches

    def _feeds(self, has_weights: tuple[bool, ...]) -> list[Any]:
        weights = [each.weights() for each, has in zip(self.trained, has_weights, strict=True) if has]
        return [*self.model.inputs, *(each.target for each in self.trained), *weights]

    def _train(self, has_weights: tuple[bool, ...]) -> tuple[list[Any], list[Any]]:
        self.check_trainable()
        total, results = self._built(has_weights)
        with name_scope("training"), name_scope(type(self.optimizer).__name__):
            updates = self.optimizer.get_updates(loss=total, params=self.collected) if self.collected else []
        step = group(*updates, *self.model.updates)
        phase = symbolic_phase()
        return [total, *results, step], [*self._feeds(has_weights), *([] if phase is None else [phase])]

    def _test(self, has_weights: tuple[bool, ...]) -> tuple[list[Any], list[Any]]:
        total, results = self._built(has_weights)
        return [total, *results, group(*self.model.state_updates)], self._feeds(has_weights)

    def check_trainable(self) -> None:
        """Warn where `trainable` was changed after `compile`."""
        if {id(v) for v in self.model.trainable_weights} != {id(v) for v in self.collected}:
            log.warning("Discrepancy between trainable weights and collected trainable weights, did you set "
                        "`model.trainable` without calling `model.compile` after ?")

    def on_batch(self, kind: str, inputs: Sequence[Any], targets: Sequence[Any], weights: Sequence[Any]) -> list[Any]:
        """Train ("train") or test ("test") on a batch; return loss and metrics so far."""
        has_weights = tuple(each is not None for each in weights)
        fn = self.function(kind, has_weights)
        fed = [*inputs, *targets, *(each for each in weights if each is not None)]
        if kind == "train" and symbolic_phase() is not None:
            fed.append(True)
        return list(fn(*fed)[:-1])


def compiled(model: Any, optimizer: Any, loss: Any, metrics: Any, loss_weights: Any, sample_weight_mode: Any,
             weighted_metrics: Any, target_tensors: Any) -> Compiled:
    """Return what `Model.compile` makes of its arguments."""
    names = model.output_names
    losses = by_output(loss, names, "loss")
    if isinstance(loss, dict):
        for name in [each for each in names if each not in loss]:
            log.warning(f'Output "{name}" missing from loss dictionary. We assume this was done on purpose. The fit '
                        f'and evaluate APIs will not be expecting any data to be passed to "{name}".')
    factors = by_output(loss_weights, names, "loss_weights", 1.0)
    modes = by_output(sample_weight_mode, names, "sample_weight_mode")
    endpoints = [Endpoint(*each) for each in zip(names, model.outputs, losses, factors, modes, strict=True)]
    trained = [each for each in endpoints if each.loss is not None]
    given = by_output(target_tensors, [each.name for each in trained], "target_tensors")
    for each, tensor in zip(trained, given, strict=True):
        each.make_target(tensor)
    made = Compiled(model, optimizer, endpoints)
    if len(endpoints) > 1:
        for each in trained:
            each.make_loss_metric()
    _add_metrics(made, names, metrics, weighted_metrics)
    return made


def _add_metrics(made: Compiled, names: Sequence[str], metrics: Any, weighted_metrics: Any) -> None:
    taken: list[str] = []
    plain, weighted = metrics_by_output(metrics, names), metrics_by_output(weighted_metrics, names)
    for each, own, own_weighted in zip(made.endpoints, plain, weighted, strict=True):
        prefix = f"{each.name}_" if len(names) > 1 else ""
        if each.loss is not None:
            each.add_metrics(own, prefix, False, taken)
            each.add_metrics(own_weighted, prefix, True, taken)


def reset_values(variables: Sequence[Any]) -> None:
    """Set variables to 0."""
    batch_set_value([(each, np.zeros(each.shape.as_list())) for each in variables])
