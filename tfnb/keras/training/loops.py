"""Loops over batches: `fit`, `evaluate` and `predict`."""
from __future__ import annotations

from typing import Any

import numpy as np

from tfnb.keras.callbacks.base import CallbackList, History
from tfnb.keras.callbacks.progress import ProgbarLogger
from tfnb.keras.training import arrays
from tfnb.keras.training.sources import Arrays, Stream, is_stream

Source = Arrays | Stream


def fit(model: Any, x: Any, y: Any, batch_size: int | None, epochs: int, verbose: int, callbacks: Any,
        validation_split: float, validation_data: Any, shuffle: Any, class_weight: Any, sample_weight: Any,
        initial_epoch: int, steps_per_epoch: int | None, validation_steps: int | None, validation_freq: Any) -> Any:
    """Train; return the History. Arguments as of `Model.fit`."""
    validation: Source | None
    if is_stream(x):
        if y is not None or validation_split:
            raise ValueError("`y` and `validation_split` are for arrays: a generator, Sequence or dataset yields "
                             "(inputs, targets), and validation data of its own")
        model._ready_for(x)
        train: Source = Stream(model, x, steps_per_epoch, class_weight, shuffle=shuffle)
        validation = _validation(model, validation_data, batch_size, validation_steps)
    else:
        train, validation = _arrays(model, x, y, batch_size, validation_split, validation_data, shuffle, class_weight,
                                    sample_weight, steps_per_epoch, validation_steps)
    ready = model._ready()
    names = ready.names
    run = _Run(model, train, callbacks, verbose, names, epochs, batch_size, validation)
    if verbose and train.total is not None:
        unit = "steps" if train.counts_steps else "samples"
        known = validation is not None and validation.total is not None
        print(f"Train {'for' if train.counts_steps else 'on'} {train.total} {unit}" + (
            f", validate {'for' if validation.counts_steps else 'on'} {validation.total} "     # type: ignore[union-attr]
            f"{'steps' if validation.counts_steps else 'samples'}" if known else ""))           # type: ignore[union-attr]
    model.stop_training = False
    run.callbacks.call("on_train_begin", {})
    for epoch in range(initial_epoch, epochs):
        ready.reset()
        run.callbacks.call("on_epoch_begin", epoch, {})
        logs = dict(zip(names, run.epoch("train"), strict=True))
        if validation is not None and _is_due(validation_freq, epoch) and not model.stop_training:
            values = _evaluated(model, validation, run.callbacks, verbose=0)
            logs.update({f"val_{name}": value for name, value in zip(names, values, strict=True)})
        run.callbacks.call("on_epoch_end", epoch, logs)
        if model.stop_training:
            break
    run.callbacks.call("on_train_end", {})
    return model.history


