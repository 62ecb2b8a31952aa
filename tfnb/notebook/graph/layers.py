"""The layer view: the hierarchy of a graph rearranged so that a model is a chain of layers.

In a TensorFlow 1 graph the variables of a layer, the ops that fill them, their slots, the gradients and the optimizer
stand in scopes of their own. Here a variable goes into the layer that reads it, with what makes its initial value;
gradients, optimizers (with slots and clipped gradients), and what saves and initializes are one group each; ops outside
all scopes that make up a layer (a product, its bias, its activation) become one; and a loop's plumbing is folded.
"""
from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import count

from tfnb.notebook.graph.measures import gather_measures
from tfnb.notebook.graph.purposes import Purposes
from tfnb.notebook.graph.read import OpInfo, op_of, upstream
from tfnb.notebook.graph.tree import VARIABLE_TYPES, Node, scopes

# The op a layer is named by -> the word for it; the first that is found in a layer counts.
ANCHORS = {"Conv2D": "conv", "Conv3D": "conv 3-D", "DepthwiseConv2dNative": "depthwise conv",
           "Conv2DBackpropInput": "transposed conv", "MatMul": "dense", "BatchMatMul": "product",
           "BatchMatMulV2": "product", "GatherV2": "embedding", "Gather": "embedding", "ResourceGather": "embedding"}
JOINS = frozenset({"BiasAdd", "Add", "AddV2", "Sub", "Mul", "FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3"})
ACTIVATIONS = frozenset({"Relu", "Relu6", "Elu", "Selu", "LeakyRelu", "Sigmoid", "Tanh", "Softplus", "Softsign",
                         "Softmax", "LogSoftmax"})
PENALTIES = frozenset({"L2Loss", "Square", "Abs", "Shape", "Size", "Rank"})     # what reads weights beside their layer
COUNTED = re.compile(r"^(.*?)(_\d+)?$")


def arrange(root: Node, infos: Iterable[OpInfo], consumers: Mapping[str, set[str]]) -> dict[str, str]:
    """Rearrange the hierarchy `root` of `infos`, whose inner groups are not settled yet.

    Returns the keys of groups that are gone -> the keys of those that have taken what was in them.
    """
    work = _Arrangement(root, infos, consumers)
    work.put_variables_into_layers()
    work.gather_helpers()
    gather_measures(work, work.gather)
    for group in work.model_groups()[::-1]:
        work.fold_constants(group)
        work.make_layers(group)
    for group in work.model_groups():
        work.fold_loop(group)
    work.drop_empty(root)
    work.join_single(root)
    return work.moved


