"""GW217: layers that are made without a size that they need."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from graphward.analysis.module import ClassInfo
from graphward.analysis.names import statements
from graphward.rules.finding import Consequence, Finding
from graphward.rules.module_context import ModuleContext
from graphward.rules.rule import Rule
from graphward.source.fixes import Fix

from .._python import self_attribute

# The arguments that a layer cannot do without, and which of them says how wide its result is.
_NEEDED = {
    "mindspore.nn.Dense": (("in_channels", "out_channels"), "out_channels"),
    "mindspore.mint.nn.Linear": (("in_features", "out_features"), "out_features"),
    "mindspore.nn.Conv1d": (("in_channels", "out_channels", "kernel_size"), "out_channels"),
    "mindspore.nn.Conv2d": (("in_channels", "out_channels", "kernel_size"), "out_channels"),
    "mindspore.nn.Conv3d": (("in_channels", "out_channels", "kernel_size"), "out_channels"),
    "mindspore.nn.Embedding": (("vocab_size", "embedding_size"), "embedding_size"),
    "mindspore.nn.LSTM": (("input_size", "hidden_size"), ""),
    "mindspore.nn.GRU": (("input_size", "hidden_size"), ""),
}
# Where one argument is the size of the result, and the input's is missing.
_LINEAR = frozenset({"mindspore.nn.Dense", "mindspore.mint.nn.Linear"})
# Layers, functions and methods that keep the last axis.
_KEEPING = frozenset(
    {"relu", "relu6", "leakyrelu", "leaky_relu", "gelu", "silu", "sigmoid", "tanh", "elu", "softmax", "logsoftmax",
     "log_softmax", "dropout", "layernorm", "batchnorm1d", "identity", "hswish", "hardswish", "prelu", "mish"}
)  # fmt: skip
_DEPTH = 12


class MissingSize(Rule):
    """A layer is made without a size that it needs.

    ## What it finds

    `nn.Dense(100)`, `nn.Conv2d(64, 3)`, `nn.LSTM(128)` and their like, with fewer arguments than the layer cannot do
    without.

    ## Why

    Layers of MindSpore do not work out the size of their input when they are first called, as Keras does:

        TypeError: __init__() missing 1 required positional argument: 'out_channels'

    ## Example

        self.hidden = nn.Dense(784, 256)
        self.head = nn.Dense(10)        # head(relu(hidden(x))) in construct

    becomes

        self.hidden = nn.Dense(784, 256)
        self.head = nn.Dense(256, 10)

    ## What the rewrite assumes

    That the one number is the size of the result. That of the input is read off the layer whose result the layer gets:
    the one before in `nn.SequentialCell`, or in `construct`, through activations, Dropout and normalisation.

    ## When it is unsafe

    Always. Where the layer before is not seen (an input of the network, a reshape) it is left to you.

    ## References

    `mindspore.nn.Dense`. Measured on MindSpore 2.7 and 2.10 CPU.
    """

    code = "GW217"
    name = "missing-size"
    consequence = Consequence.ERROR
    triggers = (b"Dense", b"Linear", b"Conv", b"Embedding", b"LSTM", b"GRU")

    def visit_module(self, context: ModuleContext) -> Iterable[Finding]:
        for use in context.uses:
            if use.name not in _NEEDED or use.call is None:
                continue
            call = use.call
            needed, _ = _NEEDED[use.name]
            given = {k.arg for k in call.keywords}
            if None in given or any(isinstance(a, ast.Starred) for a in call.args) or not (call.args or call.keywords):
                continue
            missing = [n for i, n in enumerate(needed) if i >= len(call.args) and n not in given]
            if missing:
                last = use.name.rpartition(".")[2]
                message = f"{last} is made without {' and '.join(missing)}: it works out no sizes by itself"
                yield context.finding(self, call, message, fixes=(_fix(context, use.name, call, missing),))


def _fix(context: ModuleContext, name: str, call: ast.Call, missing: list[str]) -> Fix:
    last = name.rpartition(".")[2]
    title = "Say the size of its input"
    narrow, wide = _NEEDED[name][0][:2]
    alone = missing == ([wide] if len(call.args) == 1 else [narrow]) and len(call.args) < 2
    size = _input_size(context, call) if name in _LINEAR and alone else None
    if size is None:
        return context.rewrite().manual(title, f"give {', '.join(missing)} to {last}: what it gets is not seen here")
    rewrite = context.rewrite()
    if call.args:
        rewrite.insert(context.module.start(call.args[0]), f"{size}, ")
    else:
        rewrite.insert(context.module.start(call.keywords[0]), f"{missing[0]}={size}, ")
    return rewrite.unsafe(title, "it is read off the layer before, and the one number taken for the size of the result")


def _input_size(context: ModuleContext, call: ast.Call) -> str | None:
    """The text of the width of what a layer gets, None where it is not seen."""
    outer = context.parent(call)
    siblings: list[ast.expr] = []
    if isinstance(outer, ast.List):
        siblings = outer.elts
        outer = context.parent(outer)
    elif isinstance(outer, ast.Call):
        siblings = outer.args
    if isinstance(outer, ast.Call) and (_layer(context, outer) or "").endswith(".SequentialCell") and call in siblings:
        for before in reversed(siblings[: siblings.index(call)]):
            if not isinstance(before, ast.Call):
                return None
            made = _layer(context, before) or ""
            if made.rpartition(".")[2].lower() not in _KEEPING:
                return _width_of_layer(context, before)
        return None
    if isinstance(outer, ast.Assign) and len(outer.targets) == 1 and isinstance(outer.targets[0], ast.Attribute):
        function = context.function_at(call)
        owner = function.owner if function is not None else None
        return _by_construct(context, owner, outer.targets[0].attr) if owner is not None else None
    return None


def _layer(context: ModuleContext, call: ast.Call) -> str | None:
    head = call.func
    while isinstance(head, ast.Attribute):
        head = head.value
    return context.names_at(call, head.id).resolve(call.func) if isinstance(head, ast.Name) else None


def _width_of_layer(context: ModuleContext, call: ast.Call) -> str | None:
    """The text of the argument that says how wide the result of a layer is, if it is the same all over `__init__`."""
    name = _layer(context, call)
    if name not in _NEEDED or not _NEEDED[name][1] or name.startswith("mindspore.nn.Conv"):
        return None
    needed, wanted = _NEEDED[name]
    given = dict(zip(needed, call.args, strict=False)) | {k.arg: k.value for k in call.keywords if k.arg}
    width = given.get(wanted)
    if width is None:
        # One number alone is the size of the result here too.
        width = call.args[0] if name in _LINEAR and len(call.args) == 1 else None
    return context.text(width) if isinstance(width, (ast.Constant, ast.Name, ast.Attribute)) else None


def _by_construct(context: ModuleContext, owner: ClassInfo, attribute: str) -> str | None:
    """The width of what `construct` hands to a layer."""
    construct = owner.methods.get("construct")
    if construct is None or construct.receiver is None:
        return None
    receiver = construct.receiver
    calls = [n for n in construct.nodes if isinstance(n, ast.Call) and self_attribute(n.func, receiver) == attribute]
    if len(calls) != 1 or len(calls[0].args) != 1:
        return None
    init = owner.methods.get("__init__")
    made = dict(init.self_assignments) if init is not None else {}
    argument: ast.expr = calls[0].args[0]
    before = construct.node.body
    for _ in range(_DEPTH):
        if isinstance(argument, ast.Name):
            found = _last_value(before, argument)
            if found is None:
                return None
            argument = found
        if not isinstance(argument, ast.Call):
            return None
        own = self_attribute(argument.func, construct.receiver)
        called = made.get(own) if own else None
        if isinstance(called, ast.Call):
            width = _width_of_layer(context, called)
            if width is not None:
                return width
            kept = (_layer(context, called) or "").rpartition(".")[2]
        else:
            kept = argument.func.attr if isinstance(argument.func, ast.Attribute) else ""
        if kept.lower() not in _KEEPING or not argument.args:
            return None
        argument = argument.args[0]
    return None


def _last_value(body: list[ast.stmt], name: ast.Name) -> ast.expr | None:
    """The value that the last plain assignment before a read gives a variable, without branches on the way."""
    found: ast.expr | None = None
    for statement in statements(body):
        if statement.lineno >= name.lineno:
            break
        bound = {n.id for n in ast.walk(statement) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)}
        if name.id in bound:
            plain = isinstance(statement, ast.Assign) and len(statement.targets) == 1
            found = statement.value if plain and statement in body else None  # type: ignore[attr-defined]
    return found
