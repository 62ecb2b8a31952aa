"""Templates: a stage compiled for symbolic sizes, from which programs for other sizes follow without compiling.

The passes of `compile/build.py` run once over shapes that hold Sizes (kernels/symbolic.py). What comes out are the
launches as for the sizes at hand, with polynomials of the unknown sizes among their numbers, and guards: all
decisions that the passes took by sizes. For other sizes that pass the guards, the passes would take the same
decisions, and so give the same launches with other numbers. Temporary buffers are placed for each size anew.
"""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tfnb.compile.build import lowered
from tfnb.compile.lower import Ref, Step
from tfnb.compile.memory import first_fit, lifetimes
from tfnb.compile.planning.plan import Stage
from tfnb.compile.programs.layout import Layout, Patches, lay_out_sizes, patched
from tfnb.compile.sized import SizedArray
from tfnb.compile.trace import Meta
from tfnb.compile.values import Buffer, Value
from tfnb.graph.parts.operation import Operation
from tfnb.kernels.symbolic import Pinned, Size, Symbols
from tfnb.kernels.view import View

Axis = tuple[int, int]                     # (stage input, axis)
Shapes = Mapping[Operation, tuple[int, ...]]


@dataclass(frozen=True, eq=False)
class Template:
    """A stage compiled for inputs like `inputs`, where the axes of each of `groups` have one unknown size.

    shapes: of its variables. numbers: the terms of each Size -> index in what `sizes` returns: values of the unknowns
    -> values of all Sizes, None where a guard fails. lives, nbytes: lifetimes and bytes of the temporary buffers
    `temps`; arrays:
    constants that follow from sizes; conditions: (arrays, function, its result) of what was decided by such; patches:
    see `lay_out_sizes`.
    """

    stage: Stage
    inputs: tuple[Meta, ...]
    groups: Sequence[Sequence[Axis]]
    shapes: Shapes
    steps: Sequence[Step]
    outputs: Sequence[Value]
    numbers: Mapping[Any, int]
    sizes: Callable[..., list[int] | None]
    temps: Sequence[Buffer]
    lives: Sequence[tuple[int, int]]
    nbytes: Sequence[Any]
    arrays: Sequence[SizedArray]
    conditions: Sequence[tuple[Sequence[Any], Callable[..., Any], Any]]
    layout: Layout
    patches: Patches

    def values(self, inputs: Sequence[Meta], shapes: Shapes) -> list[int] | None:
        """Return the values of all Sizes for inputs and shapes of variables; None if the template does not fit."""
        if self.shapes is not shapes and self.shapes != shapes:
            return None
        free = {axis for group in self.groups for axis in group}
        for i, (a, b) in enumerate(zip(inputs, self.inputs, strict=True)):
            if a.type != b.type or len(a.shape) != len(b.shape) or not _same_value(a, b) or any(
                    m != n and (i, axis) not in free for axis, (m, n) in enumerate(zip(a.shape, b.shape, strict=True))):
                return None
        found = [{inputs[i].shape[axis] for i, axis in group} for group in self.groups]
        return self.sizes(*(size for group in found for size in group)) if all(len(g) == 1 for g in found) else None

    def number(self, values: Sequence[int]) -> Callable[[Any], int]:
        """Return the function from integers and Sizes to integers. values: those of all Sizes."""
        return lambda n: values[self.numbers[n.terms]] if type(n) is Size else n

    def constants(self, number: Callable[[Any], int]) -> dict[int, np.ndarray]:
        """Compute the constants that follow from sizes, by the `id` of their SizedArrays.

        Raises Pinned where a condition does not hold.
        """
        made: dict[int, np.ndarray] = {}
        for array in self.arrays:
            array.array(number, made)
        for arrays, fn, found in self.conditions:
            if fn(*(a.array(number, made) if isinstance(a, SizedArray) else a for a in arrays)) != found:
                raise Pinned
        return made

    def at(self, values: Sequence[int]) -> Layout:
        """Return the layout for other sizes. Raises what ops of constants raise."""
        number = self.number(values)
        offsets, arena_bytes = first_fit(self.lives, [number(n) for n in self.nbytes])
        constants = self.constants(number)
        known = [constants.get(id(array), array) for array in self.layout.known]
        made = [(tuple([number(n) for n in shape]), dtype) for shape, dtype in self.layout.made]
        return replace(self.layout, **patched(self.layout, self.patches, values), offsets=offsets,
                       arena_bytes=arena_bytes, made=made, known=known, constants=constants)

    def steps_at(self, values: Sequence[int]) -> tuple[list[Step], list[Value], dict[Buffer, int]]:
        """Return steps, outputs and offsets of temporary buffers for other sizes, as the passes would give them."""
        number = self.number(values)
        constants, made = self.constants(number), dict[Buffer, Buffer]()

        def buffer(old: Buffer) -> Buffer:
            """Return a buffer of plain size."""
            if old not in made:
                array = constants.get(id(old.array), old.array)
                made[old] = replace(old, size=number(old.size), array=array)
            return made[old]

        def word(arg: Any) -> Any:
            """Return an argument word of plain integers."""
            return Ref(buffer(arg.buffer), number(arg.offset), arg.type) if isinstance(arg, Ref) else number(arg)

        steps = [replace(step, args=tuple(map(word, step.args)), items=number(step.items), grain=number(step.grain),
                         operations=number(step.operations)) for step in self.steps]
        outputs = [Value(buffer(v.buffer), View(tuple(map(number, v.shape)), tuple(map(number, v.view.strides)),
                                                number(v.view.offset)), constants.get(id(v.known), v.known))
                   for v in self.outputs]
        offsets = first_fit(self.lives, [number(n) for n in self.nbytes])[0]
        return steps, outputs, dict(zip(map(buffer, self.temps), offsets, strict=True))


