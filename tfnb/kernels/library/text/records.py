"""Fields of CSV records (RFC 4180) as spans of bytes."""
from __future__ import annotations

from tfnb.kernels.functions.kernel import kernel_function
from tfnb.kernels.functions.language import Array

QUOTE, NEWLINE, RETURN = 34, 10, 13
ODD = -1                                     # a record for slower code: quotes in quotes, or an error


@kernel_function
def split_record(text: Array, ends: Array, places: Array, known: int, starts: Array, stops: Array, counts: Array,
                 records: int, delimiter: int, quotes: int, item: int) -> None:
    """Find the fields of record `item`: text[ends[item]:ends[item + 1]]; counts[item]: how many, or ODD.

    places: the row of (columns, records) that each of the first `known` fields goes to, -1 for none; quotes: whether
    fields may be quoted.
    """
    at, end = int(ends[item]), int(ends[item + 1])
    field, odd, going = 0, False, True
    while going:
        start = at
        if quotes != 0 and at < end and text[at] == QUOTE:
            start = at + 1
            at = start
            while at < end and text[at] != QUOTE:
                at += 1
            stop = at
            at += 1
            odd = odd or stop >= end or (at < end and text[at] != delimiter)
            at = min(at, end)
        else:
            while at < end and text[at] != delimiter:
                odd = odd or (quotes != 0 and (text[at] == QUOTE or text[at] == NEWLINE or text[at] == RETURN))
                at += 1
            stop = at
        place = int(places[field]) if field < known else -1
        if place >= 0:
            starts[place * records + item] = start
            stops[place * records + item] = stop
        field += 1
        going = at < end and not odd
        at += 1
    counts[item] = ODD if odd else field
