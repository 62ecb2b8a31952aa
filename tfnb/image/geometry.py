"""Geometric image ops: flips, rotations, crops and padding of one image [height, width, channels] or a batch."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfnb.control_flow.assertions import Assert, assert_greater_equal, assert_positive
from tfnb.control_flow.case import case
from tfnb.control_flow.cond import cond
from tfnb.core import dtypes
from tfnb.core.arguments import IMAGES, describe
from tfnb.core.shape import Static, is_known, merge
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.constant_value import constant_value
from tfnb.graph.parts.operation import Tensor
from tfnb.graph.stack import name_scope
from tfnb.ops.array.joining import pad, stack, unstack
from tfnb.ops.array.reshape import expand_dims, rank, reshape, reverse, shape, squeeze, transpose
from tfnb.ops.array.slicing import slice_
from tfnb.ops.control.group import with_dependencies
from tfnb.ops.math.arithmetic import maximum, minimum, round
from tfnb.ops.math.casting import cast
from tfnb.ops.math.compare import equal, logical_or
from tfnb.ops.random.random_ops import random_uniform
from tfnb.variables.variable import Variable

TWO_RANKS = "'image' (shape {}) must have either 3 or 4 dimensions."


# Checks and sizes that the whole of tf.image uses

def is_tensor(value: Any) -> bool:
    """Return whether the value is known in a run only."""
    return isinstance(value, (Tensor, Variable))


def require(condition: Any, message: str) -> list[Any]:
    """Operations that check a tensor in the run; for Python's truth values raises ValueError if there is none."""
    if is_tensor(condition):
        return [Assert(condition, [message])]
    if not condition:
        raise ValueError(message)
    return []


def _inner(image: Tensor) -> Static:
    return (None, None, None) if image.static is None else image.static[-3:]


def check_image(image: Tensor) -> list[Any]:
    """Operations that check what is not known yet: three axes or more, and the last three not empty.

    Raises ValueError where that is known not to be so.
    """
    inner = _inner(image)
    if inner is None or len(inner) < 3:
        raise ValueError(f"'image' (shape {image.shape}) must be at least three-dimensional.")
    if 0 in inner:
        raise ValueError(f"inner 3 dims of 'image.shape' must be > 0: {image.shape}")
    if is_known(inner):
        return []
    return [assert_positive(shape(image)[-3:], ["inner 3 dims of 'image.shape' must be > 0."]),
            assert_greater_equal(rank(image), 3, message="'image' must be at least three-dimensional.")]


def checked(image: Any) -> Tensor:
    """Return the image as a tensor that has passed `check_image`."""
    image = convert_to_tensor(image, name="image")
    made: Tensor = with_dependencies(check_image(image), image)
    return made


def sizes(image: Tensor, count: int) -> list[Any]:
    """Return the size of each of `count` axes: a number where it is known, else a scalar."""
    static = merge(image.static, (None,) * count)
    if static is not None and is_known(static):
        return list(static)
    dynamic = unstack(shape(image), count)
    return [d if s is None else s for s, d in zip(static or (), dynamic, strict=True)]


def batch_of(image: Any) -> tuple[Tensor, bool]:
    """(images with 4 axes, whether they were a batch): an image of 3 or unknown axes becomes a batch of one."""
    image = convert_to_tensor(image, name="image")
    if image.static is not None and len(image.static) not in (3, 4):
        raise ValueError(TWO_RANKS.format(image.shape))
    if image.static is not None and len(image.static) == 4:
        return image, True
    unknown = image.static is None
    image = expand_dims(image, 0)
    if unknown:
        image.set_shape([None] * 4)
    return image, False


def unbatched(images: Tensor, is_batch: bool) -> Tensor:
    """Undo `batch_of`."""
    return images if is_batch else squeeze(images, axis=[0])


def known_sizes(values: list[Any]) -> list[Any]:
    """Sizes, with None for tensors."""
    return [None if is_tensor(value) else value for value in values]


def by_rank(image: Tensor, one: Callable[[], Any], many: Callable[[], Any]) -> Any:
    """`one()` for an image, `many()` for a batch: chosen in the run where the rank is not known."""
    if image.static is None:
        return cond(equal(rank(image), 3), one, many)
    if len(image.static) not in (3, 4):
        raise ValueError(TWO_RANKS.format(image.shape))
    return one() if len(image.static) == 3 else many()