class _Arrangement(Purposes):
    """Moves the nodes of a hierarchy to where their purposes put them."""

    def __init__(self, root: Node, infos: Iterable[OpInfo], consumers: Mapping[str, set[str]]) -> None:
        super().__init__(root, infos, consumers)
        self.moved: dict[str, str] = {}
        self.keys = {group.key for group in root.groups()}

    # variables

    def put_variables_into_layers(self) -> None:
        """Move each variable of the model to the ops that read it, and ops that make initial values to their variable.
        """
        for name, variable in self.makers.items():
            self._move(self._unit(name, self.owned[variable]), self._group_of(variable))
        for variable in self.variables:
            home = self._home(variable) if variable not in self.training else None
            if home is not None:
                whole = self.whole(variable)
                if whole.parent is not None:
                    self.moved.setdefault(whole.parent.key, home.key)
                self._move(whole, home)

    def _group_of(self, variable: str) -> Node:
        """The group of a variable, made where the variable stands alone."""
        whole = self.whole(variable)
        if whole.key == variable + "/":
            return whole
        self.variable_groups.add(variable + "/")
        return self._own_group(whole)

    def _unit(self, name: str, among: set[str]) -> Node:
        """The largest scope around an op whose ops are all `among` these, else the op's leaf."""
        node = self.leaf[name]
        while node.parent is not None and node.parent.key and all(info.name in among for info in node.parent.ops()):
            node = node.parent
        return node

    def _readers(self, variable: str) -> list[str]:
        """The ops of the model that read a variable, in the order of the graph."""
        found = {reader for op in self.owned[variable] for reader in self.consumers.get(op, ())}
        found = {name for name in found if name not in self.owner and self.of_model(name)}
        main = {name for name in found if self.infos[name].type not in PENALTIES} or found
        return sorted(main, key=self.place.__getitem__)

    def _home(self, variable: str) -> Node | None:
        """Return the scope that a variable belongs to, if that is not where it stands."""
        readers = self._readers(variable)
        paths = [scopes(self.leaf[name]) for name in readers]
        if not paths:
            return None
        around = self.whole(variable).parent
        if around is None:
            return None
        wanted = around.label if around.key else ""
        for path in paths:                                 # the scope of its own name, the innermost of the first use
            named = [node for node in path[1:] if wanted and _stem(node.label) == _stem(wanted)]
            if named:
                return None if around in path else named[-1]
        common = [group for group, *others in zip(*paths, strict=False) if all(group is other for other in others)]
        home = common[-1]
        return home if home.key and home is not around and self._may_hold(home) else None

    def _may_hold(self, group: Node) -> bool:
        """Whether a scope is a place for variables of others: not if it is an op's own."""
        return group.info is None and group.key not in self.variable_groups

    # what stands beside the model

    def gather_helpers(self) -> None:
        """Put gradients, optimizers, and what saves and initializes, into a group each."""
        parts = [(self.gradients, self.gradients, "gradients", "gradient"),
                 (self.training, self.gradients | self.training, "training", "optimizer"),
                 (self.keeping, self.keeping, "saving and initializing", "save")]
        for needed, allowed, label, role in parts:
            found = list(self._units(self.root, needed, allowed))
            box = found[0] if found else None
            if box is not None and (len(found) > 1 or box.parent is not self.root):
                box = self._add(self.root, label, inner={node.key for node in found})
                for node in found:
                    self._move(node, box)
            if box is not None:
                box.part = role

    def _units(self, group: Node, needed: set[str], allowed: set[str]) -> Iterator[Node]:
        """The outermost nodes below `group` with `needed` ops and no others than `allowed` ones."""
        for child in list(group.children.values()):
            ops = [] if child.part else [info.name for info in child.ops()]
            if any(name in needed for name in ops) and all(self.belongs(name, allowed) for name in ops):
                yield child
            elif child.children and not child.part:
                yield from self._units(child, needed, allowed)

    # layers of loose ops, and constants

    def model_groups(self) -> list[Node]:
        """The groups of the model itself, outermost first: not those of variables, gradients and the like."""
        found = [self.root]
        for group in found:
            found += [child for child in group.children.values()
                      if child.children and child.key not in self.variable_groups and not child.part]
        return found

    def fold_constants(self, group: Node) -> None:
        """Put each constant without a name of its own that one op of the same group reads into that op."""
        for node in list(group.children.values()):
            readers = self.consumers.get(node.name, set()) - self.gradients
            if node.children or node.info is None or node.info.type != "Const" or len(readers) != 1 \
                    or _stem(node.label) != "Const":
                continue
            reader = self.whole(readers.pop())
            if reader.parent is group and reader.info is not None and reader.info.type not in VARIABLE_TYPES:
                self._move(node, reader if reader.children else self._own_group(reader))

    def make_layers(self, group: Node) -> None:
        """Group the loose ops of each layer: an op that reads variables of this group, and what follows it alone."""
        found = []
        for node in list(group.children.values()):
            anchor = node.info
            if anchor is not None and anchor.type in ANCHORS and self.of_model(anchor.name):
                members = self._layer(group, node)
                if members:
                    found.append((anchor, members))
        if len(found) < (2 if group.key else 1):
            return
        for anchor, members in found:
            self.gather(group, members, ANCHORS[anchor.type])

    def _layer(self, group: Node, anchor: Node) -> list[Node]:
        """The members of the layer whose first op is `anchor`; none if it reads no variable of its own here."""
        weights = self._weights(group, anchor)
        if not weights:
            return []
        members, node = [*weights, anchor], anchor
        while True:
            after = self._next(group, node)
            kind = after.info.type if after is not None and after.info is not None else ""
            more = self._weights(group, after) if after is not None else []
            if after is None or not (kind in ACTIVATIONS or kind in JOINS and more):
                return members
            members += [*more, after]
            node = after
            if kind in ACTIVATIONS:
                return members

    def _weights(self, group: Node, node: Node) -> list[Node]:
        """The variables of the group that only this op reads."""
        names = {info.name for info in node.ops()}
        sources = {self.owner.get(op_of(tensor), "") for info in node.ops() for tensor in info.inputs} - {""}
        return [whole for variable in sources if (whole := self.whole(variable)).parent is group
                and set(self._readers(variable)) <= names]

    def _next(self, group: Node, node: Node) -> Node | None:
        """The only op of the model that reads `node`, if it stands in the same group."""
        own = {info.name for info in node.ops()}
        readers = {reader for name in own for reader in self.consumers.get(name, ())
                   if reader not in own and self.of_model(reader)}
        if len(readers) != 1:
            return None
        after = self.whole(readers.pop())
        return after if after.parent is group and after.info is not None else None

    # loops

    def fold_loop(self, group: Node) -> None:
        """Fold what stands around the body of a loop: the loop's own ops, and what prepares and collects its tensors.
        """
        if self._is_loop(group):
            rest = [child for child in group.children.values() if not self._has_variables(child)]
            if 2 < len(rest) < len(group.children):
                self._fold(group, rest, "steps and state")
            return
        loops = [child for child in group.children.values() if self._is_loop(child)]
        if len(loops) != 1 or not group.key:
            return
        inside = {info.name for info in loops[0].ops()}
        before = {info.name for info in upstream(self.infos.values(), inside)} - inside
        rest = [child for child in group.children.values() if child is not loops[0] and not self._has_variables(child)]
        first = [child for child in rest if any(info.name in before for info in child.ops())]
        self._fold(group, first, "before the loop")
        self._fold(group, [child for child in rest if child not in first], "after the loop")

    @staticmethod
    def _is_loop(node: Node) -> bool:
        return any(child.info is not None and child.info.type == "LoopCond" for child in node.children.values())

    @staticmethod
    def _has_variables(node: Node) -> bool:
        return any(info.type in VARIABLE_TYPES for info in node.ops())

    def gather(self, group: Node, members: list[Node], label: str) -> Node | None:
        """Make one group of some members of another, if there is more than one."""
        if len(members) < 2:
            return None
        box = self._add(group, label, members[-1], [member.key for member in members])
        for member in members:
            self._move(member, box)
        return box

    def _fold(self, group: Node, members: list[Node], label: str) -> None:
        box = self.gather(group, members, label)
        if box is not None:
            box.part = "scope"

    # the hierarchy itself

    def _own_group(self, leaf: Node) -> Node:
        """Make the group of an op that has none yet."""
        parent = leaf.parent
        assert parent is not None and leaf.info is not None
        group = Node(leaf.key + "/", leaf.label, "scope", parent, leaf.info, {leaf.key: leaf})
        self._replace(leaf, group)
        leaf.label, leaf.parent = f"({leaf.label})", group
        return group

    def _add(self, parent: Node, word: str, at: Node | None = None, inner: Collection[str] = ()) -> Node:
        """Make a group with a name that no other has, in the place where `at` stands, which it takes in.

        inner: keys of what will stand in it, so that it may have the label of one of these."""
        names = (word if i == 1 else f"{word}_{i}" for i in count(1))
        name = next(each for each in names
                    if f"{parent.key}{each}/" not in self.keys and f"{parent.key}{each}" not in self.infos)
        labels = {child.label for child in parent.children.values() if child.key not in inner}
        self.keys.add(f"{parent.key}{name}/")
        node = Node(f"{parent.key}{name}/", word if word not in labels else name, "scope", parent)
        if at is None:
            parent.children[node.key] = node
        else:
            self._replace(at, node)
            at.parent, node.children[at.key] = node, at
        return node

    @staticmethod
    def _move(node: Node, parent: Node) -> None:
        if node.parent is parent or node is parent:
            return
        if node.parent is not None:
            del node.parent.children[node.key]
        node.parent = parent
        parent.children[node.key] = node

    def drop_empty(self, group: Node) -> None:
        """Leave out scopes that nothing stands in any more."""
        for child in list(group.children.values()):
            self.drop_empty(child)
            if not child.children and child.form == "scope":
                del group.children[child.key]
            else:
                self.moved.pop(child.key, None)

    def join_single(self, group: Node) -> None:
        """Make one of a scope and the only scope in it."""
        for child in [node for node in group.children.values() if not node.part]:
            self.join_single(child)
            only = next(iter(child.children.values()), child)
            if len(child.children) == 1 and only.children and child.info is None and only.info is None:
                only.label, only.parent, self.moved[child.key] = f"{child.label}/{only.label}", group, only.key
                self._replace(child, only)

    @staticmethod
    def _replace(node: Node, other: Node) -> None:
        """Put `other` into the place of a node."""
        parent = other.parent
        assert parent is not None
        parent.children = {other.key if key == node.key else key: other if key == node.key else child
                           for key, child in parent.children.items()}


def _stem(label: str) -> str:
    match = COUNTED.match(label)
    return match[1] if match else label
