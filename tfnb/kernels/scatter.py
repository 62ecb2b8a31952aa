"""Scatter ops: a scalar definition applied to the rows that indices select, one index after another.

The definition gets the old element of each array that is written to, and the elements of the rows (or scalars) beside
it, and returns the new ones. An index that comes twice is applied twice: the second time it meets what the first left.
"""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from tfnb.core import indexing
from tfnb.kernels.launch import Address
from tfnb.kernels.scalar.definition import Attrs, Scalar, reference
from tfnb.kernels.scalar.rowwise import Fragment
from tfnb.kernels.spec import MapKernel, Operand, Stmt


@dataclass(frozen=True, slots=True)
class Form:
    """Roles of the inputs of a scatter op.

    scalar: the definition, over all inputs but the indices, in order. refs: the inputs that are written to (the
    results of the definition, in order); indices: the input that picks; rows: the inputs with a row for each index
    (any of them may be a scalar instead); other inputs are scalars. vectors: the last axis of the indices holds the
    coordinates of one slice, else each index is a row.
    """

    scalar: Scalar | Fragment
    refs: tuple[int, ...]
    indices: int
    rows: frozenset[int]
    vectors: bool = False

    def coordinates(self, shape: Sequence[int]) -> int:
        """Return how many leading axes of the arrays an index selects from, by the shape of the indices."""
        return shape[-1] if self.vectors else 1


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows that a scatter op writes: `count` indices, each of `depth` coordinates, select rows of `size` elements.

    given: the inputs but the indices, which are of these `kinds` ("ref", "row", "scalar") and `types`; counted: the
    address of how many of the indices count, those behind are left out.
    """

    count: int
    size: int
    depth: int
    given: tuple[int, ...]
    kinds: tuple[str, ...]
    types: tuple[str, ...]
    counted: Address | None


def elements(form: Form, attrs: Attrs, type: str, kinds: Sequence[str], types: Sequence[str]) -> MapKernel:
    """Return the map kernel of the definition over the elements of one row.

    kinds: what each input but the indices is, "ref", "row" or "scalar". Loads: x0, x1, ...; stores: r0, r1, ...
    """
    steps = {"ref": ("s", "1"), "row": ("s", "1"), "scalar": ("0", "0")}
    loads = tuple(Operand(f"x{i}", t, steps[kind]) for i, (kind, t) in enumerate(zip(kinds, types, strict=True)))
    written = [load for load, kind in zip(loads, kinds, strict=True) if kind == "ref"]
    stores = tuple(Operand(f"r{i}", load.type, load.steps) for i, load in enumerate(written))
    body = Stmt(form.scalar, type, tuple(load.name for load in loads), tuple(store.name for store in stores),
                tuple(store.type for store in stores), attrs)
    return MapKernel(2, loads, (body,), stores)


class BadIndex(IndexError):
    """An index out of range. position: in the flat list of indices."""


def flat_places(indices: np.ndarray, shape: Sequence[int], vectors: bool) -> np.ndarray:
    """Return the row that each index selects, of an array of `shape` as rows. Raises BadIndex when out of range."""
    depth = indices.shape[-1] if vectors else 1
    picks = indices.reshape(prod(indices.shape[:-1]) if vectors else indices.size, depth).astype(np.int64)
    limits = np.array(shape[:depth], np.int64)
    bad = ((picks < 0) | (picks >= limits)).any(1)
    if bad.any():
        at = int(np.argmax(bad))
        lead = indices.shape[:-1] if vectors else indices.shape
        place = ",".join(map(str, np.unravel_index(at, lead))) if lead else ""
        where = f"indices[{place}]" if place else "indices"
        if vectors:
            raise BadIndex(f"{where} = {picks[at].tolist()} does not index into shape {list(shape)}")
        raise BadIndex(f"{where} = {int(picks[at, 0])} is not in [0, {int(limits[0])})")
    places = np.zeros(len(picks), np.int64)
    for column, limit in zip(picks.T, limits, strict=True):
        places = places * limit + column
    return places


def apply(form: Form, arrays: Sequence[np.ndarray], attrs: Attrs | Mapping[str, Any], type: str) -> None:
    """Apply the op in place to the refs. type: of the literals. Raises BadIndex before anything is written.

    Indices that come several times are done in as many rounds, each with different rows.
    """
    assert isinstance(form.scalar, Scalar)
    indices, target = arrays[form.indices], arrays[form.refs[0]]
    depth = form.coordinates(indices.shape)
    places = flat_places(indices, target.shape, form.vectors)
    size = prod(target.shape[depth:])
    flat = [arrays[i].reshape(-1, size) if size else arrays[i].reshape(0, 0) for i in form.refs]
    rows = {i: arrays[i].reshape(len(places), size).copy() for i in form.rows if arrays[i].shape != () or not size}
    if not size or not len(places):
        return
    for picked in _rounds(places):
        taken = dict(zip(form.refs, (array[places[picked]] for array in flat), strict=True))
        given = [taken[i] if i in taken else rows[i][picked] if i in rows else arrays[i]
                 for i in range(len(arrays)) if i != form.indices]
        results = reference(form.scalar, given, attrs, type, [array.dtype.name for array in flat])
        for array, result in zip(flat, results, strict=True):
            array[places[picked]] = np.broadcast_to(result, (len(picked), size))


def _rounds(places: np.ndarray) -> list[np.ndarray]:
    """Return the positions in rounds, so that none has a place twice and each place keeps its order."""
    order = np.argsort(places, kind="stable")
    ordered = places[order]
    starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])
    nth = np.arange(len(places)) - indexing.repeat(starts, np.diff(np.r_[starts, len(places)]))
    return [np.sort(order[nth == k]) for k in range(int(nth.max()) + 1)]
