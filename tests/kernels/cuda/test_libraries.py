"""Matmuls by cuBLASLt: a stand-in of its API reads the descriptors that it gets, and multiplies by them."""
from __future__ import annotations

import importlib
import importlib.util
from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest

import tfnb as tf
from tests.kernels.cuda.stand_in import Recorder
from tfnb.kernels.cuda import device, libraries
from tfnb.kernels.cuda.driver import memory_at
from tfnb.kernels.scalar.number_types import dtype_of, wide
from tfnb.ops.declaration.raw import raw

pytestmark = pytest.mark.usefixtures("simulated")
TYPES = {0: "float32", 1: "float64", 2: "float16", 14: "bfloat16"}


class Lt:
    """The form of `nvmath.bindings.cublasLt`, over memory of the host; matrices are column-major."""

    matmul_heuristic_result_dtype = np.dtype([("algo", [("data_", "<u8", (8,))]), ("workspace_size", "<u8")])

    def __init__(self):
        self.made, self.products, self.followed, self.found = {}, [], [], 1

    def _make(self, **fields):
        self.made[len(self.made) + 1] = SimpleNamespace(attributes={}, **fields)
        return len(self.made)

    def create(self):
        return self._make()

    def matmul_desc_create(self, compute, scale):
        return self._make(compute=compute, scale=scale)

    def matrix_layout_create(self, type, rows, columns, leading):
        assert leading >= rows > 0 and columns > 0
        return self._make(type=type, rows=rows, columns=columns, leading=leading)

    matmul_preference_create = create

    def _set(self, owner, attribute, place, nbytes):
        self.made[owner].attributes[attribute] = int(memory_at(place, 1, f"int{8 * nbytes}")[0])

    matmul_desc_set_attribute = matrix_layout_set_attribute = matmul_preference_set_attribute = _set

    def matmul_algo_get_heuristic(self, handle, desc, a, b, c, d, preference, count, results, found):
        memory_at(found, 1, "int32")[0] = self.found
        memory_at(results, 8, "uint64")[:] = 7

    def matmul(self, handle, desc, alpha, a, a_layout, b, b_layout, beta, c, c_layout, d, d_layout, algorithm, work,
               nbytes, stream):
        desc = self.made[desc]
        type = TYPES[desc.scale]
        assert (memory_at(alpha, 1, type)[0], memory_at(beta, 1, type)[0], c) == (1, 0, d)
        assert memory_at(algorithm, 1, "uint64")[0] == 7
        first, second, third = (self.made[layout] for layout in (a_layout, b_layout, d_layout))
        assert first.type == second.type == third.type
        assert desc.scale == (third.type if third.type < 2 else 0)
        type = TYPES[third.type]
        self.products.append((desc.compute, nbytes, work))
        for i in range(third.attributes[libraries.BATCH_COUNT]):
            left, right, made = (_matrix(place, layout, i, type)
                                 for place, layout in ((a, first), (b, second), (d, third)))
            left, right = (x.T if desc.attributes[turned] else x for x, turned in
                           ((left, libraries.TRANSA), (right, libraries.TRANSB)))
            product = wide(left) @ wide(right)
            follow = desc.attributes.get(libraries.EPILOGUE, 1)
            if follow & 4:
                product = product + wide(memory_at(desc.attributes[libraries.BIAS], len(product), type))[:, None]
            made[...] = np.maximum(product, 0) if follow & 2 else product
        self.followed.append(follow)


def _matrix(place, layout, number, type):
    """A column-major matrix of a batch."""
    start = place + number * layout.attributes[libraries.BATCH_OFFSET] * dtype_of(type).itemsize
    return memory_at(start, layout.leading * layout.columns, type).reshape(layout.columns, -1)[:, :layout.rows].T


@pytest.fixture
def lt(monkeypatch):
    found = Lt()
    monkeypatch.setattr(libraries, "api", lambda: found)
    monkeypatch.setattr(libraries.precision, "tf32", True)
    device.driver()._kernels.clear()
    return found


def sample(*shape):
    return np.random.RandomState(sum(shape)).standard_normal(shape).astype("f")


def values(fetches, feeds, runs=3):
    with tf.Session() as sess:
        return [sess.run(fetches, feeds) for _ in range(runs)][-1]


