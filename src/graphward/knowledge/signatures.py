"""What calls into MindSpore, Python and NumPy give back, as far as the analysis tells kinds apart.

Source: the public API of the MindSpore 2.7 and 2.10 wheels; the measured behaviour of each construct in Graph Mode
(constants are folded while compiling, see `docs/architecture.md`, "Kinds").
"""

from __future__ import annotations

# Functions and Primitives whose result is a Python value that is known while compiling (static shapes).
SHAPE_FUNCTIONS = frozenset({"mindspore.ops.shape", "mindspore.ops.Shape"})
CONSTANT_FUNCTIONS = frozenset(
    {"mindspore.ops.rank", "mindspore.ops.Rank", "mindspore.ops.size", "mindspore.ops.Size", "mindspore.ops.dtype",
     "mindspore.ops.DType", "mindspore.ops.is_tensor", "mindspore.get_context", "mindspore.ops.isinstance_"}
)  # fmt: skip
TENSOR_CONSTRUCTORS = frozenset(
    {"mindspore.Tensor", "mindspore.tensor", "mindspore.Tensor.from_numpy", "mindspore.from_numpy",
     "mindspore.numpy.array", "mindspore.numpy.asarray"}
)  # fmt: skip
TENSOR_MODULES = ("mindspore.ops.", "mindspore.mint.", "mindspore.numpy.")
CELL_MODULES = ("mindspore.nn.", "mindspore.mint.nn.")
CELL_CONTAINERS = frozenset({"mindspore.nn.CellList", "mindspore.nn.CellDict", "mindspore.mint.nn.ModuleList"})
PARAMETER_CONSTRUCTORS = frozenset({"mindspore.Parameter"})

# Attributes and methods of a Tensor that give a Python value known while compiling.
TENSOR_CONSTANT_ATTRIBUTES = frozenset(
    {"ndim", "dtype", "size", "itemsize", "nbytes", "name", "requires_grad", "has_init"}
)
TENSOR_CONSTANT_METHODS = frozenset({"dim", "ndimension", "numel", "is_floating_point", "is_complex", "is_signed"})
# Methods that hand the values of a Tensor to the host.
TENSOR_HOST_ARRAY_METHODS = frozenset({"asnumpy", "numpy"})
TENSOR_HOST_VALUE_METHODS = frozenset({"item", "tolist"})

# Built-ins whose result does not depend on the values of their arguments.
CONSTANT_BUILTINS = frozenset(
    {"len", "isinstance", "hasattr", "type", "callable", "issubclass", "id", "range", "print"}
)
HOST_SCALAR_BUILTINS = frozenset({"int", "float", "bool", "str", "complex"})

# The dtype that each name of a dtype means, MindSpore's and NumPy's alike.
DTYPES = {
    "float16": "float16", "half": "float16", "float32": "float32", "float": "float32", "single": "float32",
    "float64": "float64", "double": "float64", "bfloat16": "bfloat16", "int8": "int8", "int16": "int16",
    "int32": "int32", "int": "int32", "int64": "int64", "long": "int64", "uint8": "uint8", "uint16": "uint16",
    "uint32": "uint32", "uint64": "uint64", "bool_": "bool", "bool": "bool",
}  # fmt: skip
# Tensor methods that name their result's dtype.
DTYPE_METHODS = {
    "float": "float32", "half": "float16", "double": "float64", "int": "int32", "long": "int64", "bool": "bool",
}  # fmt: skip
FLOAT_DTYPES = frozenset({"float16", "float32", "float64", "bfloat16"})
# Operators that keep the dtype of their first Tensor.
DTYPE_KEEPING = frozenset(
    "abs neg relu relu6 exp log sqrt rsqrt tanh sigmoid sin cos tan erf gelu silu softmax log_softmax square "  # noqa: SIM905
    "reshape transpose swapaxes permute squeeze unsqueeze expand_dims broadcast_to tile flip roll concat cat stack "
    "clamp clip sum mean max min cumsum sort gather select where matmul bmm add sub mul div pow maximum minimum "
    "dropout stop_gradient zeros_like ones_like split chunk unbind flatten narrow index_select layer_norm".split()
)
