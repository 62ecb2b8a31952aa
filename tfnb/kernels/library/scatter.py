"""Scatter ops on both devices: a check of all indices, then the kernel that writes, which each device generates."""
from __future__ import annotations

from collections.abc import Callable
from math import prod

from tfnb.kernels.launch import Call, Launch
from tfnb.kernels.library.checks import BAD_COORDINATE, BAD_INDEX, check_rows
from tfnb.kernels.scalar.definition import Attrs
from tfnb.kernels.scatter import Form, Rows


def scatter(write: Callable[[Call, Form, Attrs, str, Rows], Launch], call: Call, form: Form, attrs: Attrs,
            type: str) -> list[Launch]:
    """Return the launches of a scatter op. attrs, type: of the definition; write: the device's kernel.

    The outputs are the memory of the refs. An input more than the definition and the indices need is `counted`, an
    int64. Status words on a failure: BAD_INDEX, or BAD_COORDINATE of vectors, the position, the index, the limit, its
    axis.
    """
    target, indices = call.inputs[form.refs[0]], call.inputs[form.indices]
    depth, many = form.coordinates(indices.shape), len(form.scalar.params) + 1
    count, size = prod(indices.shape[:-1] if form.vectors else indices.shape), prod(target.shape[depth:])
    if not count:
        return []
    given = tuple(i for i in range(many) if i != form.indices)
    kinds = tuple("ref" if i in form.refs else "row" if i in form.rows and call.inputs[i].shape != () else "scalar"
                  for i in given)
    rows = Rows(count, size, depth, given, kinds, tuple(call.inputs[i].type for i in given),
                call.input(many).reach(8) if len(call.inputs) > many else None)
    check = check_rows(call, form.indices, count, target.shape[:depth], rows.counted,
                       BAD_COORDINATE if form.vectors else BAD_INDEX)
    return [*check, write(call, form, attrs, type, rows)] if size else check
