"""Batches of images with random transforms: `ImageDataGenerator` and its iterators over arrays and directories."""
from __future__ import annotations

import os
import threading
from collections.abc import Iterator as Batches
from typing import TYPE_CHECKING, Any

import numpy as np

from tfnb.keras.backend.config import floatx, image_data_format
from tfnb.keras.preprocessing import transforms
from tfnb.keras.utils.sequences import Sequence

_SUFFIXES = (".png", ".jpg", ".jpeg", ".bmp", ".ppm", ".tif", ".tiff")


class Iterator(Sequence):
    """Batches of n examples without an end, and by index. Subclasses define `_get_batches_of_transformed_samples`.

    n: the number of examples. batch_size: of a batch. shuffle: whether the order is another one in each epoch. seed:
    of that order and of the transforms.

    >>> issubclass(tf.keras.preprocessing.image.NumpyArrayIterator, tf.keras.preprocessing.image.Iterator)
    True
    """

    def __init__(self, n: int, batch_size: int, shuffle: bool, seed: int | None) -> None:
        self.n, self.batch_size, self.shuffle, self.seed = n, batch_size, shuffle, seed
        self.batch_index = self.total_batches_seen = 0
        self.lock = threading.Lock()
        self.index_array: Any = None

    def _order(self) -> None:
        self.index_array = np.random.permutation(self.n) if self.shuffle else np.arange(self.n)

    def __len__(self) -> int:
        return -(-self.n // self.batch_size)

    def __getitem__(self, index: int) -> Any:
        if index >= len(self):
            raise ValueError(f"Asked to retrieve element {index}, but the Sequence has length {len(self)}")
        if self.seed is not None:
            np.random.seed(self.seed + self.total_batches_seen)
        self.total_batches_seen += 1
        if self.index_array is None:
            self._order()
        rows = self.index_array[self.batch_size * index:self.batch_size * (index + 1)]
        return self._get_batches_of_transformed_samples(rows)

    def on_epoch_end(self) -> None:
        """Choose the order of the next epoch."""
        self._order()

    def reset(self) -> None:
        """Begin with the first batch."""
        self.batch_index = 0

    def __iter__(self) -> Batches[Any]:
        return self

    def __next__(self) -> Any:
        with self.lock:
            if self.batch_index == 0:
                if self.seed is not None:
                    np.random.seed(self.seed + self.total_batches_seen)
                self._order()
            index, self.batch_index = self.batch_index, (self.batch_index + 1) % max(len(self), 1)
        return self[index]

    next = __next__

    def _get_batches_of_transformed_samples(self, index_array: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__} must define _get_batches_of_transformed_samples")


class ImageDataGenerator:
    """Batches of images with random transforms and normalization, without an end.

    featurewise_center, featurewise_std_normalization, zca_whitening: normalize by mean, deviation and principal
    components of the data that `fit` got; samplewise_center, samplewise_std_normalization: by those of the image.
    zca_epsilon: added to the variances. rotation_range: degrees. width_shift_range, height_shift_range: share of the
    size, a count of pixels from 1 on, or a list to choose from. brightness_range: a pair of factors. shear_range:
    degrees. zoom_range: a pair of factors, or how far from 1. channel_shift_range: what is added to the channels.
    fill_mode, cval: what is outside, as of `apply_affine_transform`. horizontal_flip, vertical_flip: whether at random.
    rescale: a factor. preprocessing_function: a function of each image, before the rest. data_format: "channels_last"
    or "channels_first"; None: the default. validation_split: the share of the data in the subset "validation". dtype:
    of the batches.

    >>> x, y = np.ones([10, 4, 4, 1]), np.arange(10)
    >>> generator = tf.keras.preprocessing.image.ImageDataGenerator(rescale=0.5, rotation_range=10)
    >>> images, labels = next(generator.flow(x, y, batch_size=4))
    >>> images.shape, labels.shape
    ((4, 4, 4, 1), (4,))
    """

    def __init__(self, featurewise_center: bool = False, samplewise_center: bool = False,
                 featurewise_std_normalization: bool = False, samplewise_std_normalization: bool = False,
                 zca_whitening: bool = False, zca_epsilon: float = 1e-6, rotation_range: float = 0,
                 width_shift_range: Any = 0.0, height_shift_range: Any = 0.0, brightness_range: Any = None,
                 shear_range: float = 0.0, zoom_range: Any = 0.0, channel_shift_range: float = 0.0,
                 fill_mode: str = "nearest", cval: float = 0.0, horizontal_flip: bool = False,
                 vertical_flip: bool = False, rescale: float | None = None, preprocessing_function: Any = None,
                 data_format: str | None = None, validation_split: float = 0.0, dtype: Any = None) -> None:
        self.__dict__.update({name: value for name, value in locals().items() if name != "self"})
        self.dtype = dtype or floatx()
        self.data_format: str = image_data_format() if data_format is None else data_format
        if self.data_format not in ("channels_first", "channels_last"):
            raise ValueError(f'`data_format` should be "channels_last" or "channels_first". Received: {data_format}')
        if validation_split and not 0 < validation_split < 1:
            raise ValueError(f"`validation_split` must be strictly between 0 and 1. Received: {validation_split}")
        last = self.data_format == "channels_last"
        self.row_axis, self.col_axis, self.channel_axis = (1, 2, 3) if last else (2, 3, 1)
        one = isinstance(zoom_range, (int, float))
        self.zoom: list[Any] = [1 - zoom_range, 1 + zoom_range] if one else list(zoom_range)
        if len(self.zoom) != 2:
            raise ValueError(f"`zoom_range` should be a float or a tuple or list of two floats. Received: {zoom_range}")
        self.mean: Any = None
        self.std: Any = None
        self.principal_components: Any = None
        self.featurewise_center = featurewise_center or zca_whitening or featurewise_std_normalization
        self.samplewise_center = samplewise_center or samplewise_std_normalization

    if TYPE_CHECKING:
        def __getattr__(self, name: str) -> Any:                # the arguments of the constructor
            ...

    def flow(self, x: Any, y: Any = None, batch_size: int = 32, shuffle: bool = True, sample_weight: Any = None,
             seed: int | None = None, save_to_dir: str | None = None, save_prefix: str = "", save_format: str = "png",
             subset: str | None = None) -> NumpyArrayIterator:
        """Return batches of arrays, (images, labels[, weights])."""
        return NumpyArrayIterator(x, y, self, batch_size, shuffle, sample_weight, seed, self.data_format, save_to_dir,
                                  save_prefix, save_format, subset)

    def flow_from_directory(self, directory: str, target_size: Any = (256, 256), color_mode: str = "rgb",
                            classes: Any = None, class_mode: Any = "categorical", batch_size: int = 32,
                            shuffle: bool = True, seed: int | None = None, save_to_dir: str | None = None,
                            save_prefix: str = "", save_format: str = "png", follow_links: bool = False,
                            subset: str | None = None, interpolation: str = "nearest") -> DirectoryIterator:
        """Return batches of the image files of a folder with a folder for each class."""
        return DirectoryIterator(directory, self, target_size, color_mode, classes, class_mode, batch_size, shuffle,
                                 seed, self.data_format, save_to_dir, save_prefix, save_format, follow_links, subset,
                                 interpolation)

    def flow_from_dataframe(self, *args: Any, **kwargs: Any) -> Any:
        """Raise NotImplementedError: tfnb reads no data frames. Use `flow` or `flow_from_directory`."""
        raise NotImplementedError("flow_from_dataframe: load the images by load_img, and give arrays to `flow`")

    def standardize(self, x: Any) -> Any:
        """Return a batch or an image, normalized."""
        if self.preprocessing_function:
            x = self.preprocessing_function(x)
        x = np.asarray(x, dtype=self.dtype)
        x = x * self.rescale if self.rescale else x
        x = x - np.mean(x, keepdims=True) if self.samplewise_center else x
        if self.samplewise_std_normalization:
            x = x / (np.std(x, keepdims=True) + 1e-6)
        if (self.featurewise_center or self.zca_whitening) and self.mean is None:
            raise ValueError("This ImageDataGenerator normalizes by the data: call `.fit(numpy_data)` first.")
        x = x - self.mean if self.featurewise_center else x
        x = x / (self.std + 1e-6) if self.featurewise_std_normalization else x
        if self.zca_whitening:
            x = (x.reshape(-1, self.principal_components.shape[0]) @ self.principal_components).reshape(x.shape)
        return x

    def get_random_transform(self, img_shape: Any, seed: int | None = None) -> dict[str, Any]:
        """Return the parameters of a random transform of an image of a shape."""
        if seed is not None:
            np.random.seed(seed)
        rows, columns = img_shape[self.row_axis - 1], img_shape[self.col_axis - 1]

        def within(limit: float) -> float:
            return float(np.random.uniform(-limit, limit)) if limit else 0.0
        zx, zy = (1, 1) if self.zoom == [1, 1] else np.random.uniform(self.zoom[0], self.zoom[1], 2)
        return {"theta": within(self.rotation_range), "tx": _shift(self.height_shift_range, rows),
                "ty": _shift(self.width_shift_range, columns), "shear": within(self.shear_range), "zx": zx, "zy": zy,
                "flip_horizontal": bool(self.horizontal_flip and np.random.random() < 0.5),
                "flip_vertical": bool(self.vertical_flip and np.random.random() < 0.5),
                "channel_shift_intensity": within(self.channel_shift_range) if self.channel_shift_range else None,
                "brightness": np.random.uniform(*self.brightness_range) if self.brightness_range else None}

    def apply_transform(self, x: Any, transform_parameters: dict[str, Any]) -> Any:
        """Return an image, transformed by what `get_random_transform` returned."""
        given: Any = transform_parameters.get
        axes = {"row_axis": self.row_axis - 1, "col_axis": self.col_axis - 1, "channel_axis": self.channel_axis - 1}
        x = transforms.apply_affine_transform(
            x, given("theta", 0), given("tx", 0), given("ty", 0), given("shear", 0), given("zx", 1), given("zy", 1),
            **axes, fill_mode=self.fill_mode, cval=self.cval)
        if given("channel_shift_intensity") is not None:
            x = transforms.apply_channel_shift(x, given("channel_shift_intensity"), self.channel_axis - 1)
        if given("flip_horizontal"):
            x = np.flip(x, axes["col_axis"])
        if given("flip_vertical"):
            x = np.flip(x, axes["row_axis"])
        return x if given("brightness") is None else transforms.apply_brightness_shift(x, given("brightness"))

    def random_transform(self, x: Any, seed: int | None = None) -> Any:
        """Return an image with a random transform."""
        return self.apply_transform(x, self.get_random_transform(x.shape, seed))

    def fit(self, x: Any, augment: bool = False, rounds: int = 1, seed: int | None = None) -> None:
        """Compute mean, deviation and principal components of the data, with random transforms if `augment`."""
        x = np.asarray(x, dtype=self.dtype)
        if x.ndim != 4:
            raise ValueError(f"Input to `.fit()` should have rank 4. Got array with shape: {x.shape}")
        if seed is not None:
            np.random.seed(seed)
        if augment:
            x = np.stack([self.random_transform(each) for _ in range(rounds) for each in x])
        axes = (0, self.row_axis, self.col_axis)
        if self.featurewise_center:
            self.mean = x.mean(axis=axes, keepdims=True)[0]
            x = x - self.mean
        if self.featurewise_std_normalization:
            self.std = x.std(axis=axes, keepdims=True)[0]
            x = x / (self.std + 1e-6)
        if self.zca_whitening:
            flat = x.reshape(len(x), -1)
            u, s, _ = np.linalg.svd(flat.T @ flat / len(flat))
            self.principal_components = (u / np.sqrt(s + self.zca_epsilon)) @ u.T


def _shift(limit: Any, size: int) -> float:
    if isinstance(limit, (list, tuple, np.ndarray)):
        return float(np.random.choice(limit) * np.random.choice([-1, 1]))
    if not limit:
        return 0.0
    if isinstance(limit, (int, np.integer)) and limit >= 1:
        return float(np.random.randint(-limit, limit + 1))
    found = float(np.random.uniform(-limit, limit))
    return found * size if limit < 1 else found


def _range(subset: str | None, split: float, count: int) -> tuple[int, int]:
    """Return the first and behind the last of `count` examples in a subset."""
    if subset is None:
        return 0, count
    if subset not in ("training", "validation"):
        raise ValueError(f'Invalid subset name: {subset!r}; expected "training" or "validation"')
    cut = int(count * split)
    return (0, cut) if subset == "validation" else (cut, count)


class NumpyArrayIterator(Iterator):
    """Batches of an array of images, transformed: what `ImageDataGenerator.flow` returns.

    x: the images; or a pair (images, other arrays). y: the labels. image_data_generator: has the transforms.
    batch_size: of a batch. shuffle: whether the order changes. sample_weight: weights of the examples. seed: of the
    random numbers. data_format: "channels_last" or "channels_first". save_to_dir: a folder in which the images are
    written, as save_prefix and save_format say. subset: "training", "validation" or None for all. dtype: of batches.

    >>> generator = tf.keras.preprocessing.image.ImageDataGenerator()
    >>> batches = tf.keras.preprocessing.image.NumpyArrayIterator(np.ones([5, 4, 4, 1]), None, generator, 2)
    >>> len(batches), batches[2].shape
    (3, (1, 4, 4, 1))
    """

    def __init__(self, x: Any, y: Any, image_data_generator: ImageDataGenerator, batch_size: int = 32,
                 shuffle: bool = False, sample_weight: Any = None, seed: int | None = None,
                 data_format: str | None = None, save_to_dir: str | None = None, save_prefix: str = "",
                 save_format: str = "png", subset: str | None = None, dtype: Any = None) -> None:
        more: list[Any] = []
        if isinstance(x, (tuple, list)):
            x, more = x[0], [np.asarray(each) for each in (x[1] if isinstance(x[1], list) else [x[1]])]
        x = np.asarray(x, dtype=dtype or floatx())
        if x.ndim != 4:
            raise ValueError(f"Input data in `NumpyArrayIterator` should have rank 4. You passed an array with shape "
                             f"{x.shape}")
        for name, each in (("y", y), ("sample_weight", sample_weight), *(("x", each) for each in more)):
            if each is not None and len(each) != len(x):
                raise ValueError(f"`x` (images tensor) and `{name}` should have the same length. Found: x.shape = "
                                 f"{x.shape}, {name}.shape = {np.asarray(each).shape}")
        first, last = _range(subset, image_data_generator.validation_split, len(x))

        def part(each: Any) -> Any:
            return None if each is None else np.asarray(each)[first:last]
        self.x, self.y, self.sample_weight, self.x_misc = part(x), part(y), part(sample_weight), [*map(part, more)]
        self.image_data_generator, self.data_format = image_data_generator, data_format
        self.save_to_dir, self.save_prefix, self.save_format = save_to_dir, save_prefix, save_format
        super().__init__(len(self.x), batch_size, shuffle, seed)

    def _get_batches_of_transformed_samples(self, index_array: Any) -> Any:
        generator = self.image_data_generator
        made = np.stack([generator.standardize(generator.random_transform(self.x[row])) for row in index_array])
        _save(self, made, index_array)
        images: Any = [made, *(each[index_array] for each in self.x_misc)] if self.x_misc else made
        if self.y is None:
            return images if self.sample_weight is None else (images, self.sample_weight[index_array])
        weights = () if self.sample_weight is None else (self.sample_weight[index_array],)
        return images, self.y[index_array], *weights


def _save(iterator: Any, images: Any, rows: Any) -> None:
    if iterator.save_to_dir:
        for row, image in zip(rows, images, strict=True):
            name = f"{iterator.save_prefix}_{row}_{np.random.randint(10 ** 4)}.{iterator.save_format}"
            transforms.save_img(os.path.join(iterator.save_to_dir, name), image, iterator.data_format)


class DirectoryIterator(Iterator):
    """Batches of the images of a folder with a folder for each class: what `flow_from_directory` returns.

    directory: the folder. image_data_generator: has the transforms. target_size: (height, width). color_mode:
    "grayscale", "rgb" or "rgba". classes: the folders; None: all. class_mode: "categorical" (one-hot), "binary",
    "sparse" (integers), "input" (the images) or None. batch_size: of a batch. shuffle: whether the order changes.
    seed: of the random numbers. data_format: "channels_last" or "channels_first". save_to_dir: a folder in which the
    images are written, as save_prefix and save_format say. follow_links: whether links to folders count. subset:
    "training", "validation" or None. interpolation: as of `load_img`. dtype: of the batches.

    >>> import os, tempfile
    >>> folder = tempfile.mkdtemp()
    >>> for name in ("cat", "dog"):
    ...     os.mkdir(os.path.join(folder, name))
    ...     tf.keras.preprocessing.image.save_img(os.path.join(folder, name, "a.png"), np.ones([4, 4, 3]))
    >>> generator = tf.keras.preprocessing.image.ImageDataGenerator()
    >>> batches = tf.keras.preprocessing.image.DirectoryIterator(folder, generator, target_size=(2, 2))
    >>> batches[0][0].shape, batches.class_indices
    ((2, 2, 2, 3), {'cat': 0, 'dog': 1})
    """

    def __init__(self, directory: str, image_data_generator: ImageDataGenerator, target_size: Any = (256, 256),
                 color_mode: str = "rgb", classes: Any = None, class_mode: Any = "categorical", batch_size: int = 32,
                 shuffle: bool = True, seed: int | None = None, data_format: str | None = None,
                 save_to_dir: str | None = None, save_prefix: str = "", save_format: str = "png",
                 follow_links: bool = False, subset: str | None = None, interpolation: str = "nearest",
                 dtype: Any = None) -> None:
        if class_mode not in ("categorical", "binary", "sparse", "input", None):
            raise ValueError(f"Invalid class_mode: {class_mode!r}; expected one of categorical, binary, sparse, input, "
                             "or None")
        names = list(classes) if classes else sorted(entry.name for entry in os.scandir(directory) if entry.is_dir())
        self.directory, self.class_mode, self.class_indices = directory, class_mode, {n: i for i, n in enumerate(names)}
        self.num_classes = len(names)
        self.filenames, labels = [], []
        for index, name in enumerate(names):
            found = [os.path.join(os.path.relpath(place, directory), file) for place, _, files in sorted(
                os.walk(os.path.join(directory, name), followlinks=follow_links)) for file in sorted(files)
                if file.lower().endswith(_SUFFIXES)]
            first, last = _range(subset, image_data_generator.validation_split, len(found))
            self.filenames += found[first:last]
            labels += [index] * (last - first)
        self.classes = np.array(labels, dtype="int32")
        self.filepaths = [os.path.join(directory, name) for name in self.filenames]
        self.image_data_generator, self.target_size = image_data_generator, tuple(target_size)
        self.color_mode, self.interpolation, self.dtype = color_mode, interpolation, dtype or floatx()
        self.data_format = image_data_format() if data_format is None else data_format
        self.save_to_dir, self.save_prefix, self.save_format = save_to_dir, save_prefix, save_format
        super().__init__(len(self.filenames), batch_size, shuffle, seed)

    def _get_batches_of_transformed_samples(self, index_array: Any) -> Any:
        generator, made = self.image_data_generator, []
        for row in index_array:
            image = transforms.load_img(self.filepaths[row], color_mode=self.color_mode, target_size=self.target_size,
                                        interpolation=self.interpolation)
            made.append(generator.standardize(generator.random_transform(transforms.img_to_array(
                image, self.data_format, self.dtype))))
        images = np.stack(made)
        _save(self, images, index_array)
        labels = self.classes[index_array]
        if self.class_mode is None:
            return images
        if self.class_mode == "categorical":
            return images, np.eye(self.num_classes, dtype=self.dtype)[labels]
        return images, images.copy() if self.class_mode == "input" else labels.astype(
            self.dtype if self.class_mode == "binary" else labels.dtype)
