"""A headless Chromium for the tests marked `browser`; they are skipped, and say so, where there is none."""
from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from typing import Any

import pytest

from tfnb.notebook.widget import module_text

PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "chrome")
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--headless=new"]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Whatever uses the fixture `chromium` is marked so."""
    for item in items:
        if "chromium" in getattr(item, "fixturenames", ()):
            item.add_marker("browser")


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """A running Chromium: the one that $TFNB_CHROMIUM names, or one on PATH."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    path = os.environ.get("TFNB_CHROMIUM") or next(filter(None, map(shutil.which, PROGRAMS)), None)
    if path is None:
        pytest.skip("there is no Chromium: install one, or name it in TFNB_CHROMIUM")
    with playwright.sync_playwright() as running:
        browser = running.chromium.launch(executable_path=path, args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture
def page(chromium: Any) -> Iterator[Any]:
    """An empty page."""
    page = chromium.new_page(viewport={"width": 1100, "height": 800})
    yield page
    page.close()


@pytest.fixture(scope="session")
def module() -> str:
    """The text of the built front-end module."""
    text = module_text()
    if text is None:
        pytest.skip("the front-end module is not built: npm run build in extension/")
    return text
