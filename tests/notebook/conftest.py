"""One kernel for all tests that need one: each begins with an empty graph and no cells."""
import itertools

import pytest

from tests.notebook.kernel import Page

SETUP = "import tfnb as tf\n%load_ext tfnb"
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
    kernel.run("tf.reset_default_graph(); tf.get_default_session() and tf.get_default_session().close()\n"
               "import gc; _ = gc.collect()", f"reset {next(_count)}", deleted=known)
    kernel.outputs.clear()
    return kernel
