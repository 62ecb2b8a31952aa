"""Documents whose examples are cells of a notebook: each runs without an error and shows what stands below it."""
import pytest

from tests.test_documents import blocks, documents, in_notebook


@pytest.mark.parametrize("name", sorted(name for name in documents() if in_notebook(name)))
def test_cells_of_documents_run(page, name):
    for number, found in enumerate(blocks(name)):
        shown = page.run(found["code"], f"cell {number}")
        assert "Error" not in shown and (found["want"] or "").strip() in shown, f"{found['code']}\n{shown}"
