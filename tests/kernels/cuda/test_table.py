"""Which ops with a kernel for the CPU have none for a GPU, and why."""
from tfnb.opdef import registry

WITHOUT = {
    "RandomShuffle": "its swaps follow one another, each by the number that the last left",
    "StridedSlice": "on a GPU it is a view, of slices that are known; fed ones run on the CPU",
}


def test_what_has_a_kernel_on_the_cpu_has_one_on_a_gpu_or_a_reason():
    specs = {name: registry.find(name) for name in registry.names()}
    missing = {name for name, spec in specs.items() if spec.cpu is not None and spec.cuda is None}
    assert missing == set(WITHOUT)
    both = [name for name, spec in specs.items() if spec.cpu is not None and spec.cuda is not None]
    assert len(both) > 100
