"""Matmul rewrites before fusion: transposed operands are copied once, sums of matmuls become one matmul; on a GPU a
bias and a relu become part of the call of a matmul or a convolution.

The gradient of a weight that is used at each step of an unrolled network is such a sum, and each of these steps
multiplies by the same transposed weight.
"""
from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from typing import NamedTuple

import numpy as np

from tfnb.compile.copies import copy_node
from tfnb.compile.loop_invariant import is_invariant
from tfnb.compile.values import Buffer, Call, Elementwise, Node, Value, kernel_call, known, temp
from tfnb.kernels.contraction import Contraction
from tfnb.kernels.scalar.definition import Scalar
from tfnb.kernels.scalar.number_types import Literal, kind
from tfnb.opdef import kinds

Copies = dict[tuple[object, ...], Value]

TERMS = 256              # of a deferred sum of products: with more, it gets no faster


def contraction(node: Node) -> Contraction | None:
    """The rewrites that a matmul node allows."""
    spec = node.op.spec
    if not isinstance(node, Call) or node.launches is not None or not isinstance(spec, kinds.Kernel):
        return None
    return spec.contraction  # type: ignore[no-any-return]


def straighten(nodes: Sequence[Node], fixed: Collection[int] = ()) -> list[Node]:
    """Insert one copy of each second operand that pays to be transposed, shared by all matmuls until it changes.

    fixed: the indices of the loop-invariant stage inputs.
    """
    versions: Counter[Buffer] = Counter()
    copies: Copies = {}
    found: list[Node] = []
    for node in nodes:
        form = contraction(node)
        if form is not None and isinstance(node, Call) \
                and (attrs := form.straight(kernel_call(node), is_invariant(node.ins[1], fixed))) is not None:
            first, second = node.ins
            key = second.buffer, versions[second.buffer], second.view
            if key not in copies:
                copies[key] = _turned(node, second, found)
            node = replace(node, ins=[first, copies[key]], attrs=dict(attrs))
        found.append(node)
        versions.update(v.buffer for v in node.outs)
    return found


def _turned(node: Call, value: Value, nodes: list[Node]) -> Value:
    """Return the value with its last two axes swapped, in memory of its own; append the node that copies it."""
    if value.known is not None:
        return known(np.swapaxes(value.known, -1, -2))
    axes = list(range(len(value.shape)))
    view = value.view.transpose([*axes[:-2], axes[-1], axes[-2]])
    out = temp(value.type, view.shape)
    nodes.append(copy_node(node.op, Value(value.buffer, view), out))
    return out


class _Product(NamedTuple):
    """An operand of a node that is the output of a matmul, which nothing else reads. place: the index of the call."""

    value: Value
    place: int
    call: Call


def _absorbed(nodes: Sequence[Node], kept: Collection[Buffer], is_product: Callable[[Call], bool],
              absorb: Callable[[Node, Sequence[_Product]], Iterator[tuple[Call, Sequence[_Product]]]]) -> list[Node]:
    """Replace matmuls, and the node that alone reads them, by one call in its place.

    absorb(node, its operands that are matmuls) yields calls that compute the node, each with the matmuls in it; the
    first one whose operands nothing has changed meanwhile is taken. is_product: whether a matmul may be one.
    """
    readers = Counter(v.buffer for node in nodes for v in node.ins)
    products: dict[Buffer, tuple[int, Call]] = {}
    written: dict[Buffer, int] = {}
    found: dict[int, Node] = {}
    for i, node in enumerate(nodes):
        operands = [_Product(v, *products[v.buffer]) for v in node.ins
                    if v.buffer in products and readers[v.buffer] == 1 and v.buffer not in kept]
        for made, used in absorb(node, operands) if operands else ():
            if all(written.get(v.buffer, -1) <= product.place for product in used for v in product.call.ins):
                for product in used:
                    del found[product.place]
                node = made
                break
        found[i] = node
        if isinstance(node, Call) and node.outs and node.outs[0].buffer.role == "temp" and is_product(node):
            products[node.outs[0].buffer] = i, node
        written.update((v.buffer, i) for v in node.outs)
    return list(found.values())


