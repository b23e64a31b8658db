"""What a definition is for, by what it builds on, what it calls and what it is called."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass

from ..analysis.module import ClassInfo, FunctionInfo, Module
from ..analysis.names import dotted
from ..analysis.project import Project
from .items import Item, Kind
from .roles import Role

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_HEAD = frozenset({"head", "heads"})
_ATTENTION = frozenset({"attention", "attn", "multi", "talking"})
# Of a Cell that builds on others of the file this may be the whole network as well.
_OUTPUT = frozenset({"classifier", "predictor"})
_LOSS = frozenset({"loss", "losses", "criterion"})
_DATA = frozenset({"dataset", "datasets", "dataloader", "loader", "collate", "augment", "augmentation", "sampler",
                   "tokenizer", "tokenize", "batches", "data"})  # fmt: skip
_TRAIN = frozenset({"train", "trainer", "training", "evaluate", "eval", "validate", "main", "fit", "finetune"})
_STEPS = frozenset({"TrainOneStepCell", "TrainOneStepWithLossScaleCell", "DistributedGradReducer", "Optimizer",
                    "LearningRateSchedule", "Callback", "Metric", "LossMonitor"})  # fmt: skip
_TRAINING = frozenset({"value_and_grad", "Model", "TrainOneStepCell", "save_checkpoint", "ArgumentParser",
                       "TrainOneStepWithLossScaleCell", "LossMonitor", "ModelCheckpoint"})  # fmt: skip
_OPTIMIZERS = frozenset({"Adam", "AdamWeightDecay", "SGD", "Momentum", "RMSProp", "Lamb", "LARS", "Adagrad"})
_WRAPPERS = frozenset({"WithLossCell", "WithEvalCell", "WithGradCell"})
# What a Cell is given that puts whole parts together, not the layers of a block.
_GIVEN = frozenset({"net", "network", "backbone", "model", "loss", "criterion", "head"})
_WHOLE = frozenset({"net", "network", "model", "with"})
_WEIGHTS = frozenset({"Dense", "Linear", "Embedding", "LSTM", "GRU", "RNN", "MultiheadAttention", "Conv1d", "Conv2d",
                      "Conv3d", "Conv2dTranspose"})  # fmt: skip
_DENSE = frozenset({"Cell", "Dense", "Dropout", "LayerNorm", "Tanh", "ReLU", "GELU", "Sigmoid", "Softmax", "LogSoftmax",
                    "SequentialCell", "Flatten", "Identity"})  # fmt: skip
# What a decorator or a registry does with it depends on where a definition stands.
_PLACE = re.compile(rb"__module__|sys\.modules|getmodule|currentframe|stack\(\)|f_globals")


@dataclass(frozen=True)
class Evidence:
    """`role` is None where nothing speaks for any. `cell`: it is a Cell, or what makes one."""

    role: Role | None
    why: str = ""
    cell: bool = False


class Judge:
    """Judges the definitions of one file."""

    def __init__(self, project: Project, module: Module):
        self._project, self._module = project, module
        self._outputs = dict(self._find_outputs())

    def judge(self, item: Item) -> Evidence:
        """What speaks for a role of an item."""
        if item.kind is Kind.MAIN:
            return Evidence(Role.TRAIN, "it is the script's own block")
        if item.kind is not Kind.DEFINITION:
            return self._of_statement(item)
        info = self._module.definitions.get(item.name)
        names = self._names(item.nodes[0])
        if isinstance(info, ClassInfo):
            if self._project.is_cell(info):
                return self._of_cell(info, names)
            return self._of_class(info, names)
        return self._of_function(item, info, names)

    def stays(self, item: Item) -> str:
        """Why a definition cannot leave its module: a decorator of the project looks where it stands."""
        for decorator in getattr(item.nodes[0], "decorator_list", ()):
            callee = decorator.func if isinstance(decorator, ast.Call) else decorator
            name = dotted(callee) or ""
            qualified = self._module.names.qualify(name) or f"{self._module.name}.{name}"
            found = self._project.definition(qualified)
            node = found.node if found is not None else None
            if found is None or node is None:
                continue
            source = found.module.source
            first, last = source.offset(node.lineno, 0), source.offset(node.end_lineno or node.lineno, 0)
            if _PLACE.search(source.utf8[first : last + len(source.line_bytes(node.end_lineno or node.lineno))]):
                return f"its decorator {name} looks at the module that it stands in"
        return ""

    def _of_statement(self, item: Item) -> Evidence:
        made = [name for node in item.nodes for name in self._made(node)]
        if made:
            return Evidence(Role.TRAIN, f"it makes {made[0]} when the file is imported")
        names = {name for node in item.nodes for name in self._names(node)}
        if any(name.startswith("mindspore.dataset") for name in names):
            return Evidence(Role.DATA, "it uses mindspore.dataset")
        used = sorted({_last(name) for name in names} & _TRAINING)
        return Evidence(Role.TRAIN, f"it uses {used[0]}") if used else Evidence(None)

    def _of_cell(self, info: ClassInfo, names: set[str]) -> Evidence:
        words, bases = words_of(info.name), self._bases(info)
        step = sorted(bases & _STEPS)
        if step:
            return Evidence(Role.TRAIN, f"it is a {step[0]}", cell=True)
        if "mindspore.value_and_grad" in names or "mindspore.ops.GradOperation" in names:
            return Evidence(Role.TRAIN, "it takes gradients", cell=True)
        injected = self._injected(info)
        given = {word for name in injected for word in words_of(name)} & _GIVEN
        if bases & _WRAPPERS or (given and len(injected) > 1):
            what = " and ".join(injected[:2]) or "a network and a loss"
            return Evidence(Role.NETWORK, f"it calls {what}, which it is given", cell=True)
        layers = {_last(n) for n in names if n.startswith(("mindspore.nn.", "mindspore.mint.nn."))}
        losses = sorted(_last(n) for n in names if _is_loss(n))
        if not injected and not layers & _WEIGHTS and not words & _WHOLE:
            if words & _LOSS or any(_is_loss(b) for b in bases):
                return Evidence(Role.LOSS, "a Cell without weights, called a loss", cell=True)
            if losses and not self._made(info.node):
                return Evidence(Role.LOSS, f"a Cell without weights that computes {losses[0]}", cell=True)
        if words & _LOSS and (injected or words & _WHOLE):
            held = [*injected, *self._made(info.node), "a network"]
            return Evidence(Role.NETWORK, f"it puts {held[0]} and a loss together", cell=True)
        if "for" in words and self._made(info.node):
            return Evidence(Role.NETWORK, "a model for a task, by its name", cell=True)
        if (words & _HEAD and not words & _ATTENTION) or (words & _OUTPUT and not self._made(info.node)):
            return Evidence(Role.HEAD, "a Cell that is called a head", cell=True)
        if info.name in self._outputs:
            return Evidence(Role.HEAD, self._outputs[info.name], cell=True)
        mixed = f"a Cell; it computes its loss ({losses[0]}) itself, and a class is not torn apart" if losses else ""
        return Evidence(None, mixed, cell=True)

    def _of_class(self, info: ClassInfo, names: set[str]) -> Evidence:
        bases = self._bases(info)
        step = sorted(bases & _STEPS)
        if step:
            return Evidence(Role.TRAIN, f"it is a {step[0]}")
        if any(name.startswith("mindspore.dataset") for name in names):
            return Evidence(Role.DATA, "it uses mindspore.dataset")
        if {"__getitem__", "__len__"} <= info.methods.keys() or {"__iter__", "__next__"} <= info.methods.keys():
            return Evidence(Role.DATA, "it gives samples by number" if "__getitem__" in info.methods else "it iterates")
        words = words_of(info.name)
        if words & (_DATA - {"data"}):
            return Evidence(Role.DATA, "its name says data")
        return Evidence(Role.TRAIN, "its name says training") if "trainer" in words else Evidence(None)

    def _of_function(self, item: Item, info: FunctionInfo | None, names: set[str]) -> Evidence:
        words = words_of(item.name)
        used = sorted({_last(name) for name in names} & (_TRAINING | _OPTIMIZERS))
        if used:
            return Evidence(Role.TRAIN, f"it uses {used[0]}")
        if words & _TRAIN:
            return Evidence(Role.TRAIN, "its name says training")
        if any(name.startswith("mindspore.dataset") for name in names):
            return Evidence(Role.DATA, "it uses mindspore.dataset")
        if words & _LOSS and not self._made(item.nodes[0]):
            return Evidence(Role.LOSS, "a function that is called a loss")
        losses = sorted(_last(n) for n in names if _is_loss(n))
        if losses and info is not None and not self._made(item.nodes[0]):
            return Evidence(Role.LOSS, f"it computes {losses[0]}")
        tensors = any(name.startswith(("mindspore.ops", "mindspore.nn", "mindspore.mint")) for name in names)
        return Evidence(Role.DATA, "its name says data") if words & _DATA and not tensors else Evidence(None)

    def _names(self, node: ast.AST) -> set[str]:
        found = set()
        for inner in ast.walk(node):
            if isinstance(inner, (ast.Name, ast.Attribute)) and dotted(inner):
                name = self._module.names.resolve(inner)
                if name:
                    found.add(name)
        return found

    def _bases(self, info: ClassInfo) -> set[str]:
        known = self._project.mro(info)
        return {_last(b) for c in known for b in self._project.bases(c) if isinstance(b, str)}

    def _made(self, node: ast.AST) -> list[str]:
        """The Cells of the file that an expression makes, functions in it left out."""
        return [
            n.func.id for n in ast.walk(node)
            if isinstance(n, ast.Call) and isinstance(n.func, ast.Name) and self._is_cell(n.func.id)
        ]  # fmt: skip

    def _is_cell(self, name: str) -> bool:
        info = self._module.definitions.get(name)
        return isinstance(info, ClassInfo) and bool(self._project.is_cell(info))

    def _injected(self, info: ClassInfo) -> list[str]:
        """The attributes that hold what the constructor was given, and that `construct` calls."""
        construct, init = info.methods.get("construct"), info.methods.get("__init__")
        if construct is None or init is None:
            return []
        given = {
            name for name, value in init.self_assignments
            if isinstance(value, ast.Name) and init.names.is_local(value.id)
        }  # fmt: skip
        called = [
            c.func.attr for c in construct.calls.values()
            if isinstance(c.func, ast.Attribute) and isinstance(c.func.value, ast.Name)
            and c.func.value.id == construct.receiver
        ]  # fmt: skip
        return [name for name in dict.fromkeys(called) if name in given]

    def _find_outputs(self) -> dict[str, str]:
        """Cells of dense layers that another Cell calls last, after other parts: heads, whatever they are called."""
        found: dict[str, str] = {}
        uses: dict[str, set[str]] = {}
        blocks = {name for info in self._module.classes for name in self._made(info.node) if name != info.name}
        for info in self._module.classes:
            construct = info.methods.get("construct")
            if construct is None:
                continue
            order: list[ClassInfo] = []
            # In the order in which they are made: `self.head(self.encoder(x))` ends with the head.
            for call in sorted(construct.calls.values(), key=lambda c: (c.end_lineno or 0, c.end_col_offset or 0)):
                func = call.func
                if isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name) and func.value.id == "self":
                    held = self._project.attribute_classes(info, func.attr)
                    here = (c for c in held if c.module is self._module and c is not info)
                    order += [c for c in here if not self._called_loss(c)]
            for cell in order:
                uses.setdefault(cell.name, set()).add(info.name)
            cells = list(dict.fromkeys(sorted(order, key=order.index)))
            last = order[-1] if order else None
            if last is None or info.name in blocks or len(cells) < 2 or order.count(last) > 1:
                continue
            if self._dense_only(last):
                found[last.name] = f"a Cell of dense layers, called last in {info.name}"
        return {name: why for name, why in found.items() if len(uses[name]) == 1}

    def _called_loss(self, info: ClassInfo) -> bool:
        return bool(words_of(info.name) & _LOSS) or any(map(_is_loss, self._bases(info)))

    def _dense_only(self, info: ClassInfo) -> bool:
        layers = {_last(n) for n in self._names(info.node) if n.startswith(("mindspore.nn.", "mindspore.mint.nn."))}
        return bool(layers & {"Dense", "Linear"}) and layers <= _DENSE | {"Linear"} and not self._made(info.node)


def words_of(name: str) -> set[str]:
    """The words of a name in either style, in lower case."""
    return {word.lower() for word in _WORD.findall(name)}


def _is_loss(name: str) -> bool:
    last = _last(name)
    of_mindspore = name.startswith("mindspore.") or "." not in name
    return of_mindspore and (last.endswith(("Loss", "_loss", "cross_entropy", "CrossEntropy", "_with_logits",
                                           "WithLogits", "LossBase", "CrossEntropyWithLogits")))  # fmt: skip


def _last(name: str) -> str:
    return name.rpartition(".")[2]
