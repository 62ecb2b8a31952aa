"""Drawings beside stored ones: the same shapes, words and classes, at the same places to a third of a pixel."""
from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest

from tests.notebook.drawings import DRAWINGS, FOLDER

NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


def parts(svg: str) -> tuple[list[str], np.ndarray]:
    """A drawing without its numbers, and its numbers. Pixels of pictures are left out: packers differ."""
    words, numbers = [], []
    for item in ET.fromstring(svg).iter():
        for name, value in (("tag", item.tag), ("text", item.text or ""), *item.attrib.items()):
            if name != "href" and not item.tag.endswith("style"):
                words.append(f"{name}={NUMBER.sub('#', value)}")
                numbers += map(float, NUMBER.findall(value))
    return words, np.array(numbers)


@pytest.mark.parametrize("name", DRAWINGS)
def test_as_stored(name: str) -> None:
    words, numbers = parts(DRAWINGS[name]())
    stored_words, stored = parts((FOLDER / f"{name}.svg").read_text(encoding="utf-8"))
    assert words == stored_words, "if that is meant: python -m tests.notebook.drawings, and look at git diff"
    np.testing.assert_allclose(numbers, stored, rtol=0, atol=0.34)


def test_every_stored_drawing_is_drawn() -> None:
    assert {path.stem for path in FOLDER.glob("*.svg")} == set(DRAWINGS)