def test_layouts_of_all_transposes_and_batches(lt):
    with tf.device("/gpu:0"):
        a, b, c, d = (tf.placeholder(tf.float32, shape) for shape in ((3, 4), (4, 3), (2, 1, 3, 4), (5, 4, 3)))
        turns = list(product((False, True), repeat=2))
        made = [tf.matmul(a if not s else b, b if not t else a, transpose_a=s, transpose_b=t) for s, t in turns]
        made += [tf.matmul(c, d), raw.BatchMatMulV2(x=c, y=c, adj_x=True, adj_y=False), tf.matmul(a, tf.zeros([4, 0]))]
        made.append(tf.matmul(tf.cast(a, tf.float64), tf.cast(b, tf.float64)))
    x, y, z, w = sample(3, 4), sample(4, 3), sample(2, 1, 3, 4), sample(5, 4, 3)
    found = values(made, {a: x, b: y, c: z, d: w})
    want = [(y.T if s else x) @ (x.T if t else y) for s, t in turns]
    want += [z @ w, z.swapaxes(2, 3) @ z, np.zeros([3, 0]), x.astype("d") @ y]
    for one, other in zip(found, want, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5)
    assert {compute for compute, _, _ in lt.products} == {77, 70}


@pytest.mark.parametrize("dtype", [tf.float16, tf.bfloat16])
def test_products_of_16_bit_floats_are_summed_in_float32(lt, dtype):
    with tf.device("/gpu:0"):
        x, y = tf.placeholder(dtype, [2, 300]), tf.placeholder(dtype, [300, 3])
        product = tf.matmul(x, y)
    a, b = np.ones([2, 300]), np.full([300, 3], .125)
    a[:, 0] = 2048                                          # + 1/8 is lost by a sum of 16 bits
    found = values(product, {x: a, y: b}, 2)
    assert found.dtype == dtype.as_numpy_dtype and (wide(found) == wide((a @ b).astype(found.dtype))).all()
    assert {compute for compute, _, _ in lt.products} == {libraries.COMPUTE["float32"]}


def test_gradients_of_a_layer_are_products_of_the_library_and_plans_are_made_once(lt):
    with tf.device("/gpu:0"):
        x, w = tf.placeholder(tf.float32, [6, 4]), tf.placeholder(tf.float32, [4, 5])
        loss = tf.reduce_sum(tf.square(tf.matmul(x, w)))
        grads = tf.gradients(loss, [x, w])
    a, b = sample(6, 4), sample(4, 5)
    found = values(grads, {x: a, w: b})
    np.testing.assert_allclose(found[0], 2 * a @ b @ b.T, rtol=1e-4)
    np.testing.assert_allclose(found[1], 2 * a.T @ (a @ b), rtol=1e-4)
    assert len(lt.products) == 9 and len(lt.made) == 1 + 3 * 5            # a handle; descriptor, layouts, preference


LAYERS = {"x w + b": 4, "b + x w": 4, "relu(x w)": 2, "relu(x w + b)": 6}


@pytest.mark.parametrize("own", [False, True], ids=["cuBLASLt", "our kernels"])
@pytest.mark.parametrize("dtype", [tf.float32, tf.float64, tf.bfloat16])
def test_bias_and_relu_are_epilogues(lt, monkeypatch, own, dtype):
    if own:
        monkeypatch.setattr(libraries, "api", lambda: None)
    with tf.device("/gpu:0"):
        x, w, b = (tf.placeholder(dtype, shape) for shape in ([3, 4], [4, 5], [5]))
        made = [tf.nn.bias_add(x @ w, b), b + x @ w, tf.nn.relu(x @ w), tf.nn.relu(tf.nn.xw_plus_b(x, w, b))]
    given = [sample(3, 4), sample(4, 5), sample(5)]
    recorded = Recorder(device.driver())
    monkeypatch.setattr(device, "driver", lambda: recorded)
    with tf.Session() as sess:
        for y, (formula, number) in zip(made, LAYERS.items(), strict=True):
            found = [sess.run(y, dict(zip((x, w, b), given, strict=True))) for _ in range(2)][-1]
            x_, w_, b_ = (a.astype(found.dtype).astype("d") for a in given)
            want = x_ @ w_ + (b_ if "b" in formula else 0)
            np.testing.assert_allclose(found.astype("d"), np.maximum(want, 0) if number & 2 else want,
                                       rtol=1e-5 if found.itemsize > 2 else 2 ** -7)
            assert recorded.take().count("launch") == 2                # one a run: captured in the second
            assert own or lt.followed[-1] == number


def test_what_is_read_twice_or_is_no_row_stays_beside_the_product(lt):
    with tf.device("/gpu:0"):
        x, b = tf.placeholder(tf.float32, [3, 3]), tf.placeholder(tf.float32, [3, 1])
        product = x @ x
        made = [tf.nn.relu(product), product + b, tf.nn.relu(x @ x + b), tf.maximum(x @ x, 1.), product]
    a, c = sample(3, 3), sample(3, 1)
    found = values(made, {x: a, b: c}, 1)
    want = [np.maximum(a @ a, 0), a @ a + c, np.maximum(a @ a + c, 0), np.maximum(a @ a, 1), a @ a]
    for one, other in zip(found, want, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5)
    assert set(lt.followed) == {1}