def _arrays(model: Any, x: Any, y: Any, batch_size: int | None, validation_split: float, validation_data: Any,
            shuffle: Any, class_weight: Any, sample_weight: Any, steps: int | None,
            validation_steps: int | None) -> tuple[Source, Source | None]:
    data = model._batch(x, y, sample_weight, class_weight)
    validation: Source | None = None
    if validation_data is not None:
        validation = _validation(model, validation_data, batch_size, validation_steps)
    elif validation_split:
        if not 0 < validation_split < 1:
            raise ValueError(f"Expected validation_split between 0 and 1, got {validation_split}")
        at = int(len(data[0][0]) * (1.0 - validation_split))
        if at == 0:
            raise ValueError(f"validation_split={validation_split} of {len(data[0][0])} examples leaves none to train")
        parts = [arrays.split(part, at) for part in data]
        data = tuple(part[0] for part in parts)
        validation = Arrays(tuple(part[1] for part in parts), batch_size)        # type: ignore[arg-type]
    if steps is not None and batch_size is None:
        batch_size = -(-len(data[0][0]) // steps)
    return Arrays(data, batch_size, shuffle), validation


def _validation(model: Any, data: Any, batch_size: int | None, steps: int | None) -> Source | None:
    if data is None:
        return None
    if is_stream(data):
        return Stream(model, data, steps)
    if not isinstance(data, (tuple, list)) or len(data) not in (2, 3):
        raise ValueError("Expected validation_data (x, y) or (x, y, sample_weight), a generator, Sequence or dataset, "
                         f"got {type(data).__name__}" + (f" of length {len(data)}" if hasattr(data, "__len__") else ""))
    return Arrays(model._batch(*data), batch_size)


def _is_due(frequency: Any, epoch: int) -> bool:
    return (epoch + 1) % frequency == 0 if isinstance(frequency, int) else epoch + 1 in frequency


class _Run:
    """Epochs over a source with callbacks."""

    def __init__(self, model: Any, source: Source, callbacks: Any, verbose: int, names: list[str], epochs: int,
                 batch_size: int | None, validation: Source | None) -> None:
        self.model, self.source, self.names = model, source, names
        model.history = History()
        self.callbacks = CallbackList([*(callbacks or ()), model.history])
        if verbose:
            self.callbacks.append(ProgbarLogger("steps" if source.counts_steps else "samples", names[1:]))
        shown = names + ([f"val_{name}" for name in names] if validation is not None else [])
        self.callbacks.begin(model, _params(source, batch_size, epochs, verbose, shown, validation is not None))

    def epoch(self, kind: str) -> list[Any]:
        """Return the mean loss and the metrics of an epoch of training."""
        return _pass(self.model, self.source, self.callbacks, kind, self.names)


def _params(source: Source, batch_size: int | None, epochs: int, verbose: int, names: list[str],
            validates: bool) -> dict[str, Any]:
    counts = source.counts_steps
    return {"batch_size": None if counts else batch_size or 32, "epochs": epochs, "verbose": verbose,
            "steps": source.total if counts else None, "samples": None if counts else source.total,
            "do_validation": validates, "metrics": names}


def _pass(model: Any, source: Source, callbacks: CallbackList, kind: str, names: list[str]) -> list[Any]:
    """Return the loss, a mean over examples or batches, and the metrics of a pass over the batches."""
    ready = model._ready()
    total, weight, values = 0.0, 0, [0.0] * len(names)
    for number, (batch, size) in enumerate(source.epoch()):
        logs: dict[str, Any] = {"batch": number, "size": size}
        callbacks.call(f"on_{kind}_batch_begin", number, logs)
        values = ready.on_batch(kind, *batch)
        share = 1 if source.counts_steps else size
        total, weight = total + float(values[0]) * share, weight + share
        logs.update(zip(names, values, strict=True))
        callbacks.call(f"on_{kind}_batch_end", number, logs)
        if model.stop_training and kind == "train":
            break
    if not weight:
        raise ValueError("Expected at least one batch, got none: is the data empty, or the iterator at its end?")
    return [total / weight, *(float(value) for value in values[1:])]


def evaluate(model: Any, x: Any, y: Any, batch_size: int | None, verbose: int, sample_weight: Any,
             steps: int | None, callbacks: Any) -> list[Any]:
    """Return loss and metrics; arguments as of `Model.evaluate`."""
    source: Source
    if is_stream(x):
        model._ready_for(x)
        source = Stream(model, x, steps)
    else:
        source = Arrays(model._batch(x, y, sample_weight), batch_size)
    names = model._ready().names
    listed = CallbackList(callbacks)
    if verbose:
        listed.append(ProgbarLogger("steps" if source.counts_steps else "samples", names[1:]))
    listed.begin(model, _params(source, batch_size, 1, verbose, names, False))
    return _evaluated(model, source, listed, verbose)


def _evaluated(model: Any, source: Source, callbacks: CallbackList, verbose: int) -> list[Any]:
    ready = model._ready()
    ready.reset()
    inner = callbacks if verbose else CallbackList([each for each in callbacks.callbacks
                                                    if not isinstance(each, ProgbarLogger)])
    inner.call("on_test_begin", {})
    values = _pass(model, source, inner, "test", ready.names)
    inner.call("on_test_end", dict(zip(ready.names, values, strict=True)))
    return values


def predict(model: Any, x: Any, batch_size: int | None, verbose: int, steps: int | None, callbacks: Any) -> list[Any]:
    """Return the outputs for all inputs; arguments as of `Model.predict`."""
    source: Source
    if is_stream(x):
        source = Stream(model, x, steps, has_targets=False)
    else:
        source = Arrays(model._batch(x, has_targets=False), batch_size)
    listed = CallbackList(callbacks)
    if verbose:
        listed.append(ProgbarLogger("steps" if source.counts_steps else "samples"))
    listed.begin(model, _params(source, batch_size, 1, verbose, [], False))
    listed.call("on_predict_begin", {})
    parts: list[list[Any]] = []
    for number, ((inputs, _, _), size) in enumerate(source.epoch()):
        listed.call("on_predict_batch_begin", number, {"batch": number, "size": size})
        parts.append(model._predict_batch(inputs))
        listed.call("on_predict_batch_end", number, {"batch": number, "size": size, "outputs": parts[-1]})
    listed.call("on_predict_end", {})
    return [np.concatenate(each) if np.ndim(each[0]) else np.asarray(each) for each in zip(*parts, strict=True)]
