"""Measures of a model (its accuracy): the comparison of predictions with labels and its mean, as one box beside it."""
from __future__ import annotations

from collections.abc import Callable

from tfnb.graph.closure import closure
from tfnb.notebook.graph.purposes import Purposes
from tfnb.notebook.graph.tree import SUMMARY_TYPE, VARIABLE_TYPES, Node, scopes

DECISIONS = frozenset({"ArgMax", "ArgMin", "Round", "Rint", "Greater", "GreaterEqual", "Less", "LessEqual", "TopKV2"})
CONVERSIONS = frozenset({"Cast", "Identity", "Squeeze", "Reshape", "StopGradient"})
AVERAGES = frozenset({"Mean", "Sum"})
SUMMARIES = "summary"       # the role of measures in drawings
Gather = Callable[[Node, list[Node], str], Node | None]


def gather_measures(work: Purposes, gather: Gather) -> None:
    """Put each comparison, with what follows from it and what serves only that, into a box.

    A scope of nothing else is marked as a measure itself. gather: makes one group of some members of another.
    """
    done: set[str] = set()
    for name in work.infos:
        measure = _measure(work, name) if name not in done and _compares(work, name) else set()
        core = [op for op in measure if not _tells(work, op)]
        done |= measure
        if not any(work.infos[op].type in AVERAGES for op in core):
            continue
        shared = [group for group, *others in zip(*(scopes(work.leaf[op]) for op in core), strict=False)
                  if all(group is other for other in others)]
        _box(work, shared[-1], measure, gather)


def _box(work: Purposes, group: Node, measure: set[str], gather: Gather) -> None:
    if group.key and measure.issuperset(info.name for info in group.ops()):
        group.part = SUMMARIES
        return
    members = [child for child in group.children.values() if measure.issuperset(info.name for info in child.ops())]
    ends = [info.name for child in members for info in child.ops() if info.type in AVERAGES]
    end = work.leaf[max(ends, key=work.place.__getitem__)] if ends else None
    box = gather(group, members, end.label.strip("()") if _is_named(end) else "measure") if end is not None else None
    if box is not None:
        box.part = SUMMARIES


def _compares(work: Purposes, name: str) -> bool:
    """Whether an op of the model compares decisions (the largest logit, a probability over a half) with something."""
    kind = work.infos[name].type
    if kind in ("InTopK", "InTopKV2"):
        return work.of_model(name)
    if kind != "Equal" or not work.of_model(name):
        return False
    decided = closure(work.before(name), lambda op: work.before(op) if work.infos[op].type in CONVERSIONS else ())
    return any(work.infos[op].type in DECISIONS for op in decided)


def _measure(work: Purposes, name: str) -> set[str]:
    """The ops of a measure, from its comparison; none if something is trained or kept by it."""
    found = set(closure([name], lambda op: work.consumers.get(op, ())))
    if any(op in work.gradients or op in work.training or op in work.owner or
           work.infos[op].type in VARIABLE_TYPES or work.infos[op].type.startswith("Assign") for op in found):
        return set()
    todo = list(found)
    for op in todo:
        new = {source for source in work.before(op) if source not in found and work.consumers[source] <= found
               and not _is_named(work.leaf[source]) and source not in work.owner}
        found |= new
        todo += new
    return found


def _tells(work: Purposes, name: str) -> bool:
    """Whether an op only reports: a summary, or what joins summaries."""
    return SUMMARY_TYPE.search(work.infos[name].type) is not None or name not in work.leaf or not work.of_model(name)


def _is_named(leaf: Node) -> bool:
    """Whether an op has a name of the user's: not that of its type, nor a part of another op."""
    assert leaf.info is not None
    label = leaf.label.strip("()").rstrip("_0123456789")
    return leaf.info.type != "Const" and label.lower() != leaf.info.type.lower()
