"""A headless Chromium for the tests marked `browser`; they are skipped, and say so, where there is none.

$TFNB_SCREENSHOTS names a folder to keep screenshots in, for human eyes.
"""
from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.browser.lab import ARGUMENTS, FRONT_ENDS, Lab, Notebook, chromium_path
from tfnb.notebook.frontend.widget import module_text

Open = Callable[..., Notebook]
# Notebook 7 is made of JupyterLab's parts: what shows outputs and runs cells is the same code in both.
IN_BOTH = ("test_front_ends", "test_cells", "test_beside")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Whatever uses a fixture of this file is marked so."""
    for item in items:
        fixtures = getattr(item, "fixturenames", ())
        if "chromium" in fixtures:
            item.add_marker("browser")
        if "lab" in fixtures:
            item.add_marker("slow")


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """A running Chromium: the one that $TFNB_CHROMIUM names, or one on PATH."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    path = chromium_path()
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


@pytest.fixture(scope="session")
def lab(module: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """The server of both front ends."""
    pytest.importorskip("jupyterlab", reason="JupyterLab is not installed")
    lab = Lab(tmp_path_factory.mktemp("lab"))
    yield lab
    lab.close()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Tests of what one front end has and the other has not run in both; TFNB_STRESS=1 runs all others in both too."""
    if "opener" in metafunc.fixturenames:
        both = metafunc.module.__name__.rpartition(".")[2] in IN_BOTH or os.environ.get("TFNB_STRESS")
        metafunc.parametrize("opener", list(FRONT_ENDS) if both else ["lab"], indirect=True, scope="module")


@pytest.fixture(scope="module")
def opener(request: pytest.FixtureRequest, chromium: Any, lab: Lab) -> Iterator[Open]:
    """Opens notebooks in a front end: opener(name, cells). They are closed when the module is done."""
    if request.param == "notebook":
        pytest.importorskip("notebook", reason="Notebook is not installed")
    folder = os.environ.get("TFNB_SCREENSHOTS")
    if folder:
        Path(folder).mkdir(parents=True, exist_ok=True)
    opened: list[Notebook] = []

    def open_one(*args: Any, **options: Any) -> Notebook:
        opened.append(Notebook(chromium, lab, request.param, *args, **options))
        return opened[-1]

    yield partial(open_one, pictures=Path(folder) if folder else None)
    for notebook in opened:
        notebook.close()