def _same_value(a: Meta, b: Meta) -> bool:
    if a.element is not None or b.element is not None:
        return False
    return a.value is b.value or a.value is not None and b.value is not None and a.value.tobytes() == b.value.tobytes()


def make_template(stage: Stage, inputs: Sequence[Meta], shapes: Shapes, groups: Sequence[Sequence[Axis]]) -> Template:
    """Compile a stage for unknown sizes, which have those of `inputs` now. groups: the axes of each unknown.

    Raises Pinned, or any other error, where the passes need a plain integer.
    """
    symbols = Symbols([inputs[i].shape[axis] for (i, axis), *_ in groups])
    unknown = {axis: symbols[i] for i, group in enumerate(groups) for axis in group}
    metas = [replace(m, shape=tuple(unknown.get((i, axis), n) for axis, n in enumerate(m.shape)))
             for i, m in enumerate(inputs)]
    traced, _, steps, once, *_ = lowered(stage, metas, shapes)
    first, last = lifetimes(steps, once)
    buffers = list(dict.fromkeys(arg.buffer for step in steps for arg in step.args if isinstance(arg, Ref)))
    values = [*(b.array for b in buffers), *(v.known for v in traced.outputs)]
    constants = [a for a in values if isinstance(a, SizedArray)]
    decided = [a for arrays, _, _ in symbols.conditions for a in arrays if isinstance(a, SizedArray)]
    sizes = _sizes(steps, buffers, traced.outputs, [*constants, *decided])
    layout, patches = lay_out_sizes(steps, traced.outputs, len(inputs), list(first), sizes)
    numbers = {terms: i for i, terms in enumerate(sizes)}
    return Template(stage, tuple(inputs), groups, dict(shapes), steps, traced.outputs, numbers,
                    symbols.function(sizes.values()), list(first), [(first[b], last[b]) for b in first],
                    [b.nbytes for b in first], constants,
                    symbols.conditions, layout, patches)


def _sizes(steps: Sequence[Step], buffers: Sequence[Buffer], outputs: Sequence[Value],
           arrays: Sequence[SizedArray]) -> dict[Any, Size]:
    """Return all Sizes of what the passes gave, by their terms."""
    found: list[Any] = []
    for step in steps:
        found += [step.items, step.grain, step.operations]
        found += [arg.offset if isinstance(arg, Ref) else arg for arg in step.args]
    for buffer in (*buffers, *(v.buffer for v in outputs)):
        found += [buffer.size, buffer.nbytes]
    for value in outputs:
        found += [*value.shape, *value.view.strides, value.view.offset]
    for array in arrays:
        found += array.sizes()
    return {n.terms: n for n in found if type(n) is Size}
