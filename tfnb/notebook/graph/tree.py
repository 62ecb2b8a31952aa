"""The hierarchy of a graph: scopes by name, a variable's ops as one node, private constants inside the op they serve.

Keys: an op has its name as key, a group the name and a slash ("layer1/"), so that the op `Adam` and the scope `Adam/`
are two things.
"""
from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from tfnb.graph.closure import closure
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
MOST_PERIOD = 16        # the most kinds in turn that make a block


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

    So do several in turn (Mul, Add, Relu, Mul_1, ...). Blocks are folded where each feeds the next, or none another;
    nothing where others stand between them.
    """
    if len(group.children) <= BLOCKS_CROWD:
        return
    crowded = len(group.children) > SERIES_CROWD
    families: dict[tuple[str, str], list[Node]] = defaultdict(list)
    for child in group.children.values():
        families[_stem(child), _alike(child)].append(child)
    found = [[[node] for node in members] for members in families.values()
             if len(members) >= SERIES_LEAST and (crowded or members[0].form == "scope")]
    if not found:
        return
    nexts = _next_children(group, consumers)
    series = [blocks for blocks in found if _is_series(blocks, nexts)]
    alone = {block[0].key for blocks in found if blocks not in series for block in blocks}
    series += [blocks for blocks in _repeats([child for key, child in group.children.items() if key in alone])
               if _is_series(blocks, nexts)]
    _replace(group, series)


def _replace(group: Node, series: list[list[list[Node]]]) -> None:
    """Put a node in place of the first member of each series, and take the others out of the group."""
    first = {blocks[0][0].key: blocks for blocks in series}
    folded = {node.key for blocks in series for block in blocks for node in block}
    children: dict[str, Node] = {}
    for key, child in group.children.items():
        if key in first:
            made = _series(group, first[key], children)
            children[made.key] = made
        elif key not in folded:
            children[key] = child
    group.children = children


def _repeats(nodes: list[Node]) -> Iterator[list[list[Node]]]:
    """The runs of nodes in which the same kinds come again and again, cut into their periods."""
    kinds = [(_stem(node), _alike(node)) for node in nodes]
    start, period, times = max(_runs(kinds), key=lambda run: run[1] * run[2], default=(0, 0, 0))
    if times < SERIES_LEAST:
        return
    end = start + period * times
    yield from _repeats(nodes[:start])
    yield [nodes[i:i + period] for i in range(start, end, period)]
    yield from _repeats(nodes[end:])


def _runs(kinds: list[tuple[str, str]]) -> Iterator[tuple[int, int, int]]:
    """The longest run of each period: where it starts, the period, the count of whole periods."""
    for period in range(1, min(MOST_PERIOD, len(kinds) // SERIES_LEAST) + 1):
        run = longest = start = 0
        for i in range(period, len(kinds)):
            run = run + 1 if kinds[i] == kinds[i - period] else 0
            if run > longest:
                longest, start = run, i - run - period + 1
        yield start, period, longest // period + 1


def _next_children(group: Node, consumers: Mapping[str, set[str]]) -> dict[str, set[str]]:
    """Key of a child -> keys of the children that take its values or wait for it."""
    at = {info.name: child.key for child in group.children.values() for info in child.ops()}
    return {child.key: {at[reader] for info in child.ops() for reader in consumers.get(info.name, ())
                        if reader in at} - {child.key} for child in group.children.values()}


def _is_series(blocks: list[list[Node]], nexts: Mapping[str, set[str]]) -> bool:
    """Whether each of the blocks feeds the next one, or none another, and no way leads from one to another through
    others: drawn as one node, they would stand in a circle with those."""
    members = [{node.key for node in block} for block in blocks]
    inner = set[str]().union(*members)
    ways = [set[str]().union(*(nexts[key] for key in block)) for block in members]
    if any(found & inner - block for found, block in zip(ways, members, strict=True)) \
            and not all(found & after for found, after in zip(ways, members[1:], strict=False)):
        return False
    reached = closure(set[str]().union(*ways) - inner, nexts.__getitem__)
    return inner.isdisjoint(reached)


def _stem(node: Node) -> str:
    """The label of a node without the number that makes it unique."""
    found = SERIES_NAME.match(node.label.strip("()"))
    return found[1] if found else node.label


def _alike(node: Node) -> str:
    """Members of a series are of one op type, or are scopes of equal size and role."""
    return f"{node.form} {node.info.type}" if node.info else f"{node.form} {node.count} {node.role}"


def _series(group: Node, blocks: list[list[Node]], taken: Collection[str]) -> Node:
    block, members = blocks[0], {node.key: node for block in blocks for node in block}
    kind = block[0].info.type + "*" if block[0].info else "*"
    stems = list(dict.fromkeys(map(_stem, block)))
    key = f"{group.key}{stems[0]}_{kind}/"
    if key in taken:                                    # blocks of the same stem before, of another size or kind
        key = f"{block[0].key.rstrip('/')}_{kind}/"
    label = ", ".join(stems if len(stems) < 4 else [stems[0], "…", stems[-1]])
    series = Node(key, f"{label} ×{len(blocks)}", "series", group, None, members,
                  block[0].role, sum(node.count for node in members.values()))
    for member in members.values():
        member.parent = series
    return series
