"""Records of comma-separated values: what Python's csv module writes comes back."""
from __future__ import annotations

import csv
import io
import random

import numpy as np
import pytest

import tfnb as tf


def written(fields, delimiter, quoting):
    out = io.StringIO()
    csv.writer(out, delimiter=delimiter, quoting=quoting, lineterminator="\r\n").writerow(fields)
    return out.getvalue().removesuffix("\r\n")


def decoded(lines, count, **options):
    with tf.Session() as session:
        return session.run(tf.decode_csv(lines, [[""]] * count, **options))


@pytest.mark.parametrize("delimiter", [",", ";", "\t", " "])
@pytest.mark.parametrize("quoting", [csv.QUOTE_MINIMAL, csv.QUOTE_ALL])
def test_random_fields(delimiter, quoting):
    choose = random.Random(delimiter)
    rows = [["".join(choose.choice('ab"1 ,;\t\n\r') for _ in range(choose.randint(0, 4))) for _ in range(3)]
            for _ in range(60)] + [["", "", ""], ["a", "", ""], ['"', '""', ""], ["", "", '"']]
    found = decoded([written(row, delimiter, quoting) for row in rows], 3, field_delim=delimiter)
    assert np.array(found).T.tolist() == [[field.encode() for field in row] for row in rows]


@pytest.mark.parametrize("line, words", [
    ('"a"b,c', "has to end with quote followed by delim or end"), ('"a,b', "has to end with quote followed by delim"),
    ('a"b,c', "Unquoted fields cannot have quotes/CRLFs"), ('"a",b\n', "Unquoted fields cannot have quotes/CRLFs"),
    ('"a",b"', "Unquoted fields cannot have quotes/CRLFs"), ('"a"', "Expect 2 fields"), ('"a",b,c', "Expect 2 fields"),
    ('"a","b","c"', "Expect 2 fields"), ("a", "Expect 2 fields")])
def test_broken_records(line, words):
    with pytest.raises(tf.errors.InvalidArgumentError, match=words):
        decoded([line], 2)


def test_without_quotes_they_are_letters():
    assert [found.tolist() for found in decoded(['"a",b"', 'x"y,"'], 2, use_quote_delim=False)] == [
        [b'"a"', b'x"y'], [b'b"', b'"']]
    assert [found.tolist() for found in decoded(['"a","b","c"'], 2, select_cols=[0, 2])] == [[b"a"], [b"c"]]


@pytest.mark.parametrize("arguments, want", [
    ({}, [b"1.500000", b"-2.000000"]), ({"precision": 2}, [b"1.50", b"-2.00"]), ({"precision": 0}, [b"2", b"-2"]),
    ({"scientific": True, "precision": 1}, [b"1.5e+00", b"-2.0e+00"]), ({"shortest": True}, [b"1.5", b"-2"]),
    ({"width": 8, "precision": 1}, [b"     1.5", b"    -2.0"]),
    ({"width": 8, "precision": 1, "fill": "0"}, [b"000001.5", b"-00002.0"]),
    ({"width": 6, "precision": 1, "fill": "-"}, [b"1.5   ", b"-2.0  "])])
def test_numbers_as_strings(arguments, want):
    with tf.Session() as session:
        assert session.run(tf.as_string([1.5, -2.0], **arguments)).tolist() == want
