"""What MindSpore's layers are made of: their parameters, and whether they behave otherwise in training.

Source: every class of `mindspore.nn` and `mindspore.mint.nn` of MindSpore 2.10 was constructed twice under two seeds; a
parameter is listed as drawn when its two values differ.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass

NN = "mindspore.nn."
MINT_NN = "mindspore.mint.nn."


@dataclass(frozen=True)
class Weight:
    """A parameter of a layer. `init` is the constructor argument that says how it starts, `drawn` whether it is random
    by default; `switch` the argument that turns it on or off, `present` what that argument is by default."""

    name: str
    init: str = ""
    drawn: bool = False
    switch: str = ""
    present: bool = True


@dataclass(frozen=True)
class Layer:
    """`order` names the constructor's positional arguments as far as `weights` refers to them. `trains` is true where
    the training flag changes what the layer does, `random` where each forward pass draws numbers."""

    weights: tuple[Weight, ...] = ()
    order: tuple[str, ...] = ()
    trains: bool = False
    random: bool = False


def _gamma_beta(switch: str = "") -> Layer:
    return Layer((Weight("gamma", "gamma_init", switch=switch), Weight("beta", "beta_init", switch=switch)))


_DENSE_ORDER = ("in_channels", "out_channels", "weight_init", "bias_init", "has_bias")
_LINEAR = Layer(
    (Weight("weight", "weight_init", drawn=True), Weight("bias", "bias_init", drawn=True, switch="bias")),
    ("in_features", "out_features", "bias", "weight_init", "bias_init"),
)
_DENSE = Layer(
    (Weight("weight", "weight_init", drawn=True), Weight("bias", "bias_init", drawn=True, switch="has_bias")),
    _DENSE_ORDER,
)
_CONV = Layer(
    (
        Weight("weight", "weight_init", drawn=True),
        Weight("bias", "bias_init", drawn=True, switch="has_bias", present=False),
    )
)
_MINT_CONV = Layer((Weight("weight", drawn=True), Weight("bias", drawn=True, switch="bias")))
_EMBEDDING = Layer(
    (Weight("embedding_table", "embedding_table", drawn=True),),
    ("vocab_size", "embedding_size", "use_one_hot", "embedding_table"),
)
_LOOKUP = Layer((Weight("embedding_table", "param_init", drawn=True),), ("vocab_size", "embedding_size", "param_init"))
_BATCH_NORM = Layer(
    (
        Weight("mean", "moving_mean_init"), Weight("variance", "moving_var_init"), Weight("gamma", "gamma_init"),
        Weight("beta", "beta_init"),
    ),
    trains=True,
)  # fmt: skip
_MINT_BATCH_NORM = Layer(
    tuple(map(Weight, ("weight", "bias", "running_mean", "running_var", "num_batches_tracked"))), trains=True
)
_WEIGHT_BIAS = Layer((Weight("weight"), Weight("bias")))
_RECURRENT = Layer(
    tuple(Weight(f"{n}_l0", drawn=True) for n in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")), trains=True
)
_RECURRENT_CELL = Layer(tuple(Weight(n, drawn=True) for n in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")))
_ATTENTION = Layer(tuple(Weight(n, drawn=True) for n in ("in_proj_weight", "out_proj.weight")), trains=True)
_TRANSFORMER = Layer(tuple(Weight(n, drawn=True) for n in ("self_attn.in_proj_weight", "dense1.weight")), trains=True)
_DROPOUT = Layer(trains=True, random=True)
_PLAIN = Layer()

_KNOWN: dict[str, Layer] = {
    **dict.fromkeys(("nn.Dense", "nn.DenseThor", "nn.DenseBnAct", "nn.BiDense"), _DENSE),
    **dict.fromkeys(("nn.Linear", "mint.nn.Linear"), _LINEAR),
    **dict.fromkeys(
        (f"nn.{n}" for n in ("Conv1d", "Conv2d", "Conv3d", "Conv1dTranspose", "Conv2dTranspose", "Conv3dTranspose",
                             "Conv2dBnAct", "Conv2dThor")), _CONV
    ),
    **dict.fromkeys((f"mint.nn.{n}" for n in ("Conv1d", "Conv2d", "Conv3d", "ConvTranspose2d")), _MINT_CONV),
    **dict.fromkeys(("nn.Embedding", "nn.EmbeddingThor"), _EMBEDDING),
    **dict.fromkeys(("nn.EmbeddingLookup", "nn.EmbeddingLookupThor", "nn.MultiFieldEmbeddingLookup"), _LOOKUP),
    **dict.fromkeys(("nn.EmbeddingExt", "mint.nn.Embedding"), Layer((Weight("weight", drawn=True),))),
    **dict.fromkeys(("nn.BatchNorm1d", "nn.BatchNorm2d", "nn.BatchNorm3d", "nn.SyncBatchNorm"), _BATCH_NORM),
    **dict.fromkeys(("nn.InstanceNorm1d", "nn.InstanceNorm2d", "nn.InstanceNorm3d"), _BATCH_NORM),
    **dict.fromkeys(
        (f"mint.nn.{n}" for n in ("BatchNorm1d", "BatchNorm2d", "BatchNorm3d", "SyncBatchNorm")), _MINT_BATCH_NORM
    ),
    "nn.LayerNorm": _gamma_beta(), "nn.GroupNorm": _gamma_beta("affine"),
    **dict.fromkeys(("nn.LayerNormExt", "mint.nn.LayerNorm", "mint.nn.GroupNorm"), _WEIGHT_BIAS),
    **dict.fromkeys(("nn.LSTM", "nn.GRU", "nn.RNN"), _RECURRENT),
    **dict.fromkeys(("nn.LSTMCell", "nn.GRUCell", "nn.RNNCell"), _RECURRENT_CELL),
    "nn.MultiheadAttention": _ATTENTION,
    **dict.fromkeys(("nn.Transformer", "nn.TransformerEncoderLayer", "nn.TransformerDecoderLayer"), _TRANSFORMER),
    "nn.PReLU": Layer((Weight("a", "w"),), ("channel", "w")),
    **dict.fromkeys(("nn.PReLUExt", "mint.nn.PReLU"), Layer((Weight("weight"),))),
    **dict.fromkeys(("nn.SSIM", "nn.MSSSIM"), Layer((Weight("conv.weight"),))),
    **dict.fromkeys(
        ("nn.Dropout", "nn.Dropout1d", "nn.Dropout2d", "nn.Dropout3d", "nn.DropoutExt", "nn.Dropout2dExt",
         "mint.nn.Dropout", "mint.nn.Dropout2d"), _DROPOUT
    ),
    **dict.fromkeys(
        ("nn.RReLU", "nn.FractionalMaxPool2d", "nn.FractionalMaxPool3d", "nn.SampledSoftmaxLoss"), Layer(random=True)
    ),
}  # fmt: skip
_KNOWN_PLAIN = frozenset(
    """AdaptiveAvgPool1d AdaptiveAvgPool2d AdaptiveAvgPool3d AdaptiveMaxPool1d AdaptiveMaxPool2d
    AdaptiveMaxPool3d AvgPool1d AvgPool1dExt AvgPool2d AvgPool2dExt AvgPool3d AvgPool3dExt BCELoss
    BCEWithLogitsLoss CELU CTCLoss CentralCrop ChannelShuffle ClipByNorm ConstantPad1d ConstantPad2d
    ConstantPad3d CosineEmbeddingLoss CrossEntropyLoss DiGamma DiceLoss ELU FastGelu Flatten FocalLoss Fold GELU
    GLU GaussianNLLLoss HShrink HSigmoid HSwish Hardshrink Hardsigmoid Hardswish Hardtanh HingeEmbeddingLoss
    HuberLoss IGamma Identity ImageGradients KLDivLoss L1Loss L1LossExt L1Regularizer LBeta LGamma LPPool1d
    LPPool2d LRN LeakyReLU LogSigmoid LogSoftmax LogSoftmaxExt MAELoss MSELoss MarginRankingLoss MatDet
    MatInverse MatMul MatrixDiag MatrixDiagPart MatrixSetDiag MaxPool1d MaxPool2d MaxPool2dExt MaxPool3d
    MaxUnpool1d MaxUnpool2d MaxUnpool3d Mish Moments MultiClassDiceLoss MultiLabelSoftMarginLoss MultiMarginLoss
    MultilabelMarginLoss NLLLoss Norm OneHot PSNR Pad PixelShuffle PixelUnshuffle PoissonNLLLoss RMSELoss Range
    ReLU ReLU6 ReduceLogSumExp ReflectionPad1d ReflectionPad2d ReflectionPad3d ReplicationPad1d ReplicationPad2d
    ReplicationPad3d Roll SELU SeLU SiLU Sigmoid SmoothL1Loss SoftMarginLoss SoftShrink Softmax Softmax2d
    SoftmaxCrossEntropyWithLogits Softmin Softshrink Softsign SparseTensorDenseMatmul SparseToDense Tanh
    Tanhshrink Threshold Tril TripletMarginLoss TripletMarginWithDistanceLoss Triu Unflatten Unfold Upsample
    UpsamplingBilinear2d UpsamplingNearest2d ZeroPad1d ZeroPad2d ZeroPad3d""".split()  # noqa: SIM905
)
# Classes of `mindspore.nn` that are no layers: optimizers and their wrappers, schedules, metrics, gradient helpers.
_NO_LAYERS = frozenset(
    """ASGD AdaFactor AdaMax AdaSumByDeltaWeightWrapCell AdaSumByGradWrapCell Adadelta Adagrad Adam AdamOffload
    AdamWeightDecay AdamW FTRL LARS Lamb LazyAdam Momentum OptTFTWrapper Optimizer ProximalAdagrad RMSProp Rprop
    SGD thor CosineDecayLR ExponentialDecayLR InverseDecayLR NaturalExpDecayLR PolynomialDecayLR WarmUpLR
    LearningRateSchedule Accuracy BleuScore ConfusionMatrix ConfusionMatrixMetric CosineSimilarity Dice F1 Fbeta
    HausdorffDistance Loss MAE MSE MeanSurfaceDistance Metric OcclusionSensitivity Perplexity Precision ROC
    Recall RootMeanSquareDistance Top1CategoricalAccuracy Top5CategoricalAccuracy TopKCategoricalAccuracy Cell
    GraphCell DistributedGradReducer PipelineGradReducer DynamicLossScaleUpdateCell FixedLossScaleUpdateCell
    ForwardValueAndGrad GradAccumulationCell Jvp Vjp ParameterUpdate PipelineCell MicroBatchInterleaved
    GetNextSingleOp VirtualDatasetCellTriple TrainOneStepCell TrainOneStepWithLossScaleCell WithEvalCell
    WithGradCell WithLossCell""".split()  # noqa: SIM905
)
CONTAINERS = frozenset({"mindspore.nn.CellList", "mindspore.nn.CellDict", "mindspore.nn.SequentialCell"})
# Initial values that are the same each time, by the names that MindSpore's initialisers are asked for with.
_CONSTANT_INIT = frozenset(
    {
        "ones",
        "zeros",
        "one",
        "zero",
        "Ones",
        "Zeros",
        "One",
        "Zero",
        "Constant",
        "Identity",
        "Dirac",
        "Tensor",
        "tensor",
    }
)


def is_layer_name(qualified: str) -> bool:
    """Whether a qualified name is a layer of MindSpore: a Cell to be called on Tensors."""
    for prefix in (NN, MINT_NN):
        if qualified.startswith(prefix):
            name = qualified[len(prefix) :]
            return name[:1].isupper() and "." not in name and name not in _NO_LAYERS
    return False


def layer(qualified: str) -> Layer | None:
    """What is known of a layer of MindSpore; None for one that is not in the tables."""
    name = qualified.removeprefix("mindspore.")
    found = _KNOWN.get(name)
    return found or (_PLAIN if name.rpartition(".")[2] in _KNOWN_PLAIN else None)


def weights_of(known: Layer, call: ast.Call) -> list[tuple[str, bool]]:
    """`(name, drawn)` of each parameter that this constructor call makes."""
    arguments: dict[str, ast.expr] = dict(zip(known.order, call.args, strict=False))
    arguments |= {k.arg: k.value for k in call.keywords if k.arg}
    found = []
    for weight in known.weights:
        if weight.switch:
            switch = arguments.get(weight.switch)
            on = bool(switch.value) if isinstance(switch, ast.Constant) else weight.present or switch is not None
            if not on:
                continue
        init = arguments.get(weight.init) if weight.init else None
        found.append((weight.name, weight.drawn if init is None or _is_none(init) else not _is_constant_init(init)))
    return found


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _is_constant_init(node: ast.expr) -> bool:
    if isinstance(node, ast.Constant):
        return not isinstance(node.value, str) or node.value in _CONSTANT_INIT
    if isinstance(node, ast.UnaryOp):
        return _is_constant_init(node.operand)
    if isinstance(node, ast.Call):
        name = (
            node.func.attr
            if isinstance(node.func, ast.Attribute)
            else node.func.id
            if isinstance(node.func, ast.Name)
            else ""
        )
        if name == "initializer" and node.args:
            return _is_constant_init(node.args[0])
        return name in _CONSTANT_INIT and not any(_draws(a) for a in ast.walk(node))
    return False


def _draws(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and node.attr.startswith(("rand", "normal", "uniform"))
