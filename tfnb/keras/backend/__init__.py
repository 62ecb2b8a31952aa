"""`tf.keras.backend`: sessions, the learning phase, settings, functions of tensors."""
from tfnb.core.lazy import lazy_names as _lazy_names

_PLACES = {
    "tfnb.graph.stack": "name_scope",
    "tfnb.keras.backend.config":
        "backend epsilon floatx image_data_format set_epsilon set_floatx set_image_data_format",
    "tfnb.keras.backend.control":
        "foldl foldr function gradients in_test_phase in_train_phase learning_phase_scope map_fn print_tensor rnn "
        "stop_gradient switch",
    "tfnb.keras.backend.convolution":
        "bias_add conv1d conv2d conv2d_transpose conv3d depthwise_conv2d local_conv1d local_conv2d pool2d pool3d "
        "separable_conv2d",
    "tfnb.keras.backend.ctc": "ctc_batch_cost ctc_decode ctc_label_dense_to_sparse",
    "tfnb.keras.backend.entropy": "binary_crossentropy categorical_crossentropy sparse_categorical_crossentropy",
    "tfnb.keras.backend.phase": "learning_phase set_learning_phase",
    "tfnb.keras.backend.session":
        "clear_session get_session get_uid manual_variable_initialization reset_uids set_session",
    "tfnb.keras.backend.shapes":
        "arange batch_flatten concatenate expand_dims flatten one_hot permute_dimensions repeat repeat_elements "
        "reshape resize_images resize_volumes reverse spatial_2d_padding spatial_3d_padding squeeze stack "
        "temporal_padding tile",
    "tfnb.keras.backend.tensors":
        "all any argmax argmin batch_dot batch_normalization cast clip cumprod cumsum dot dropout gather in_top_k "
        "l2_normalize max mean min normalize_batch_in_training ones_like pow prod random_binomial random_normal "
        "random_uniform sqrt std sum transpose truncated_normal var zeros_like",
    "tfnb.keras.backend.values": "batch_get_value batch_set_value get_value set_value",
    "tfnb.keras.backend.variables":
        "cast_to_floatx constant count_params dtype eval eye int_shape is_keras_tensor is_sparse "
        "moving_average_update ndim ones placeholder random_normal_variable random_uniform_variable to_dense update "
        "update_add update_sub variable zeros",
    "tfnb.keras.functions.activations": "elu hard_sigmoid relu sigmoid softmax softplus softsign tanh",
    "tfnb.ops.array.reshape": "shape",
    "tfnb.ops.math.arithmetic": "abs maximum minimum round sign square",
    "tfnb.ops.math.compare": "equal greater greater_equal less less_equal not_equal",
    "tfnb.ops.math.functions": "cos exp log sin",
}
__getattr__ = _lazy_names(__name__, {name: module for module, names in _PLACES.items() for name in names.split()})
