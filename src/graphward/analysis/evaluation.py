"""The kind of an expression, from the kinds of its parts."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING

from ..knowledge import signatures as known
from .kinds import CONSTANT, UNKNOWN, Kind, Tag, join, join_all, literal
from .module import ClassInfo, FunctionInfo
from .names import dotted

if TYPE_CHECKING:
    from .inference import Inference

Environment = dict[str, Kind]


class Evaluator:
    """Evaluates the expressions of one function and records the kind of each node."""

    def __init__(self, inference: Inference, function: FunctionInfo, record: dict[ast.AST, Kind]):
        self.inference = inference
        self.project = inference.project
        self.function = function
        self.record = record
        self.receiver = function.receiver
        reached = inference.reached.get(function)
        self.cell = reached.cell if reached and reached.cell else _owner(function)
        self._methods: dict[type[ast.expr], Callable[..., Kind]] = {
            ast.Constant: self._constant, ast.Name: self._name, ast.Attribute: self._attribute, ast.Call: self._call,
            ast.BinOp: self._binop, ast.UnaryOp: self._unary, ast.Compare: self._compare, ast.BoolOp: self._boolop,
            ast.IfExp: self._ifexp, ast.Subscript: self._subscript, ast.Tuple: self._sequence,
            ast.List: self._sequence, ast.Set: self._sequence, ast.Dict: self._dict, ast.ListComp: self._comprehension,
            ast.GeneratorExp: self._comprehension, ast.SetComp: self._comprehension, ast.DictComp: self._dictcomp,
            ast.Lambda: self._lambda, ast.NamedExpr: self._walrus, ast.Starred: self._starred,
        }  # fmt: skip

    def evaluate(self, node: ast.expr, env: Environment) -> Kind:
        method = self._methods.get(type(node))
        kind = method(node, env) if method else self._other(node, env)
        self.record[node] = kind
        return kind

    # Parts and elements

    def part(self, kind: Kind) -> Kind:
        """What unpacking or indexing with an unknown index gives."""
        if kind.elements:
            return join_all(list(kind.elements))
        if kind.is_tensor:
            return Kind(Tag.TENSOR, kind.variable, kind.certain, kind.dtype, evidence=kind.evidence)
        if kind.tag is Tag.NDARRAY:
            return Kind(Tag.NDARRAY, kind.variable, kind.certain, kind.dtype, evidence=kind.evidence)
        if kind.tag is Tag.SHAPE:
            return Kind(Tag.CONSTANT, evidence=kind.evidence)
        if kind.tag is Tag.CELLS:
            return Kind(Tag.CELL, evidence=kind.evidence)
        if kind.tag in (Tag.SEQUENCE, Tag.DICT) and kind.variable:
            return Kind(Tag.TENSOR, True, False, evidence=kind.evidence or "an element of a container of Tensors")
        return Kind(Tag.UNKNOWN, kind.variable, False, evidence=kind.evidence)

    def element(self, kind: Kind, node: ast.expr, env: Environment) -> Kind:
        """What iterating over `node`, whose kind is `kind`, gives."""
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.args:
            inner = [self.record.get(a, UNKNOWN) for a in node.args]
            if node.func.id == "enumerate":
                pair = (CONSTANT, self.element(inner[0], node.args[0], env))
                return Kind(Tag.SEQUENCE, inner[0].variable, elements=pair)
            if node.func.id == "zip":
                parts = tuple(self.element(k, a, env) for k, a in zip(inner, node.args, strict=True))
                return Kind(Tag.SEQUENCE, any(p.variable for p in parts), elements=parts)
            if node.func.id == "range":
                return CONSTANT
        return self.part(kind)

    def binary(self, left: Kind, right: Kind) -> Kind:
        """The kind of an arithmetic result."""
        variable = left.variable or right.variable
        certain = left.certain and right.certain
        evidence = (left if left.variable else right).evidence
        for one, other in ((left, right), (right, left)):
            if one.is_tensor:
                dtype = one.dtype if other.dtype in (None, one.dtype) and not other.variable else None
                if other.is_tensor and one.dtype == other.dtype:
                    dtype = one.dtype
                return Kind(Tag.TENSOR, variable, one.certain, dtype, evidence=evidence)
        for one in (left, right):
            if one.tag is Tag.NDARRAY:
                return Kind(Tag.NDARRAY, variable, certain, one.dtype, evidence=evidence)
        for one in (left, right):
            if one.tag is Tag.SCALAR:
                return Kind(Tag.SCALAR, variable, certain, evidence=evidence)
        if left.tag is right.tag and left.tag in (Tag.CONSTANT, Tag.SHAPE, Tag.SEQUENCE):
            elements = (*left.elements, *right.elements) if left.elements and right.elements else None
            return Kind(left.tag, variable, certain, elements=elements, evidence=evidence)
        if variable:
            return Kind(Tag.UNKNOWN, True, False, evidence=evidence)
        return Kind(Tag.CONSTANT, False, certain, evidence=evidence)

    # Expressions

    def _constant(self, node: ast.Constant, env: Environment) -> Kind:
        return literal(node.value)

    def _name(self, node: ast.Name, env: Environment) -> Kind:
        if node.id in env:
            return env[node.id]
        qualified = self.function.names.lookup(node.id)
        if qualified is not None:
            return self._imported(qualified)
        found = self.project.visible(self.function, node.id)
        if isinstance(found, FunctionInfo):
            return Kind(Tag.FUNCTION, name=found.qualname)
        if isinstance(found, ClassInfo):
            return Kind(Tag.OBJECT, name=found.qualname)
        if self.function.names.is_local(node.id):
            return UNKNOWN
        return self.inference.global_name(self.function.module, node.id)

    def _imported(self, qualified: str) -> Kind:
        owner, _, name = qualified.rpartition(".")
        module = self.project.module(owner) if owner and not qualified.startswith(("mindspore.", "numpy.")) else None
        if module is not None and name in module.assignments:
            return self.inference.global_name(module, name)
        if qualified.startswith(("mindspore.", "numpy.")) and name in known.DTYPES:
            return Kind(Tag.CONSTANT, value=known.DTYPES[name], name=qualified)
        return Kind(Tag.OBJECT, name=qualified)

    def _attribute(self, node: ast.Attribute, env: Environment) -> Kind:
        value = node.value
        if isinstance(value, ast.Name) and value.id == self.receiver and self.cell is not None:
            self.record[value] = Kind(Tag.CELL, name=self.cell.qualname)
            if node.attr == "training":
                return CONSTANT
            return self.inference.attribute(self.cell, node.attr)
        name = dotted(node)
        qualified = self.function.names.qualify(name) if name and name.split(".")[0] not in env else None
        if qualified is not None:
            if qualified in ("numpy.pi", "numpy.e", "numpy.inf", "numpy.nan", "numpy.newaxis", "math.pi"):
                return CONSTANT
            return self._imported(qualified)
        base = self.evaluate(value, env)
        return self._attribute_of(base, node.attr)

    def _attribute_of(self, base: Kind, name: str) -> Kind:
        if base.is_tensor or base.tag is Tag.NDARRAY:
            if name == "shape":
                return Kind(Tag.SHAPE, evidence="a shape is known while compiling")
            if name in known.TENSOR_CONSTANT_ATTRIBUTES:
                return CONSTANT
            # `.T`, `.real`, `.data` keep the kind; a method waits for its call.
            return Kind(base.tag, base.variable, base.certain, base.dtype, evidence=base.evidence)
        if base.tag in (Tag.CELL, Tag.CELLS):
            return Kind(Tag.UNKNOWN, False, False, evidence=base.evidence)
        return Kind(Tag.UNKNOWN, base.variable, False, evidence=base.evidence)

    def _binop(self, node: ast.BinOp, env: Environment) -> Kind:
        left, right = self.evaluate(node.left, env), self.evaluate(node.right, env)
        if isinstance(node.op, ast.Mult):
            for one, other in ((left, right), (right, left)):
                if one.tag is Tag.SEQUENCE and other.tag is Tag.CONSTANT:
                    return Kind(Tag.SEQUENCE, one.variable, one.certain, evidence=one.evidence,
                                elements=one.elements and (join_all(list(one.elements)),))  # fmt: skip
        return self.binary(left, right)

    def _unary(self, node: ast.UnaryOp, env: Environment) -> Kind:
        operand = self.evaluate(node.operand, env)
        if isinstance(node.op, ast.Not):
            return Kind(Tag.TENSOR if operand.is_tensor else operand.tag, operand.variable, operand.certain, "bool")
        if isinstance(node.op, ast.USub) and isinstance(operand.value, (int, float)):
            return literal(-operand.value)
        return operand

    def _compare(self, node: ast.Compare, env: Environment) -> Kind:
        kinds = [self.evaluate(e, env) for e in (node.left, *node.comparators)]
        if all(isinstance(op, (ast.Is, ast.IsNot)) for op in node.ops):
            return CONSTANT
        result = kinds[0]
        for kind in kinds[1:]:
            result = self.binary(result, kind)
        if result.is_tensor or result.tag is Tag.NDARRAY:
            return Kind(result.tag, result.variable, result.certain, "bool", evidence=result.evidence)
        tag = Tag.SCALAR if result.variable else Tag.CONSTANT
        return Kind(tag, result.variable, result.certain, evidence=result.evidence)

    def _boolop(self, node: ast.BoolOp, env: Environment) -> Kind:
        return join_all([self.evaluate(v, env) for v in node.values])

    def _ifexp(self, node: ast.IfExp, env: Environment) -> Kind:
        self.evaluate(node.test, env)
        return join(self.evaluate(node.body, env), self.evaluate(node.orelse, env))

    def _subscript(self, node: ast.Subscript, env: Environment) -> Kind:
        base, index = self.evaluate(node.value, env), self.evaluate(node.slice, env)
        if base.tag is Tag.SHAPE and isinstance(node.slice, ast.Slice):
            return base
        if base.tag is Tag.SEQUENCE and isinstance(node.slice, ast.Slice):
            return Kind(Tag.SEQUENCE, base.variable, base.certain, evidence=base.evidence,
                        elements=base.elements and (join_all(list(base.elements)),))  # fmt: skip
        if base.elements and isinstance(index.value, int) and -len(base.elements) <= index.value < len(base.elements):
            return base.elements[index.value]
        return self.part(base)

    def _sequence(self, node: ast.Tuple | ast.List | ast.Set, env: Environment) -> Kind:
        kinds = tuple(self.evaluate(e, env) for e in node.elts)
        evidence = next((k.evidence for k in kinds if k.variable), "")
        starred = any(isinstance(e, ast.Starred) for e in node.elts)
        return Kind(Tag.SEQUENCE, any(k.variable for k in kinds), all(k.certain for k in kinds),
                    elements=None if starred else kinds, evidence=evidence)  # fmt: skip

    def _dict(self, node: ast.Dict, env: Environment) -> Kind:
        kinds = [self.evaluate(e, env) for e in (*filter(None, node.keys), *node.values)]
        return Kind(Tag.DICT, any(k.variable for k in kinds))

    def _comprehension(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp, env: Environment) -> Kind:
        inner = self._generators(node.generators, env)
        element = self.evaluate(node.elt, inner)
        return Kind(Tag.SEQUENCE, element.variable, element.certain, elements=(element,), evidence=element.evidence)

    def _dictcomp(self, node: ast.DictComp, env: Environment) -> Kind:
        inner = self._generators(node.generators, env)
        key, value = self.evaluate(node.key, inner), self.evaluate(node.value, inner)
        return Kind(Tag.DICT, key.variable or value.variable)

    def _generators(self, generators: list[ast.comprehension], env: Environment) -> Environment:
        inner = dict(env)
        for generator in generators:
            element = self.element(self.evaluate(generator.iter, inner), generator.iter, inner)
            self._bind(generator.target, element, inner)
            for condition in generator.ifs:
                self.evaluate(condition, inner)
        return inner

    def _bind(self, target: ast.expr, kind: Kind, env: Environment) -> None:
        self.record[target] = kind
        if isinstance(target, ast.Name):
            env[target.id] = kind
        elif isinstance(target, (ast.Tuple, ast.List)):
            for i, item in enumerate(target.elts):
                parts = kind.elements
                self._bind(item, parts[i] if parts and i < len(parts) else self.part(kind), env)

    def _lambda(self, node: ast.Lambda, env: Environment) -> Kind:
        parameters = {a.arg: Kind(Tag.UNKNOWN, False, False) for a in node.args.args}
        self.evaluate(node.body, {**env, **parameters})
        return Kind(Tag.FUNCTION)

    def _walrus(self, node: ast.NamedExpr, env: Environment) -> Kind:
        kind = self.evaluate(node.value, env)
        env[node.target.id] = kind
        return kind

    def _starred(self, node: ast.Starred, env: Environment) -> Kind:
        return self.part(self.evaluate(node.value, env))

    def _other(self, node: ast.expr, env: Environment) -> Kind:
        kinds = [self.evaluate(c, env) for c in ast.iter_child_nodes(node) if isinstance(c, ast.expr)]
        if isinstance(node, (ast.JoinedStr, ast.FormattedValue)):
            return CONSTANT
        return Kind(Tag.UNKNOWN, any(k.variable for k in kinds), False)

    # Calls

    def _call(self, node: ast.Call, env: Environment) -> Kind:
        arguments = [self.evaluate(a, env) for a in node.args]
        arguments += [self.evaluate(k.value, env) for k in node.keywords]
        traced = next((a for a in arguments if a.variable), None)
        variable, evidence = traced is not None, traced.evidence if traced else ""
        name = dotted(node.func)
        hidden = name is not None and name.split(".")[0] in env
        qualified = self.function.names.qualify(name) if name and not hidden else None
        if qualified is not None:
            self.record[node.func] = Kind(Tag.OBJECT, name=qualified)
            outside = self._outside_call(qualified, node, arguments, variable, evidence)
            if outside is not None:
                return outside
            return self._project_call(self.project.definition(qualified), variable, evidence)
        if name is not None and "." not in name and not hidden:
            found = self.project.visible(self.function, name)
            if found is not None:
                return self._project_call(found, variable, evidence)
            return self._builtin_call(name, arguments, variable, evidence)
        if isinstance(node.func, ast.Attribute):
            method = self._own_method(node.func)
            if method is not None:
                self.record[node.func] = Kind(Tag.FUNCTION, name=method.qualname)
                return self._project_call(method, variable, evidence)
            base = self.evaluate(node.func.value, env)
            if not (base.tag in (Tag.CELL, Tag.OBJECT) or base.tag is Tag.UNKNOWN):
                self.record[node.func] = Kind(Tag.FUNCTION)
                return self._method_call(base, node, arguments, env)
        callee = self.evaluate(node.func, env)
        return self._value_call(callee, variable, evidence, arguments)

    def _own_method(self, func: ast.Attribute) -> FunctionInfo | None:
        if not isinstance(func.value, ast.Name) or func.value.id != self.receiver or self.cell is None:
            return None
        return self.project.method(self.cell, func.attr)

    def _outside_call(
        self, name: str, node: ast.Call, arguments: list[Kind], variable: bool, evidence: str
    ) -> Kind | None:
        last = name.rpartition(".")[2]
        if name in known.TENSOR_CONSTRUCTORS:
            dtype = self._dtype_argument(node, arguments)
            if dtype is None and arguments and (arguments[0].is_tensor or arguments[0].tag is Tag.NDARRAY):
                dtype = arguments[0].dtype
            return Kind(Tag.TENSOR, variable, True, dtype, evidence=evidence or f"{last}(...) makes a Tensor")
        if name in known.PARAMETER_CONSTRUCTORS:
            dtype = arguments[0].dtype if arguments else None
            return Kind(Tag.PARAMETER, True, True, dtype, evidence="a Parameter")
        if name in known.SHAPE_FUNCTIONS and last[0].islower():
            return Kind(Tag.SHAPE)
        if name in known.CONSTANT_FUNCTIONS and last[0].islower():
            return CONSTANT
        if name.startswith(known.CELL_MODULES) and last[:1].isupper():
            tag = Tag.CELLS if name in known.CELL_CONTAINERS else Tag.CELL
            return Kind(tag, name=name, evidence=f"{last}(...) makes a {tag.value}")
        if name.startswith(known.TENSOR_MODULES) and "." not in name[name.index(".") + 1 :].partition(".")[2]:
            if last[:1].isupper():
                return Kind(Tag.PRIMITIVE, name=name, evidence=f"{last}(...) makes a Primitive")
            dtype = self._dtype_argument(node, arguments)
            if dtype is None and last in known.DTYPE_KEEPING and arguments:
                dtype = next((a.dtype for a in arguments if a.dtype), None)
            return Kind(Tag.TENSOR, variable, True, dtype, evidence=evidence or f"{last}(...) gives a Tensor")
        if name.startswith("numpy."):
            if last in known.DTYPES and not variable:
                return CONSTANT
            dtype = self._dtype_argument(node, arguments)
            if dtype is None and variable:
                dtype = next((a.dtype for a in arguments if a.dtype in known.FLOAT_DTYPES), None)
            tag = Tag.SCALAR if last in known.DTYPES else Tag.NDARRAY
            return Kind(tag, variable, all(a.certain for a in arguments if a.variable), dtype,
                        evidence=evidence or f"numpy.{last} gives a NumPy array")  # fmt: skip
        if name.startswith(("math.", "scipy.")):
            return Kind(Tag.SCALAR if variable else Tag.CONSTANT, variable, evidence=evidence)
        if name.startswith("mindspore."):
            return Kind(Tag.UNKNOWN, variable, False, evidence=evidence)
        return None

    def _dtype_argument(self, node: ast.Call, arguments: list[Kind]) -> str | None:
        for keyword in node.keywords:
            if keyword.arg == "dtype":
                value = self.record.get(keyword.value, UNKNOWN).value
                return value if isinstance(value, str) and value in known.DTYPES.values() else None
        found = [k.value for k in arguments if k.name and isinstance(k.value, str)]
        return str(found[-1]) if found and found[-1] in known.DTYPES.values() else None

    def _project_call(self, found: FunctionInfo | ClassInfo | None, variable: bool, evidence: str) -> Kind:
        if isinstance(found, FunctionInfo):
            kind = self.inference.function(found).returns
            if kind.tag is Tag.UNKNOWN and not kind.variable:
                kind = Kind(Tag.UNKNOWN, variable, False, evidence=evidence)
            elif kind.variable:
                kind = kind.because(f"{found.name}(...) returns a {kind.tag.value}")
            return kind
        if isinstance(found, ClassInfo):
            if self.project.is_cell(found):
                return Kind(Tag.CELL, name=found.qualname, evidence=f"{found.name} is a Cell")
            return Kind(Tag.OBJECT, variable, name=found.qualname, evidence=evidence)
        return Kind(Tag.UNKNOWN, variable, False, evidence=evidence)

    def _builtin_call(self, name: str, arguments: list[Kind], variable: bool, evidence: str) -> Kind:
        if name in known.CONSTANT_BUILTINS:
            return CONSTANT
        if name in known.HOST_SCALAR_BUILTINS:
            return Kind(Tag.SCALAR if variable else Tag.CONSTANT, variable, evidence=evidence)
        if name in ("tuple", "list", "sorted", "reversed", "zip", "enumerate", "map", "filter", "set"):
            first = arguments[-1] if arguments else CONSTANT
            if name in ("tuple", "list", "sorted", "reversed") and first.tag is Tag.SHAPE:
                return first
            elements = first.elements if name in ("tuple", "list") else None
            return Kind(Tag.SEQUENCE, variable, first.certain, elements=elements, evidence=evidence)
        if name in ("abs", "sum", "max", "min", "pow", "round", "divmod"):
            parts = [self.part(a) if a.tag in (Tag.SEQUENCE,) else a for a in arguments]
            result = parts[0] if parts else CONSTANT
            for part in parts[1:]:
                result = self.binary(result, part)
            return result
        if name == "dict":
            return Kind(Tag.DICT, variable, evidence=evidence)
        return Kind(Tag.UNKNOWN, variable, False, evidence=evidence)

    def _method_call(self, base: Kind, node: ast.Call, arguments: list[Kind], env: Environment) -> Kind:
        name = node.func.attr  # type: ignore[attr-defined]
        variable = base.variable or any(a.variable for a in arguments)
        if base.is_tensor:
            if name in known.TENSOR_HOST_ARRAY_METHODS:
                return Kind(Tag.NDARRAY, base.variable, True, base.dtype, base.rank,
                            evidence=f".{name}() hands the Tensor to the host")  # fmt: skip
            if name in known.TENSOR_HOST_VALUE_METHODS:
                tag = Tag.SCALAR if name == "item" else Tag.SEQUENCE
                return Kind(tag, base.variable, evidence=f".{name}() hands the Tensor to the host")
            if name in known.TENSOR_CONSTANT_METHODS:
                return CONSTANT
            dtype = known.DTYPE_METHODS.get(name) or self._dtype_argument(node, arguments)
            if dtype is None and name in known.DTYPE_KEEPING:
                dtype = base.dtype
            return Kind(Tag.TENSOR, variable, base.certain, dtype, evidence=base.evidence)
        if base.tag is Tag.NDARRAY:
            dtype = self._dtype_argument(node, arguments) if name == "astype" else base.dtype
            tag = Tag.SCALAR if name in ("item", "tolist") else Tag.NDARRAY
            return Kind(tag, variable, base.certain, dtype, evidence=base.evidence)
        if base.tag is Tag.DICT and name in ("get", "pop", "setdefault"):
            return self.part(base)
        if base.tag is Tag.DICT and name in ("values", "keys", "items"):
            return Kind(Tag.SEQUENCE, base.variable, False, evidence=base.evidence)
        if base.tag is Tag.SEQUENCE and name in ("pop",):
            return self.part(base)
        if base.tag is Tag.SEQUENCE and name in ("append", "extend", "insert"):
            _grow(node, base, arguments, env)
            return literal(None)
        return Kind(Tag.UNKNOWN, variable, False, evidence=base.evidence)

    def _value_call(self, callee: Kind, variable: bool, evidence: str, arguments: list[Kind]) -> Kind:
        if callee.tag is Tag.CELL:
            return Kind(Tag.TENSOR, True, True, evidence=callee.evidence or "a Cell gives a Tensor")
        if callee.tag is Tag.PRIMITIVE:
            if callee.name in known.SHAPE_FUNCTIONS:
                return Kind(Tag.SHAPE)
            if callee.name in known.CONSTANT_FUNCTIONS:
                return CONSTANT
            last = callee.name.rpartition(".")[2].lower()
            dtype = next((a.dtype for a in arguments if a.dtype), None) if last in known.DTYPE_KEEPING else None
            return Kind(Tag.TENSOR, variable, True, dtype, evidence=evidence or callee.evidence)
        return Kind(Tag.UNKNOWN, variable or callee.variable, False, evidence=evidence or callee.evidence)


def _owner(function: FunctionInfo) -> ClassInfo | None:
    scope: FunctionInfo | None = function
    while scope is not None and scope.owner is None:
        scope = scope.outer
    return scope.owner if scope else None


def _grow(node: ast.Call, base: Kind, arguments: list[Kind], env: Environment) -> None:
    """A local list holds what is appended to it from here on."""
    target = node.func.value  # type: ignore[attr-defined]
    if isinstance(target, ast.Name) and arguments:
        added = arguments[-1]
        element = join_all([*base.elements, added]) if base.elements else added
        env[target.id] = Kind(Tag.SEQUENCE, base.variable or added.variable, added.certain, elements=(element,),
                              evidence=added.evidence)  # fmt: skip
