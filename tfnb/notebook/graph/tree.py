"""The hierarchy of a graph: scopes by name, a variable's ops as one node, private constants inside the op they serve.

Keys: an op has its name as key, a group the name and a slash ("layer1/"), so that the op `Adam` and the scope `Adam/`
are two things.
"""
from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from tfnb.notebook.graph.read import OpInfo, op_of

VARIABLE_TYPES = frozenset({"Variable", "VariableV2", "VarHandleOp", "AutoReloadVariable"})
INPUT_TYPES = frozenset({"Placeholder", "PlaceholderV2", "PlaceholderWithDefault"})
SUMMARY_TYPE = re.compile(r"(Scalar|Histogram|Image|Audio|Tensor|Merge)Summary(V2)?$")
GRADIENT_SCOPE = re.compile(r"(^|_)gradients(_\d+)?$")
SAVE_SCOPE = re.compile(r"^save(_\d+)?$")
OPTIMIZER_SCOPE = re.compile(r"^(train|training|optimizer|GradientDescent|Adam|Adamax|Momentum|RMSProp|Adagrad"
                             r"|AdagradDA|Adadelta|Ftrl|ProximalAdagrad|ProximalGradientDescent)(_\d+)?$")
ROW_UPDATES = frozenset({"ScatterSub", "ScatterAdd", "ResourceScatterSub"})     # how rows of a variable are updated
APPLY_TYPE = re.compile(r"^(Resource)?(Sparse)?Apply[A-Z]")
# What else an optimizer with a name of its own has in its scope: its numbers, and how they change with the steps.
APPLY_HELPERS = frozenset({"Const", "Identity", "Cast", "Mul", "Assign", "AssignAdd", "NoOp", "Unique", "Shape",
                           "StridedSlice", "UnsortedSegmentSum"})

SERIES_NAME = re.compile(r"^(.*?)(?:_?(\d+))?$")
MOST_LEVELS = 40        # a name with more slashes is not split further: the hierarchy is walked recursively
SERIES_LEAST = 5        # a numbered series folds from here on ...
SERIES_CROWD = 24       # ... when its scope has more children than this,
BLOCKS_CROWD = 12       # or, of blocks of one size and role, more than this


Arrange = Callable[["Node", "tuple[OpInfo, ...]", "Mapping[str, set[str]]"], object]


@dataclass(slots=True)
class Node:
    """A node of the hierarchy. `form`: root, scope, variable, op or series; `role` decides the colour."""

    key: str
    label: str
    form: str
    parent: Node | None
    info: OpInfo | None = None
    children: dict[str, Node] = field(default_factory=dict)
    role: str = "op"
    count: int = 0
    part: str = ""              # the role that an arrangement gave to a group, whatever its name says
    loop: bool = False          # it holds a loop,
    weights: bool = False       # or variables
    note: str = ""              # what is said of a group in place of the number of its ops

    @property
    def name(self) -> str:
        """The key without its slash: what users type."""
        return self.key.rstrip("/")

    @property
    def expandable(self) -> bool:
        """Whether it opens: groups do, ops (with the constants folded into them) do not."""
        return self.form in ("scope", "variable", "series") and bool(self.children)

    def ops(self) -> Iterator[OpInfo]:
        """Every op below (or at) this node, in creation order within each scope."""
        if not self.children and self.info is not None:
            yield self.info
        for child in self.children.values():
            yield from child.ops()

    def groups(self) -> Iterator[Node]:
        """This node and every group below it, outermost first."""
        yield self
        for child in self.children.values():
            if child.children:
                yield from child.groups()