def sum_products(nodes: Sequence[Node], kept: Collection[Buffer]) -> list[Node]:
    """Replace a sum whose terms are matmuls, which nothing else reads, by one matmul call with all their operands."""
    def summed(node: Node, operands: Sequence[_Product]) -> Iterator[tuple[Call, Sequence[_Product]]]:
        if len(operands) == len(node.ins) > 1 and _is_sum(node) and all(
                product.value.is_plain() and product.value.shape == node.outs[0].shape for product in operands):
            made = _summed(node, [product.call for product in operands])
            if made is not None:
                yield made, operands
    return _absorbed(nodes, kept, lambda call: contraction(call) is not None, summed)


def _is_sum(node: Node) -> bool:
    """Return whether the node is the sum of its inputs, each taken once."""
    if not isinstance(node, Elementwise) or not isinstance(node.scalar, Scalar):
        return False
    program = node.scalar.program(node.attrs)
    used = [arg for step in program.steps for arg in step.args]
    count = program.operands + len(program.steps)
    return all(step.primitive == "add" for step in program.steps) and program.results == (count - 1,) \
        and sorted(map(str, used)) == sorted(map(str, range(count - 1)))


def _summed(node: Node, calls: Sequence[Call]) -> Call | None:
    """Return one call for the sum of the outputs of `calls`, or None if their kernel can't accumulate."""
    first = calls[0]

    def form(call: Call) -> object:
        return call.op.spec.name, call.attrs, [v.shape for v in call.ins[:2]], call.ins[0].type

    if any(form(call) != form(first) for call in calls[1:]):
        return None
    also = [op for call in calls for op in (call.op, *call.also)][1:]
    made = replace(first, ins=[v for call in calls for v in call.ins], outs=node.outs, also=(*also, node.op))
    known_form = contraction(made)
    return made if known_form is not None and known_form.columns(kernel_call(made)) else None


def accumulate(nodes: Sequence[Node], kept: Collection[Buffer]) -> list[Node]:
    """Fold the addition of a matmul that nothing else reads to a stage input into its call, where the sum is an output.

    So a loop of gradients adds to that of a weight: the addend is the call's last input, and a loop may give it the
    memory of the output (`accumulated`).
    """
    def with_addend(node: Node, operands: Sequence[_Product]) -> Iterator[tuple[Call, Sequence[_Product]]]:
        if not _is_sum(node) or len(node.ins) != 2 or node.outs[0].buffer.role != "output":
            return
        for product in operands:
            call, addend = product.call, node.ins[product.value is node.ins[0]]
            if _may_add(node, call, addend):
                yield replace(call, ins=[*call.ins, addend], outs=node.outs, also=(*call.also, node.op)), [product]
    return _absorbed(nodes, kept, lambda call: contraction(call) is not None and len(call.ins) == 2, with_addend)


def _may_add(node: Node, call: Call, addend: Value) -> bool:
    """Return whether a matmul's kernel can add `addend`, a whole stage input, for a sum."""
    product, form = call.outs[0], contraction(call)
    return addend.buffer.role == "input" and addend.known is None and form is not None and all(
        v.is_plain() and v.shape == product.shape and v.type == product.type for v in (product, addend, *node.outs)
    ) and form.columns(kernel_call(call)) > 0


def accumulated(nodes: Sequence[Node], outputs: Sequence[Value]) -> tuple[tuple[int, int], ...]:
    """Return (number of an input, number of an output) of each sum of `accumulate` whose addend nothing else reads."""
    readers = Counter(v.buffer for node in nodes for v in node.ins)
    readers.update(v.buffer for v in outputs)
    return tuple((node.ins[-1].buffer.index, node.outs[0].buffer.index) for node in nodes
                 if contraction(node) is not None and len(node.ins) % 2 and readers[node.ins[-1].buffer] == 1)


