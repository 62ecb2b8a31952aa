"""Modules inside of TensorFlow, and where tfnb has their names; written by `tests/tools/write_paths.py`.

MODULES: module below `tensorflow` -> public namespaces ("." is tf itself) in which a name of it is looked for, in turn.
RENAMED: module -> the names in it that are public under another name, "name=public.path".
GENERATED: the modules `python.ops.gen_*`, whose functions are ops.
"""
from __future__ import annotations

_HELD = {
    ".":
        "ops python.client python.client.session python.data.ops.optional_ops python.data.ops.readers "
        "python.data.util.structure python.eager.context python.framework python.framework.constant_op "
        "python.framework.device python.framework.device_spec python.framework.indexed_slices "
        "python.framework.load_library python.framework.none_tensor python.framework.ops python.framework.stack "
        "python.framework.tensor python.framework.tensor_conversion_registry python.framework.tensor_shape "
        "python.framework.tensor_spec python.framework.tensor_util python.framework.type_spec "
        "python.framework.type_utils python.ops python.ops.array_ops_stack python.ops.batch_ops python.ops.cond "
        "python.ops.constant_op python.ops.control_flow_case python.ops.control_flow_grad "
        "python.ops.control_flow_ops python.ops.control_flow_switch_case python.ops.critical_section_ops "
        "python.ops.custom_gradient python.ops.functional_ops python.ops.gradients python.ops.gradients_impl "
        "python.ops.gradients_util python.ops.histogram_ops python.ops.logging_ops python.ops.map_fn "
        "python.ops.numerics python.ops.partitioned_variables python.ops.resource_variables_toggle "
        "python.ops.script_ops python.ops.session_ops python.ops.sort_ops python.ops.state_ops python.ops.template "
        "python.ops.tensor_array_ops python.ops.unconnected_gradients python.ops.variable_scope "
        "python.ops.variable_v1 python.ops.variables python.ops.while_loop python.platform python.saved_model.load",
    ". debugging":
        "python.ops.control_flow_assert",
    ". debugging math":
        "python.ops.check_ops",
    ". dtypes":
        "python.framework.dtypes",
    ". dtypes random graph_util":
        "python.framework.framework_lib",
    ". errors":
        "python.client.client_lib",
    ". graph_util":
        "python.framework.importer",
    ". image":
        "python.ops.random_crop_ops",
    ". initializers":
        "python.ops.init_ops",
    ". io":
        "python.ops.io_ops",
    ". linalg":
        "python.ops.clip_ops python.ops.linalg_ops",
    ". linalg math":
        "python.ops.special_math_ops",
    ". manip":
        "python.ops.manip_ops",
    ". math debugging dtypes":
        "python.ops.math_ops",
    ". math debugging io":
        "python.ops.standard_ops",
    ". nn train":
        "python",
    ". quantization manip debugging":
        "python.ops.array_ops",
    ". queue io sparse":
        "python.ops.data_flow_ops",
    ". random":
        "python.framework.random_seed python.ops.random_ops",
    ". sparse":
        "python.framework.sparse_tensor",
    ". sparse io":
        "python.ops.sparse_ops",
    ". strings io dtypes":
        "python.ops.string_ops",
    ". summary train":
        "python.training.supervisor",
    "app":
        "python.platform.app",
    "bitwise":
        "python.ops.bitwise_ops",
    "compat":
        "python.util.compat",
    "config config.threading":
        "python.framework.config",
    "contrib.crf":
        "contrib.crf.python contrib.crf.python.ops contrib.crf.python.ops.crf",
    "contrib.cudnn_rnn":
        "contrib.cudnn_rnn.python contrib.cudnn_rnn.python.layers contrib.cudnn_rnn.python.layers.cudnn_rnn "
        "contrib.cudnn_rnn.python.ops contrib.cudnn_rnn.python.ops.cudnn_rnn_ops",
    "contrib.data":
        "contrib.data.python contrib.data.python.ops contrib.data.python.ops.batching "
        "contrib.data.python.ops.error_ops contrib.data.python.ops.grouping contrib.data.python.ops.interleave_ops "
        "contrib.data.python.ops.shuffle_ops contrib.data.python.ops.sliding contrib.data.python.ops.unique",
    "contrib.distributions":
        "contrib.distributions.python contrib.distributions.python.ops contrib.distributions.python.ops.bernoulli "
        "contrib.distributions.python.ops.categorical contrib.distributions.python.ops.distribution "
        "contrib.distributions.python.ops.normal contrib.distributions.python.ops.uniform",
    "contrib.framework":
        "contrib.framework.python contrib.framework.python.framework "
        "contrib.framework.python.framework.checkpoint_utils contrib.framework.python.framework.experimental "
        "contrib.framework.python.framework.graph_util contrib.framework.python.framework.tensor_util "
        "contrib.framework.python.ops contrib.framework.python.ops.arg_scope "
        "contrib.framework.python.ops.checkpoint_ops contrib.framework.python.ops.ops "
        "contrib.framework.python.ops.prettyprint_ops contrib.framework.python.ops.script_ops "
        "contrib.framework.python.ops.variables",
    "contrib.image":
        "contrib.image.python contrib.image.python.ops contrib.image.python.ops.image_ops",
    "contrib.layers":
        "contrib.layers.python contrib.layers.python.layers contrib.layers.python.layers.embedding_ops "
        "contrib.layers.python.layers.encoders contrib.layers.python.layers.feature_column "
        "contrib.layers.python.layers.initializers contrib.layers.python.layers.layers "
        "contrib.layers.python.layers.normalization contrib.layers.python.layers.optimizers "
        "contrib.layers.python.layers.regularizers contrib.layers.python.layers.summaries "
        "contrib.layers.python.layers.target_column contrib.layers.python.layers.utils contrib.layers.python.ops "
        "contrib.layers.python.ops.bucketization_op contrib.layers.python.ops.sparse_ops",
    "contrib.learn":
        "contrib.learn.python.learn.preprocessing",
    "contrib.learn contrib.learn.datasets":
        "contrib.learn.python contrib.learn.python.learn contrib.learn.python.learn.datasets "
        "contrib.learn.python.learn.datasets.base contrib.learn.python.learn.datasets.mnist",
    "contrib.legacy_seq2seq":
        "contrib.legacy_seq2seq.python contrib.legacy_seq2seq.python.ops contrib.legacy_seq2seq.python.ops.seq2seq",
    "contrib.lookup":
        "contrib.lookup.lookup_ops",
    "contrib.losses":
        "contrib.losses.python contrib.losses.python.losses contrib.losses.python.losses.loss_ops",
    "contrib.metrics":
        "contrib.metrics.python contrib.metrics.python.ops contrib.metrics.python.ops.metric_ops "
        "contrib.metrics.python.ops.set_ops",
    "contrib.rnn nn nn.rnn_cell":
        "contrib.rnn.python contrib.rnn.python.ops contrib.rnn.python.ops.core_rnn "
        "contrib.rnn.python.ops.core_rnn_cell contrib.rnn.python.ops.core_rnn_cell_impl "
        "contrib.rnn.python.ops.fused_rnn_cell contrib.rnn.python.ops.gru_ops contrib.rnn.python.ops.lstm_ops "
        "contrib.rnn.python.ops.rnn contrib.rnn.python.ops.rnn_cell",
    "contrib.seq2seq":
        "contrib.seq2seq.python contrib.seq2seq.python.ops contrib.seq2seq.python.ops.attention_decoder_fn "
        "contrib.seq2seq.python.ops.attention_wrapper contrib.seq2seq.python.ops.basic_decoder "
        "contrib.seq2seq.python.ops.beam_search_decoder contrib.seq2seq.python.ops.decoder "
        "contrib.seq2seq.python.ops.decoder_fn contrib.seq2seq.python.ops.helper contrib.seq2seq.python.ops.loss "
        "contrib.seq2seq.python.ops.seq2seq",
    "contrib.slim":
        "contrib.slim.python contrib.slim.python.slim contrib.slim.python.slim.evaluation "
        "contrib.slim.python.slim.learning contrib.slim.python.slim.queues contrib.slim.python.slim.summaries",
    "contrib.training":
        "contrib.training.python contrib.training.python.training contrib.training.python.training.bucket_ops "
        "contrib.training.python.training.device_setter contrib.training.python.training.evaluation "
        "contrib.training.python.training.hparam contrib.training.python.training.sampling_ops "
        "contrib.training.python.training.training",
    "data":
        "python.data python.data.ops python.data.ops.dataset_ops python.data.ops.iterator_ops "
        "python.data.ops.options",
    "debugging":
        "python.util.traceback_utils",
    "distributions":
        "python.ops.distributions.bernoulli python.ops.distributions.beta python.ops.distributions.categorical "
        "python.ops.distributions.dirichlet python.ops.distributions.dirichlet_multinomial "
        "python.ops.distributions.distribution python.ops.distributions.distributions "
        "python.ops.distributions.exponential python.ops.distributions.gamma "
        "python.ops.distributions.kullback_leibler python.ops.distributions.laplace "
        "python.ops.distributions.multinomial python.ops.distributions.normal python.ops.distributions.student_t "
        "python.ops.distributions.uniform",
    "errors .":
        "python.framework.errors python.framework.errors_impl",
    "flags app.flags":
        "python.platform.flags",
    "gfile":
        "python.platform.default._gfile",
    "gfile io.gfile":
        "python.platform.gfile",
    "graph_util":
        "python.framework.graph_util",
    "graph_util .":
        "python.framework.graph_util_impl",
    "graph_util train":
        "python.framework.convert_to_constants",
    "image io":
        "python.ops.image_ops python.ops.image_ops_impl",
    "initializers":
        "python.ops.initializers_ns",
    "io":
        "python.ops.proto_ops",
    "io .":
        "python.ops.parsing_config python.ops.parsing_ops",
    "io python_io":
        "python.lib.io.tf_record",
    "io.gfile":
        "python.lib.io.file_io",
    "layers":
        "python.layers python.layers.base python.layers.convolutional python.layers.core python.layers.layers "
        "python.layers.normalization python.layers.pooling",
    "linalg":
        "python.ops.linalg.linear_operator python.ops.linalg.linear_operator_adjoint "
        "python.ops.linalg.linear_operator_block_diag python.ops.linalg.linear_operator_block_lower_triangular "
        "python.ops.linalg.linear_operator_circulant python.ops.linalg.linear_operator_composition "
        "python.ops.linalg.linear_operator_diag python.ops.linalg.linear_operator_full_matrix "
        "python.ops.linalg.linear_operator_householder python.ops.linalg.linear_operator_identity "
        "python.ops.linalg.linear_operator_inversion python.ops.linalg.linear_operator_kronecker "
        "python.ops.linalg.linear_operator_low_rank_update python.ops.linalg.linear_operator_lower_triangular "
        "python.ops.linalg.linear_operator_permutation python.ops.linalg.linear_operator_toeplitz "
        "python.ops.linalg.linear_operator_tridiag python.ops.linalg.linear_operator_zeros python.ops.linalg_ns",
    "linalg .":
        "python.ops.linalg.linalg python.ops.linalg.linalg_impl",
    "logging":
        "python.platform.logging",
    "logging .":
        "python.platform.tf_logging",
    "lookup . initializers":
        "python.ops.lookup_ops",
    "losses":
        "python.ops.losses.losses python.ops.losses.losses_impl python.ops.losses.util",
    "metrics":
        "python.ops.metrics python.ops.metrics_impl",
    "nest":
        "python.util.nest",
    "nn":
        "models.rnn models.rnn.rnn python.ops.clustering_ops python.ops.ctc_ops python.ops.embedding_ops "
        "python.ops.nn_impl_distribute python.ops.rnn",
    "nn linalg math":
        "python.ops.nn_impl",
    "nn math .":
        "python.ops.nn_ops",
    "nn math random .":
        "python.ops.nn",
    "nn random":
        "python.ops.candidate_sampling_ops",
    "nn.rnn_cell":
        "models.rnn.linear models.rnn.rnn_cell python.ops.rnn_cell python.ops.rnn_cell_impl",
    "nn.seq2seq":
        "models.rnn.seq2seq python.ops.seq2seq",
    "python_io io":
        "python.lib.io.python_io",
    "random":
        "python.ops.random_ops_util python.ops.stateful_random_ops python.ops.stateless_random_ops",
    "resource_loader":
        "python.platform.resource_loader",
    "saved_model":
        "python.saved_model python.saved_model.save python.saved_model.save_options python.saved_model.saved_model "
        "python.saved_model.simple_save",
    "saved_model saved_model.loader":
        "python.saved_model.loader python.saved_model.loader_impl",
    "saved_model saved_model.signature_def_utils":
        "python.saved_model.signature_def_utils python.saved_model.signature_def_utils_impl",
    "saved_model saved_model.utils":
        "python.saved_model.utils python.saved_model.utils_impl",
    "saved_model.builder":
        "python.saved_model.builder python.saved_model.builder_impl",
    "saved_model.main_op saved_model":
        "python.saved_model.main_op python.saved_model.main_op_impl",
    "saved_model.signature_def_utils":
        "python.saved_model.method_name_updater",
    "sets":
        "python.ops.sets python.ops.sets_impl",
    "signal":
        "python.ops.signal.mel_ops python.ops.signal.mfcc_ops python.ops.signal.reconstruction_ops "
        "python.ops.signal.shape_ops python.ops.signal.spectral_ops python.ops.signal.window_ops",
    "signal spectral":
        "python.ops.signal.dct_ops",
    "signal spectral .":
        "python.ops.signal.fft_ops python.ops.signal.signal",
    "summary":
        "python.summary python.summary.writer.writer python.summary.writer.writer_cache",
    "summary .":
        "python.summary.summary",
    "sysconfig":
        "python.platform.sysconfig",
    "test":
        "python.framework.test_util python.ops.gradient_checker python.platform.benchmark python.platform.googletest "
        "python.platform.test",
    "train":
        "python.framework.meta_graph python.ops.sdca_ops python.pywrap_tensorflow python.summary.summary_iterator "
        "python.training python.training.adadelta python.training.adagrad python.training.adagrad_da "
        "python.training.adam python.training.basic_loops python.training.checkpoint_management "
        "python.training.checkpoint_utils python.training.coordinator python.training.device_setter "
        "python.training.ftrl python.training.gradient_descent python.training.learning_rate_decay "
        "python.training.learning_rate_decay_v2 python.training.momentum python.training.monitored_session "
        "python.training.moving_averages python.training.optimizer python.training.proximal_adagrad "
        "python.training.proximal_gradient_descent python.training.py_checkpoint_reader "
        "python.training.quantize_training python.training.rmsprop python.training.saver "
        "python.training.session_manager python.training.session_run_hook python.training.slot_creator "
        "python.training.sync_replicas_optimizer python.training.warm_starting_util pywrap_tensorflow",
    "train . summary":
        "python.training.basic_session_run_hooks",
    "train distribute":
        "python.training.server_lib",
    "train io":
        "python.framework.graph_io python.training.input python.training.training_util",
    "train summary":
        "python.training.summary_io",
    "train train.queue_runner":
        "python.training.queue_runner python.training.queue_runner_impl",
    "train train.queue_runner io distribute":
        "python.training.training",
    "user_ops":
        "python.user_ops python.user_ops.user_ops",
}
RENAMED = {
    "python.data.ops.dataset_ops":
        "DatasetV1=data.Dataset get_legacy_output_classes=data.get_output_classes "
        "get_legacy_output_shapes=data.get_output_shapes get_legacy_output_types=data.get_output_types",
    "python.data.ops.readers":
        "FixedLengthRecordDatasetV1=data.FixedLengthRecordDataset TFRecordDatasetV1=data.TFRecordDataset "
        "TextLineDatasetV1=data.TextLineDataset",
    "python.framework.config":
        "get_optimizer_experimental_options=config.optimizer.get_experimental_options "
        "get_optimizer_jit=config.optimizer.get_jit "
        "set_optimizer_experimental_options=config.optimizer.set_experimental_options "
        "set_optimizer_jit=config.optimizer.set_jit",
    "python.framework.device_spec":
        "DeviceSpecV1=DeviceSpec",
    "python.framework.tensor_util":
        "MakeNdarray=make_ndarray constant_value=get_static_value is_tf_type=is_tensor",
    "python.framework.test_util":
        "TensorFlowTestCase=test.TestCase",
    "python.lib.io.file_io":
        "copy=gfile.Copy create_dir=gfile.MkDir delete_file=gfile.Remove delete_recursively=gfile.DeleteRecursively "
        "file_exists=gfile.Exists get_matching_files=gfile.Glob is_directory=gfile.IsDirectory "
        "list_directory=gfile.ListDirectory recursive_create_dir=gfile.MakeDirs rename=gfile.Rename stat=gfile.Stat "
        "walk=gfile.Walk",
    "python.ops.array_ops":
        "tensor_diag_part=diag_part tensor_scatter_max=tensor_scatter_nd_max "
        "tensor_scatter_min=tensor_scatter_nd_min",
    "python.ops.batch_ops":
        "batch_function=nondifferentiable_batch_function",
    "python.ops.image_ops":
        "ResizeMethodV1=image.ResizeMethod non_max_suppression_with_overlaps=image.non_max_suppression_overlaps",
    "python.ops.image_ops_impl":
        "ResizeMethodV1=image.ResizeMethod non_max_suppression_with_overlaps=image.non_max_suppression_overlaps",
    "python.ops.init_ops":
        "Constant=constant_initializer GlorotNormal=glorot_normal_initializer "
        "GlorotUniform=glorot_uniform_initializer Identity=initializers.identity Ones=ones_initializer "
        "Orthogonal=orthogonal_initializer RandomNormal=random_normal_initializer "
        "RandomUniform=random_uniform_initializer TruncatedNormal=truncated_normal_initializer "
        "UniformUnitScaling=uniform_unit_scaling_initializer VarianceScaling=variance_scaling_initializer "
        "Zeros=zeros_initializer identity_initializer=initializers.identity",
    "python.ops.linalg.linalg":
        "matrix_exponential=linalg.expm",
    "python.ops.linalg.linalg_impl":
        "matrix_exponential=linalg.expm",
    "python.ops.linalg_ops":
        "log_matrix_determinant=linalg.slogdet matrix_logarithm=linalg.logm",
    "python.ops.lookup_ops":
        "StaticHashTableV1=lookup.StaticHashTable StaticVocabularyTableV1=lookup.StaticVocabularyTable",
    "python.ops.math_ops":
        "floor_mod=math.floormod linspace_nd=lin_space neg=math.negative next_after=math.nextafter",
    "python.ops.script_ops":
        "eager_py_func=py_function",
    "python.ops.sparse_ops":
        "sparse_bincount=sparse.bincount sparse_cross=sparse.cross sparse_cross_hashed=sparse.cross_hashed "
        "sparse_expand_dims=sparse.expand_dims sparse_eye=sparse.eye unary_op=math.bessel_i1e",
    "python.ops.standard_ops":
        "Constant=constant_initializer GlorotNormal=glorot_normal_initializer "
        "GlorotUniform=glorot_uniform_initializer Identity=initializers.identity Ones=ones_initializer "
        "Orthogonal=orthogonal_initializer RandomNormal=random_normal_initializer "
        "UniformUnitScaling=uniform_unit_scaling_initializer VarianceScaling=variance_scaling_initializer "
        "Zeros=zeros_initializer batch_function=nondifferentiable_batch_function div_no_nan=math.divide_no_nan "
        "floor_mod=math.floormod identity_initializer=initializers.identity linspace_nd=lin_space "
        "log_matrix_determinant=linalg.slogdet matrix_diag=linalg.diag matrix_diag_part=linalg.diag_part "
        "matrix_logarithm=linalg.logm neg=math.negative next_after=math.nextafter sparse_bincount=sparse.bincount "
        "sparse_cross=sparse.cross sparse_cross_hashed=sparse.cross_hashed sparse_expand_dims=sparse.expand_dims "
        "sparse_eye=sparse.eye stateless_random_binomial=random.stateless_binomial "
        "stateless_random_gamma=random.stateless_gamma stateless_random_normal=random.stateless_normal "
        "stateless_random_poisson=random.stateless_poisson stateless_random_uniform=random.stateless_uniform "
        "string_format=strings.format string_length=strings.length string_lower=strings.lower "
        "string_upper=strings.upper substr_deprecated=substr tensor_scatter_max=tensor_scatter_nd_max "
        "tensor_scatter_min=tensor_scatter_nd_min unary_op=math.bessel_i1e",
    "python.ops.stateless_random_ops":
        "stateless_random_binomial=random.stateless_binomial stateless_random_gamma=random.stateless_gamma "
        "stateless_random_normal=random.stateless_normal stateless_random_poisson=random.stateless_poisson "
        "stateless_random_uniform=random.stateless_uniform",
    "python.ops.string_ops":
        "string_format=strings.format string_length=strings.length string_lower=strings.lower "
        "string_upper=strings.upper substr_deprecated=substr",
    "python.ops.variable_v1":
        "VariableV1=Variable",
    "python.platform.benchmark":
        "TensorFlowBenchmark=test.Benchmark",
    "python.saved_model.load":
        "load=saved_model.load_v2",
    "python.saved_model.saved_model":
        "load=saved_model.load_v2",
    "python.training.basic_session_run_hooks":
        "SummaryWriterCache=summary.FileWriterCache",
    "python.training.summary_io":
        "SummaryWriterCache=summary.FileWriterCache",
}
GENERATED = frozenset((
    "gen_array_ops gen_audio_ops gen_batch_ops gen_bitwise_ops gen_boosted_trees_ops gen_candidate_sampling_ops "
    "gen_checkpoint_ops gen_clustering_ops gen_collective_ops gen_composite_tensor_ops gen_control_flow_ops "
    "gen_count_ops gen_ctc_ops gen_cudnn_rnn_ops gen_data_flow_ops gen_dataset_ops gen_debug_ops "
    "gen_decode_proto_ops gen_encode_proto_ops gen_experimental_dataset_ops gen_filesystem_ops "
    "gen_functional_ops gen_image_ops gen_io_ops gen_linalg_ops gen_list_ops gen_logging_ops gen_lookup_ops "
    "gen_manip_ops gen_map_ops gen_math_ops gen_nccl_ops gen_nn_ops gen_optional_ops gen_parsing_ops "
    "gen_ragged_array_ops gen_ragged_conversion_ops gen_ragged_math_ops gen_random_index_shuffle_ops "
    "gen_random_ops gen_resource_variable_ops gen_rnn_ops gen_script_ops gen_sdca_ops gen_sendrecv_ops "
    "gen_set_ops gen_sparse_csr_matrix_ops gen_sparse_ops gen_special_math_ops gen_spectral_ops gen_state_ops "
    "gen_stateful_random_ops gen_stateless_random_ops gen_string_ops gen_summary_ops gen_sync_ops gen_tpu_ops "
    "gen_tpu_partition_ops gen_training_ops gen_uniform_quant_ops gen_user_ops "
).split())
MODULES = {module: spaces.split() for spaces, modules in _HELD.items() for module in modules.split()}
