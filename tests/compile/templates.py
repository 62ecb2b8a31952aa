"""Words of programs, in a form that can be compared: those of a template beside those of a build of their own."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

import tfnb as tf
from tfnb.compile.build import build_stage
from tfnb.compile.lower import Ref, Step
from tfnb.compile.planning.plan import Stage
from tfnb.compile.programs.template import Template
from tfnb.compile.trace import Meta
from tfnb.compile.values import Buffer, Value
from tfnb.core.errors import OpError
from tfnb.kernels.launch import Code
from tfnb.kernels.symbolic import Pinned


def stage_of(session: tf.Session, fetches: Any, feeds: Mapping[Any, np.ndarray]) -> tuple[Stage, list[Meta], dict]:
    """The only device stage of a run, its inputs, and the shapes of its variables."""
    plan = session.plan(fetches, feeds)
    stage, = (stage for stage in plan.stages if stage.on_device)
    arrays = dict(feeds)
    metas = [Meta(np.asarray(arrays[t]).dtype.name, np.shape(arrays[t])) for t in stage.inputs]
    return stage, metas, {op: session._store.value(op, op).shape for op in stage.variables}


def words(steps: Sequence[Step], outputs: Sequence[Value], offsets: Mapping[Buffer, int]) -> list[Any]:
    """All that a program is made of, arrays by their bytes and temporary buffers by their place in the arena."""
    def word(arg: Any) -> Any:
        if not isinstance(arg, Ref):
            return arg.source if isinstance(arg, Code) else _plain(arg)
        buffer = arg.buffer
        place: Any = buffer.index
        if buffer.role == "temp":
            place = offsets[buffer]
        elif buffer.array is not None:
            place = buffer.array.tobytes(), buffer.array.dtype
        return buffer.role, buffer.owner, place, _plain(arg.offset), _plain(buffer.size), buffer.type, arg.type

    rows: list[Any] = [(s.source, tuple(map(word, s.args)), _plain(s.items), _plain(s.grain), _plain(s.operations),
                        s.writes, s.ops) for s in steps]
    return rows + [(v.shape, v.type, v.buffer.index if v.known is None else (v.known.tobytes(), v.known.dtype))
                   for v in outputs]


def _plain(number: Any) -> int:
    assert isinstance(number, (int, np.integer)), number
    return int(number)


def resized(inputs: Sequence[Meta], groups: Sequence[Sequence[tuple[int, int]]], sizes: Sequence[int]) -> list[Meta]:
    """The inputs with other sizes of the axes of each group."""
    new = {axis: size for group, size in zip(groups, sizes, strict=True) for axis in group}
    return [replace(m, shape=tuple(new.get((i, axis), n) for axis, n in enumerate(m.shape)))
            for i, m in enumerate(inputs)]


def differs(template: Template, inputs: Sequence[Meta], shapes: Mapping[Any, Any]) -> str:
    """Where the words of the template differ from those of a build for these inputs; "" if nowhere, "unfit" where the
    template does not serve them."""
    values = template.values(inputs, shapes)
    try:
        built = build_stage(template.stage, inputs, shapes)
    except OpError:
        return "unfit" if values is None else "no error"
    if values is None:
        return "unfit"
    try:
        layout = template.at(values)
    except Pinned:
        return "unfit"
    got, want = words(*template.steps_at(values)), words(built.steps, built.traced.outputs, built.offsets)
    rows = [f"row {i}: {a} instead of {b}" for i, (a, b) in enumerate(zip(got, want, strict=False)) if a != b]
    if not rows and (layout.arena_bytes != built.arena_bytes or list(layout.offsets) != list(built.offsets.values())):
        return "another arena"
    return "" if len(got) == len(want) and not rows else (rows or [f"{len(got)} rows instead of {len(want)}"])[0]
