"""The kinds of all values in a function, by abstract interpretation of its statements in order."""

from __future__ import annotations

import ast
from collections.abc import Callable, Hashable
from functools import cached_property
from typing import Any

from .kinds import CONSTANT, NO_VALUE, TENSOR, UNKNOWN, Kind, Tag, join, join_all, literal
from .module import ClassInfo, FunctionInfo, Module
from .names import all_arguments, dotted
from .project import Project
from .regions import Reached

_DYNAMIC_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


class FunctionKinds:
    """What was learned of one function: the kind of each expression node, and of what it returns."""

    def __init__(self) -> None:
        self.kinds: dict[ast.AST, Kind] = {}
        self.returned: list[Kind] = []

    @property
    def returns(self) -> Kind:
        return join_all(self.returned)


class Inference:
    """Kinds for every function of a run, computed when first asked for and kept."""

    def __init__(self, project: Project, reached: dict[FunctionInfo, Reached]):
        self.project = project
        self.reached = reached
        # What rules work out once for a run, by keys of their own.
        self.notes: dict[Hashable, Any] = {}
        self._functions: dict[FunctionInfo, FunctionKinds] = {}
        self._attributes: dict[tuple[ClassInfo, str], Kind] = {}
        self._globals: dict[tuple[Module, str], Kind] = {}

    def release(self) -> None:
        """Forget everything; nothing can be asked any more."""
        for known in self._functions.values():
            known.kinds.clear()
        vars(self).clear()

    @cached_property
    def reached_by_module(self) -> dict[Module, list[FunctionInfo]]:
        """The functions that graph regions compile, by the module that they stand in."""
        found: dict[Module, list[FunctionInfo]] = {}
        for function in self.reached:
            found.setdefault(function.module, []).append(function)
        return found

    def function(self, function: FunctionInfo) -> FunctionKinds:
        """The kinds in `function`; inside a cycle of calls, what is known so far."""
        found = self._functions.get(function)
        if found is None:
            found = self._functions[function] = FunctionKinds()
            outer = self._outer_environment(function)
            _Interpreter(self, function, found).run({**outer, **self.parameters(function)})
        return found

    def kind(self, function: FunctionInfo, node: ast.AST) -> Kind:
        """The kind of an expression of `function`; UNKNOWN where the code cannot be reached."""
        return self.function(function).kinds.get(node, UNKNOWN)

    def parameters(self, function: FunctionInfo) -> dict[str, Kind]:
        """The kinds of a function's parameters: from its call sites when a region calls it, else from annotations,
        defaults and how the body uses them."""
        reached = self.reached.get(function)
        traced = reached is not None and reached.region.root is function
        arguments = function.node.args
        defaults = _defaults(arguments)
        found: dict[str, Kind] = {}
        for argument in all_arguments(arguments):
            name = argument.arg
            if name == function.receiver and function.owner is not None:
                found[name] = Kind(Tag.CELL, name=function.owner.qualname, evidence=f"{name} is the instance")
            elif argument is arguments.vararg:
                found[name] = Kind(Tag.SEQUENCE, variable=reached is not None, certain=False, evidence=f"*{name}")
            elif argument is arguments.kwarg:
                found[name] = Kind(Tag.DICT, variable=reached is not None, certain=False, evidence=f"**{name}")
            else:
                found[name] = self._declared(function, argument, defaults.get(name), traced)
        if reached is not None and not traced:
            for name, kind in self._from_call_sites(function, reached).items():
                # A call site that tells nothing takes nothing away from an annotation or a default.
                if kind.tag is not Tag.UNKNOWN or (kind.variable and found[name].tag is Tag.UNKNOWN):
                    found[name] = kind
        return found

    def _declared(self, function: FunctionInfo, argument: ast.arg, default: ast.expr | None, traced: bool) -> Kind:
        name = argument.arg
        kind = _annotated(function, argument.annotation)
        if kind is not None:
            return kind.because(f"{name} is annotated {function.module.text(argument.annotation)}")  # type: ignore[arg-type]
        if isinstance(default, ast.Constant) and default.value is not None:
            return Kind(Tag.CONSTANT, certain=False, evidence=f"{name} has the default {default.value!r}")
        if isinstance(default, (ast.Tuple, ast.List, ast.Dict)) or (default is not None and not _is_none(default)):
            return Kind(Tag.OBJECT, certain=False, evidence=f"{name} has a default that is no Tensor")
        if not traced:
            return UNKNOWN.because(f"{name} is a parameter of {function.name}, whose callers were not seen")
        use = _integer_use(function, name)
        if use:
            return Kind(Tag.CONSTANT, certain=False, evidence=f"{name} is used as a whole number ({use})")
        evidence = f"{name} is a parameter of {function.name} without annotation or default, taken for a Tensor"
        return Kind(Tag.TENSOR, variable=True, certain=False, evidence=evidence)

    def _from_call_sites(self, function: FunctionInfo, reached: Reached) -> dict[str, Kind]:
        """Arguments seen at the call sites, joined."""
        joined: dict[str, list[Kind]] = {}
        for caller, callee in reached.sites:
            call = caller.function.parents.get(callee)
            if not (isinstance(call, ast.Call) and call.func is callee):
                continue
            known = self.function(caller.function).kinds
            positional = [a.arg for a in function.node.args.posonlyargs + function.node.args.args]
            bound = function.owner is not None and not function.is_static and isinstance(callee, ast.Attribute)
            if bound:
                positional = positional[1:]
            for name, value in zip(positional, call.args, strict=False):
                if isinstance(value, ast.Starred):
                    break
                joined.setdefault(name, []).append(_named(known.get(value, UNKNOWN), name, caller.function))
            for keyword in call.keywords:
                if keyword.arg:
                    kind = known.get(keyword.value, UNKNOWN)
                    joined.setdefault(keyword.arg, []).append(_named(kind, keyword.arg, caller.function))
        return {name: join_all(kinds) for name, kinds in joined.items()}

    def attribute(self, cell: ClassInfo, name: str) -> Kind:
        """The kind of `self.<name>`: the join of what the class and its bases assign to it."""
        key = (cell, name)
        if key not in self._attributes:
            self._attributes[key] = UNKNOWN  # cuts `self.h = self.h + x`
            values = self.project.attribute_values(cell).get(name, [])
            kinds = [self.kind(method, value) for method, value in values]
            kind = join_all([k for k in kinds if k.tag is not Tag.UNKNOWN]) if kinds else UNKNOWN
            self._attributes[key] = kind if kind.evidence else kind.because(f"self.{name} is a {kind.tag.value}")
        return self._attributes[key]

    def global_name(self, module: Module, name: str) -> Kind:
        """The kind of a global variable: what its last assignment at module level gives it."""
        key = (module, name)
        if key not in self._globals:
            self._globals[key] = UNKNOWN
            value = module.assignments.get(name)
            if value is not None:
                holder = FunctionInfo(module, _module_as_function(module), "<module>")
                interpreter = _Interpreter(self, holder, FunctionKinds())
                self._globals[key] = interpreter.evaluate(value, {}).because(f"{name} is a global of {module.name}")
        return self._globals[key]

    def _outer_environment(self, function: FunctionInfo) -> dict[str, Kind]:
        """What a nested function sees of the function around it: the join of everything bound there."""
        if function.outer is None:
            return {}
        environment = self._outer_environment(function.outer) | self.parameters(function.outer)
        known = self.function(function.outer).kinds
        for node in function.outer.nodes:
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node in known:
                previous = environment.get(node.id)
                environment[node.id] = join(previous, known[node]) if previous else known[node]
        return environment


