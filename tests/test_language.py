"""The language of docstrings and documents: the field's terms, contracts instead of questions."""
from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.test_house import facts, sources, tracked

ROOT = Path(__file__).resolve().parents[1]
# Rooms whose docstrings are still to be written anew; no room comes back here.
NOT_YET: tuple[str, ...] = ()
QUESTION = re.compile(r"(What|How|Is|Are|Does|Has|Which|Where|Why|When|Who)\b")
# phrase -> the term of the field
BANNED = {
    r"products? of matrices": "matmul", r"whole numbers?": "integer", r"the begin\b": "the beginning",
    r"rounds? of (a|the) loop": "iteration", r"(in|of) (each|all|every) rounds?\b": "iteration",
    r"\bso many\b": "a count, a name", r"\bstands? (on|upon)\b": "depends on",
    r"told by": "reported by", r"\bchances?\b": "probability",
}
ANY = re.compile("|".join(f"(?:{phrase})" for phrase in BANNED), re.IGNORECASE)


def faults(path: str, text: str) -> list[str]:
    """Docstrings that begin like a question or end in one, and phrases that have a term."""
    found = []
    for line, doc in facts(text).docstrings:
        first = doc.splitlines()[0]
        if QUESTION.match(first) or first.endswith("?"):
            found.append(f"{path}:{line}: {first}")
    return found + phrases(path, text)


def phrases(path: str, text: str) -> list[str]:
    """Phrases that have a term."""
    return [f"{path}:{number}: {phrase!r}, say {term!r}" for number, line in enumerate(text.splitlines(), 1)
            if ANY.search(line) for phrase, term in BANNED.items() if re.search(phrase, line, re.IGNORECASE)]


def test_documents_use_the_terms_of_the_field():
    pages = {path: (ROOT / path).read_text(encoding="utf-8") for path in tracked()
             if path.endswith(".md") and (path.startswith("docs/") or "/" not in path)}
    found = [fault for path, text in pages.items() for fault in phrases(path, text)]
    assert len(pages) > 10 and found == []


def test_docstrings_use_the_terms_of_the_field():
    done = {path: text for path, text in sources().items() if path.split("/")[1] not in NOT_YET}
    assert len(done) > 100
    assert [fault for path, text in done.items() for fault in faults(path, text)] == []


@pytest.mark.parametrize("planted", ['"""What a cell is."""', '"""Is it a list?"""', "x = 1  # a product of matrices",
                                     'def f():\n    """How many there are."""'])
def test_a_planted_fault_is_found(planted):
    assert len(faults("planted.py", planted)) == 1


def test_rooms_that_are_not_done_yet_are_there():
    assert all((ROOT / "tfnb" / room).is_dir() for room in NOT_YET)
