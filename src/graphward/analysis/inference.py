"""The kinds of all values in a function, by abstract interpretation of its statements in order."""

from __future__ import annotations

import ast
from collections.abc import Callable, Hashable
from functools import cached_property
from typing import Any, TypeVar

from ..knowledge.api import Result, table
from .call_results import layer, project_cell
from .evaluation import Evaluator, is_property
from .kinds import CONSTANT, NO_VALUE, UNKNOWN, Kind, Tag, join, join_all
from .module import ClassInfo, FunctionInfo, Module
from .names import dotted
from .parameters import parameters
from .project import Project
from .recorded import RecordedKinds, RecordedShapes
from .regions import Reached
from .statements import Interpreter
from .tree import preorder

Value = TypeVar("Value")
# Calls into the project are followed this deep from where the first question was asked; Python's stack ends at about
# three times as many.
_MAX_DEPTH = 25
# Locals that lead to an attribute's value through each other.
_MAX_LOCALS = 6


class FunctionKinds:
    """What was learned of one function: the kind of each expression node, of what it returns, and the `if` statements
    that are decided while compiling, with the truth of their conditions."""

    def __init__(self) -> None:
        self.kinds: dict[ast.AST, Kind] = {}
        self.returned: dict[ast.AST, Kind] = {}
        self.decided: dict[ast.stmt, bool] = {}
        # Has run a part of the function; None when nothing is left.
        self.begun: Interpreter | None = None

    @property
    def returns(self) -> Kind:
        return join_all(list(self.returned.values()))


