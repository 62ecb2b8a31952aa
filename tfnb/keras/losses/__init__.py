"""`tf.keras.losses`."""
from tfnb.core.lazy import lazy_names as _lazy_names

_PLACES = {
    "tfnb.keras.losses.functions":
        "KLD MAE MAPE MSE MSLE binary_crossentropy categorical_crossentropy categorical_hinge cosine "
        "cosine_proximity cosine_similarity hinge kld kullback_leibler_divergence logcosh mae mape "
        "mean_absolute_error mean_absolute_percentage_error mean_squared_error mean_squared_logarithmic_error mse "
        "msle poisson sparse_categorical_crossentropy squared_hinge",
    "tfnb.keras.losses.classes":
        "BinaryCrossentropy CategoricalCrossentropy CategoricalHinge CosineSimilarity Hinge Huber KLDivergence "
        "LogCosh Loss MeanAbsoluteError MeanAbsolutePercentageError MeanSquaredError MeanSquaredLogarithmicError "
        "Poisson Reduction SparseCategoricalCrossentropy SquaredHinge deserialize get serialize",
}
__getattr__ = _lazy_names(__name__, {name: module for module, names in _PLACES.items() for name in names.split()})
