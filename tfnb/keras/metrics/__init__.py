"""`tf.keras.metrics`."""
from tfnb.core.lazy import lazy_names as _lazy_names

_PLACES = {
    "tfnb.keras.losses.functions":
        "KLD MAE MAPE MSE MSLE binary_crossentropy categorical_crossentropy hinge kld kullback_leibler_divergence mae "
        "mape mean_absolute_error mean_absolute_percentage_error mean_squared_error mean_squared_logarithmic_error mse "
        "msle poisson sparse_categorical_crossentropy squared_hinge",
    "tfnb.keras.metrics.base": "Mean Metric Sum",
    "tfnb.keras.metrics.confusion":
        "AUC FalseNegatives FalsePositives MeanIoU Precision Recall SensitivityAtSpecificity "
        "SpecificityAtSensitivity TrueNegatives TruePositives",
    "tfnb.keras.metrics.functions":
        "binary_accuracy categorical_accuracy cosine cosine_proximity sparse_categorical_accuracy "
        "sparse_top_k_categorical_accuracy top_k_categorical_accuracy",
    "tfnb.keras.metrics.lookup": "deserialize get serialize",
    "tfnb.keras.metrics.means":
        "Accuracy BinaryAccuracy BinaryCrossentropy CategoricalAccuracy CategoricalCrossentropy CategoricalHinge "
        "CosineSimilarity Hinge KLDivergence LogCoshError MeanAbsoluteError MeanAbsolutePercentageError "
        "MeanRelativeError MeanSquaredError MeanSquaredLogarithmicError MeanTensor Poisson RootMeanSquaredError "
        "SparseCategoricalAccuracy SparseCategoricalCrossentropy SparseTopKCategoricalAccuracy SquaredHinge "
        "TopKCategoricalAccuracy",
}
__getattr__ = _lazy_names(__name__, {name: module for module, names in _PLACES.items() for name in names.split()})
