"""`tf.contrib.cudnn_rnn`: recurrent networks in cuDNN's form."""
# ruff: noqa: F401, I001
from tfnb.core.absent import explain as _explain
from tfnb.rnn.cudnn import (
    CUDNN_GRU, CUDNN_INPUT_AUTO_MODE, CUDNN_INPUT_LINEAR_MODE, CUDNN_INPUT_SKIP_MODE, CUDNN_LSTM, CUDNN_RNN_BIDIRECTION,
    CUDNN_RNN_RELU, CUDNN_RNN_TANH, CUDNN_RNN_UNIDIRECTION, CudnnCompatibleGRUCell, CudnnCompatibleLSTMCell, CudnnGRU,
    CudnnLSTM, CudnnRNNRelu, CudnnRNNTanh,
)

_explain(__name__)
