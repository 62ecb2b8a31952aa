"""Documents: their examples run and print what they say, their links lead somewhere."""
from __future__ import annotations

import contextlib
import io
import linecache
import re
from collections.abc import Iterator

import pytest

import tfnb as tf
from tests.example_run import same
from tests.test_house import ROOT, tracked

BLOCK = re.compile(r"(?P<mark><!-- not run: .+ -->\n)?^```python\n(?P<code>.*?)^```$"
                   r"(?:\n\n```text\n(?P<want>.*?)^```$)?", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\((?!\w+:)([^)#\s]*)(?:#([^)\s]*))?\)")
# tests/kernels/test_functions.py runs its kernel; the others are parts of files.
OTHERWISE = {"docs/adding_an_op.md"}


def documents() -> list[str]:
    return [name for name in tracked() if name.endswith(".md")]


def blocks(name: str) -> list[re.Match[str]]:
    """The Python of a document, each with the output that stands below it; without what is marked as not run."""
    text = (ROOT / name).read_text(encoding="utf-8")
    return [found for found in BLOCK.finditer(text) if not found["mark"]]


def in_notebook(name: str) -> bool:
    return any(re.search(r"^%", found["code"], re.MULTILINE) for found in blocks(name))


def faults(name: str) -> Iterator[str]:
    """Run the examples of a document in order, in one namespace, and yield what prints something else than it says."""
    names: dict[str, object] = {"__name__": "document"}
    for number, found in enumerate(blocks(name)):
        printed, file = io.StringIO(), f"<{name} {number}>"
        linecache.cache[file] = len(found["code"]), None, found["code"].splitlines(keepends=True), file    # for inspect
        with contextlib.redirect_stdout(printed):
            exec(compile(found["code"], file, "exec"), names)
        if found["want"] is not None and not same(printed.getvalue(), found["want"]):
            yield f"{name}: {found['code']}\nprints\n{printed.getvalue()}"


@pytest.mark.parametrize("name", sorted(name for name in set(documents()) - OTHERWISE
                                        if blocks(name) and not in_notebook(name)))
def test_examples_print_what_they_say(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    tf.reset_default_graph()
    assert list(faults(name)) == []


def test_errors_of_a_port_are_those_that_the_document_quotes():
    text = (ROOT / "docs/porting.md").read_text(encoding="utf-8")
    quoted = dict(re.findall(r"^\| `(\w+): ([^`]+)` \|", text, re.MULTILINE))
    with tf.Graph().as_default(), tf.Session() as session:
        v, x = tf.get_variable("v", []), tf.placeholder(tf.float32)
        for fails in (lambda: tf.x, lambda: tf.get_variable("v", []), lambda: session.run(v), lambda: session.run(x)):
            with pytest.raises(Exception) as error:
                fails()
            assert re.search(".*".join(map(re.escape, quoted.pop(error.typename).split("..."))), str(error.value))
    assert not quoted


def test_a_planted_result_is_found(monkeypatch, tmp_path):
    (tmp_path / "a.md").write_text("```python\nprint(1 + 1)\n```\n\n```text\n3\n```\n\n<!-- not run: it ends -->\n"
                                   "```python\nexit()\n```\n")
    monkeypatch.setitem(globals(), "ROOT", tmp_path)
    assert len(list(faults("a.md"))) == 1


def dead_links(name: str, text: str) -> list[str]:
    """Relative links of a document that lead to no file of the repository, or to no heading of it."""
    found = []
    for link in LINK.finditer(re.sub(r"^```.*?^```|`[^`\n]*`", "", text, flags=re.MULTILINE | re.DOTALL)):
        path = (ROOT / name).parent / link[1] if link[1] else ROOT / name
        if not path.exists() or (link[2] and link[2] not in anchors(path.read_text(encoding="utf-8"))):
            found.append(f"{name}: {link[0]}")
    return found


def anchors(text: str) -> set[str]:
    """The anchors of the headings, as GitHub and the site make them."""
    heads = re.findall(r"^#+ (.*)$", re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.lower()).strip().replace(" ", "-") for head in heads}


def test_links_lead_somewhere():
    pages = [name for name in documents() if not name.startswith("docs/website/")]   # those link as the site does
    assert len(pages) > 20
    assert [dead for name in pages for dead in dead_links(name, (ROOT / name).read_text(encoding="utf-8"))] == []


def test_planted_dead_links_are_found():
    text = "[a](#try-it) [b](#no) [c](docs/none.md) [d](LICENSE) `[e](f)` [g](https://x.org/#y)"
    assert dead_links("README.md", text) == ["README.md: ](#no)", "README.md: ](docs/none.md)"]
