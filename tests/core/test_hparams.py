"""Hyperparameters: values with types, from text and JSON."""
from __future__ import annotations

import pytest

import tfnb as tf

HParams = tf.contrib.training.HParams


def some():
    return HParams(rate=0.1, layers=3, name="lstm", sizes=[4, 8], deep=False)


def test_values_are_attributes():
    h = some()
    assert (h.rate, h.layers, h.name, h.sizes, h.deep) == (0.1, 3, "lstm", [4, 8], False)
    h.add_hparam("more", 7)
    h.set_hparam("rate", 1)
    assert h.more == 7 and h.rate == 1.0 and isinstance(h.rate, float) and "more" in h and "less" not in h
    h.del_hparam("more")
    assert "more" not in h and not hasattr(h, "more")
    assert h.get("layers") == 3 and h.get("less", 5) == 5 and h.get("rate", 0.2) == 1.0
    assert list(h.values()) == ["rate", "layers", "name", "sizes", "deep"]


def test_text():
    h = some().parse("rate=5e-1, layers=4,name=a b,sizes=[1, 2,3],deep=true")
    assert (h.rate, h.layers, h.name, h.sizes, h.deep) == (0.5, 4, "a b", [1, 2, 3], True)
    assert some().parse("sizes[1]=9,sizes[0]=7").sizes == [7, 9] and some().parse("").layers == 3
    assert some().parse("name=").name == "" and some().parse("sizes=[]").sizes == []


def test_json_there_and_back():
    h = some().parse_json('{"layers": 9, "sizes": [1]}')
    assert HParams(**h.values()).to_json() == h.to_json() == \
        '{"rate": 0.1, "layers": 9, "name": "lstm", "sizes": [1], "deep": false}'


@pytest.mark.parametrize("text, message", [
    ("rats=1", "Unknown hyperparameter: 'rats'"), ("layers=1.5", "Could not parse hparam 'layers' of type 'int'"),
    ("layers=1,layers=2", "Multiple assignments"), ("layers", "Malformed"), ("layers=[1]", "is no list"),
    ("sizes=1", "is a list"), ("layers[0]=1", "is no list"), ("deep=maybe", "of type 'bool'"),
    ("sizes[0]=1,sizes=[2]", "Multiple assignments"), ("=3", "Malformed"), ("sizes[2]=1", "'sizes' has 2 values"),
])
def test_text_that_is_wrong(text, message):
    with pytest.raises(ValueError, match=message):
        some().parse(text)


@pytest.mark.parametrize("name, value", [("layers", 1.5), ("layers", "2"), ("layers", True), ("name", 3), ("deep", 1),
                                         ("sizes", 4), ("layers", [1]), ("sizes", [1.5])])
def test_values_of_another_type(name, value):
    with pytest.raises(ValueError, match=name):
        some().set_hparam(name, value)


def test_names():
    with pytest.raises(ValueError, match="reserved: values"):
        HParams(values=3)
    with pytest.raises(ValueError, match="cannot be empty"):
        HParams(sizes=[])
    with pytest.raises(KeyError, match="less"):
        some().override_from_dict({"less": 3})
