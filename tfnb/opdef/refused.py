"""Official ops that tfnb does not declare, with the reason: what errors and docs/api_status.md say of them."""
from __future__ import annotations

import re
from difflib import get_close_matches

from tfnb.opdef import registry

_TESTS = (
    "A Attr[A-Z].* AttrBool AttrDefault AttrFloat AttrMin AttrShape AttrEnum B Binary Unary ComplexStruct "
    "Conv ConstructionFails CopyOp DefaultAttrs DtypeWithDefaultOp DevicePlacementOp FiveFloatOutputs "
    "Float(In|Out)put FloatOutputStringOutput Foo[123] Func(|List)Attr GraphDefVersion InPolymorphicTwice "
    "Int64Output Int(Attr|Input|Output).* KernelLabel.* List(In|Out)put MixedStruct N(In|Ints|Polymorphic).* "
    "Namespace>.* None Old OutT OutTypeList.* OpWith.*Attr Polymorphic.* Ref(In|Out).* "
    "RequiresOlderGraphVersion Reserved(Attr|Input) Resource(CreateOp|InitializedOp|UsingOp) Restrict "
    "Simple(|Struct) Sleep(|Identity)Op StringListAttr StubResourceHandleOp Test(Attr|StringOutput) "
    "Two(Float|Int|Refs)(Inputs?|Outputs?|In)(|FloatOutput|IntOutput) TypeList.* Attr FakeQueue")
_TPU = (
    ".*TPU.* .*Tpu.* Infeed.* Outfeed.* .*SparseCore.* .*DedupData.* DTensor.* .*XlaConcatND .*XlaSplitND "
    "Prelinear.* CrossReplicaSum AllToAll CopyToMesh.* Relayout.* .*Minibatch.* SortListOf.* "
    "ConvertToCooTensor GlobalIterId UpdateTaskId.* StoreMinibatch.* MergeDedupData WorkerHeartbeat "
    "StochasticCastToInt KthOrderStatistic MakeUnique TopK(Unique|WithUnique)")
_DATA = (
    ".*Dataset(|V[234])(|Reader) .*Iterator .*DatasetReader .*DatasetVariant .*MemoryCache "
    ".*SeedGenerator GetOptions DummyIterationCounter ComputeBatchSize .*StatsAggregator.* ThreadPoolHandle "
    "GetElementAtIndex UncompressElement CompressElement")
_NEWER_RUNTIME = (
    "Debug.* Copy CopyHost CheckPinned DeviceIndex DisableCopyOnRead DistributedSave GetDeadline "
    "DeleteRpcFutureResource IsTensorFloat32Enabled MakeWeakResourceHandle IsResourceHandleRefCounting "
    "SyncDevice FileSystemSetConfiguration HostConst FakeParam CompositeTensorVariant.* CustomAggregator "
    "CalibrationStatisticsSaver DumpTensor")

_NEWER = (
    "ApproxTopK AudioMicrofrontend CheckNumericsV2 Conv2DBackprop(Filter|Input)V2 DecodeJxl DecodeWebP Eig "
    "I?R?FFTND GenerateBoundingBoxProposals ImageProjectiveTransformV3 IsotonicRegression RandomIndexShuffle "
    "RngReadAndSkip Segment(Max|Min|Prod|Sum)V2 EmptyTensorMap TensorMap.* TensorStridedSliceUpdate WindowOp "
    "QuantizeAndDequantizeV4(Grad)? Uniform(Quanti|Dequanti|Requanti).*")
_REMOVED = (
    "AdjustContrast BatchNormWithGlobalNormalization(Grad)? Conv3DBackprop(Filter|Input) "
    "QuantizeAndDequantize TileGrad RandomCrop Skipgram NegTrain")
_FUSED = "Quantized(Conv2D|DepthwiseConv2D|MatMul).+ QuantizedDepthwiseConv2D RequantizePerChannel"
_FLOW = (
    "Case If While StatelessIf StatelessWhile (Stateful)?PartitionedCall")
_CALLED = "For SymbolicGradient MapDefun"
_OLD = "Stack(|Close|Pop|Push) TensorArray(|Close|Concat|Gather|Grad|Pack|Read|Scatter|Size|Split|Unpack|Write)(|V2)"
# Names (regular expressions, parted by spaces) -> reason.
_REASONS = {
    _TESTS: "TensorFlow's own tests declare it",
    _TPU: "it is for TPUs, or for the compiler that serves them",
    "IsBoosted.*": "boosted trees are not part of tfnb",
    "(Send|Recv|RemoteCall|.*Collective.*|Nccl.*)": "it passes tensors between the processes of TensorFlow's runtime",
    _DATA: "tf.data is made of other ops here; an iterator's graph is not read from another program's file",
    _NEWER_RUNTIME: "it belongs to the runtime of TensorFlow 2",
    "CreateSummaryDbWriter": "TensorBoard reads no databases any more: CreateSummaryFileWriter writes event files",
    _NEWER: "it is newer than TensorFlow 1.15",
    _FLOW: "it calls functions, whose nodes stand in a graph here: tf.cond and tf.while_loop make others, which take "
           "its place when a graph is imported",
    _CALLED: "it calls functions, whose nodes stand in a graph here",
    _OLD: "TensorFlow 1.0 dropped it: where a graph is imported, ops of today take its place",
    "Abort": "it ends the process: raise an error by tf.Assert or tf.py_func",
    "StatefulStandardNormal": "StatefulStandardNormalV2 took its place in release 1.14: tf.random.Generator makes that",
    "RefSelect": "which variable an op writes to is known here before a run: use tf.cond or tf.case",
    "LMDBReader": "LMDB files are read by a library inside of TensorFlow: convert them to TFRecords",
    _REMOVED: "TensorFlow took it out of graphs before release 1.2",
    _FUSED: "it is a fused op of Intel's oneDNN: QuantizedConv2D, QuantizedBiasAdd, Requantize... are there",
    "Quantized(BatchNorm|InstanceNorm|ResizeBilinear).*": "only TensorFlow's tools that transform graphs make it",
}


def refusal(op_type: str) -> str:
    """Return the reason why tfnb has no op of that name, or "". op_type: of an op that is not declared."""
    return next((reason for patterns, reason in _REASONS.items()
                 if any(re.fullmatch(pattern, op_type) for pattern in patterns.split())), "")


def hint(op_type: str) -> str:
    """Return a sentence for an error on the name of no op: why there is none, or the names that may have been meant."""
    reason = refusal(op_type)
    if reason:
        return f" {op_type!r} is left out: {reason}."
    near = get_close_matches(op_type, sorted(registry.names()), n=3)
    return f" Did you mean {' or '.join(map(repr, near))}?" if near else ""
