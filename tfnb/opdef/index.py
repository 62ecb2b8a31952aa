"""Index from names of ops and public names to the modules that declare them.

Written by `python tests/opdef/write_index.py`. `registry.find` imports a module when one of its ops is first asked
for, a public module when one of the names that declarations export to it is (`ops/declaration/public.py`).
"""
from __future__ import annotations

_DECLARED = {
    "control_flow.nodes":
        "ControlTrigger Enter Exit LoopCond Merge NextIteration RefEnter RefExit RefMerge RefNextIteration RefSwitch "
        "Switch ",
    "image.boxes":
        "CropAndResize CropAndResizeGradBoxes CropAndResizeGradImage DrawBoundingBoxes DrawBoundingBoxesV2 "
        "ExtractGlimpse NonMaxSuppression NonMaxSuppressionV2 NonMaxSuppressionV3 NonMaxSuppressionV4 "
        "NonMaxSuppressionV5 NonMaxSuppressionWithOverlaps SampleDistortedBoundingBox SampleDistortedBoundingBoxV2 ",
    "image.color":
        "AdjustContrastv2 AdjustHue AdjustSaturation HSVToRGB RGBToHSV ",
    "image.files":
        "DecodeAndCropJpeg DecodeBmp DecodeGif DecodeImage DecodeJpeg DecodePng EncodeJpeg EncodeJpegVariableQuality "
        "EncodePng ExtractJpegShape ",
    "image.resize":
        "ResizeArea ResizeBicubic ResizeBicubicGrad ResizeBilinear ResizeBilinearGrad ResizeNearestNeighbor "
        "ResizeNearestNeighborGrad ",
    "linalg.decompositions":
        "Qr SelfAdjointEigV2 Svd ",
    "linalg.matrices":
        "Cholesky Cross LogMatrixDeterminant MatrixBandPart MatrixDeterminant MatrixInverse MatrixSolve "
        "MatrixSolveLs MatrixTriangularSolve ",
    "ops.array.create":
        "Diag DiagPart Fill LinSpace MatrixDiag MatrixDiagPart OnesLike Range ZerosLike ",
    "ops.array.diagonals":
        "MatrixDiagPartV3 MatrixDiagV3 MatrixSetDiag MatrixSetDiagV3 ",
    "ops.array.gather":
        "Gather GatherNd GatherV2 ListDiff OneHot ScatterNd SegmentSum Unique UnsortedSegmentSum Where ",
    "ops.array.joining":
        "BroadcastTo Concat ConcatOffset ConcatV2 MirrorPad MirrorPadGrad Pack Pad PadV2 Tile Unpack ",
    "ops.array.partition":
        "DynamicPartition DynamicStitch ParallelDynamicStitch ",
    "ops.array.reshape":
        "ConjugateTranspose EnsureShape ExpandDims Identity IdentityN InvertPermutation PreventGradient Rank Reshape "
        "ReverseV2 Shape ShapeN Size Squeeze StopGradient Transpose ",
    "ops.array.reverse_sequence":
        "ReverseSequence ",
    "ops.array.roll":
        "Roll ",
    "ops.array.slicing":
        "Slice Split SplitV StridedSlice StridedSliceGrad ",
    "ops.control.checks":
        "Assert CheckNumerics Print ",
    "ops.control.group":
        "NoOp ",
    "ops.control.script":
        "PyFunc PyFuncStateless ",
    "ops.control.source":
        "Const Placeholder PlaceholderV2 PlaceholderWithDefault ",
    "ops.data.datasets":
        "BatchDatasetV2 CacheDataset ConcatenateDataset DirectedInterleaveDataset FilterDataset "
        "FixedLengthRecordDatasetV2 FlatMapDataset GeneratorDataset GroupByWindowDataset IgnoreErrorsDataset "
        "InterleaveDataset MapDataset MatchingFilesDataset PaddedBatchDatasetV2 ParallelInterleaveDatasetV2 "
        "ParallelMapDataset PrefetchDataset RangeDataset ReduceDataset RepeatDataset ScanDataset ShardDataset "
        "ShuffleAndRepeatDataset ShuffleDataset SkipDataset TFRecordDataset TakeDataset TakeWhileDataset "
        "TensorDataset TensorSliceDataset TextLineDataset UnbatchDataset UniqueDataset WindowDataset ZipDataset ",
    "ops.data.iterators":
        "DatasetToSingleElement IteratorFromStringHandleV2 IteratorGetNext IteratorToStringHandle IteratorV2 "
        "MakeIterator OneShotIterator ",
    "ops.data_flow.accumulator_ops":
        "AccumulatorApplyGradient AccumulatorNumAccumulated AccumulatorSetGlobalStep AccumulatorTakeGradient "
        "ConditionalAccumulator ResourceAccumulatorApplyGradient ResourceAccumulatorNumAccumulated "
        "ResourceAccumulatorSetGlobalStep ResourceAccumulatorTakeGradient ResourceConditionalAccumulator "
        "SparseAccumulatorApplyGradient SparseAccumulatorTakeGradient SparseConditionalAccumulator ",
    "ops.data_flow.queue_ops":
        "FIFOQueueV2 PaddingFIFOQueueV2 PriorityQueueV2 QueueCloseV2 QueueDequeueManyV2 QueueDequeueUpToV2 "
        "QueueDequeueV2 QueueEnqueueManyV2 QueueEnqueueV2 QueueIsClosedV2 QueueSizeV2 RandomShuffleQueueV2 ",
    "ops.data_flow.stacks":
        "StackCloseV2 StackPopV2 StackPushV2 StackV2 ",
    "ops.data_flow.tensor_array_ops":
        "TensorArrayCloseV3 TensorArrayConcatV3 TensorArrayGatherV3 TensorArrayGradV3 TensorArrayReadV3 "
        "TensorArrayScatterV3 TensorArraySizeV3 TensorArraySplitV3 TensorArrayV3 TensorArrayWriteV3 ",
    "ops.io.checkpoints":
        "MergeV2Checkpoints Restore RestoreSlice RestoreV2 Save SaveSlices SaveV2 ShardedFilename ShardedFilespec ",
    "ops.io.files":
        "MatchingFiles ReadFile WriteFile ",
    "ops.io.parsing":
        "ParseExampleV2 ",
    "ops.io.readers":
        "FixedLengthRecordReaderV2 IdentityReaderV2 ReaderNumRecordsProducedV2 ReaderNumWorkUnitsCompletedV2 "
        "ReaderReadUpToV2 ReaderReadV2 ReaderResetV2 ReaderRestoreStateV2 ReaderSerializeStateV2 TFRecordReaderV2 "
        "TextLineReaderV2 WholeFileReaderV2 ",
    "ops.io.summary":
        "AudioSummary AudioSummaryV2 HistogramSummary ImageSummary MergeSummary ScalarSummary TensorSummaryV2 ",
    "ops.math.arithmetic":
        "Abs Add AddN AddV2 Ceil Div DivNoNan Floor FloorDiv FloorMod Inv InvGrad Maximum Minimum Mod Mul MulNoNan "
        "Neg Pow RealDiv Reciprocal ReciprocalGrad Rint Round Sign Square SquaredDifference Sub TruncateDiv "
        "TruncateMod ",
    "ops.math.broadcast":
        "BroadcastArgs BroadcastGradientArgs ",
    "ops.math.casting":
        "Cast ",
    "ops.math.compare":
        "ApproximateEqual ClipByValue Equal Greater GreaterEqual IsFinite IsInf IsNan Less LessEqual LogicalAnd "
        "LogicalNot LogicalOr NotEqual Select SelectV2 ",
    "ops.math.complex":
        "Angle Complex ComplexAbs Conj Imag Real ",
    "ops.math.functions":
        "Acos Acosh Asin Asinh Atan Atan2 Atanh Cos Cosh Digamma Erf Erfc Exp Expm1 Lgamma Log Log1p Polygamma Rsqrt "
        "RsqrtGrad Sigmoid SigmoidGrad Sin Sinh Sqrt SqrtGrad Tan Tanh TanhGrad Xdivy Xlogy Zeta ",
    "ops.math.special":
        "Erfinv Ndtri ",
    "ops.nn.activations":
        "BiasAdd BiasAddGrad BiasAddV1 Elu EluGrad L2Loss LeakyRelu LeakyReluGrad Relu Relu6 Relu6Grad ReluGrad Selu "
        "SeluGrad Softplus SoftplusGrad Softsign SoftsignGrad ",
    "ops.nn.batch_norm":
        "FusedBatchNorm FusedBatchNormGrad FusedBatchNormGradV3 FusedBatchNormV2 FusedBatchNormV3 ",
    "ops.nn.blocks":
        "BatchToSpace BatchToSpaceND DepthToSpace SpaceToBatch SpaceToBatchND SpaceToDepth ",
    "ops.nn.conv":
        "Conv2D Conv2DBackpropFilter Conv2DBackpropInput DepthwiseConv2dNative DepthwiseConv2dNativeBackpropFilter "
        "DepthwiseConv2dNativeBackpropInput ",
    "ops.nn.conv3d":
        "AvgPool3D AvgPool3DGrad Conv3D Conv3DBackpropFilterV2 Conv3DBackpropInputV2 MaxPool3D MaxPool3DGrad "
        "MaxPool3DGradGrad ",
    "ops.nn.cross_entropy":
        "LogSoftmax Softmax SoftmaxCrossEntropyWithLogits SparseSoftmaxCrossEntropyWithLogits ",
    "ops.nn.patches":
        "ExtractImagePatches ",
    "ops.nn.pool":
        "AvgPool AvgPoolGrad LRN LRNGrad MaxPool MaxPoolGrad MaxPoolGradGrad MaxPoolGradWithArgmax MaxPoolWithArgmax ",
    "ops.random.candidates":
        "ComputeAccidentalHits LogUniformCandidateSampler UniformCandidateSampler ",
    "ops.random.random_ops":
        "Multinomial RandomShuffle RandomStandardNormal RandomUniform RandomUniformInt TruncatedNormal ",
    "ops.reductions.matmul":
        "BatchMatMul BatchMatMulV2 MatMul ",
    "ops.reductions.reduce":
        "All Any ArgMax ArgMin Cumprod Cumsum Max Mean Min Prod Sum ",
    "ops.reductions.segments":
        "SegmentMax SegmentMean SegmentMin SegmentProd SparseSegmentMean SparseSegmentSqrtN SparseSegmentSum "
        "UnsortedSegmentMax UnsortedSegmentMin UnsortedSegmentProd ",
    "ops.reductions.top":
        "InTopK InTopKV2 TopK TopKV2 ",
    "ops.sparse.conversion":
        "SparseDenseCwiseDiv SparseDenseCwiseMul SparseToDense ",
    "ops.sparse.maps":
        "AddManySparseToTensorsMap AddSparseToTensorsMap TakeManySparseFromTensorsMap ",
    "ops.state.assign":
        "Assign AssignAdd AssignSub CountUpTo IsVariableInitialized Variable VariableV2 ",
    "ops.state.resource_variables":
        "AssignAddVariableOp AssignSubVariableOp AssignVariableOp DestroyResourceOp ReadVariableOp ResourceCountUpTo "
        "ResourceGather ResourceGatherNd ResourceScatterAdd ResourceScatterDiv ResourceScatterMax ResourceScatterMin "
        "ResourceScatterMul ResourceScatterNdAdd ResourceScatterNdMax ResourceScatterNdMin ResourceScatterNdSub "
        "ResourceScatterNdUpdate ResourceScatterSub ResourceScatterUpdate ResourceStridedSliceAssign VarHandleOp "
        "VarIsInitializedOp VariableShape ",
    "ops.state.scatter":
        "ScatterAdd ScatterDiv ScatterMax ScatterMin ScatterMul ScatterNdAdd ScatterNdMax ScatterNdMin ScatterNdSub "
        "ScatterNdUpdate ScatterSub ScatterUpdate ",
    "ops.state.slice_assign":
        "StridedSliceAssign ",
    "ops.state.tensor_scatter":
        "TensorScatterAdd TensorScatterMax TensorScatterMin TensorScatterSub TensorScatterUpdate ",
    "ops.strings.decoding":
        "AsString DecodeBase64 DecodeCSV DecodeRaw EncodeBase64 StringSplit StringToNumber ",
    "ops.strings.edit_distance":
        "EditDistance ",
    "ops.strings.string_ops":
        "Fact StaticRegexFullMatch StringJoin Substr ",
    "train.optimizers.adadelta":
        "ApplyAdadelta ResourceApplyAdadelta ResourceSparseApplyAdadelta SparseApplyAdadelta ",
    "train.optimizers.adagrad":
        "ApplyAdagrad ApplyAdagradV2 ResourceApplyAdagrad ResourceApplyAdagradV2 ResourceSparseApplyAdagrad "
        "ResourceSparseApplyAdagradV2 SparseApplyAdagrad SparseApplyAdagradV2 ",
    "train.optimizers.adagrad_da":
        "ApplyAdagradDA ResourceApplyAdagradDA ResourceSparseApplyAdagradDA SparseApplyAdagradDA ",
    "train.optimizers.adam":
        "ApplyAdam ResourceApplyAdam ResourceApplyAdamWithAmsgrad ",
    "train.optimizers.contrib.ada_max":
        "ApplyAdaMax ResourceApplyAdaMax ",
    "train.optimizers.contrib.signs":
        "ApplyAddSign ApplyPowerSign ResourceApplyAddSign ResourceApplyPowerSign ",
    "train.optimizers.ftrl":
        "ApplyFtrl ApplyFtrlV2 ResourceApplyFtrl ResourceApplyFtrlV2 ResourceSparseApplyFtrl "
        "ResourceSparseApplyFtrlV2 SparseApplyFtrl SparseApplyFtrlV2 ",
    "train.optimizers.gradient_descent":
        "ApplyGradientDescent ResourceApplyGradientDescent ",
    "train.optimizers.momentum":
        "ApplyMomentum ResourceApplyKerasMomentum ResourceApplyMomentum ResourceSparseApplyKerasMomentum "
        "ResourceSparseApplyMomentum SparseApplyMomentum ",
    "train.optimizers.proximal":
        "ApplyProximalAdagrad ApplyProximalGradientDescent ResourceApplyProximalAdagrad "
        "ResourceApplyProximalGradientDescent ResourceSparseApplyProximalAdagrad "
        "ResourceSparseApplyProximalGradientDescent SparseApplyProximalAdagrad SparseApplyProximalGradientDescent ",
    "train.optimizers.rmsprop":
        "ApplyCenteredRMSProp ApplyRMSProp ResourceApplyCenteredRMSProp ResourceApplyRMSProp "
        "ResourceSparseApplyCenteredRMSProp ResourceSparseApplyRMSProp SparseApplyCenteredRMSProp SparseApplyRMSProp ",
}
_EXPORTED = {
    "ops.math.special":
        "math.erfcinv math.erfinv math.ndtri ",
    "ops.nn.blocks":
        "batch_to_space batch_to_space_nd depth_to_space nn.depth_to_space nn.space_to_batch nn.space_to_depth "
        "space_to_batch space_to_batch_nd space_to_depth ",
}
MODULE_OF = {op: f"tfnb.{module}" for module, ops in _DECLARED.items() for op in ops.split()}
PUBLIC: dict[str, dict[str, str]] = {}              # public module without "tfnb." -> name -> module
for _module, _names in _EXPORTED.items():
    for _dotted in _names.split():
        _place, _, _name = _dotted.rpartition(".")
        PUBLIC.setdefault(_place, {})[_name] = f"tfnb.{_module}"