class _Interpreter:
    """One pass over one function."""

    def __init__(self, inference: Inference, function: FunctionInfo, result: FunctionKinds):
        from .evaluation import Evaluator

        self.function = function
        self.result = result
        self._evaluator = Evaluator(inference, function, result.kinds)
        self.evaluate = self._evaluator.evaluate

    def run(self, environment: dict[str, Kind]) -> None:
        self.block(self.function.node.body, environment)

    def block(self, body: list[ast.stmt], env: dict[str, Kind]) -> None:
        for node in body:
            self.statement(node, env)

    def statement(self, node: ast.stmt, env: dict[str, Kind]) -> None:
        if isinstance(node, ast.Assign):
            kind = self.evaluate(node.value, env)
            for target in node.targets:
                self.assign(target, kind, env)
        elif isinstance(node, ast.AnnAssign):
            if node.value is not None:
                self.assign(node.target, self.evaluate(node.value, env), env)
        elif isinstance(node, ast.AugAssign):
            load = self.evaluate(node.target, env)
            self.assign(node.target, self._evaluator.binary(load, self.evaluate(node.value, env)), env)
        elif isinstance(node, ast.Return):
            self.result.returned.append(self.evaluate(node.value, env) if node.value else literal(None))
        elif isinstance(node, ast.If):
            self.evaluate(node.test, env)
            self.branches(env, node.body, node.orelse)
        elif isinstance(node, (ast.For, ast.AsyncFor)):
            element = self._evaluator.element(self.evaluate(node.iter, env), node.iter, env)
            self.loop(node, env, lambda inner: self.assign(node.target, element, inner))
        elif isinstance(node, ast.While):
            self.evaluate(node.test, env)
            self.loop(node, env, lambda inner: None)
        elif isinstance(node, (ast.With, ast.AsyncWith)):
            for item in node.items:
                kind = self.evaluate(item.context_expr, env)
                if item.optional_vars is not None:
                    self.assign(item.optional_vars, kind, env)
            self.block(node.body, env)
        elif isinstance(node, ast.Try):
            self.block(node.body, env)
            self.branches(env, [], *(handler.body for handler in node.handlers))
            self.block(node.orelse + node.finalbody, env)
        elif isinstance(node, ast.Match):
            self.evaluate(node.subject, env)
            self.branches(env, [], *(case.body for case in node.cases))
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            env[node.name] = Kind(Tag.FUNCTION, evidence=f"{node.name} is defined here")
        elif isinstance(node, _DYNAMIC_SCOPES):
            env[node.name] = Kind(Tag.OBJECT)
        else:
            for child in ast.iter_child_nodes(node):
                if isinstance(child, ast.expr):
                    self.evaluate(child, env)

    def branches(self, env: dict[str, Kind], *bodies: list[ast.stmt]) -> None:
        """Run each body on a copy and join what they leave."""
        outcomes = []
        for body in bodies:
            inner = dict(env)
            self.block(body, inner)
            if not (body and isinstance(body[-1], (ast.Return, ast.Raise, ast.Continue, ast.Break))):
                outcomes.append(inner)
        if not outcomes:
            return
        for name in {n for o in outcomes for n in o}:
            kinds = [o[name] for o in outcomes if name in o]
            env[name] = join_all(kinds)

    def loop(
        self, node: ast.For | ast.AsyncFor | ast.While, env: dict[str, Kind], bind: Callable[[dict[str, Kind]], None]
    ) -> None:
        """Two rounds: what the first leaves in a variable is what the second starts with."""
        for _ in range(2):
            inner = dict(env)
            bind(inner)
            self.block(node.body, inner)
            for name, kind in inner.items():
                env[name] = join(env[name], kind) if name in env else kind
        self.block(node.orelse, env)

    def assign(self, target: ast.expr, kind: Kind, env: dict[str, Kind]) -> None:
        self.result.kinds[target] = kind
        if isinstance(target, ast.Name):
            env[target.id] = kind
        elif isinstance(target, (ast.Tuple, ast.List)):
            for i, item in enumerate(target.elts):
                starred = isinstance(item, ast.Starred)
                starred = any(isinstance(e, ast.Starred) for e in target.elts)
                known = kind.elements if kind.elements and not starred else None
                part = known[i] if known and i < len(known) else self._evaluator.part(kind)
                self.assign(item.value if isinstance(item, ast.Starred) else item,
                            Kind(Tag.SEQUENCE, kind.variable, False) if starred else part, env)  # fmt: skip
        elif isinstance(target, ast.Subscript):
            self.evaluate(target.value, env)
            self.evaluate(target.slice, env)
        elif isinstance(target, ast.Attribute):
            self.evaluate(target.value, env)


