"""Functions that ask a saved model: `tf.contrib.predictor`."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tfnb.graph.graph import Graph
from tfnb.runtime.session import Session
from tfnb.saved_model import loader
from tfnb.saved_model.signature_constants import DEFAULT_SERVING_SIGNATURE_DEF_KEY
from tfnb.saved_model.tag_constants import SERVING


class Predictor:
    """A function from a dict of arrays to a dict of arrays, that runs a session. `from_saved_model` returns one.

    feed_tensors, fetch_tensors: the tensors by key. A `with` block closes the session at its end.
    """

    def __init__(self, session: Session, feed_tensors: Mapping[str, Any], fetch_tensors: Mapping[str, Any]) -> None:
        self.session, self.graph = session, session.graph
        self.feed_tensors, self.fetch_tensors = dict(feed_tensors), dict(fetch_tensors)

    def __call__(self, input_dict: Mapping[str, Any]) -> Any:
        """Return the outputs for some inputs. Raises ValueError for a key that is none of the model's inputs."""
        others = sorted(set(input_dict) - set(self.feed_tensors))
        if others:
            raise ValueError(f"Got unexpected keys in input_dict: {others}\nexpected: {sorted(self.feed_tensors)}")
        feeds = {self.feed_tensors[key]: value for key, value in input_dict.items()}
        return self.session.run(self.fetch_tensors, feed_dict=feeds)

    def close(self) -> None:
        """Close the session."""
        self.session.close()

    def __enter__(self) -> Predictor:
        return self

    def __exit__(self, *details: object) -> None:
        self.close()


def from_saved_model(export_dir: Any, signature_def_key: str | None = None, signature_def: Any = None,
                     input_names: Mapping[str, str] | None = None, output_names: Mapping[str, str] | None = None,
                     tags: str | None = None, graph: Graph | None = None, config: Any = None) -> Predictor:
    """Return a function from the inputs of a SavedModel to its outputs.

    export_dir: the model's folder; signature_def_key: the key of the signature, by default "serving_default";
    signature_def: a signature in the place of the model's; input_names, output_names: names of tensors by key, in the
    place of a signature; tags: the tags of the meta graph with commas between them, by default "serve"; graph: where
    the model is loaded, by default a new one; config: a ConfigProto. Raises ValueError for two of the three ways to
    name tensors, or a key that the model does not have, and as tf.saved_model.load.

    >>> x, w = tf.placeholder(tf.float32, []), tf.Variable(3.0)
    >>> sess.run(w.initializer)
    >>> tf.saved_model.simple_save(sess, "model", inputs={"x": x}, outputs={"y": w * x})
    >>> with tf.contrib.predictor.from_saved_model("model") as predict:
    ...     predict({"x": 2.0})
    {'y': 6.0}
    """
    names = input_names is not None or output_names is not None
    if sum((signature_def_key is not None, signature_def is not None, names)) > 1:
        raise ValueError("You must specify at most one of signature_def_key OR signature_def OR (input_names AND "
                         "output_names).")
    if names and (input_names is None or output_names is None):
        raise ValueError("input_names and output_names must both be specified or both be unspecified.")
    sess = Session(graph=graph or Graph(), config=config)
    with sess.graph.as_default():
        meta = loader.load(sess, (tags or SERVING).split(","), export_dir)
    if not names:
        key = signature_def_key or DEFAULT_SERVING_SIGNATURE_DEF_KEY
        if signature_def is None and key not in meta.signature_def:
            raise ValueError(f"Got signature_def_key {key!r}. Available signatures are "
                             f"{sorted(meta.signature_def)}: name one of them.")
        found = signature_def if signature_def is not None else meta.signature_def[key]
        input_names, output_names = ({key: info.name for key, info in part.items()}
                                     for part in (found.inputs, found.outputs))
    assert input_names is not None and output_names is not None
    feeds, fetches = ({key: sess.graph.get_tensor_by_name(name) for key, name in part.items()}
                      for part in (input_names, output_names))
    return Predictor(sess, feeds, fetches)
