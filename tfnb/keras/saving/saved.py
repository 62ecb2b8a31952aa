"""Methods of models for files: weights and whole models to files and back."""
from __future__ import annotations

import os
from typing import Any

from tfnb.keras.saving import checkpoint, hdf5, json_text
from tfnb.keras.saving.models import save_model


class Saved:
    """Methods of models that write and read files."""

    layers: Any
    _is_graph_network: bool
    built: Any

    def save(self, filepath: Any, overwrite: bool = True, include_optimizer: bool = True,
             save_format: str | None = None, signatures: Any = None) -> None:
        """Save architecture, weights and what training needs, as `tf.keras.models.save_model`."""
        save_model(self, filepath, overwrite, include_optimizer, save_format, signatures)

    def save_weights(self, filepath: Any, overwrite: bool = True, save_format: str | None = None) -> None:
        """Save the weights: in HDF5 under a name that ends in .h5, .hdf5 or .keras, else as TensorFlow's checkpoint.

        filepath: of the file, or the prefix of the checkpoint. overwrite: False raises OSError for a file that is
        there. save_format: "h5" or "tf" whatever the name. Raises ValueError before the model is built.
        """
        self._require_weights("save")
        path = os.fspath(filepath)
        is_hdf5 = _is_hdf5(path, save_format)
        if not overwrite and os.path.exists(path if is_hdf5 else f"{path}.index"):
            raise OSError(f"{path} is there, and overwrite=False")
        if not is_hdf5:
            checkpoint.write(self, path)
            return
        with hdf5.opened(path, "w") as file:
            hdf5.write_weights(file, self.layers)

    def load_weights(self, filepath: Any, by_name: bool = False) -> None:
        """Set the weights to those of a file of `save_weights` or `save`, of this package or of Keras.

        filepath: of the file, or the prefix of the checkpoint. by_name: those of the layers whose names the file has,
        of HDF5 files alone. Raises ValueError where layers or shapes differ, NotFoundError without such a checkpoint.
        """
        self._require_weights("load")
        path = os.fspath(filepath)
        if not hdf5.is_hdf5(path) and os.path.exists(f"{path}.index"):
            if by_name:
                raise NotImplementedError("Weights may only be loaded based on topology into Models when loading "
                                          "TensorFlow-formatted weights (got by_name=True to load_weights).")
            checkpoint.read(self, path)
            return
        if not os.path.exists(path):
            checkpoint.read(self, path) if not hdf5.is_hdf5(path) else _absent(path)
        with hdf5.opened(path, "r") as file:
            group = file["model_weights"] if "layer_names" not in file.attrs and "model_weights" in file else file
            (hdf5.read_weights_by_name if by_name else hdf5.read_weights)(group, self.layers)

    def _require_weights(self, what: str) -> None:
        if not self.built or not (self._is_graph_network or self.weights):      # type: ignore[attr-defined]
            raise ValueError(f"Unable to {what} weights of a model that has not created its variables yet. Call it on "
                             "data, or `build` it, before.")

    def to_json(self, **kwargs: Any) -> str:
        """Return the JSON of the architecture, for `tf.keras.models.model_from_json`. kwargs: of `json.dumps`."""
        return json_text.model_to_json(self, **kwargs)

    def to_yaml(self, **kwargs: Any) -> str:
        """Refuse: raise NotImplementedError, see `tf.keras.models.model_from_yaml`."""
        return str(json_text.model_from_yaml(""))


def _is_hdf5(path: str, save_format: str | None) -> bool:
    if save_format not in (None, "h5", "hdf5", "keras", "tf", "tensorflow"):
        raise ValueError(f'Unknown format "{save_format}": expected "tf" or "h5"')
    if save_format in ("tf", "tensorflow") and hdf5.is_hdf5(path):
        raise ValueError(f'save_weights got save_format="tf", but the filepath ({path!r}) looks like an HDF5 file. '
                         'Omit the ".h5" or ".keras" when saving in TensorFlow format.')
    return hdf5.is_hdf5(path) if save_format is None else save_format not in ("tf", "tensorflow")


def _absent(path: str) -> None:
    raise OSError(f"Unable to open file: no HDF5 file {path!r}")