# Flipping and turning

def _shaped_like(image: Tensor, result: Tensor) -> Tensor:
    result.set_shape([None] * 3 if image.static is None else image.shape)
    return result


def _flip(image: Any, axis: int, scope: str) -> Tensor:
    with name_scope(None, scope, [image]):
        image = checked(image)
        made: Tensor = by_rank(image, lambda: _shaped_like(image, reverse(image, [axis])),
                               lambda: reverse(image, [axis + 1]))
        return made


def flip_left_right(image: Any) -> Tensor:
    """Mirror the image, or each of a batch, left to right.

    >>> sess.run(tf.squeeze(tf.image.flip_left_right(tf.reshape([1, 2, 3, 4], [2, 2, 1]))))
    array([[2, 1],
           [4, 3]], dtype=int32)
    """
    return _flip(image, 1, "flip_left_right")


def flip_up_down(image: Any) -> Tensor:
    """Mirror the image, or each of a batch, top to bottom.

    >>> sess.run(tf.squeeze(tf.image.flip_up_down(tf.reshape([1, 2, 3, 4], [2, 2, 1]))))
    array([[3, 4],
           [1, 2]], dtype=int32)
    """
    return _flip(image, 0, "flip_up_down")


def _random_flip(image: Any, axis: int, seed: int | None, scope_name: str) -> Tensor:
    with name_scope(None, scope_name, [image]) as scope:
        image = checked(image)

        def one() -> Tensor:
            """One image, mirrored or not."""
            mirrored = random_uniform(shape=[], minval=0, maxval=1.0, seed=seed) < .5
            return _shaped_like(image, cond(mirrored, lambda: reverse(image, [axis]), lambda: image, name=scope))

        def many() -> Tensor:
            """Return each image of a batch, by a number of its own."""
            count = shape(image)[0]
            drawn = random_uniform(shape=[count], minval=0, maxval=1.0, seed=seed)
            flips = cast(round(reshape(drawn, [count, 1, 1, 1])), image.dtype)
            flipped = reverse(image, [axis + 1])
            return flips * flipped + (1 - flips) * image

        made: Tensor = by_rank(image, one, many)
        return made


def random_flip_left_right(image: Any, seed: int | None = None) -> Tensor:
    """Mirror the image, or each of a batch independently, left to right with probability 0.5.

    >>> image = tf.reshape([1, 2], [1, 2, 1])
    >>> sorted(sess.run(tf.squeeze(tf.image.random_flip_left_right(image))).tolist())
    [1, 2]
    """
    return _random_flip(image, 1, seed, "random_flip_left_right")


def random_flip_up_down(image: Any, seed: int | None = None) -> Tensor:
    """Mirror the image, or each of a batch independently, top to bottom with probability 0.5.

    >>> image = tf.reshape([1, 2], [2, 1, 1])
    >>> sorted(sess.run(tf.squeeze(tf.image.random_flip_up_down(image))).tolist())
    [1, 2]
    """
    return _random_flip(image, 0, seed, "random_flip_up_down")


def rot90(image: Any, k: Any = 1, name: str | None = None) -> Tensor:
    """Rotate the image, or each of a batch, `k` times by 90 degrees, counter-clockwise.

    >>> sess.run(tf.squeeze(tf.image.rot90(tf.reshape([1, 2, 3, 4], [2, 2, 1]))))
    array([[2, 4],
           [1, 3]], dtype=int32)
    """
    with name_scope(name, "rot90", [image, k]) as scope:
        image = checked(image)
        k = convert_to_tensor(k, dtype=dtypes.int32, name="k")
        merge(k.static, ())
        k = k % 4
        made: Tensor = by_rank(image, lambda: _turned(image, k, 0, scope), lambda: _turned(image, k, 1, scope))
        return made


def _turned(image: Tensor, k: Tensor, first: int, scope: str) -> Tensor:
    """first: the number of the axis of the rows."""
    turned = [1, 0, 2] if first == 0 else [0, 2, 1, 3]
    made: Tensor = case([
        (equal(k, 1), lambda: transpose(reverse(image, [first + 1]), turned)),
        (equal(k, 2), lambda: reverse(image, [first, first + 1])),
        (equal(k, 3), lambda: reverse(transpose(image, turned), [first + 1])),
    ], default=lambda: image, exclusive=True, name=scope)
    kept = made.static if first else image.static
    made.set_shape([*([kept[0] if kept else None] * first), None, None, kept[-1] if kept else None])
    return made


