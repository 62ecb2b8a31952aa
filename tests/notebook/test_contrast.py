"""Contrast of every text with what is behind it in both themes, by the WCAG (AA): 4.5 for text, 3 for lines."""
from __future__ import annotations

import re
from pathlib import Path

import pytest

from tfnb.notebook.drawing.palette import INKS, ROLES, SERIES, blend
from tfnb.notebook.frontend import badge
from tfnb.notebook.graph.paint import LOUD
from tfnb.notebook.graph.svg import FULL, painted, stylesheet
from tfnb.notebook.run_store.train_panel import WORDS as STATES

TEXT, LINE = 4.5, 3.0
CSS = Path(__file__).parents[2] / "extension" / "src" / "style.css"
THEMES = pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
PAINTS = ["c-", "cx", *(f"c{i}" for i in range(len(SERIES))), *set(LOUD.values()), *(f"h{i}" for i in range(6))]


def luminance(colour):
    channels = [int(colour[i:i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return sum(weight * c for weight, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(one, other):
    low, high = sorted(map(luminance, (one, other)))
    return (high + 0.05) / (low + 0.05)


def too_faint(pairs, least):
    """What is fainter than it may be: name -> figure."""
    return {name: round(found, 2) for name, (ink, ground) in pairs.items() if (found := contrast(ink, ground)) < least}


def ink(name, theme):
    return INKS[name][theme]


def test_the_measure():
    assert contrast("#000000", "#ffffff") == 21 and round(contrast("#777777", "#ffffff"), 2) == 4.48
    assert too_faint({"a": ("#777777", "#ffffff"), "b": ("#000000", "#ffffff")}, TEXT) == {"a": 4.48}


@THEMES
def test_text_on_nodes(theme):
    grounds = {role: tones[theme].fill for role, tones in ROLES.items()}
    frames = {f"open {role}": blend(fill, 0.38, ink("bg", theme)) for role, fill in grounds.items()}
    nested = {f"open in {key}": blend(grounds["scope"], 0.38, fill) for key, fill in frames.items()}
    pairs = {f"{name} on {key}": (ink(name, theme), fill) for name in ("ink", "muted", "py")
             for key, fill in (grounds | frames | nested | {"bg": ink("bg", theme)}).items()}
    pairs |= {f"bad on {key}": (ink("bad", theme), fill) for key, fill in (frames | {"bg": ink("bg", theme)}).items()}
    assert too_faint(pairs, TEXT) == {}


@THEMES
def test_text_on_coloured_nodes(theme):
    """All their text is in ink. The series and roles of the light theme have others in the dark one."""
    light_to_theme = {both[0]: both[theme] for both in SERIES} | {
        tones[0].fill: tones[theme].fill for tones in (ROLES["rest"], ROLES["op"])}
    pairs = {}
    for paint in PAINTS:
        found = painted(paint)
        fill = light_to_theme[found["fill"]]
        pairs[paint] = ink("ink", theme), blend(fill, float(found.get("fill_opacity", 1)), ink("bg", theme))
    assert too_faint(pairs, TEXT) == {} and FULL <= 0.5


def test_ink_on_coloured_nodes_wins_over_the_rules_of_other_drawings_of_a_page():
    css = stylesheet({"op"}, ["h3"])
    assert css.count("svg.tfnb-graph .n .on{") == 1 and "svg.tfnb-graph .sub{" in css


@THEMES
def test_lines_and_rims(theme):
    ground = ink("bg", theme)
    frame = blend(ROLES["scope"][theme].fill, 0.38, ground)
    pairs = {f"series {i}": (both[theme], ground) for i, both in enumerate(SERIES)}
    pairs |= {f"rim of {role}": (tones[theme].stroke, ground) for role, tones in ROLES.items()}
    pairs |= {f"{name} on {key}": (ink(name, theme), fill) for name in ("line", "pick", "bad")
              for key, fill in (("bg", ground), ("a frame", frame))}
    assert too_faint(pairs, LINE) == {}


def css_colours():
    """The custom properties of style.css, light and dark."""
    text = CSS.read_text(encoding="utf-8")
    blocks = [text[:text.index("}")], re.search(r'data-theme="dark"\] \{(.*?)\}', text, re.S)[1]]
    return [dict(re.findall(r"--tf-([\w-]+): (#\w{6});", block)) for block in blocks]


@THEMES
def test_the_browsers_colours_are_those_of_the_palette(theme):
    known = {name: both[theme] for name, both in INKS.items()} | {f"s{i}": both[theme] for i, both in enumerate(SERIES)}
    found = css_colours()[theme]
    both = found.keys() & known.keys()
    assert {name: found[name] for name in both} == {name: known[name] for name in both} and len(both) > 10


@THEMES
def test_text_of_the_browsers_views(theme):
    """style.css: text is ink, muted, bad, or a link in the first series' colour, on the ground or on a hovered row."""
    found = css_colours()[theme]
    pairs = {f"{name} on {ground}": (found[name], found[ground]) for name in ("ink", "muted", "bad", "s0")
             for ground in ("bg", "hover")}
    pairs["the hint"] = found["bg"], blend(found["ink"], 0.85, found["bg"])
    pairs["a current row"] = found["ink"], found["hover"]
    assert too_faint(pairs, TEXT) == {}
    used = set(re.findall(r"(?<![\w-])color: var\(--tf-(\w+)", CSS.read_text(encoding="utf-8")))
    assert used <= {"ink", "muted", "bad", "bg", "s0", *(f"s{i}" for i in range(len(SERIES)))}, "another colour of text"


def test_text_of_saved_outputs():
    """A training's state is written on white. The badge is on the page of either theme: AA for large text there."""
    assert too_faint({state: (colour, "#ffffff") for state, colour in STATES.items()}, TEXT) == {}
    badges = {name: colour for name, colour in vars(badge).items() if re.fullmatch("#[0-9a-f]{6}", str(colour))}
    pairs = {f"{name} on {page}": (colour, page) for name, colour in badges.items() for page in ("#ffffff", "#111111")}
    assert too_faint(pairs, LINE) == {}