def build_tree(infos: Iterable[OpInfo], series: bool = True, arrange: Arrange | None = None) -> Node:
    """The hierarchy of `infos`; the root has the key "".

    series: fold numbered blocks in crowded scopes into one. arrange: moves nodes before roles are decided.
    """
    infos = tuple(infos)
    prefixes = {prefix for info in infos for prefix in _prefixes(info.name)}
    root = Node("", "graph", "root", None)
    groups = {"": root}
    for info in infos:
        own = info.name in prefixes
        path = info.name if own else _prefixes(info.name)[-1]
        parent = _group(groups, path)
        short = info.name.rpartition("/")[2] if own else info.name[len(path):].lstrip("/")
        parent.children[info.name] = Node(info.name, f"({short})" if own else short, "op", parent, info)
        if own:
            parent.info = info
    consumers = _consumers(infos)
    if arrange is not None:
        arrange(root, infos, consumers)
    for group in list(root.groups())[::-1]:
        _settle(group, consumers)
        if series and group.form in ("root", "scope"):
            fold_series(group, consumers)
    return root


def scopes(node: Node) -> list[Node]:
    """The groups around a node, the outermost first."""
    found: list[Node] = []
    around = node.parent
    while around is not None:
        found.append(around)
        around = around.parent
    return found[::-1]


def _prefixes(name: str) -> list[str]:
    """The scopes an op stands in, outermost (the root) first, no more than MOST_LEVELS."""
    return ["", *[name[:i] for i, c in enumerate(name) if c == "/" and i][:MOST_LEVELS]]


def _group(groups: dict[str, Node], path: str) -> Node:
    """The group of the scope `path`, made with its parents where missing."""
    if path in groups:
        return groups[path]
    outer = path.rpartition("/")[0]
    parent = _group(groups, outer)
    node = Node(path + "/", path.rpartition("/")[2] or path, "scope", parent)
    groups[path] = parent.children[node.key] = node
    return node


