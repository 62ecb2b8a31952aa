"""Views under long random sequences of what a page may say, while the graph goes on: none fails, all stay drawable."""
from __future__ import annotations

import html
import json
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

import tfnb as tf
from tfnb import notebook
from tfnb.notebook.frontend.widget import View
from tfnb.notebook.graph.view import GraphView
from tfnb.notebook.state.tables_view import SheetView

MESSAGES = 25
ODD = [None, -1, 1.5, 10 ** 30, "", "<b>", "é/", [], {"a": 1}, True]
TYPED = ["1", "value * 2", "[1, 2]", "nan", "1 / 0", "foo", "", "1j", "[[]]", "'s'"]
FEED = {"x:0": np.ones((4, 6), np.float32)}


@pytest.fixture
def session() -> Iterator[tf.Session]:
    """Layers, a loop, a condition, slots, a queue, numbered scopes, and variables of odd values."""
    with tf.Graph().as_default(), tf.Session() as session:
        hidden = tf.layers.dense(tf.placeholder(tf.float32, [None, 6], name="x"), 4, tf.nn.relu, name="layer")
        grown = tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * 2.0), [0, tf.reduce_sum(hidden)])[1]
        loss = tf.cond(grown > 1.0, lambda: grown, lambda: -grown, name="loss")
        tf.train.AdamOptimizer().minimize(loss, name="train")
        for i in range(12):
            tf.summary.scalar(f"metric_{i}/value", loss * i)
        tf.identity(tf.FIFOQueue(9, [tf.float32], name="queue").size(), name="size")
        for name, value in {"empty": np.zeros((3, 0)), "words": ["a", "b"], "bad": [np.nan, np.inf], "one": 1e300,
                            "large": np.arange(40_000.0).reshape(200, 200)}.items():
            tf.Variable(value, name=name)
        session.run(tf.global_variables_initializer())
        tf.Variable([1.0], name="late")
        yield session


def checkpoints(session: tf.Session, folder: Path) -> View:
    tf.train.Saver(tf.global_variables()[:-1]).save(session, str(folder / "model"), global_step=1)
    return notebook.checkpoints(folder)


VIEWS: dict[str, Callable[[tf.Session, Path], Any]] = {
    "graph": lambda session, folder: notebook.graph_view(limit=20),
    "variables": lambda session, folder: notebook.variables(),
    "slots": lambda session, folder: notebook.slots("large", how="mean"),
    "checkpoints": checkpoints,
    "step": lambda session, folder: notebook.step("loss/Merge", "size", feed=FEED),
}


def graph_message(random: Random, view: GraphView) -> dict[str, Any]:
    shown = [html.unescape(name) for name in re.findall('data-name="([^"]*)"', view.svg())]
    kind = random.choice(["expand"] * 3 + ["collapse", "select", "aside", "trace", "reveal", "search", "color"])
    name = random.choice(random.choice([sorted(view.model.nodes), shown]))
    value = random.choice(["inputs", "outputs"]) if kind == "trace" else random.random() < 0.5
    return {"type": kind, "name": "device" if kind == "color" else name, "value": value, "text": name[:3]}


def sheet_message(random: Random, view: SheetView) -> dict[str, Any]:
    if view.graph is not None and random.random() < 0.4:
        return {"type": "graph", "message": graph_message(random, view.graph)}
    table = random.choice(view.tables)
    row, cells = random.choice([*table.rows, ("", ())])
    acts = [*(act for act, _ in view.buttons), *(act for cell in cells for act, _ in cell.acts), "how"]
    return {"type": random.choice(["pick", "pick", "act", "sort", "edit", "zoom", "whole"]), "table": table.name,
            "act": random.choice(acts), "row": row if random.random() < 0.8 else random.randrange(5),
            "panel": random.randrange(2), "column": random.randrange(5), "text": random.choice(TYPED)}


def happens(random: Random, session: tf.Session) -> None:
    """What a cell may do between two clicks."""
    variables = tf.global_variables()
    act = random.choice(["train", "make", "load"])
    if act == "train":
        session.run("train", FEED)
    elif act == "make":
        tf.Variable(np.ones((2, 2)), name="new")
    else:
        session.run(random.choice(variables).initializer)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("name", VIEWS)
def test_whatever_is_asked_the_view_stays_whole(name: str, seed: int, session: tf.Session, tmp_path: Path) -> None:
    random, asked = Random(seed), list[Any]()
    view = VIEWS[name](session, tmp_path)
    for _ in range(MESSAGES):
        message = graph_message(random, view) if isinstance(view, GraphView) else sheet_message(random, view)
        if random.random() < 0.15:
            message[random.choice(list(message))] = random.choice(ODD)
        asked.append(message if random.random() < 0.9 or not asked else random.choice(asked))
        view._on_message(None, json.loads(json.dumps(asked[-1])), [])
        if random.random() < 0.2:
            happens(random, session)
        state, forms = json.dumps(view.widget_state(), allow_nan=False), view.forms()
        assert "tfnb/notebook" not in state, "a fault is no note"
        for svg in re.findall("<svg.*?</svg>", "".join(forms.values()), re.DOTALL):
            size = ET.fromstring(svg)
            assert max(float(size.get("width", 0)), float(size.get("height", 0))) < 6000
