"""Every tutorial runs from top to bottom in a kernel of its own; those that train reach the accuracy they promise."""
from __future__ import annotations

from pathlib import Path

import pytest

from tfnb.notebook import demo

NOTEBOOKS = sorted((Path(__file__).parents[2] / "notebooks").glob("*.ipynb"))


@pytest.mark.slow
@pytest.mark.filterwarnings("default")                # nbclient's event loop is not ours
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_runs(path, tmp_path, capsys):
    assert demo.main([str(path), "--out", str(tmp_path)]) == 0, capsys.readouterr().err
