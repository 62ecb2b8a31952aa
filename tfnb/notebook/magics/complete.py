"""Completion in the lines of the magics: options, names of ops and scopes, tags."""
from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from posixpath import basename
from types import MappingProxyType
from typing import Any

from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.graph.stack import get_default_graph
from tfnb.notebook.plots import board
from tfnb.notebook.run_store.run_folder import kept_runs
from tfnb.notebook.state.queue_view import queue_ops
from tfnb.notebook.state.variable_table import variables_of
from tfnb.runtime.session import BaseSession

MOST = 200
_line = re.compile(r"(?:^|=\s*)\s*(%{1,2})(\w+)\b(.*)\Z").search


Options = Callable[[str], Mapping[str, Iterable[str]]]


def matches(text: str, options: Options, namespace: Mapping[str, Any] = MappingProxyType({})) -> list[str]:
    """Completions of the last word of a line with one of our magics; none for other lines.

    text: the line up to the cursor; options: magic with its signs -> its options -> the words that one takes, if they
    are few, and nothing for those of others; namespace: the user's names, of which some options take those of one kind.
    """
    found = _line(text)
    given = options(found[1] + found[2]) if found is not None else {}
    if found is None or not given:
        return []
    magic, (*before, word) = found[2], re.split(r"\s+", found[3])
    option = next((each for each in reversed(before) if each.startswith("--")), "")
    if option and option != before[-1] and option not in SEVERAL:
        option = ""                             # its word stands there already
    choices = given.get(option) or (_of_kind(namespace, KINDS[option]) if option in KINDS else
                                    VALUES.get(option, tuple)())
    known = given if word.startswith("-") else choices or [*_meant(magic, namespace), *WORDS.get(magic, names)()]
    return [*dict.fromkeys(each for each in known if each.startswith(word) and each != word)][:MOST]


def _meant(magic: str, namespace: Mapping[str, Any]) -> list[str]:
    """The user's names of tensors and ops, for the magics that take them."""
    return [name for name, value in namespace.items() if magic in EXPRESSIONS and not name.startswith("_")
            and (isinstance(value, (Tensor, Operation)) or hasattr(value, "_as_graph_element"))
            and not isinstance(value, type)]


def _of_kind(namespace: Mapping[str, Any], kind: type) -> list[str]:
    return [name for name, value in namespace.items() if isinstance(value, kind) and not name.startswith("_")]


def names() -> list[str]:
    """The scopes and ops of the default graph, scopes first."""
    ops = [op.name for op in get_default_graph().get_operations()]
    scopes = dict.fromkeys(name[:at] for name in ops for at in range(len(name)) if name[at] == "/")
    return [*scopes, *ops]


def variable_names() -> list[str]:
    """The variables of the default graph that are no slots."""
    return [found.op.name for found in variables_of(get_default_graph())]


def checkpoint_words() -> list[str]:
    """The commands of %ckpt, and the checkpoints and folders below the working directory, two levels deep."""
    indexes = [*Path().glob("*.index"), *Path().glob("*/*.index")]
    stems = sorted(path.as_posix().removesuffix(".index") for path in indexes)
    folders = sorted({path.parent.as_posix() for path in indexes} - {"."})
    return ["list", "show", "diff", "save", "restore", "session", *folders, *stems]


def tags() -> list[str]:
    """The tags of what was recorded and of the summaries in the default graph."""
    recorded = [series.tag for series in board.RECORDER.series.values()]
    made = [op.name for op in get_default_graph().get_operations() if op.type == "ScalarSummary"]
    return [*dict.fromkeys([*recorded, *made])]


def queue_names() -> list[str]:
    """The queues of the default graph."""
    return [op.name for op in queue_ops(get_default_graph())]


def runs() -> list[str]:
    """The names of the runs that were recorded."""
    return [*dict.fromkeys(basename(series.run) for series in board.RECORDER.series.values() if series.run)]


def optimizers() -> list[str]:
    """The names of the optimizers of the default graph."""
    made = [name.partition("/update_")[0] for found in variables_of(get_default_graph()) for name in found.updates]
    return [*dict.fromkeys(made)]


def keys() -> list[str]:
    """The names of the collections of the default graph."""
    return get_default_graph().get_all_collection_keys()


# magic -> the words that it takes, where they are not the names of the graph
WORDS: dict[str, Callable[[], Iterable[str]]] = {
    "show": tuple,
    "live": tags,
    "stale": lambda: ["run"],
    "train": tuple,
    "queues": queue_names,
    "runs": lambda: ["compare", "rename", "delete", "undo", "empty", *(run.name for run in kept_runs())],
    "collections": keys,
    "vars": variable_names,
    "slots": variable_names,
    "ckpt": checkpoint_words,
    "tfnb": lambda: ["help", "tensorflow", "inspect", "diff", "convert", "port"],
}


# option -> the words that it takes, where the parser has no list of them; those of SEVERAL take more than one
VALUES: dict[str, Callable[[], Iterable[str]]] = {
    "--runs": runs,
    "--live": tags,
    "--loss": names,
    "--stop": lambda: ["nan", "plateau"],
    "--optimizer": optimizers,
    "--when": lambda: ["has_nan", "has_inf", "has_inf_or_nan"],
    "--sort": lambda: ["norm", "update", "size", "name", "mean", "sd", "min", "max"],
}
SEVERAL = ("--runs", "--live", "--stop", "--when")
KINDS = {"--feed": dict, "--session": BaseSession}      # option -> what the user's names that it takes stand for


EXPRESSIONS = ("graph", "fetch", "profile", "nan", "step", "show", "why")      # take names of Python as well
NO_FILES = {"IPCompleter.file_matcher", "IPCompleter.magic_matcher"}


def matcher(options: Options, completer: Any) -> Any:
    """A matcher for `completer.custom_matchers`, where completer is the IPCompleter of a shell."""
    def tfnb_matcher(context: Any) -> Any:
        if isinstance(context, str):            # IPython before 8.6 (Colab): only the token
            return _after(completer.text_until_cursor, context)
        before = context.line_with_cursor[:context.cursor_position]
        found = _after(before, context.token)
        return {"completions": [_Simple(each) for each in found],
                "suppress": (NO_FILES if _in_expression(before) else True) if found else False}

    def _after(before: str, token: str) -> list[str]:
        skip = len(re.split(r"\s", before)[-1]) - len(token)            # a token begins anew after ":" and the like
        return [each[skip:] for each in matches(before, options, getattr(completer, "namespace", None) or {})]

    tfnb_matcher.matcher_api_version = 2        # type: ignore[attr-defined]
    tfnb_matcher.matcher_identifier = "tfnb"    # type: ignore[attr-defined]
    return tfnb_matcher


def _in_expression(before: str) -> bool:
    """Return whether the last word may be a Python name: no option, no word that an option takes, no scope."""
    line, (*others, word) = _line(before), re.split(r"\s+", before)
    after = bool(others) and others[-1].startswith("--")
    return line is not None and line[2] in EXPRESSIONS and not (word.startswith("-") or after or "/" in word)


class _Simple:
    """A completion with the fields of IPython's SimpleCompletion, without importing it."""

    def __init__(self, text: str) -> None:
        self.text, self.type = text, "name"