def transpose_image(image: Any, name: str | None = None) -> Tensor:
    """Exchange the rows and columns of the image, or of each of a batch.

    >>> sess.run(tf.squeeze(tf.image.transpose_image(tf.reshape([1, 2, 3, 4], [2, 2, 1]))))
    array([[1, 3],
           [2, 4]], dtype=int32)
    """
    with name_scope(name, "transpose", [image]):
        image = checked(image)
        inner = name or "transpose"
        made: Tensor = by_rank(image, lambda: transpose(image, [1, 0, 2], name=inner),
                               lambda: transpose(image, [0, 2, 1, 3], name=inner))
        return made


# Cropping and padding

def central_crop(image: Any, central_fraction: Any) -> Tensor:
    """Crop the central region of an image or of each of a batch: the given fraction of each side.

    central_fraction: in (0, 1], a number or a scalar; raises ValueError for another number.

    >>> sess.run(tf.squeeze(tf.image.central_crop(tf.reshape(tf.range(16), [4, 4, 1]), 0.5)))
    array([[ 5,  6],
           [ 9, 10]], dtype=int32)
    """
    with name_scope(None, "central_crop", [image]):
        image = convert_to_tensor(image, name="image")
        fraction = constant_value(central_fraction) if is_tensor(central_fraction) else central_fraction
        if fraction is not None:
            if fraction <= 0.0 or fraction > 1.0:
                raise ValueError("central_fraction must be within (0, 1]")
            if fraction == 1.0:
                return image
        else:
            fits = require(logical_or(central_fraction > 0.0, central_fraction <= 1.0),
                           "central_fraction must be within (0, 1]")
            image = with_dependencies(fits, image)
        with_dependencies(check_image(image), image)
        if image.static is None or len(image.static) not in (3, 4):
            raise ValueError("`image` should either be a Tensor with rank = 3 or rank = 4. Had rank = "
                             f"{None if image.static is None else len(image.static)}.")
        return _central(image, central_fraction, fraction, len(image.static) - 3)


def _central(image: Tensor, given: Any, fraction: Any, first: int) -> Tensor:
    static = image.static or ()
    dims = [static[i] if static[i] is not None else shape(image)[i] for i in (first, first + 1)]
    dynamic = [is_tensor(n) or fraction is None for n in dims]
    starts = [_start(n, given if moving else fraction, moving) for n, moving in zip(dims, dynamic, strict=True)]
    spans = [n - start * 2 for n, start in zip(dims, starts, strict=True)]
    begin = stack([*([0] * first), *starts, 0])
    cropped = slice_(image, begin, stack([*([-1] * first), *spans, -1]))
    cropped.set_shape([*static[:first], *(None if moving else n for moving, n in zip(dynamic, spans, strict=True)),
                       static[-1]])
    return cropped


def _start(n: Any, fraction: Any, dynamic: bool) -> Any:
    if not dynamic:
        return int((float(n) - float(n) * fraction) / 2)
    whole = cast(n, dtypes.float64)
    return cast((whole - whole * cast(fraction, dtypes.float64)) / 2, dtypes.int32)


def pad_to_bounding_box(image: Any, offset_height: Any, offset_width: Any, target_height: Any,
                        target_width: Any) -> Tensor:
    """Pad the image, or each of a batch, with zeros: at (offset_height, offset_width) in one of the given size.

    Raises ValueError, or InvalidArgumentError in the run, where it does not fit.

    >>> image = tf.reshape([1, 2, 3, 4], [2, 2, 1])
    >>> sess.run(tf.squeeze(tf.image.pad_to_bounding_box(image, 1, 0, 3, 4)))
    array([[0, 0, 0, 0],
           [1, 2, 0, 0],
           [3, 4, 0, 0]], dtype=int32)
    """
    with name_scope(None, "pad_to_bounding_box", [image]):
        image, is_batch = batch_of(image)
        batch, height, width, depth = sizes(image, 4)
        right, below = target_width - offset_width - width, target_height - offset_height - height
        checks = check_image(image)
        checks += require(offset_height >= 0, "offset_height must be >= 0")
        checks += require(offset_width >= 0, "offset_width must be >= 0")
        checks += require(right >= 0, "width must be <= target - offset")
        checks += require(below >= 0, "height must be <= target - offset")
        image = with_dependencies(checks, image)
        paddings = reshape(stack([0, 0, offset_height, below, offset_width, right, 0, 0]), [4, 2])
        padded = pad(image, paddings)
        padded.set_shape(known_sizes([batch, target_height, target_width, depth]))
        return unbatched(padded, is_batch)


