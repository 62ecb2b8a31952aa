"""One kernel for all tests that need one: each begins with an empty graph, no cells and no names."""
import itertools

import pytest

from tests.notebook.kernel import Page

SETUP = "import tfnb as tf\n%load_ext tfnb\n_kept = set(globals())"
RESET = """tf.reset_default_graph(); tf.get_default_session() and tf.get_default_session().close()
for _name in [name for name in globals() if name[0] != "_" and name not in _kept]: del globals()[_name]
import gc as _gc; _ = _gc.collect()"""
_count = itertools.count()


@pytest.fixture(scope="session")
def kernel():
    page = Page()
    page.run(SETUP, "setup")
    yield page
    page.close()


@pytest.fixture
def page(kernel):
    known = [cell for cell in kernel.outputs if cell not in (None, "setup")]
    kernel.outputs.clear()
    kernel.run(RESET, f"reset {next(_count)}", deleted=known)
    kernel.outputs.clear()
    return kernel
