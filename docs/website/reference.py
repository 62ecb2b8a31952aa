"""Reference of the public names: pages by module, made from signatures and docstrings."""
from __future__ import annotations

import html
import inspect
import re
import types
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from google.protobuf.message import Message

import tfnb as tf
from docs.website.docstrings import body, signature, summary
from tfnb.opdef import registry
from tfnb.tools.names import documented, members

# The names of `tf` itself are too many for one page: they are grouped by the rooms that define them.
TOPICS = {
    "Graphs and tensors": ("graph", "core", "graph_editor", "opdef", "proto", "ops.composite", "resources"),
    "Sessions and runs": ("runtime", "debug", "compile", "tools", "notebook", "cluster"),
    "Gradients": ("autodiff",),
    "Variables": ("variables", "ops.state"),
    "Math": ("ops.math", "ops.signal", "ops.quantized", "linalg"),
    "Reductions and matmul": ("ops.reductions",),
    "Arrays": ("ops.array", "image", "ops.nn", "ragged", "nn"),
    "Control flow and checks": ("control_flow", "ops.control"),
    "Random values": ("ops.random", "distributions"),
    "Sparse tensors": ("ops.sparse",),
    "Strings": ("ops.strings",),
    "Files, records and queues": ("ops.io", "ops.data_flow", "ops.data", "data", "train", "summary", "lookup"),
}
OTHERS = "Other names"
# of the pages in the search: what programs use most comes first
WEIGHTS = {"tf.contrib": 0.5, "tf.compat": 0.5, "tf.keras": 1, "tf.estimator": 1, "tf.nn": 4, "tf.train": 3}
SECTIONS = ("tf.keras", "tf.contrib", "tf.estimator")


def stage(pages: Path, places: dict[str, str]) -> list[Any]:
    """Write the pages and their index; note each name's address in `places`; return their part of the navigation."""
    shown = documented()
    aliases, constants = _others(shown)
    groups: dict[str, dict[str, Any]] = defaultdict(dict, {module: {} for module in constants})
    for name, value in shown.items():
        groups[_page(name, value)][name] = value
    places.update({name: _address(page, name) for page, group in groups.items() for name in group})
    places.update({other: places[name] for name, others in aliases.items() for other in others})
    places.update({name: _address(module, name) for module, group in constants.items() for name in group})
    pages.joinpath("reference").mkdir()
    for page, group in groups.items():
        (pages / _file(page)).write_text(_text(page, group, constants.get(page, {}), aliases), encoding="utf-8")
    for page, text in (("index.md", _index(groups)), ("names.md", _names(places))):
        (pages / "reference" / page).write_text(text, encoding="utf-8")
    places.update({f"{name}.{inner}": f"{places[name]}.{inner}"
                   for name, value in shown.items() if isinstance(value, type) for inner, _ in _methods(value)})
    return ["reference/index.md", {"All names, A to Z": "reference/names.md"}, *_nav(groups)]


def _others(shown: dict[str, Any]) -> tuple[dict[str, list[str]], dict[str, dict[str, Any]]]:
    """Return the further names of what is documented, and by module what is neither function nor class of ours."""
    names = {id(value): name for name, value in shown.items()}
    aliases: dict[str, list[str]] = defaultdict(list)
    constants: dict[str, dict[str, Any]] = defaultdict(dict)
    for name, value in members(tf, "tf"):
        if id(value) not in names:
            constants[name.rpartition(".")[0]][name] = value
        elif name != names[id(value)]:
            aliases[names[id(value)]].append(name)
    return aliases, constants


def _address(page: str, name: str) -> str:
    return f"{_file(page).removesuffix('.md')}.html#{name}"


def _page(name: str, value: Any) -> str:
    """Return the page of a name: its module, or of the names of `tf` itself the topic."""
    module = name.rpartition(".")[0]
    if module != "tf":
        return module
    spec = getattr(value, "spec", None)
    place = value.__module__ if value.__module__ != "tfnb" or spec is None else registry.MODULE_OF.get(spec.name, "")
    place = place.removeprefix("tfnb.")
    return next((topic for topic, rooms in TOPICS.items()
                 if any(place == room or place.startswith(f"{room}.") for room in rooms)), OTHERS)


def _file(page: str) -> str:
    slug = page if page.startswith("tf") else "tf_" + re.sub(r"\W+", "_", page.lower())
    return f"reference/{slug}.md"


def _text(page: str, group: dict[str, Any], constants: dict[str, Any], aliases: dict[str, list[str]]) -> str:
    """Return the text of a page: a table of what is there, and a section for each name."""
    heading = page if page.startswith("tf") else f"tf: {page}"
    weight = next((weight for start, weight in WEIGHTS.items() if page.startswith(start)), 3)
    parts = [f"---\nsearch:\n  boost: {weight}\n---\n# {heading}\n", *(_overview(group) if len(group) > 3 else ())]
    for name, value in sorted(group.items(), key=lambda each: each[0].lower()):
        parts += _entry(name, value, aliases.get(name, ()))
    if constants:
        parts += ["## Constants and messages\n", *_constants(constants)]
    return "\n".join(parts)


