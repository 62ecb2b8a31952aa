"""Which ops with a kernel for the CPU have none for a GPU, and why."""
from tests.every_op import OPS
from tfnb.kernels.scalar.definition import Scalar
from tfnb.kernels.scalar.primitives import ON_CPU
from tfnb.opdef import kinds, registry

WITHOUT = {
    "RandomShuffle": "its swaps follow one another, each by the number that the last left",
    "StridedSlice": "on a GPU it is a view, of slices that are known; fed ones run on the CPU",
}
OF_LIBRARIES = set("""BesselI0 BesselI1 BesselJ0 BesselJ1 BesselK0 BesselK0e BesselK1 BesselK1e BesselY0 BesselY1
    Betainc Dawsn Expint Igamma Igammac NextAfter Polygamma Spence Zeta""".split())   # C functions of SciPy's
IN_HOST_MEMORY = {"StackPopV2", "StackPushV2", "TensorArrayGradV3", "TensorArrayReadV3", "TensorArraySizeV3",
                  "TensorArrayWriteV3"}                    # TensorArrays and stacks: their elements are there
SIZED_BY_DATA = {"Unique"}                                 # how many rows it has, a run of the kernel says


def test_what_has_a_kernel_on_the_cpu_has_one_on_a_gpu_or_a_reason():
    specs = {name: registry.find(name) for name in registry.names()}
    missing = {name for name, spec in specs.items() if spec.cpu is not None and spec.cuda is None}
    assert missing == set(WITHOUT)
    both = [name for name, spec in specs.items() if spec.cpu is not None and spec.cuda is not None]
    assert len(both) > 100


def test_what_kernels_are_generated_for_has_them_on_a_gpu_or_a_reason():
    """Definitions, reductions, movement: one generator for both devices, but for these."""
    bodies = {name: spec.body for name, spec in OPS.items() if isinstance(
        spec, (kinds.Elementwise, kinds.Reduction, kinds.Rowwise, kinds.Writer))}
    assert {name for name, body in bodies.items()
            if isinstance(body, Scalar) and not body.primitives.isdisjoint(ON_CPU)} == OF_LIBRARIES
    assert len(bodies) > 150
    assert {name for name, spec in OPS.items() if getattr(spec, "element", None)} == IN_HOST_MEMORY
    assert {name for name, spec in OPS.items() if getattr(spec, "bounded", None)} == SIZED_BY_DATA
