"""Interfaces of what reads datasets: `tf.contrib.slim.data_decoder` and `data_provider`."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


class DataDecoder:
    """The interface of decoders: from an encoded example to its items. See `TFExampleDecoder`.

    >>> issubclass(tf.contrib.slim.tfexample_decoder.TFExampleDecoder, tf.contrib.slim.data_decoder.DataDecoder)
    True
    """

    def decode(self, data: Any, items: Sequence[str] | None = None) -> list[Any]:
        """Return the items of an example, those of `items` if given."""
        raise NotImplementedError(f"{type(self).__name__} must define decode(data, items)")

    def list_items(self) -> list[str]:
        """Return the names of the items."""
        raise NotImplementedError(f"{type(self).__name__} must define list_items()")


class DataProvider:
    """The tensors of a dataset's items, by name. items_to_tensors: them; num_samples: how many examples there are.

    >>> provider = tf.contrib.slim.data_provider.DataProvider({"image": tf.zeros([2, 2]), "label": tf.constant(1)}, 10)
    >>> provider.list_items(), sess.run(provider.get(["label"])), provider.num_samples()
    (['image', 'label'], [1], 10)
    """

    def __init__(self, items_to_tensors: Mapping[str, Any], num_samples: Any) -> None:
        self._tensors, self._count = dict(items_to_tensors), num_samples

    def get(self, items: Sequence[str]) -> list[Any]:
        """Return the tensors of some items. Raises ValueError for one that is not there."""
        missing = [item for item in items if item not in self._tensors]
        if missing:
            raise ValueError(f"expected items of {', '.join(self._tensors)}, got {', '.join(missing)}")
        return [self._tensors[item] for item in items]

    def list_items(self) -> list[str]:
        """Return the names of the items."""
        return list(self._tensors)

    def num_samples(self) -> Any:
        """Return how many examples there are."""
        return self._count