def _consumers(infos: Iterable[OpInfo]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = defaultdict(set)
    for info in infos:
        for source in map(op_of, info.inputs):
            found[source].add(info.name)
        for name in info.control:
            found[name].add(info.name)
    return found


def _settle(group: Node, consumers: dict[str, set[str]]) -> None:
    """Decide form, role and count of a group whose inner groups are settled."""
    group.children = dict(_unwrapped(child) for child in group.children.values())
    for child in group.children.values():
        if not child.children and child.info is not None:
            child.role, child.count = op_role(child.info), 1
    group.count = sum(child.count for child in group.children.values())
    group.loop = any(child.loop or child.info is not None and child.info.type == "LoopCond"
                     for child in group.children.values())
    group.weights = any(child.weights or child.form == "variable" for child in group.children.values())
    own = group.info
    if own is not None and own.type in VARIABLE_TYPES:
        group.form, group.role = "variable", "variable"
    elif own is not None and _only_serves(group, own.name, consumers):
        group.form, group.role = "op", op_role(own)
    elif group.form == "scope":
        group.role = group.part or scope_role(group)


def _unwrapped(child: Node) -> tuple[str, Node]:
    """A scope around a single op is shown as that op, with the scope in its label."""
    if child.form == "scope" and child.count == 1:
        only = next(iter(child.children.values()))
        only.label, only.parent = f"{child.label}/{only.label}", child.parent
        return only.key, only
    return child.key, child


def _only_serves(group: Node, name: str, consumers: dict[str, set[str]]) -> bool:
    """Whether all that stands in the group beside its own op are constants which only that op and gradients read."""
    rest = [info for info in group.ops() if info.name != name]
    return all(info.type == "Const" and all(reader == name or in_gradients(reader) for reader in consumers[info.name])
               for info in rest)


def in_gradients(name: str) -> bool:
    """Whether an op stands in a scope of gradients."""
    return any(map(GRADIENT_SCOPE.search, name.split("/")[:-1]))


def op_role(info: OpInfo) -> str:
    """The colour class of an op."""
    if info.failed:
        return "failed"
    if info.type in INPUT_TYPES:
        return "input"
    if info.type in VARIABLE_TYPES:
        return "variable"
    if info.type == "Const":
        return "const"
    if SUMMARY_TYPE.search(info.type):
        return "summary"
    if info.type == "NoOp":
        return "control"
    return "optimizer" if APPLY_TYPE.match(info.type) else "op"


def scope_role(group: Node) -> str:
    """The colour class of a scope, from its name and from what stands in it."""
    if GRADIENT_SCOPE.search(group.label):
        return "gradient"
    types = {info.type for info in group.ops()}
    if SAVE_SCOPE.match(group.label) and types & {"SaveV2", "Save", "SaveSlices", "RestoreV2"}:
        return "save"
    updates = {kind for kind in types if APPLY_TYPE.match(kind)}
    named = OPTIMIZER_SCOPE.match(group.label)
    if named and types & ROW_UPDATES or updates and (named or types <= updates | APPLY_HELPERS):
        return "optimizer"
    roles = {child.role for child in group.children.values()} - {"const"}
    if roles == {"gradient", "optimizer"}:              # a scope around `minimize`
        return "optimizer"
    return roles.pop() if len(roles) == 1 and roles <= {"gradient", "optimizer", "summary"} else "scope"


def fold_series(group: Node, consumers: Mapping[str, set[str]]) -> None:
    """Fold numbered children (add, add_1, add_2, ...) of a crowded group into one "series" node each.

    Scopes are folded where each feeds the next, or none another; nothing where others stand between the members.
    """
    if len(group.children) <= BLOCKS_CROWD:
        return
    crowded = len(group.children) > SERIES_CROWD
    families: dict[tuple[str, str], list[Node]] = defaultdict(list)
    for child in group.children.values():
        stem = SERIES_NAME.match(child.label.strip("()"))
        families[(stem[1] if stem else child.label), _alike(child)].append(child)
    first = {members[0].key: (stem, members) for (stem, _), members in families.items()
             if len(members) >= SERIES_LEAST and (crowded or members[0].form == "scope")}
    if first:
        nexts = _next_children(group, consumers)
        first = {key: found for key, found in first.items() if _is_series([node.key for node in found[1]], nexts)}
    folded = {child.key for _, members in first.values() for child in members}
    children: dict[str, Node] = {}
    for key, child in group.children.items():
        if key in first:
            series = _series(group, *first[key])
            children[series.key] = series
        elif key not in folded:
            children[key] = child
    group.children = children


def _next_children(group: Node, consumers: Mapping[str, set[str]]) -> dict[str, set[str]]:
    """Key of a child -> keys of the children that take its values or wait for it."""
    at = {info.name: child.key for child in group.children.values() for info in child.ops()}
    return {child.key: {at[reader] for info in child.ops() for reader in consumers.get(info.name, ())
                        if reader in at} - {child.key} for child in group.children.values()}


def _is_series(members: list[str], nexts: Mapping[str, set[str]]) -> bool:
    """Whether each of the members feeds the next one, or none another, and no way leads from one to another through
    others: drawn as one node, they would stand in a circle with those."""
    inner = set(members)
    within = [nexts[key] & inner for key in members]
    if any(within) and not all(after in ways for ways, after in zip(within, members[1:], strict=False)):
        return False
    found = {after for key in members for after in nexts[key]} - inner
    todo = list(found)
    while todo:
        after = nexts[todo.pop()]
        if after & inner:
            return False
        todo += after - found
        found |= after
    return True


def _alike(node: Node) -> str:
    """Members of a series are of one op type, or are scopes of equal size and role."""
    return f"{node.form} {node.info.type}" if node.info else f"{node.form} {node.count} {node.role}"


def _series(group: Node, stem: str, members: list[Node]) -> Node:
    kind = members[0].info.type + "*" if members[0].info else "*"
    series = Node(f"{group.key}{stem}_{kind}/", f"{stem} ×{len(members)}", "series", group, None,
                  {member.key: member for member in members}, members[0].role, sum(m.count for m in members))
    for member in members:
        member.parent = series
    return series