class Inference:
    """Kinds for every function of a run, computed when first asked for and kept. `version` is that of MindSpore, for
    what its functions give back; `recorded` what real runs passed, `shapes` in which sizes."""

    def __init__(
        self, project: Project, reached: dict[FunctionInfo, Reached], version: str = "2.10",
        recorded: RecordedKinds | None = None, shapes: RecordedShapes | None = None,
    ):  # fmt: skip
        self.project = project
        self.reached = reached
        self.version = version
        self.recorded: RecordedKinds = recorded or {}
        self.shapes: RecordedShapes = shapes or {}
        self.closures: dict[ast.Lambda, dict[str, Kind]] = {}
        self._notes: dict[Hashable, Any] = {}
        self._functions: dict[FunctionInfo, FunctionKinds] = {}
        # Known for good; what was asked for while one of its callers was being interpreted is computed once more.
        self._final: dict[FunctionInfo, FunctionKinds] = {}
        self._running: list[FunctionInfo] = []
        self._parameters: dict[FunctionInfo, dict[str, Kind]] = {}
        self._members: dict[tuple[ClassInfo, str], Kind] = {}
        self._methods: dict[tuple[ClassInfo, str], FunctionInfo | None] = {}
        self._visible: dict[tuple[FunctionInfo, str], FunctionInfo | ClassInfo | None] = {}
        self._globals: dict[tuple[Module, str], Kind] = {}
        self._bound: dict[FunctionInfo, dict[str, ast.expr | None]] = {}
        self._evaluators: dict[FunctionInfo, Evaluator] = {}
        self._fields: dict[ClassInfo, tuple[str, ...]] = {}

    @cached_property
    def api(self) -> dict[str, Result]:
        """What MindSpore's functions, methods, layers and Primitives give back, by qualified name."""
        return table(self.version)

    def once(self, key: Hashable, make: Callable[[], Value]) -> Value:
        """What `make` gives, worked out once for the whole run and kept as long as its analysis."""
        if key not in self._notes:
            self._notes[key] = make()
        found: Value = self._notes[key]
        return found

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

    # Functions

    def kind(self, function: FunctionInfo, node: ast.AST) -> Kind:
        """The kind of an expression of `function`; UNKNOWN where the code cannot be reached."""
        found = self._final.get(function)
        if found is None:
            found = self._asked(function, node)
        elif found.begun is not None:
            self._go_on(function, found, node)
        return found.kinds.get(node, UNKNOWN)

    def function(self, function: FunctionInfo) -> FunctionKinds:
        """The kinds in `function`; inside a cycle of calls, what is known so far."""
        found = self._final.get(function)
        if found is None:
            return self._asked(function, None)
        if found.begun is not None:
            self._go_on(function, found, None)
        return found

    def _asked(self, function: FunctionInfo, until: ast.AST | None) -> FunctionKinds:
        """What is learned of a function up to `until` at least; of all of it when that is None."""
        if self._running:
            found = self._functions.get(function)
            if found is not None:
                return found
            return self._interpret(function, None) if len(self._running) <= _MAX_DEPTH else FunctionKinds()
        for caller, last in self._callers_first(function, until):
            found = self._final.get(caller)
            if found is None:
                self._interpret(caller, last)
            else:
                self._go_on(caller, found, last)
        return self._final[function]

    def _callers_first(
        self, function: FunctionInfo, until: ast.AST | None
    ) -> list[tuple[FunctionInfo, ast.AST | None]]:
        """The function after those that call it and those that it stands in, as far as they are not known yet, each
        with the last of its nodes that tells something; None for all of it."""
        order: list[FunctionInfo] = []
        wanted = {function: until}
        stack: list[tuple[FunctionInfo, bool]] = [(function, False)]
        while stack:
            current, expanded = stack.pop()
            if expanded:
                order.append(current)
                continue
            stack.append((current, True))
            reached = self.reached.get(current)
            around: list[tuple[FunctionInfo, ast.AST | None]] = [(current.outer, None)] if current.outer else []
            around += ((caller.function, site) for caller, site in (reached.sites if reached else ()))
            for before, last in around:
                if before in wanted:
                    wanted[before] = _later(wanted[before], last)
                    continue
                known = self._final.get(before)
                if known is None or known.begun is not None:
                    wanted[before] = last
                    stack.append((before, False))
        return [(one, wanted[one]) for one in order]

    def _interpret(self, function: FunctionInfo, until: ast.AST | None) -> FunctionKinds:
        before = self._functions.get(function)
        assumed = self._parameters.pop(function, None)
        found = before or FunctionKinds()
        if before is None:
            self._functions[function] = found
        self._running.append(function)
        complete = False
        try:
            own, complete = parameters(self, function)
            self._parameters[function] = own
            if before is None or own != assumed:
                found = self._functions[function] = FunctionKinds()
                found.begun = Interpreter(self, function, found, {**self._outer_environment(function), **own})
                found.begun.run(_last_line(function, until))
        except RecursionError:
            # Expressions nested as deep as Python's stack: what was learned so far has to do.
            complete, found.begun = True, None
        finally:
            self._running.pop()
        if complete or not self._running:
            self._final[function] = found
        return found

    def _go_on(self, function: FunctionInfo, known: FunctionKinds, until: ast.AST | None) -> None:
        """Run more of a function that is begun, up to `until`."""
        if known.begun is None or until in known.kinds or function in self._running:
            return
        self._running.append(function)
        try:
            known.begun.run(_last_line(function, until))
        except RecursionError:
            known.begun = None
        finally:
            self._running.pop()

    def evaluated(self, function: FunctionInfo) -> FunctionKinds | None:
        """The kinds of a caller as far as they are known. It must not be begun by the question for the parameters of
        what it calls: it would find that unknown."""
        return self._final.get(function) or self._functions.get(function)

    def is_running(self, function: FunctionInfo) -> bool:
        return function in self._running

    def is_final(self, function: FunctionInfo) -> bool:
        """Whether the kinds of a function will not change any more, but for the part not run yet."""
        return function in self._final or function in self._running

    def decided(self, function: FunctionInfo, node: ast.stmt) -> bool | None:
        """The truth of the condition of an `if` statement where it is known while compiling, else None."""
        return self.function(function).decided.get(node)

    def parameters(self, function: FunctionInfo) -> dict[str, Kind]:
        """The kinds of a function's parameters: from its call sites when a region calls it, else from annotations,
        defaults and how the body uses them."""
        if function in self._running and function in self._parameters:
            return self._parameters[function]
        self.function(function)
        if function not in self._parameters:
            self._parameters[function] = parameters(self, function)[0]
        return self._parameters[function]

    def _outer_environment(self, function: FunctionInfo) -> dict[str, Kind]:
        """What a nested function sees of the function around it: the join of everything bound there."""
        outer = function.outer
        if outer is None:
            return {}
        known = self.function(outer).kinds
        environment = self._outer_environment(outer) | self._parameters.get(outer, {})
        for node in outer.nodes:
            if node.__class__ is ast.Name and node.ctx.__class__ is ast.Store and node in known:
                name = node.id
                previous = environment.get(name)
                environment[name] = join(previous, known[node]) if previous else known[node]
        return environment

    # Classes

    def method(self, info: ClassInfo, name: str) -> FunctionInfo | None:
        """The method that `name` means on an instance."""
        key = (info, name)
        if key not in self._methods:
            self._methods[key] = self.project.method(info, name)
        return self._methods[key]

    def visible(self, function: FunctionInfo, name: str) -> FunctionInfo | ClassInfo | None:
        """What a bare name means inside a function (see `Project.visible`)."""
        key = (function, name)
        if key not in self._visible:
            self._visible[key] = self.project.visible(function, name)
        return self._visible[key]

    def member(self, info: ClassInfo, name: str) -> Kind:
        """The kind of `self.<name>`: a method, a property, or what is assigned to it."""
        key = (info, name)
        kind = self._members.get(key)
        if kind is None:
            method = self.method(info, name)
            if method is None:
                return self.attribute(info, name)
            if is_property(method):
                kind = self.function(method).returns
                if self._running and method not in self._final:
                    return kind
            else:
                kind = Kind(Tag.FUNCTION, name=method.qualname, info=method)
            self._members[key] = kind
        return kind

    def attribute(self, cell: ClassInfo, name: str) -> Kind:
        """The kind of `self.<name>`: the join of what the class and its bases assign to it."""
        key = (cell, name)
        kind = self._members.get(key)
        if kind is not None:
            return kind
        self._members[key] = UNKNOWN  # cuts `self.h = self.h + x`
        values = self.project.attribute_values(cell).get(name, [])
        kinds = [self._assigned(method, value) for method, value in values]
        if not kinds:
            kinds = self._class_variable(cell, name)
        known = [k for k in kinds if k.tag is not Tag.UNKNOWN]
        kind = join_all(known)
        if len(known) < len(kinds):
            # One assignment is no knowledge of what another leaves.
            kind = UNKNOWN if kind.value is None else kind._replace(certain=False, value=NO_VALUE)
        if name == "training" and not kinds:
            kind = CONSTANT._replace(name="bool")
        kind = self._with_classes(cell, name, kind)
        kind = kind if kind.evidence else kind.because(f"self.{name} is a {kind.tag.value}")
        self._members[key] = kind
        return kind

    def _assigned(self, method: FunctionInfo, value: ast.expr) -> Kind:
        """The kind of `value` in a method, evaluated by itself where that is possible: most of an `__init__` says
        nothing that a region asks for."""
        if method in self._functions or method in self.reached:
            return self.kind(method, value)
        made = self._made(method, value)
        if made is not None:
            return made
        evaluator = self._evaluators.get(method)
        if evaluator is None:
            evaluator = self._evaluators[method] = Evaluator(self, method, {})
            self._parameters[method] = parameters(self, method)[0]
        env: dict[str, Kind] = dict(self._parameters[method])
        try:
            if not self._bind_locals(method, value, env, evaluator, _MAX_LOCALS):
                return self.kind(method, value)
            return evaluator.evaluate(value, env)
        except RecursionError:
            return UNKNOWN

    def _made(self, method: FunctionInfo, value: ast.expr) -> Kind | None:
        """The Cell that `value` constructs, where its kind says nothing of the arguments: most attributes of Cells are
        such, and arguments lead far."""
        if value.__class__ is not ast.Call:
            return None
        name = method.names.resolve(value.func)
        known = layer(name) if name is not None and name.startswith("mindspore.") else None
        if known is not None:
            return known
        made = self.project.called_class(method, value)
        return project_cell(made) if made is not None and self.project.is_cell(made) else None

    def _bind_locals(
        self, method: FunctionInfo, value: ast.expr, env: dict[str, Kind], evaluator: Evaluator, depth: int
    ) -> bool:
        """Adds to `env` the names that the method binds and `value` reads. False where one is bound more than once, or
        otherwise than by a plain assignment."""
        bound = self._bound.get(method)
        if bound is None:
            bound = self._bound[method] = _single_assignments(method)
        names = [n for n in preorder(value) if n.__class__ is ast.Name]
        own = {n.id for n in names if n.ctx.__class__ is ast.Store}
        for node in names:
            if node.id in bound and node.id not in own:
                name: str = node.id
                only = bound[name]
                if only is None or depth == 0 or name in self._parameters[method]:
                    return False
                if name not in env:
                    if not self._bind_locals(method, only, env, evaluator, depth - 1):
                        return False
                    env[name] = evaluator.evaluate(only, env)
        return True

    def _class_variable(self, cell: ClassInfo, name: str) -> list[Kind]:
        for info in self.project.mro(cell):
            for node in info.node.body:
                targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
                value = getattr(node, "value", None)
                if value is not None and any(isinstance(t, ast.Name) and t.id == name for t in targets):
                    return [self._evaluated_outside(info.module, value)]
        return []

    def _with_classes(self, cell: ClassInfo, name: str, kind: Kind) -> Kind:
        """A container of Cells whose items were appended, or came from a parameter, holds what was seen to go in."""
        if kind.tag not in (Tag.CELLS, Tag.SEQUENCE) or (kind.elements and kind.tag is Tag.CELLS):
            return kind
        if kind.elements and not kind.exact:
            return kind
        if kind.tag is Tag.SEQUENCE and kind.elements:
            return kind
        classes = self.project.attribute_classes(cell, name)
        if not classes:
            return kind
        made = [
            Kind(Tag.CELL if self.project.is_cell(c) else Tag.OBJECT, name=c.qualname, info=c,
                 evidence=f"{c.name} goes into self.{name}")
            for c in classes
        ]  # fmt: skip
        return kind._replace(elements=(join_all(made),), exact=False)

    def fields(self, info: ClassInfo) -> tuple[str, ...]:
        """The fields of a dataclass or named tuple in order; empty for any other class."""
        if info not in self._fields:
            bases = [b for b in self.project.bases(info) if isinstance(b, str)]
            named = any(b.rpartition(".")[2] == "NamedTuple" for b in bases)
            heads = [d.func if isinstance(d, ast.Call) else d for d in info.node.decorator_list]
            marked = any((dotted(h) or "").rpartition(".")[2] == "dataclass" for h in heads)
            names: list[str] = []
            if named or marked:
                for known in reversed(self.project.mro(info)):
                    for node in known.node.body:
                        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                            if node.target.id not in names:
                                names.append(node.target.id)
            self._fields[info] = tuple(names)
        return self._fields[info]

    # Modules

    def global_name(self, module: Module, name: str) -> Kind:
        """The kind of a global variable: what its last assignment at module level gives it."""
        key = (module, name)
        if key not in self._globals:
            self._globals[key] = UNKNOWN
            value = module.assignments.get(name)
            if value is not None:
                kind = self._evaluated_outside(module, value)
                self._globals[key] = kind.because(f"{name} is a global of {module.name}")
        return self._globals[key]

    def _evaluated_outside(self, module: Module, value: ast.expr) -> Kind:
        """The kind of an expression at module level."""
        holder = FunctionInfo(module, _module_as_function(), "<module>")
        try:
            return Evaluator(self, holder, {}).evaluate(value, {})
        except RecursionError:
            return UNKNOWN


