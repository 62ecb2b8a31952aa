"""Features of serialized tf.train.Examples, read where they stand: Protocol Buffers' wire format.

    scan_example     finds the features with the wanted keys: kind, span and how many values
    copy_feature     copies the values of a feature to where they belong

An Example that is written in an unusual way (fields that are unknown or twice there, lists that are not packed), or
that is broken, is left to the protobuf library: its status is not 0.
"""
from __future__ import annotations

from tfnb.kernels.functions.kernel import kernel_function
from tfnb.kernels.functions.language import Array, array_at, int64, uint8

BYTES, FLOATS, INTEGERS = 1, 2, 3            # the numbers of the lists in Feature, and `kind` of what is found; 0: none
FIRST, SECOND = 10, 18                       # tags of fields 1 and 2 that have a length; 8 * number + 2
FIELDS = 4                                   # of what is found of a feature: kind, start, end, count


def length_at(text: Array, start: int, stop: int) -> tuple[int, int]:
    """Return the varint at `start`, and where it ends; (-1, stop) for one that goes beyond `stop`, or 63 bits."""
    value, shift, at, going = 0, 0, start, True
    while going and at < stop and shift < 63:
        byte = int(text[at])
        value = value | (byte & 127) << shift
        shift += 7
        at += 1
        going = byte > 127
    if going:
        value, at = -1, stop
    return value, at


def field_at(text: Array, start: int, stop: int, tag: int) -> tuple[int, int]:
    """Return the span of a field with that tag and a length; (-1, stop) if it is another one, or goes beyond `stop`."""
    size, first = -1, stop
    if start < stop and text[start] == tag:
        size, first = length_at(text, start + 1, stop)
    end = first + size
    if size < 0 or end > stop:
        first, end = -1, stop
    return first, end


def key_number(text: Array, start: int, stop: int, keys: Array, ends: Array, count: int, guess: int) -> int:
    """Return the number of the key that a span is, -1 if it is none; `guess`: where to look first. -2: not ASCII."""
    found, tried = -1, 0
    while found < 0 and tried < count:
        number = (guess + tried) % count
        first = int(ends[number])
        same = int(ends[number + 1]) - first == stop - start
        at = 0
        while same and at < stop - start:
            same = text[start + at] == keys[first + at]
            at += 1
        if same:
            found = number
        tried += 1
    if found < 0:
        for at in range(start, stop):
            found = -2 if text[at] > 127 else found
    return found


def count_values(text: Array, start: int, stop: int, kind: int) -> tuple[int, int, int]:
    """Return the span of the values of a list, and how many there are; -1 for one that is not packed, or broken."""
    first, end, count = start, stop, 0
    if start < stop and kind == BYTES:
        at = start
        while at < stop and count >= 0:
            begin, at = field_at(text, at, stop, FIRST)
            count = count + 1 if begin >= 0 else -1
    elif start < stop:
        first, end = field_at(text, start, stop, FIRST)
        if first < 0 or end != stop:
            count = -1
        elif kind == FLOATS:
            count = (end - first) // 4 if (end - first) % 4 == 0 else -1
        else:
            run = 0
            for at in range(first, end):
                run += 1
                if text[at] < 128:
                    count += 1
                    run = 0
                elif run > 9:
                    count = -(1 << 40)
            count = -1 if run != 0 or count < 0 else count
    return first, end, count


@kernel_function
def scan_example(text: Array, begins: Array, keys: Array, ends: Array, wanted: int, found: Array, status: Array,
                 examples: int, item: int) -> None:
    """Find the features of Example `item`, text[begins[item]:begins[item + 1]].

    keys, ends: the wanted keys, one after another; found: int64 [keys, examples, FIELDS], of zeros; status[item]: 0, or
    1 where the protobuf library is to read the Example.
    """
    at, stop, good, guess = int(begins[item]), int(begins[item + 1]), True, 0
    while good and at < stop:
        entry, last = field_at(text, at, stop, FIRST)              # the features
        good = entry >= 0
        at = last
        while good and entry < last:
            key, after = field_at(text, entry, last, FIRST)        # an entry of the map
            start, key_end = -1, 0
            if key >= 0:
                entry = after
                start, key_end = field_at(text, key, after, FIRST)
            feature, feature_end = -1, 0
            if start >= 0:
                feature, feature_end = field_at(text, key_end, after, SECOND)
            good = feature >= 0 and feature_end == after
            number = -2
            if good:
                number = key_number(text, start, key_end, keys, ends, wanted, guess)
            good = number != -2
            kind, count, first, end = 0, 0, 0, 0
            if good and feature < feature_end:                     # of a key that nobody wants, too: it may be broken
                kind = int(text[feature]) // 8
                first, end = field_at(text, feature, feature_end, 8 * kind + 2)
                good = first >= 0 and end == feature_end and kind >= BYTES and kind <= INTEGERS
                if good:
                    first, end, count = count_values(text, first, end, kind)
                    good = count >= 0
            if number >= 0:
                guess = number + 1
                place = (number * examples + item) * FIELDS
                found[place] = kind
                found[place + 1] = first
                found[place + 2] = end
                found[place + 3] = count
    status[item] = uint8(0 if good else 1)


@kernel_function
def copy_feature(text: Array, found: Array, targets: Array, places: Array, examples: int, item: int) -> None:
    """Copy the values of a feature of an Example (item: of [keys, examples]) to the array of its key.

    targets: addresses of arrays of float32 (as bytes), of int64, and for strings of spans (start, end) as int64.
    places: the first element of each item there.
    """
    kind, at, stop = int(found[item * FIELDS]), int(found[item * FIELDS + 1]), int(found[item * FIELDS + 2])
    place, target = int(places[item]), int(targets[item // examples])
    if kind == FLOATS:
        numbers = array_at(target, "uint8")
        for i in range(stop - at):
            numbers[place * 4 + i] = text[at + i]
    elif kind == INTEGERS:
        integers = array_at(target, "int64")
        while at < stop:
            value, shift, going = 0, 0, True
            while going:
                byte = int(text[at])
                value = value | (byte & 127) << shift
                shift += 7
                at += 1
                going = byte > 127
            integers[place] = int64(value)
            place += 1
    elif kind == BYTES:
        spans = array_at(target, "int64")
        while at < stop:
            first, at = field_at(text, at, stop, FIRST)
            spans[place * 2] = int64(first)
            spans[place * 2 + 1] = int64(at)
            place += 1