def crop_to_bounding_box(image: Any, offset_height: Any, offset_width: Any, target_height: Any,
                         target_width: Any) -> Tensor:
    """Crop the image, or each of a batch, to the given size from the given offsets.

    Raises ValueError, or InvalidArgumentError in the run, where the image does not reach so far.

    >>> image = tf.reshape(tf.range(12), [3, 4, 1])
    >>> sess.run(tf.squeeze(tf.image.crop_to_bounding_box(image, 1, 1, 2, 3)))
    array([[ 5,  6,  7],
           [ 9, 10, 11]], dtype=int32)
    """
    with name_scope(None, "crop_to_bounding_box", [image]):
        image, is_batch = batch_of(image)
        checks = check_image(image)
        batch, height, width, depth = sizes(image, 4)
        checks += require(offset_width >= 0, "offset_width must be >= 0.")
        checks += require(offset_height >= 0, "offset_height must be >= 0.")
        checks += require(target_width > 0, "target_width must be > 0.")
        checks += require(target_height > 0, "target_height must be > 0.")
        checks += require(width >= target_width + offset_width, "width must be >= target + offset.")
        checks += require(height >= target_height + offset_height, "height must be >= target + offset.")
        image = with_dependencies(checks, image)
        cropped = slice_(image, stack([0, offset_height, offset_width, 0]),
                         stack([shape(image)[0], target_height, target_width, shape(image)[3]]))
        cropped.set_shape(known_sizes([batch, target_height, target_width, depth]))
        return unbatched(cropped, is_batch)


def larger(x: Any, y: Any) -> Any:
    """Return the larger of two values, in the run if one is a tensor."""
    return maximum(x, y) if is_tensor(x) or is_tensor(y) else max(x, y)


def smaller(x: Any, y: Any) -> Any:
    """Return the smaller of two values, in the run if one is a tensor."""
    return minimum(x, y) if is_tensor(x) or is_tensor(y) else min(x, y)


def _same(x: Any, y: Any) -> Any:
    return equal(x, y) if is_tensor(x) or is_tensor(y) else x == y


def positive_targets(image: Tensor, target_height: Any, target_width: Any) -> tuple[Tensor, list[Any]]:
    """(the image behind the checks that it is one and that the target is not empty, the checks)."""
    checks = check_image(image)
    checks += require(target_width > 0, "target_width must be > 0.")
    checks += require(target_height > 0, "target_height must be > 0.")
    return with_dependencies(checks, image), checks


def resize_image_with_crop_or_pad(image: Any, target_height: Any, target_width: Any) -> Tensor:
    """Crop or zero-pad the image, or each of a batch, centrally to the given size.

    >>> image = tf.reshape([1, 2, 3, 4, 5, 6], [2, 3, 1])
    >>> sess.run(tf.squeeze(tf.image.resize_image_with_crop_or_pad(image, 3, 1)))
    array([2, 5, 0], dtype=int32)
    """
    with name_scope(None, "resize_image_with_crop_or_pad", [image]):
        image, is_batch = batch_of(image)
        image, checks = positive_targets(image, target_height, target_width)
        target_height = with_dependencies(checks, target_height) if is_tensor(target_height) else target_height
        target_width = with_dependencies(checks, target_width) if is_tensor(target_width) else target_width
        _, height, width, _ = sizes(image, 4)
        more_width = target_width - width
        crop_width, pad_width = larger(-more_width // 2, 0), larger(more_width // 2, 0)
        more_height = target_height - height
        crop_height, pad_height = larger(-more_height // 2, 0), larger(more_height // 2, 0)
        cropped = crop_to_bounding_box(image, crop_height, crop_width, smaller(target_height, height),
                                       smaller(target_width, width))
        resized = pad_to_bounding_box(cropped, pad_height, pad_width, target_height, target_width)
        _, height, width, _ = sizes(resized, 4)
        checks = require(_same(height, target_height), "resized height is not correct.")
        checks += require(_same(width, target_width), "resized width is not correct.")
        return unbatched(with_dependencies(checks, resized), is_batch)


describe(globals(), IMAGES)