def _last_line(function: FunctionInfo, until: ast.AST | None) -> int | None:
    """The line up to which the body has to be run for `until`; None for all of it. What stands in a lambda is known
    where that is called, which may be further down."""
    if until is None or (function.module.has_lambdas and any(node.__class__ is ast.Lambda for node in function.nodes)):
        return None
    return getattr(until, "lineno", None)  # operators and comprehensions have none


def _later(first: ast.AST | None, second: ast.AST | None) -> ast.AST | None:
    """The one of two nodes of a function that comes last, or None where one of them is None or has no place."""
    one, other = getattr(first, "lineno", None), getattr(second, "lineno", None)
    if one is None or other is None:
        return None
    return second if other > one else first


def _single_assignments(method: FunctionInfo) -> dict[str, ast.expr | None]:
    """Each name that a method binds, with its value where that is the only place and a plain assignment."""
    found: dict[str, ast.expr | None] = dict.fromkeys(method.locals)
    stores = [n for n in method.nodes if n.__class__ is ast.Name and n.ctx.__class__ is ast.Store]
    for store in stores:
        found[store.id] = None
    plain = {
        node.targets[0]: node.value
        for node in method.statements
        if isinstance(node, ast.Assign) and len(node.targets) == 1
    }
    names = [store.id for store in stores]
    for store in stores:
        if store in plain and names.count(store.id) == 1:
            found[store.id] = plain[store]
    return found


def _module_as_function() -> ast.FunctionDef:
    empty = ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[])
    return ast.FunctionDef(name="<module>", args=empty, body=[], decorator_list=[], lineno=1, col_offset=0)
