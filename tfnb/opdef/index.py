"""Index from op names to the modules that declare them; written by `python tests/opdef/write_index.py`.

`registry.find` imports a module of it when one of its ops is first asked for.
"""
from __future__ import annotations

_DECLARED = {
    "accumulator_ops":
        "AccumulatorApplyGradient AccumulatorNumAccumulated AccumulatorSetGlobalStep AccumulatorTakeGradient "
        "ConditionalAccumulator ResourceAccumulatorApplyGradient ResourceAccumulatorNumAccumulated "
        "ResourceAccumulatorSetGlobalStep ResourceAccumulatorTakeGradient ResourceConditionalAccumulator "
        "SparseAccumulatorApplyGradient SparseAccumulatorTakeGradient SparseConditionalAccumulator ",
    "array":
        "ConjugateTranspose EnsureShape ExpandDims Identity IdentityN InvertPermutation PreventGradient Rank Reshape "
        "ReverseV2 Shape ShapeN Size Squeeze StopGradient Transpose ",
    "batch_norm":
        "FusedBatchNorm FusedBatchNormGrad FusedBatchNormGradV3 FusedBatchNormV2 FusedBatchNormV3 ",
    "broadcast":
        "BroadcastArgs BroadcastGradientArgs ",
    "candidates":
        "ComputeAccidentalHits LogUniformCandidateSampler UniformCandidateSampler ",
    "casting":
        "Cast ",
    "checks":
        "Assert CheckNumerics Print ",
    "compare":
        "ApproximateEqual ClipByValue Equal Greater GreaterEqual IsFinite IsInf IsNan Less LessEqual LogicalAnd "
        "LogicalNot LogicalOr NotEqual Select SelectV2 ",
    "complex":
        "Angle Complex ComplexAbs Conj Imag Real ",
    "control":
        "NoOp ",
    "control_flow":
        "ControlTrigger Enter Exit LoopCond Merge NextIteration RefEnter RefExit RefMerge RefNextIteration RefSwitch "
        "Switch ",
    "conv":
        "Conv2D Conv2DBackpropFilter Conv2DBackpropInput DepthwiseConv2dNative DepthwiseConv2dNativeBackpropFilter "
        "DepthwiseConv2dNativeBackpropInput ",
    "conv3d":
        "AvgPool3D AvgPool3DGrad Conv3D Conv3DBackpropFilterV2 Conv3DBackpropInputV2 MaxPool3D MaxPool3DGrad "
        "MaxPool3DGradGrad ",
    "create":
        "Diag DiagPart Fill LinSpace MatrixDiag MatrixDiagPart OnesLike Range ZerosLike ",
    "cross_entropy":
        "LogSoftmax Softmax SoftmaxCrossEntropyWithLogits SparseSoftmaxCrossEntropyWithLogits ",
    "data_flow":
        "FIFOQueueV2 PaddingFIFOQueueV2 PriorityQueueV2 QueueCloseV2 QueueDequeueManyV2 QueueDequeueUpToV2 "
        "QueueDequeueV2 QueueEnqueueManyV2 QueueEnqueueV2 QueueIsClosedV2 QueueSizeV2 RandomShuffleQueueV2 ",
    "datasets":
        "BatchDatasetV2 CacheDataset ConcatenateDataset DirectedInterleaveDataset FilterDataset "
        "FixedLengthRecordDatasetV2 FlatMapDataset GeneratorDataset GroupByWindowDataset IgnoreErrorsDataset "
        "InterleaveDataset MapDataset MatchingFilesDataset PaddedBatchDatasetV2 ParallelInterleaveDatasetV2 "
        "ParallelMapDataset PrefetchDataset RangeDataset ReduceDataset RepeatDataset ScanDataset ShardDataset "
        "ShuffleAndRepeatDataset ShuffleDataset SkipDataset TFRecordDataset TakeDataset TakeWhileDataset "
        "TensorDataset TensorSliceDataset TextLineDataset UnbatchDataset UniqueDataset WindowDataset ZipDataset ",
    "decoding":
        "AsString DecodeBase64 DecodeCSV DecodeRaw EncodeBase64 StringSplit StringToNumber ",
    "decompositions":
        "Qr SelfAdjointEigV2 Svd ",
    "diagonals":
        "MatrixDiagPartV3 MatrixDiagV3 MatrixSetDiag MatrixSetDiagV3 ",
    "edit_distance":
        "EditDistance ",
    "files":
        "MatchingFiles ReadFile WriteFile ",
    "functions":
        "Acos Acosh Asin Asinh Atan Atan2 Atanh Cos Cosh Digamma Erf Erfc Exp Expm1 Lgamma Log Log1p Polygamma Rsqrt "
        "RsqrtGrad Sigmoid SigmoidGrad Sin Sinh Sqrt SqrtGrad Tan Tanh TanhGrad Xdivy Xlogy Zeta ",
    "gather":
        "Gather GatherNd GatherV2 ListDiff OneHot ScatterNd SegmentSum Unique UnsortedSegmentSum Where ",
    "image_boxes":
        "CropAndResize CropAndResizeGradBoxes CropAndResizeGradImage DrawBoundingBoxes DrawBoundingBoxesV2 "
        "ExtractGlimpse NonMaxSuppression NonMaxSuppressionV2 NonMaxSuppressionV3 NonMaxSuppressionV4 "
        "NonMaxSuppressionV5 NonMaxSuppressionWithOverlaps SampleDistortedBoundingBox SampleDistortedBoundingBoxV2 ",
    "image_color":
        "AdjustContrastv2 AdjustHue AdjustSaturation HSVToRGB RGBToHSV ",
    "image_files":
        "DecodeAndCropJpeg DecodeBmp DecodeGif DecodeImage DecodeJpeg DecodePng EncodeJpeg EncodeJpegVariableQuality "
        "EncodePng ExtractJpegShape ",
    "image_resize":
        "ResizeArea ResizeBicubic ResizeBicubicGrad ResizeBilinear ResizeBilinearGrad ResizeNearestNeighbor "
        "ResizeNearestNeighborGrad ",
    "io":
        "MergeV2Checkpoints Restore RestoreSlice RestoreV2 Save SaveSlices SaveV2 ShardedFilename ShardedFilespec ",
    "iterators":
        "DatasetToSingleElement IteratorFromStringHandleV2 IteratorGetNext IteratorToStringHandle IteratorV2 "
        "MakeIterator OneShotIterator ",
    "joining":
        "BroadcastTo Concat ConcatOffset ConcatV2 MirrorPad MirrorPadGrad Pack Pad PadV2 Tile Unpack ",
    "linalg":
        "Cholesky Cross LogMatrixDeterminant MatrixBandPart MatrixDeterminant MatrixInverse MatrixSolve "
        "MatrixSolveLs MatrixTriangularSolve ",
    "math":
        "Abs Add AddN AddV2 Ceil Div DivNoNan Floor FloorDiv FloorMod Inv InvGrad Maximum Minimum Mod Mul MulNoNan "
        "Neg Pow RealDiv Reciprocal ReciprocalGrad Rint Round Sign Square SquaredDifference Sub TruncateDiv "
        "TruncateMod ",
    "matmul":
        "BatchMatMul BatchMatMulV2 MatMul ",
    "nn":
        "BiasAdd BiasAddGrad BiasAddV1 Elu EluGrad L2Loss LeakyRelu LeakyReluGrad Relu Relu6 Relu6Grad ReluGrad Selu "
        "SeluGrad Softplus SoftplusGrad Softsign SoftsignGrad ",
    "parsing":
        "ParseExampleV2 ",
    "partition":
        "DynamicPartition DynamicStitch ParallelDynamicStitch ",
    "patches":
        "ExtractImagePatches ",
    "pool":
        "AvgPool AvgPoolGrad LRN LRNGrad MaxPool MaxPoolGrad MaxPoolGradGrad MaxPoolGradWithArgmax MaxPoolWithArgmax ",
    "random":
        "Multinomial RandomShuffle RandomStandardNormal RandomUniform RandomUniformInt TruncatedNormal ",
    "readers":
        "FixedLengthRecordReaderV2 IdentityReaderV2 ReaderNumRecordsProducedV2 ReaderNumWorkUnitsCompletedV2 "
        "ReaderReadUpToV2 ReaderReadV2 ReaderResetV2 ReaderRestoreStateV2 ReaderSerializeStateV2 TFRecordReaderV2 "
        "TextLineReaderV2 WholeFileReaderV2 ",
    "reduce":
        "All Any ArgMax ArgMin Cumprod Cumsum Max Mean Min Prod Sum ",
    "resource_variables":
        "AssignAddVariableOp AssignSubVariableOp AssignVariableOp DestroyResourceOp ReadVariableOp "
        "ResourceApplyAdadelta ResourceApplyAdagrad ResourceApplyAdagradDA ResourceApplyAdagradV2 ResourceApplyAdam "
        "ResourceApplyCenteredRMSProp ResourceApplyFtrl ResourceApplyFtrlV2 ResourceApplyGradientDescent "
        "ResourceApplyMomentum ResourceApplyProximalAdagrad ResourceApplyProximalGradientDescent "
        "ResourceApplyRMSProp ResourceCountUpTo ResourceGather ResourceGatherNd ResourceScatterAdd "
        "ResourceScatterDiv ResourceScatterMax ResourceScatterMin ResourceScatterMul ResourceScatterNdAdd "
        "ResourceScatterNdMax ResourceScatterNdMin ResourceScatterNdSub ResourceScatterNdUpdate ResourceScatterSub "
        "ResourceScatterUpdate ResourceSparseApplyAdadelta ResourceSparseApplyAdagrad ResourceSparseApplyAdagradDA "
        "ResourceSparseApplyAdagradV2 ResourceSparseApplyCenteredRMSProp ResourceSparseApplyFtrl "
        "ResourceSparseApplyFtrlV2 ResourceSparseApplyMomentum ResourceSparseApplyProximalAdagrad "
        "ResourceSparseApplyProximalGradientDescent ResourceSparseApplyRMSProp ResourceStridedSliceAssign "
        "VarHandleOp VarIsInitializedOp VariableShape ",
    "reverse_sequence":
        "ReverseSequence ",
    "roll":
        "Roll ",
    "scatter":
        "ScatterAdd ScatterDiv ScatterMax ScatterMin ScatterMul ScatterNdAdd ScatterNdMax ScatterNdMin ScatterNdSub "
        "ScatterNdUpdate ScatterSub ScatterUpdate ",
    "script":
        "PyFunc PyFuncStateless ",
    "segments":
        "SegmentMax SegmentMean SegmentMin SegmentProd SparseSegmentMean SparseSegmentSqrtN SparseSegmentSum "
        "UnsortedSegmentMax UnsortedSegmentMin UnsortedSegmentProd ",
    "slice_assign":
        "StridedSliceAssign ",
    "slicing":
        "Slice Split SplitV StridedSlice StridedSliceGrad ",
    "source":
        "Const Placeholder PlaceholderV2 PlaceholderWithDefault ",
    "sparse_maps":
        "AddManySparseToTensorsMap AddSparseToTensorsMap TakeManySparseFromTensorsMap ",
    "sparse_ops":
        "SparseDenseCwiseDiv SparseDenseCwiseMul SparseToDense ",
    "stacks":
        "StackCloseV2 StackPopV2 StackPushV2 StackV2 ",
    "state":
        "ApplyAdadelta ApplyAdagrad ApplyAdagradV2 ApplyAdam ApplyCenteredRMSProp ApplyGradientDescent ApplyMomentum "
        "ApplyRMSProp Assign AssignAdd AssignSub CountUpTo IsVariableInitialized Variable VariableV2 ",
    "strings":
        "Fact StaticRegexFullMatch StringJoin Substr ",
    "summary":
        "AudioSummary AudioSummaryV2 HistogramSummary ImageSummary MergeSummary ScalarSummary TensorSummaryV2 ",
    "tensor_array_ops":
        "TensorArrayCloseV3 TensorArrayConcatV3 TensorArrayGatherV3 TensorArrayGradV3 TensorArrayReadV3 "
        "TensorArrayScatterV3 TensorArraySizeV3 TensorArraySplitV3 TensorArrayV3 TensorArrayWriteV3 ",
    "tensor_scatter":
        "TensorScatterAdd TensorScatterMax TensorScatterMin TensorScatterSub TensorScatterUpdate ",
    "top":
        "InTopK InTopKV2 TopK TopKV2 ",
    "training":
        "ApplyAdagradDA ApplyFtrl ApplyFtrlV2 ApplyProximalAdagrad ApplyProximalGradientDescent SparseApplyAdadelta "
        "SparseApplyAdagrad SparseApplyAdagradDA SparseApplyAdagradV2 SparseApplyCenteredRMSProp SparseApplyFtrl "
        "SparseApplyFtrlV2 SparseApplyMomentum SparseApplyProximalAdagrad SparseApplyProximalGradientDescent "
        "SparseApplyRMSProp ",
}
MODULE_OF = {op: f"tfnb.ops.{module}" for module, ops in _DECLARED.items() for op in ops.split()}
