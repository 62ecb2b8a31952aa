"""Named outputs of layers: `tf.contrib.layers.utils`, which makes end points of a collection."""
from __future__ import annotations

from typing import Any

from tfnb.graph.stack import add_to_collections, get_collection, get_collection_ref


def append_tensor_alias(tensor: Any, alias: str) -> Any:
    """Add a name, `alias`, to those of `tensor`, and return the tensor.

    >>> x = tf.contrib.slim.utils.append_tensor_alias(tf.constant(1.0), "net/first")
    >>> tf.contrib.slim.utils.get_tensor_aliases(x)
    ['net/first']
    """
    tensor.aliases = [*getattr(tensor, "aliases", ()), alias.removesuffix("/")]
    return tensor


def get_tensor_aliases(tensor: Any) -> list[str]:
    """Return the names that `tensor` was given; else that of its op, or its own if it is not the op's first output.

    >>> tf.contrib.slim.utils.get_tensor_aliases(tf.constant(1.0, name="one"))
    ['one']
    """
    given = getattr(tensor, "aliases", None)
    return list(given) if given else [tensor.name.removesuffix(":0")]


def gather_tensors_aliases(tensors: Any) -> list[str]:
    """Return the names of all `tensors`, in one list.

    >>> tf.contrib.slim.utils.gather_tensors_aliases([tf.constant(1.0, name="a"), tf.constant(1.0, name="b")])
    ['a', 'b']
    """
    return [alias for tensor in tensors for alias in get_tensor_aliases(tensor)]


def collect_named_outputs(collections: Any, alias: str, outputs: Any) -> Any:
    """Return `outputs`, which get the name `alias` and join `collections` (keys, or one key; None: nothing is done).

    >>> y = tf.contrib.slim.utils.collect_named_outputs("points", "net/first", tf.constant(1.0))
    >>> tf.get_collection("points") == [y]
    True
    """
    if collections:
        append_tensor_alias(outputs, alias)
        add_to_collections([collections] if isinstance(collections, str) else collections, outputs)
    return outputs


def convert_collection_to_dict(collection: str, clear_collection: bool = False) -> dict[str, Any]:
    """Return a dict from the names of the tensors of `collection` to the tensors, in the order of the collection.

    clear_collection: whether the collection is emptied.

    >>> slim = tf.contrib.slim
    >>> with slim.arg_scope([slim.fully_connected], outputs_collections="points"):
    ...     y = slim.fully_connected(slim.fully_connected(tf.ones([4, 3]), 5, scope="fc1"), 2, scope="fc2")
    >>> {name: point.shape.as_list() for name, point in slim.utils.convert_collection_to_dict("points").items()}
    {'fc1': [4, 5], 'fc2': [4, 2]}
    """
    found = {alias: tensor for tensor in get_collection(collection) for alias in get_tensor_aliases(tensor)}
    if clear_collection:
        get_collection_ref(collection).clear()
    return found