def _overview(group: dict[str, Any]) -> Iterator[str]:
    rows = "".join(f'<tr><td><a href="#{name}"><code>{name.rpartition(".")[2]}</code></a></td>'
                   f"<td>{summary(value)}</td></tr>" for name, value in
                   sorted(group.items(), key=lambda each: each[0].lower()))
    yield f'<table class="overview" data-search-exclude><tbody>{rows}</tbody></table>\n'


def _entry(name: str, value: Any, aliases: Iterable[str]) -> Iterator[str]:
    yield f'## `{name}` {{ #{name} data-toc-label="{name.rpartition(".")[2]}" }}\n'
    also = ", ".join(f"<code>{other}</code>" for other in sorted(aliases))
    note = f'<p class="also">Also {also}</p>' if also else ""
    bases = [base for base in getattr(value, "__mro__", ())[1:] if base is not object]
    known = {id(other): key for key, other in documented().items()} if bases else {}
    parents = ", ".join(f"<code>{known[id(base)]}</code>" for base in bases if id(base) in known)
    note += f'<p class="also">Inherits from {parents}</p>' if parents else ""
    yield f'<div class="api">{signature(name, value)}{note}{body(value)}</div>\n'
    if isinstance(value, type):
        for inner, member in _methods(value):
            full = f"{name}.{inner}"
            yield f'### `{full}` {{ #{full} }}\n'
            head = '<p class="also">property</p>' if _is_property(member) else signature(full, member, bound=True)
            yield f'<div class="api">{head}{body(member)}</div>\n'


def _is_property(member: Any) -> bool:
    return not callable(member) and not isinstance(member, (classmethod, staticmethod))


def _methods(value: type) -> Iterator[tuple[str, Any]]:
    """Yield the public methods and properties of a class that the entry of no base tells of."""
    shown = {id(other) for other in documented().values()}
    parents = [base for base in value.__mro__[1:] if id(base) in shown]
    told = {name for base in parents for name in dir(base)}
    found: dict[str, Any] = {}
    for base in value.__mro__:
        if base in parents or not base.__module__.startswith("tfnb"):
            continue
        for name, member in vars(base).items():
            kind = isinstance(member, (types.FunctionType, classmethod, staticmethod, property)) \
                or type(member).__name__ == "cached_property"
            if kind and name not in told and not name.startswith("_") and inspect.getdoc(member):
                found.setdefault(name, member)
    yield from sorted(found.items())


def _constants(constants: dict[str, Any]) -> Iterator[str]:
    """Yield a table of what is neither function nor class of ours: numbers, dtypes, protobuf messages."""
    rows = []
    for name, value in sorted(constants.items()):
        if isinstance(value, type) and issubclass(value, Message):
            fields = ", ".join(f"<code>{field.name}</code>" for field in value.DESCRIPTOR.fields)
            text = f"message {value.DESCRIPTOR.full_name}: {fields}"
        else:
            text = f"<code>{html.escape(re.sub(r' at 0x[0-9a-f]+', '', repr(value))[:200])}</code>"
        rows.append(f'<tr id="{name}"><td><code>{name}</code></td><td>{text}</td></tr>')
    yield f"<table><tbody>{''.join(rows)}</tbody></table>\n"


def _index(groups: dict[str, dict[str, Any]]) -> str:
    head = (Path(__file__).parent / "reference.md").read_text(encoding="utf-8")
    rows = []
    for page in [*TOPICS, *sorted(page for page in groups if page not in TOPICS)]:
        some = ", ".join(f"`{name.rpartition('.')[2]}`" for name in list(groups[page])[:3])
        rows.append(f"| [{page}]({_file(page).removeprefix('reference/')}) | {len(groups[page])} | {some} |")
    return head.format(count=len(documented())) + "\n".join(rows) + "\n"


def _names(places: dict[str, str]) -> str:
    """Return the page of all names, those of `tf.compat` and other aliases too, by their first letter."""
    letters = defaultdict(list)
    for name in sorted(places, key=lambda each: (each.rpartition(".")[2].lower(), each)):
        letters[name.rpartition(".")[2][0].upper()].append(name)
    parts = ["# All names, A to Z { data-search-exclude }\n"]
    for letter, listed in sorted(letters.items()):
        links = "\n".join(f'<li><a href="{places[name].removeprefix("reference/")}">{html.escape(name)}</a></li>'
                          for name in listed)
        parts.append(f'## {letter} {{ data-search-exclude }}\n\n<ul class="names" data-search-exclude>{links}</ul>\n')
    return "\n".join(parts)


def _nav(groups: Iterable[str]) -> list[Any]:
    """Return topics of `tf`, modules, and sections for the libraries with many modules."""
    modules = sorted(page for page in groups if page not in TOPICS and page not in (OTHERS, "tf"))
    own = [{page: _file(page)} for page in [*TOPICS, OTHERS, "tf"] if page in groups]
    sections: dict[str, list[Any]] = {key: [] for key in SECTIONS}
    rest = []
    for page in modules:
        home = next((key for key in SECTIONS if page == key or page.startswith(f"{key}.")), None)
        (sections[home] if home else rest).append({page: _file(page)})
    return [{"tf": own}, {"Modules of tf": rest}, *({key: listed} for key, listed in sections.items() if listed)]