def test_an_operand_that_changes_in_between_keeps_the_product_in_its_place(lt):
    with tf.device("/gpu:0"):
        w, b = tf.Variable(sample(3, 3)), tf.Variable(sample(3))
        product = tf.matmul(w, w)
        with tf.control_dependencies([product]):
            changed = tf.assign(w, tf.zeros([3, 3]))
        with tf.control_dependencies([changed]):
            y = tf.nn.relu(product + b)
    with tf.Session() as sess:
        for _ in range(2):
            sess.run(tf.global_variables_initializer())
            np.testing.assert_allclose(sess.run(y), np.maximum(sample(3, 3) @ sample(3, 3) + sample(3), 0), rtol=1e-5)


def test_tf32_is_a_switch(lt):
    x = tf.placeholder(tf.float32, [2, 2])
    assert tf.config.experimental.tensor_float_32_execution_enabled()
    for enabled, compute in ((True, 77), (False, 68)):
        tf.config.experimental.enable_tensor_float_32_execution(enabled)
        with tf.device("/gpu:0"):
            values(tf.matmul(x, x), {x: np.eye(2)}, 1)
        assert lt.products[-1][0] == compute


def test_a_large_product_gets_a_workspace(lt, monkeypatch):
    with tf.device("/gpu:0"):
        x = tf.placeholder(tf.float32, [None, 8])
        y = tf.matmul(x, x, transpose_a=True)
    values(y, {x: np.ones([1 << 10, 8])}, 1)
    assert lt.products[-1][1:] == (0, 0)
    monkeypatch.setattr(libraries, "LARGE", 1 << 10)
    values(y, {x: np.ones([1 << 9, 8])}, 1)
    assert lt.products[-1][1] == libraries.WORKSPACE and lt.products[-1][2]


def test_what_the_library_refuses_is_an_error_of_the_run(lt):
    lt.found = 0
    with tf.device("/gpu:0"):
        x = tf.placeholder(tf.float32, [2, 2])
        y = tf.matmul(x, x)
    with pytest.raises(tf.errors.InternalError, match="cublasLtMatmulAlgoGetHeuristic returned no algorithm for 2 x 2"):
        values(y, {x: np.eye(2)}, 1)


def test_integers_have_our_kernel(lt):
    with tf.device("/gpu:0"):
        x = tf.placeholder(tf.int32, [2, 2])
        assert values(tf.matmul(x, x), {x: [[1, 1], [0, 1]]}).tolist() == [[1, 2], [0, 1]]
    assert not lt.products


@pytest.mark.skipif(importlib.util.find_spec("nvmath") is None, reason="nvmath-python is not installed")
def test_numbers_are_those_of_the_library():
    lt = pytest.importorskip("nvmath.bindings.cublasLt")
    cublas = pytest.importorskip("nvmath.bindings.cublas")
    attributes, layouts = lt.MatmulDescAttribute, lt.MatrixLayoutAttribute
    assert (libraries.TRANSA, libraries.TRANSB) == (attributes.TRANSA, attributes.TRANSB)
    assert (libraries.EPILOGUE, libraries.BIAS) == (attributes.EPILOGUE, attributes.BIAS_POINTER)
    assert libraries.EPILOGUES == {(): lt.Epilogue.DEFAULT, ("relu",): lt.Epilogue.RELU, ("bias",): lt.Epilogue.BIAS,
                                   ("bias", "relu"): lt.Epilogue.RELU_BIAS}
    assert (libraries.BATCH_COUNT, libraries.BATCH_OFFSET) == (layouts.BATCH_COUNT, layouts.STRIDED_BATCH_OFFSET)
    assert lt.MatmulPreferenceAttribute.MAX_WORKSPACE_BYTES == libraries.MOST_WORKSPACE
    assert cublas.Operation.T == libraries.TRANSPOSED
    kinds = cublas.ComputeType
    assert libraries.COMPUTE == {"float32": kinds.COMPUTE_32F, "tf32": kinds.COMPUTE_32F_FAST_TF32,
                                 "float64": kinds.COMPUTE_64F}
    types = importlib.import_module("nvmath").CudaDataType
    assert libraries.TYPES == {"float32": types.CUDA_R_32F, "float64": types.CUDA_R_64F, "float16": types.CUDA_R_16F,
                               "bfloat16": types.CUDA_R_16BF}
    assert lt.matmul_heuristic_result_dtype["algo"].itemsize == 64
