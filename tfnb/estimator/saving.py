"""Export of a trained model to a SavedModel in a folder whose name is the time."""
from __future__ import annotations

import logging
import os
import shutil
import time
from collections.abc import Mapping
from typing import Any

from tfnb.core.files.os_errors import os_errors
from tfnb.core.files.paths import local, make_folders
from tfnb.estimator.outputs import ClassificationOutput, ExportOutput, PredictOutput, RegressionOutput
from tfnb.graph.parts.keys import GraphKeys
from tfnb.graph.stack import get_default_graph
from tfnb.runtime.session import Session
from tfnb.saved_model.builder import SavedModelBuilder
from tfnb.saved_model.signature_constants import DEFAULT_SERVING_SIGNATURE_DEF_KEY as DEFAULT
from tfnb.saved_model.tag_constants import SERVING
from tfnb.train.checkpoints.saver import Saver
from tfnb.train.sessions.scaffold import Scaffold

_log = logging.getLogger("tensorflow")
_KINDS = {"Classify": ClassificationOutput, "Regress": RegressionOutput, "Predict": PredictOutput}


def new_folder(base: Any) -> str:
    """Return the path of a folder in `base` that isn't there: the time in seconds, or the next free second."""
    now = int(time.time())
    while os.path.exists(local(os.path.join(os.fsdecode(base), str(now)))):
        now += 1
    return os.path.join(os.fsdecode(base), str(now))


def signatures(receiver: Any, outputs: Mapping[str, ExportOutput]) -> dict[str, Any]:
    """Return the SignatureDefs by name. One that can't be served is left out and logged.

    Raises ValueError if none is left.
    """
    made: dict[str, Any] = {}
    kept: dict[str, list[str]] = {kind: [] for kind in _KINDS}
    refused = {}
    places = {"": receiver.receiver_tensors, **(receiver.receiver_tensors_alternatives or {})}
    for place, tensors in places.items():
        for name, output in outputs.items():
            key = name if not place else f"{place}:{name}"
            try:
                made[key] = output.as_signature_def(tensors)
            except ValueError as error:
                refused[key] = str(error)
            else:
                kept[next(kind for kind, of in _KINDS.items() if isinstance(output, of))].append(key)
    for kind, names in kept.items():
        _log.info("Signatures INCLUDED in export for %s: %s", kind, names or None)
    for key, reason in refused.items():
        _log.info("Signature EXCLUDED from export: %r: %s", key, reason)
    if not made:
        raise ValueError(f"none of the export_outputs {sorted(outputs)} can be served: {refused}")
    if DEFAULT not in made:
        _log.warning("Export includes no default signature!")
    return made


def export_model(base: Any, receiver: Any, spec: Any, checkpoint_path: str, assets_extra: Mapping[str, Any] | None,
                 as_text: bool, strip_default_attrs: bool, config: Any) -> bytes:
    """Write the default graph, with the variables of a checkpoint, as a SavedModel to a new folder in `base`.

    The folder appears when all of it is written. Returns its path.
    """
    made = signatures(receiver, spec.export_outputs)
    target = new_folder(base)
    folder = os.path.join(os.path.dirname(target), f"temp-{os.path.basename(target)}")
    saver = spec.scaffold.saver or Saver(sharded=True)
    start = spec.scaffold.local_init_op or Scaffold.default_local_init_op()
    with Session(config=config) as session:
        saver.restore(session, checkpoint_path)
        builder = SavedModelBuilder(folder)
        builder.add_meta_graph_and_variables(
            session, [SERVING], made, get_default_graph().get_collection(GraphKeys.ASSET_FILEPATHS), main_op=start,
            saver=saver, strip_default_attrs=strip_default_attrs)
    builder.save(as_text)
    for name, source in (assets_extra or {}).items():
        place = local(os.path.join(folder, "assets.extra", os.fsdecode(name)))
        make_folders(os.path.dirname(place))
        with os_errors(source):
            shutil.copyfile(local(os.fsdecode(source)), place)
    os.rename(local(folder), local(target))
    return os.fsencode(target)