def _defaults(arguments: ast.arguments) -> dict[str, ast.expr]:
    positional = arguments.posonlyargs + arguments.args
    found = {a.arg: d for a, d in zip(reversed(positional), reversed(arguments.defaults), strict=False)}
    found |= {a.arg: d for a, d in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if d is not None}
    return found


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _annotated(function: FunctionInfo, annotation: ast.expr | None) -> Kind | None:
    """The kind that an annotation promises; None where it says nothing of use."""
    if annotation is None:
        return None
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        try:
            annotation = ast.parse(annotation.value, mode="eval").body
        except SyntaxError:
            return None
    if isinstance(annotation, ast.BinOp) and isinstance(annotation.op, ast.BitOr):
        sides = [_annotated(function, annotation.left), _annotated(function, annotation.right)]
        known = [s for s in sides if s is not None]
        return join_all(known) if known else None
    if isinstance(annotation, ast.Subscript):
        head = (dotted(annotation.value) or "").rpartition(".")[2]
        if head in ("Optional", "Final", "Annotated"):
            inner = annotation.slice.elts[0] if isinstance(annotation.slice, ast.Tuple) else annotation.slice
            return _annotated(function, inner)
        if head == "Union" and isinstance(annotation.slice, ast.Tuple):
            known = [k for k in (_annotated(function, e) for e in annotation.slice.elts) if k is not None]
            return join_all(known) if known else None
        if head.lower() in ("tuple", "list", "sequence", "iterable"):
            return Kind(Tag.SEQUENCE, variable="Tensor" in ast.unparse(annotation), certain=False)
        if head.lower() in ("dict", "mapping"):
            return Kind(Tag.DICT, variable="Tensor" in ast.unparse(annotation), certain=False)
        return None
    name = dotted(annotation)
    if name is None:
        return None
    qualified = function.names.qualify(name) or name
    if qualified in ("mindspore.Tensor", "Tensor"):
        return TENSOR
    if qualified == "mindspore.Parameter":
        return Kind(Tag.PARAMETER, variable=True)
    if name in ("int", "float", "bool", "str"):
        return CONSTANT
    if qualified == "numpy.ndarray":
        return Kind(Tag.NDARRAY, variable=False)
    if name in ("tuple", "list", "Tuple", "List"):
        return Kind(Tag.SEQUENCE, certain=False)
    return Kind(Tag.OBJECT, certain=False) if name not in ("Any", "typing.Any", "object") else None


def _integer_use(function: FunctionInfo, name: str) -> str:
    """How the body uses a parameter as a whole number, if it does: in `range(...)` or as `[...] * name`."""
    for node in function.nodes:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "range":
            if any(isinstance(a, ast.Name) and a.id == name for a in node.args):
                return f"range({name})"
    return ""


def _named(kind: Kind, name: str, caller: FunctionInfo) -> Kind:
    if kind.value is not NO_VALUE or not kind.variable:
        return kind
    reason = f"; {kind.evidence}" if kind.evidence else ""
    return kind.because(f"{caller.qualname} passes a {kind.tag.value} as {name}{reason}")


def _module_as_function(module: Module) -> ast.FunctionDef:
    empty = ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[])
    return ast.FunctionDef(name="<module>", args=empty, body=[], decorator_list=[], lineno=1, col_offset=0)
