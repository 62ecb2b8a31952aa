"""The largest elements of rows in order, and whether a class is among them.

    top(call)           TopKV2 (input, k), TopK (input; attr k) -> values, places
    in_top(call)        InTopK (predictions, targets; attr k), InTopKV2 (predictions, targets, k) -> bool

NaN comes before all numbers; of equal elements the first one does. The sizes of the outputs say what k is.
"""
from __future__ import annotations

from tfnb.kernels.functions.kernel import kernel_function
from tfnb.kernels.functions.language import Array, Type
from tfnb.kernels.launch import Call, Launch

BLOCK = 64                  # elements of a row that are compared with the least kept one at a time
RUN = 16
FEW = 8                     # a row is merged, not selected from, where more than one in FEW is kept


def precedes(x: float, i: int, y: float, j: int) -> bool:
    """Return whether x at place i comes before y at place j."""
    return x > y or x != x and y == y or (x == y or x != x and y != y) and i < j


@kernel_function
def select_row(x: Array, values: Array, places: Array, n: int, k: int, Index: Type, item: int) -> None:
    """Put the k first elements of a row in order: a heap whose root is the last of them, then heap sort."""
    row = x[item * n:]
    kept = values[item * k:]
    where_ = places[item * k:]
    for i in range(k):                          # sift up
        value, at = row[i], i
        while at > 0 and precedes(kept[(at - 1) // 2], int(where_[(at - 1) // 2]), value, i):
            kept[at] = kept[(at - 1) // 2]
            where_[at] = where_[(at - 1) // 2]
            at = (at - 1) // 2
        kept[at] = value
        where_[at] = Index(i)
    begin = k
    while begin < n:
        end = min(begin + BLOCK, n)
        root, found = kept[0], False
        for i in range(begin, end):
            found = found or not row[i] <= root
        if found:
            for i in range(begin, end):
                value = row[i]
                if precedes(value, i, kept[0], int(where_[0])):
                    sift_down(kept, where_, k, value, i, Index(i))
        begin = end
    last = k - 1
    while last > 0:                             # the root is the last of those that are left
        value, place = kept[last], where_[last]
        kept[last] = kept[0]
        where_[last] = where_[0]
        sift_down(kept, where_, last, value, int(place), place)
        last -= 1


def sift_down(kept: Array, where_: Array, size: int, value: float, i: int, place: int) -> None:
    """Replace the root of a heap by a value."""
    at, child = 0, 1
    while child < size:
        if child + 1 < size and precedes(kept[child], int(where_[child]), kept[child + 1], int(where_[child + 1])):
            child += 1
        if precedes(kept[child], int(where_[child]), value, i):
            child = size
        else:
            kept[at] = kept[child]
            where_[at] = where_[child]
            at = child
            child = 2 * at + 1
    kept[at] = value
    where_[at] = place


@kernel_function
def merge_row(x: Array, values: Array, places: Array, room: Array, numbers: Array, n: int, k: int, passes: int,
              Index: Type, item: int) -> None:
    """Sort a row by merging runs twice as long in each of `passes`. room, numbers: 2 n elements for each item."""
    row = x[item * n:]
    first = room[item * 2 * n:]
    numbered = numbers[item * 2 * n:]
    for i in range(n):                          # insertion sort of runs of RUN elements
        value, at = row[i], i
        while at % RUN > 0 and precedes(value, i, first[at - 1], i - 1):
            first[at] = first[at - 1]
            numbered[at] = numbered[at - 1]
            at -= 1
        first[at] = value
        numbered[at] = Index(i)
    width, side = RUN, 0
    for _ in range(passes):
        source = room[(item * 2 + side) * n:]
        order = numbers[(item * 2 + side) * n:]
        side = 1 - side
        target = room[(item * 2 + side) * n:]
        ordered = numbers[(item * 2 + side) * n:]
        start = 0
        while start < n:
            middle = min(start + width, n)
            end = min(middle + width, n)
            left, right = start, middle
            for at in range(start, end):
                # of equal ones the left one: it comes first
                if left < middle and (right >= end or not precedes(source[right], right, source[left], left)):
                    target[at] = source[left]
                    ordered[at] = order[left]
                    left += 1
                else:
                    target[at] = source[right]
                    ordered[at] = order[right]
                    right += 1
            start = end
        width *= 2
    found = room[(item * 2 + side) * n:]
    order_found = numbers[(item * 2 + side) * n:]
    for i in range(k):
        values[item * k + i] = found[i]
        places[item * k + i] = order_found[i]


def top(call: Call) -> list[Launch]:
    """Return the launch of an item for each row of the last axis."""
    x, (values, places) = call.inputs[0], call.outputs
    n, k = x.shape[-1], values.shape[-1]
    if not values.size:
        return []
    rows = values.size // k
    arrays = (call.input(0).reach(x.size * x.itemsize), call.output(0).reach(values.size * values.itemsize),
              call.output(1).reach(places.size * places.itemsize))
    if k * FEW <= n or n < 4:
        return [select_row.launch(call, rows, *arrays, n, k, Index=places.type, cost=2 * n, label="top k")]
    room, numbers = (call.scratch(2 * x.size * meta.itemsize).reach(2 * x.size * meta.itemsize).of(meta.type)
                     for meta in (x, places))
    passes = max(0, (n - 1).bit_length() - (RUN - 1).bit_length())
    return [merge_row.launch(call, rows, *arrays, room, numbers, n, k, passes, Index=places.type,
                             cost=n * n.bit_length(), label="sort rows")]


@kernel_function
def rank_class(predictions: Array, targets: Array, bound: Array, inside: Array, n: int, k: int, item: int) -> None:
    """Return whether fewer than k classes of a row precede the target; bound: k, where that is an input."""
    place, least = int(targets[item]), k
    if bound is not None:
        least = int(bound[0])
    inside[item] = False
    if place >= 0 and place < n:
        row = predictions[item * n:]
        own, count, infinite = row[place], 0, 0
        for i in range(n):
            count += 1 if row[i] > own else 0
            infinite += 0 if row[i] - row[i] == 0 else 1
        inside[item] = count < least and infinite == 0


def in_top(call: Call) -> list[Launch]:
    """Return the launch of an item for each row."""
    predictions, targets, *bound = call.inputs
    rows, n = predictions.shape
    if not rows:
        return []
    k = call.input(2).reach(bound[0].itemsize) if bound else None
    return [rank_class.launch(call, rows, call.input(0).reach(rows * n * predictions.itemsize),
                              call.input(1).reach(rows * targets.itemsize), k, call.output().reach(rows), n,
                              int(call.attrs.get("k", 0)), cost=n, label="in top k")]
