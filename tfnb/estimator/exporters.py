"""Exporters: SavedModels that `train_and_evaluate` writes after evaluations."""
from __future__ import annotations

import logging
import os
import shutil
from collections.abc import Callable, Mapping
from typing import Any

from tfnb.core.arguments import ESTIMATORS, describe
from tfnb.core.files.paths import local
from tfnb.estimator.results import recorded

_log = logging.getLogger("tensorflow")


class Exporter:
    """Base class of exporters: subclasses have a `name` and a method `export`.

    >>> exporter = tf.estimator.FinalExporter("final", serving_input_receiver_fn=None)
    >>> isinstance(exporter, tf.estimator.Exporter), exporter.name
    (True, 'final')
    """

    @property
    def name(self) -> str:
        """Folder of its exports, below "export" in the model's."""
        raise NotImplementedError(f"{type(self).__name__}.name")

    def export(self, estimator: Any, export_path: str, checkpoint_path: str, eval_result: Any,
               is_the_final_export: bool) -> Any:
        """Export a checkpoint of an Estimator to a folder in `export_path`; return the folder, or None."""
        raise NotImplementedError(f"{type(self).__name__}.export")


class _ModelExporter(Exporter):
    """Exporter that calls `export_saved_model` of an Estimator."""

    def __init__(self, name: str, serving_input_receiver_fn: Callable[[], Any] | None,
                 assets_extra: Mapping[str, Any] | None = None, as_text: bool = False,
                 exports_to_keep: int | None = None) -> None:
        if exports_to_keep is not None and exports_to_keep <= 0:
            raise ValueError(f"`exports_to_keep`, if provided, must be a positive number. Got {exports_to_keep}")
        self._name, self._receiver_fn = name, serving_input_receiver_fn
        self._assets_extra, self._as_text, self._keep = assets_extra, as_text, exports_to_keep

    @property
    def name(self) -> str:
        """Folder of its exports, below "export" in the model's."""
        return self._name

    def export(self, estimator: Any, export_path: str, checkpoint_path: str, eval_result: Any,
               is_the_final_export: bool) -> Any:
        """Export a checkpoint of an Estimator to a folder in `export_path`; return the folder."""
        made = estimator.export_saved_model(export_path, self._receiver_fn, assets_extra=self._assets_extra,
                                            as_text=self._as_text, checkpoint_path=checkpoint_path)
        self._remove_old(export_path)
        return made

    def _remove_old(self, export_path: str) -> None:
        if self._keep is None:
            return
        names = (name for name in os.listdir(local(export_path)) if name.isdigit())
        for name in sorted(names, key=int)[:-self._keep]:
            shutil.rmtree(local(os.path.join(export_path, name)), ignore_errors=True)


class LatestExporter(_ModelExporter):
    """Exporter of each evaluated checkpoint.

    name: the folder of the exports; serving_input_receiver_fn: builds what is fed to the model. assets_extra, as_text:
    as of Estimator.export_saved_model. exports_to_keep: older ones are removed; None: none. Raises ValueError unless
    that is positive.

    >>> receiver_fn = tf.estimator.export.build_raw_serving_input_receiver_fn({"x": tf.zeros([1, 2])})
    >>> tf.estimator.LatestExporter("latest", receiver_fn).name
    'latest'
    """

    def __init__(self, name: str, serving_input_receiver_fn: Callable[[], Any] | None,
                 assets_extra: Mapping[str, Any] | None = None, as_text: bool = False,
                 exports_to_keep: int | None = 5) -> None:
        super().__init__(name, serving_input_receiver_fn, assets_extra, as_text, exports_to_keep)


class FinalExporter(_ModelExporter):
    """Exporter of the last checkpoint, when training has ended.

    name: the folder of the exports; serving_input_receiver_fn: builds what is fed to the model. assets_extra, as_text:
    as of Estimator.export_saved_model.

    >>> receiver_fn = tf.estimator.export.build_raw_serving_input_receiver_fn({"x": tf.zeros([1, 2])})
    >>> tf.estimator.FinalExporter("final", receiver_fn).name
    'final'
    """

    def __init__(self, name: str, serving_input_receiver_fn: Callable[[], Any] | None,
                 assets_extra: Mapping[str, Any] | None = None, as_text: bool = False) -> None:
        super().__init__(name, serving_input_receiver_fn, assets_extra, as_text)

    def export(self, estimator: Any, export_path: str, checkpoint_path: str, eval_result: Any,
               is_the_final_export: bool) -> Any:
        """Export the checkpoint if it is the last; return the folder, or None."""
        if not is_the_final_export:
            return None
        _log.info("Performing the final export in the end of training.")
        return super().export(estimator, export_path, checkpoint_path, eval_result, is_the_final_export)


def _smaller_loss(best_eval_result: Mapping[str, Any], current_eval_result: Mapping[str, Any]) -> bool:
    if "loss" not in best_eval_result or "loss" not in current_eval_result:
        raise ValueError("the results of an evaluation must have a loss, got "
                         f"{sorted(best_eval_result)} and {sorted(current_eval_result)}")
    return bool(best_eval_result["loss"] > current_eval_result["loss"])


class BestExporter(_ModelExporter):
    """Exporter of each checkpoint that is better than all before.

    name: the folder of the exports; serving_input_receiver_fn: builds what is fed to the model. event_file_pattern:
    event files below the model's folder, such as "eval/*.tfevents.*", where the best result of runs before this one is
    looked for. compare_fn(best_eval_result, current_eval_result): whether the second is better; by default the one of
    the smaller loss. assets_extra, as_text, exports_to_keep: as of LatestExporter. Raises ValueError as that, and
    without serving_input_receiver_fn.

    >>> receiver_fn = tf.estimator.export.build_raw_serving_input_receiver_fn({"x": tf.zeros([1, 2])})
    >>> tf.estimator.BestExporter(serving_input_receiver_fn=receiver_fn).name
    'best_exporter'
    """

    def __init__(self, name: str = "best_exporter", serving_input_receiver_fn: Callable[[], Any] | None = None,
                 event_file_pattern: str | None = None, compare_fn: Callable[..., bool] = _smaller_loss,
                 assets_extra: Mapping[str, Any] | None = None, as_text: bool = False,
                 exports_to_keep: int | None = 5) -> None:
        if serving_input_receiver_fn is None:
            raise ValueError("`serving_input_receiver_fn` must be defined, got None.")
        super().__init__(name, serving_input_receiver_fn, assets_extra, as_text, exports_to_keep)
        self._pattern, self._better = event_file_pattern, compare_fn
        self._best: Mapping[str, Any] | None = None

    def export(self, estimator: Any, export_path: str, checkpoint_path: str, eval_result: Any,
               is_the_final_export: bool) -> Any:
        """Export the checkpoint if its result is better than the best so far; return the folder, or None."""
        if self._best is None and self._pattern is not None:
            self._best = self._recorded(os.path.join(estimator.model_dir, self._pattern))
        if self._best is not None and not self._better(best_eval_result=self._best, current_eval_result=eval_result):
            return None
        _log.info("Performing best model export.")
        self._best = eval_result
        return super().export(estimator, export_path, checkpoint_path, eval_result, is_the_final_export)

    def _recorded(self, pattern: str) -> Mapping[str, Any] | None:
        """Return the best result in event files."""
        best: Mapping[str, Any] | None = None
        for _, found in recorded(pattern):
            if best is None or self._better(best_eval_result=best, current_eval_result=found):
                best = found
        return best


describe(globals(), ESTIMATORS)
