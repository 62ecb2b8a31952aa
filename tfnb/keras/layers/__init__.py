"""`tf.keras.layers`."""
from tfnb.core.lazy import lazy_names as _lazy_names

_PLACES = {
    "tfnb.keras.engine.input_layer": "Input InputLayer",
    "tfnb.keras.engine.layer": "Layer",
    "tfnb.keras.layers.attention": "AdditiveAttention Attention",
    "tfnb.keras.layers.cells": "AbstractRNNCell GRUCell LSTMCell SimpleRNNCell StackedRNNCells",
    "tfnb.keras.layers.conv_recurrent": "ConvLSTM2D",
    "tfnb.keras.layers.convolutional":
        "Conv1D Conv2D Conv2DTranspose Conv3D Conv3DTranspose Convolution1D Convolution2D Convolution2DTranspose "
        "Convolution3D Convolution3DTranspose DepthwiseConv2D SeparableConv1D SeparableConv2D "
        "SeparableConvolution1D SeparableConvolution2D",
    "tfnb.keras.layers.core":
        "Activation ActivityRegularization Dense Dropout Flatten Masking Permute RepeatVector Reshape "
        "SpatialDropout1D SpatialDropout2D SpatialDropout3D",
    "tfnb.keras.layers.dense_features": "DenseFeatures",
    "tfnb.keras.layers.elements":
        "AlphaDropout ELU GaussianDropout GaussianNoise LeakyReLU PReLU ReLU Softmax ThresholdedReLU",
    "tfnb.keras.layers.embeddings": "Embedding",
    "tfnb.keras.layers.local": "LocallyConnected1D LocallyConnected2D",
    "tfnb.keras.layers.merge":
        "Add Average Concatenate Dot Maximum Minimum Multiply Subtract add average concatenate dot maximum minimum "
        "multiply subtract",
    "tfnb.keras.layers.normalization": "BatchNormalization LayerNormalization",
    "tfnb.keras.layers.pooling":
        "AveragePooling1D AveragePooling2D AveragePooling3D AvgPool1D AvgPool2D AvgPool3D GlobalAveragePooling1D "
        "GlobalAveragePooling2D GlobalAveragePooling3D GlobalAvgPool1D GlobalAvgPool2D GlobalAvgPool3D "
        "GlobalMaxPool1D GlobalMaxPool2D GlobalMaxPool3D GlobalMaxPooling1D GlobalMaxPooling2D GlobalMaxPooling3D "
        "MaxPool1D MaxPool2D MaxPool3D MaxPooling1D MaxPooling2D MaxPooling3D",
    "tfnb.keras.layers.recurrent": "CuDNNGRU CuDNNLSTM GRU LSTM RNN SimpleRNN",
    "tfnb.keras.layers.resizing":
        "Cropping1D Cropping2D Cropping3D UpSampling1D UpSampling2D UpSampling3D ZeroPadding1D ZeroPadding2D "
        "ZeroPadding3D",
    "tfnb.keras.engine.serialization": "deserialize serialize",
    "tfnb.keras.layers.wrappers": "Bidirectional Lambda TimeDistributed Wrapper",
    "tfnb.layers.input_spec": "InputSpec",
}
__getattr__ = _lazy_names(__name__, {name: module for module, names in _PLACES.items() for name in names.split()})