def defer(nodes: Sequence[Node], invariant: Collection[Buffer],
          outputs: Sequence[Value]) -> tuple[list[Node], list[Call], int]:
    """Take products of `accumulate` with short sums out of an iteration of a loop.

    Their factors stay in memory for `period` iterations, and one call adds the products of all of these: it reads and
    writes the sum once. invariant: the buffers of loop-invariant nodes. Returns the nodes, the calls, which follow them
    in the last iteration of each period, and the period; 1 without calls. A buffer of role "factor" has the factor of
    one iteration, the one of role "factors" with its index those of a period.
    """
    read, pairs = {v.buffer for node in nodes for v in node.ins}, accumulated(nodes, outputs)
    found = {i: node for i, node in enumerate(nodes) if isinstance(node, Call) and len(node.ins) == 3
             and contraction(node) is not None and node.outs[0].buffer not in read
             and (node.ins[-1].buffer.index, node.outs[0].buffer.index) in pairs}
    terms = max((node.ins[0].view.size // node.outs[0].shape[0] for node in found.values()), default=TERMS)
    period = TERMS // max(1, terms) // 2 * 2
    if period < 2 or not all(_is_one_launch(node, period) for node in found.values()):
        return list(nodes), [], 1
    factors: dict[Buffer, Buffer] = {}
    changed: list[list[Node]] = [[node] for node in nodes]
    calls: list[Call] = []
    for i, node in found.items():
        changed[i], ins = [], []
        for value in node.ins[:2]:
            if value.buffer not in factors and (value.buffer.role != "temp" or value.buffer in invariant
                                                or not value.is_plain()):
                copy = temp(value.type, value.shape)
                changed[i].append(copy_node(node.op, value, copy))
                value = copy
            if value.buffer not in factors:
                value.buffer.role, value.buffer.index = "factor", len(factors)
                factors[value.buffer] = Buffer("factors", value.type, period * value.buffer.size, value.buffer.index)
            ins.append(value)
        terms_of_all = [Value(factors[v.buffer], replace(v.view, offset=v.view.offset + n * v.buffer.size))
                        for n in range(period) for v in ins]
        calls.append(replace(node, ins=[*terms_of_all, node.ins[-1]]))
    return list(chain(*changed)), calls, period


def _is_one_launch(node: Call, period: int) -> bool:
    """Return whether the kernel adds the products of a period in one launch, whose count of terms is a word."""
    many = replace(node, ins=[*node.ins[:2] * period, node.ins[-1]])
    spec = node.op.spec
    assert isinstance(spec, kinds.Kernel) and spec.cpu is not None
    return len(spec.cpu(kernel_call(many))) == 1


def follow_products(nodes: Sequence[Node], kept: Collection[Buffer]) -> list[Node]:
    """Fold a bias, a relu, or both, that alone read a matmul of floats into its call, whose attr "epilogue" names them.

    A bias is the call's third input. So for convolutions by tiles.
    """
    def followed(node: Node, operands: Sequence[_Product]) -> Iterator[tuple[Call, Sequence[_Product]]]:
        for product in operands:
            if isinstance(node, Elementwise) and product.value.is_plain() \
                    and (made := _followed(product.call, node, product.value)) is not None:
                yield made, [product]
    return _absorbed(nodes, kept, _may_be_followed, followed)


def _may_be_followed(call: Call) -> bool:
    """Return whether a kernel on a GPU computes epilogues of the call."""
    out, spec = call.outs[0], call.op.spec
    if contraction(call) is not None:
        return kind(out.type) == "f" and len(out.shape) == 2
    return call.launches is None and isinstance(spec, kinds.Kernel) and spec.follows is not None \
        and bool(spec.follows(kernel_call(call, "cuda")))


def _followed(call: Call, node: Elementwise, product: Value) -> Call | None:
    """Return the call that computes a node over its product, too, or None where no epilogue does."""
    out, before = node.outs[0], call.attrs.get("epilogue", ())
    if len(node.outs) > 1 or out.type != product.type or out.shape != product.shape or not out.is_plain() \
            or out.buffer.role == "variable" or "relu" in before:
        return None
    added = [v for v in node.ins if v is not product]
    if not before and len(node.ins) == 2 and len(added) == 1 and _is_sum(node):
        bias = added[0]
        if bias.type != out.type or bias.shape[-1:] != out.shape[-1:] or bias.view.size != out.shape[-1] \
                or not bias.view.is_row_major():
            return None
        return replace(call, ins=[*call.ins, bias], outs=[out], attrs={**call.attrs, "epilogue": ("bias",)},
                       also=(*call.also, node.op))
    if added or not _is_relu(node):
        return None
    return replace(call, outs=[out], attrs={**call.attrs, "epilogue": (*before, "relu")}, also=(*call.also, node.op))


def _is_relu(node: Elementwise) -> bool:
    """Return whether the node is max(x, 0)."""
    if not isinstance(node.scalar, Scalar):
        return False
    program = node.scalar.program(node.attrs)
    return program.operands == 1 and program.results == (1,) and [(step.primitive, *step.args) for step in
                                                                  program.steps] == [("maximum", 0, Literal(0))]
