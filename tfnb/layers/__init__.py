"""Layers with variables of their own: `tf.layers`."""
# ruff: noqa: F401, I001
from tfnb.core.absent import explain as _explain
from tfnb.layers.base import Layer
from tfnb.layers.convolutional import Conv1D, Conv2D, Conv3D, conv1d, conv2d, conv3d
from tfnb.layers.core import Dense, Dropout, Flatten, dense, dropout, flatten
from tfnb.layers.input_spec import InputSpec
from tfnb.layers.normalization import BatchNormalization, batch_normalization
from tfnb.layers.pooling import (
    AveragePooling1D, AveragePooling2D, AveragePooling3D, MaxPooling1D, MaxPooling2D, MaxPooling3D,
    average_pooling1d, average_pooling2d, average_pooling3d, max_pooling1d, max_pooling2d, max_pooling3d,
)
from tfnb.layers.separable import (
    SeparableConv1D, SeparableConv2D, SeparableConv2D as SeparableConvolution2D, separable_conv1d, separable_conv2d,
    separable_conv2d as separable_convolution2d,
)
from tfnb.layers.transposed import Conv2DTranspose, Conv3DTranspose, conv2d_transpose, conv3d_transpose

_explain(__name__)
