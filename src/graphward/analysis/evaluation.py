"""The kind of an expression, from the kinds of its parts."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from ..knowledge import signatures as known
from .arithmetic import binary, comparison
from .call_results import CallResults
from .kinds import BOOLEAN, CONSTANT, NO_VALUE, STRING, UNKNOWN, Kind, Tag, join, join_all, literal, sequence
from .module import ClassInfo, FunctionInfo
from .names import all_arguments, dotted, is_super
from .narrowing import Environment, narrowed, truth
from .parts import attribute, item, part, unpacked

if TYPE_CHECKING:
    from .inference import Inference

_NUMPY_CONSTANTS = frozenset({"numpy.pi", "numpy.e", "numpy.inf", "numpy.nan", "numpy.newaxis", "math.pi", "math.e",
                              "math.inf"})  # fmt: skip
# A lambda that calls lambdas is followed this deep.
_MAX_LAMBDAS = 4


class Evaluator:
    """Evaluates the expressions of one function and records the kind of each node."""

    def __init__(self, inference: Inference, function: FunctionInfo, record: dict[ast.AST, Kind]):
        self.inference = inference
        self.project = inference.project
        self.function = function
        self.record = record
        self.receiver = function.receiver
        reached = inference.reached.get(function)
        self.cell = reached.cell if reached and reached.cell else function.class_around
        self.results = CallResults(self)
        self._free: dict[str, Kind] = {}
        self._meanings: dict[str, str | None] = {}
        self._lambdas = 0
        # The dotted names that environments of this function may hold, by their first part.
        self._dotted: dict[str, set[str]] = {}

    def evaluate(self, node: ast.expr, env: Environment) -> Kind:
        method = _METHODS.get(node.__class__)
        kind = method(self, node, env) if method is not None else self._other(node, env)
        self.record[node] = kind
        return kind

    # Names and attributes

    def _constant(self, node: ast.Constant, env: Environment) -> Kind:
        return literal(node.value)

    def _name(self, node: ast.Name, env: Environment) -> Kind:
        kind = env.get(node.id)
        if kind is not None:
            return kind
        kind = self._free.get(node.id)
        if kind is None:
            kind = self._free[node.id] = self._find_name(node.id)
        return kind

    def _find_name(self, name: str) -> Kind:
        if name == self.receiver and self.cell is not None:
            return self._self()
        qualified = self.function.names.lookup(name)
        if qualified is not None:
            return self._imported(qualified)
        found = self.project.visible(self.function, name)
        if isinstance(found, FunctionInfo):
            return Kind(Tag.FUNCTION, name=found.qualname, info=found)
        if isinstance(found, ClassInfo):
            return Kind(Tag.OBJECT, name=found.qualname)
        if self.function.names.is_local(name):
            return UNKNOWN
        return self.inference.global_name(self.function.module, name)

    def _self(self) -> Kind:
        assert self.cell is not None
        return Kind(Tag.CELL, name=self.cell.qualname, evidence=f"{self.receiver} is the instance", info=self.cell)

    def _imported(self, qualified: str) -> Kind:
        owner, _, name = qualified.rpartition(".")
        if qualified.startswith(("mindspore.", "numpy.")):
            if name in known.DTYPES:
                return Kind(Tag.CONSTANT, value=known.DTYPES[name], name=qualified)
        elif owner:
            module = self.project.module(owner)
            if module is not None and name in module.assignments:
                return self.inference.global_name(module, name)
            found = self.project.definition(qualified)
            if isinstance(found, FunctionInfo):
                return Kind(Tag.FUNCTION, name=found.qualname, info=found)
        return Kind(Tag.OBJECT, name=qualified)

    @staticmethod
    def _is_free(node: ast.expr, env: Environment) -> bool:
        """Whether a dotted name starts with one that no local hides."""
        while node.__class__ is ast.Attribute:
            node = node.value
        return node.__class__ is ast.Name and node.id not in env

    def _meaning(self, node: ast.expr) -> str | None:
        """What a dotted name means through imports."""
        name = dotted(node)
        if name is None:
            return None
        if name not in self._meanings:
            self._meanings[name] = self.function.names.qualify(name)
        return self._meanings[name]

    def _attribute(self, node: ast.Attribute, env: Environment) -> Kind:
        value = node.value
        if value.__class__ is ast.Name:
            head = value.id
            if head == self.receiver and self.cell is not None:
                kind = env.get(f"{head}.{node.attr}")
                if kind is None:
                    kind = self.inference.member(self.cell, node.attr)
                return kind
        if self._is_free(value, env):
            qualified = self._meaning(node)
            if qualified is not None:
                return CONSTANT if qualified in _NUMPY_CONSTANTS else self._imported(qualified)
        elif self._dotted:
            name = dotted(node)
            if name is not None and name in env:
                return env[name]
        return self.attribute_of(self.evaluate(value, env), node.attr)

    def attribute_of(self, base: Kind, name: str) -> Kind:
        """`base.name`."""
        info = base.info
        if isinstance(info, ClassInfo):
            if base.elements is not None and base.keys is not None and base.tag is Tag.OBJECT and name in base.keys:
                return base.elements[base.keys.index(name)]
            if base.tag in (Tag.CELL, Tag.OBJECT):
                kind = self.inference.member(info, name)
                if kind.tag is not Tag.UNKNOWN:
                    return kind
        return attribute(base, name)

    # Operators

    def _binop(self, node: ast.BinOp, env: Environment) -> Kind:
        # Long sums lean to the left: a loop, since they are deeper than Python's stack.
        chain = [node]
        left = node.left
        while left.__class__ is ast.BinOp:
            chain.append(left)
            left = left.left
        kind = self.evaluate(left, env)
        for one in reversed(chain):
            kind = self.record[one] = binary(kind, self.evaluate(one.right, env), one.op)
        return kind

    def _unary(self, node: ast.UnaryOp, env: Environment) -> Kind:
        operand = self.evaluate(node.operand, env)
        if isinstance(node.op, ast.Not):
            known_truth = truth(operand)
            if known_truth is not None:
                return literal(not known_truth)
            if operand.is_tensor:
                return Kind(Tag.TENSOR, operand.variable, operand.certain, "bool", operand.rank,
                            evidence=operand.evidence)  # fmt: skip
            if operand.tag is Tag.SCALAR or operand.tag is Tag.NDARRAY or operand.variable:
                tag = Tag.SCALAR if operand.tag is Tag.CONSTANT else operand.tag
                return Kind(tag, operand.variable, operand.certain, "bool", evidence=operand.evidence)
            return BOOLEAN if operand.certain else BOOLEAN.assumed()
        if isinstance(node.op, ast.USub) and operand.value.__class__ in (int, float):
            return literal(-operand.value)._replace(certain=operand.certain)
        return operand

    def _compare(self, node: ast.Compare, env: Environment) -> Kind:
        kinds = [self.evaluate(node.left, env)]
        for one in node.comparators:
            kinds.append(self.evaluate(one, env))
        return comparison(kinds, node.ops)

    def _boolop(self, node: ast.BoolOp, env: Environment) -> Kind:
        """Each operand is read where the ones before it let it be reached."""
        conjunction = isinstance(node.op, ast.And)
        kinds: list[Kind] = []
        for value in node.values:
            kind = self.evaluate(value, env)
            decided = truth(kind)
            if decided is (not conjunction):
                kinds.append(kind)
                break
            if decided is None or value is node.values[-1]:
                kinds.append(kind)
            env = narrowed(value, env, conjunction, lambda n, e=env: self._peek(n, e))  # type: ignore[misc]
        return join_all(kinds) if kinds else literal(conjunction)

    def _peek(self, node: ast.expr, env: Environment) -> Kind:
        """The kind of a name or attribute in a condition that was evaluated already."""
        return self.record.get(node) or self.evaluate(node, env)

    def condition(self, test: ast.expr, env: Environment) -> tuple[bool | None, Environment, Environment]:
        """Evaluates a condition: whether it is decided, and what is known where it holds and where it does not."""
        decided = truth(self.evaluate(test, env))
        if test.__class__ in _TELLING:
            def peek(node: ast.expr) -> Kind:
                return self._peek(node, env)

            holds, fails = narrowed(test, env, True, peek), narrowed(test, env, False, peek)
            for changed in (holds, fails):
                if changed is not env:
                    self._note_dotted(changed)
            return decided, holds, fails
        return decided, env, env

    def _ifexp(self, node: ast.IfExp, env: Environment) -> Kind:
        decided, holds, fails = self.condition(node.test, env)
        if decided is not None:
            return self.evaluate(node.body, holds) if decided else self.evaluate(node.orelse, fails)
        one, other = self.evaluate(node.body, holds), self.evaluate(node.orelse, fails)
        return self.chosen(one, other, self.record[node.test])

    @staticmethod
    def chosen(one: Kind, other: Kind, test: Kind) -> Kind:
        """The join of what two branches leave; the compiler does not know which number a Tensor chose."""
        joined = join(one, other)
        if test.variable and joined.tag is Tag.CONSTANT and not joined.variable and one is not other:
            if joined.value is NO_VALUE and (one.value is not NO_VALUE or other.value is not NO_VALUE):
                number = joined.python_type in ("int", "float", "bool") or joined.name == "number"
                return joined._replace(variable=True, tag=Tag.SCALAR if number else Tag.CONSTANT,
                                       evidence=f"chosen by a condition on a Tensor; {test.evidence}")  # fmt: skip
        return joined

    def _subscript(self, node: ast.Subscript, env: Environment) -> Kind:
        base, index = self.evaluate(node.value, env), self.evaluate(node.slice, env)
        return item(base, index, node.slice)

    def _slice(self, node: ast.Slice, env: Environment) -> Kind:
        kinds = [self.evaluate(n, env) for n in (node.lower, node.upper, node.step) if n is not None]
        variable = next((k for k in kinds if k.variable), None)
        return Kind(Tag.CONSTANT, variable is not None, name="slice", evidence=variable.evidence if variable else "")

    # Containers

    def _sequence(self, node: ast.Tuple | ast.List | ast.Set, env: Environment) -> Kind:
        kinds: list[Kind] | None = []
        whole: list[Kind] = []
        for element in node.elts:
            kind = self.evaluate(element, env)
            whole.append(kind)
            if kinds is None:
                continue
            if element.__class__ is ast.Starred:
                inside = self.record[element.value]
                kinds = [*kinds, *inside.elements] if inside.exact and inside.elements is not None else None
            else:
                kinds.append(kind)
        name = "tuple" if node.__class__ is ast.Tuple else "list" if node.__class__ is ast.List else "set"
        if kinds is not None:
            return sequence(tuple(kinds), name)
        return sequence(tuple(whole), name)._replace(elements=(join_all(whole),), exact=False)

    def _dict(self, node: ast.Dict, env: Environment) -> Kind:
        keys: list[object] = []
        values: list[Kind] = []
        exact, variable, evidence = True, False, ""
        for key, value in zip(node.keys, node.values):
            name = self.evaluate(key, env) if key is not None else None
            kind = self.evaluate(value, env)
            if kind.variable or (name is not None and name.variable):
                variable, evidence = True, evidence or kind.evidence
            if name is None and kind.keys is not None and kind.exact and kind.elements is not None:
                keys += kind.keys
                values += kind.elements
            elif name is None or name.value is NO_VALUE:
                exact = False
                values.append(kind)
            else:
                keys.append(name.value)
                values.append(kind)
        if exact:
            return Kind(Tag.DICT, variable, elements=tuple(values), keys=tuple(keys), exact=True, evidence=evidence)
        return Kind(Tag.DICT, variable, elements=(join_all(values),) if values else None, evidence=evidence)

    def _comprehension(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp, env: Environment) -> Kind:
        inner, sizes = self._generators(node.generators, env)
        element = self.evaluate(node.elt, inner)
        return Kind(Tag.SEQUENCE, element.variable or sizes.variable, element.certain, elements=(element,),
                    name="list" if node.__class__ is ast.ListComp else "",
                    evidence=element.evidence or sizes.evidence)  # fmt: skip

    def _dictcomp(self, node: ast.DictComp, env: Environment) -> Kind:
        inner, _ = self._generators(node.generators, env)
        key, value = self.evaluate(node.key, inner), self.evaluate(node.value, inner)
        return Kind(Tag.DICT, key.variable or value.variable, elements=(value,),
                    evidence=value.evidence if value.variable else key.evidence)  # fmt: skip

    def _generators(self, generators: list[ast.comprehension], env: Environment) -> tuple[Environment, Kind]:
        """The environment inside, and UNKNOWN that is variable when a condition or a range is."""
        inner = dict(env)
        sizes = UNKNOWN
        for generator in generators:
            over = self.evaluate(generator.iter, inner)
            self.bind(generator.target, part(over), inner)
            for test in generator.ifs:
                _, inner, _ = self.condition(test, inner)
                if self.record[test].variable:
                    sizes = Kind(Tag.UNKNOWN, True, False, evidence=self.record[test].evidence)
        return dict(inner), sizes

    def bind(self, target: ast.expr, kind: Kind, env: Environment) -> None:
        """Names in an assignment's target take on the kinds of the value's parts."""
        self.record[target] = kind
        of = target.__class__
        if of is ast.Name:
            self._forget(target.id, env)  # type: ignore[attr-defined]
            env[target.id] = kind  # type: ignore[attr-defined]
        elif of is ast.Tuple or of is ast.List:
            self._unpack(target.elts, kind, env)  # type: ignore[attr-defined]
        elif of is ast.Starred:
            self.bind(target.value, kind, env)  # type: ignore[attr-defined]
        elif of is ast.Subscript:
            base = self.evaluate(target.value, env)  # type: ignore[attr-defined]
            index = self.evaluate(target.slice, env)  # type: ignore[attr-defined]
            self._store(target, base, index, kind, env)  # type: ignore[arg-type]
        elif of is ast.Attribute:
            self.evaluate(target.value, env)  # type: ignore[attr-defined]
            name = dotted(target)
            if name is not None:
                env[name] = kind
                self._note_dotted((name,))

    def _forget(self, name: str, env: Environment) -> None:
        """What was known of the attributes of a name goes with its old value."""
        for key in self._dotted.get(name, ()):
            env.pop(key, None)

    def _note_dotted(self, names: Iterable[str]) -> None:
        for name in names:
            if "." in name:
                self._dotted.setdefault(name.partition(".")[0], set()).add(name)

    def _unpack(self, targets: list[ast.expr], kind: Kind, env: Environment) -> None:
        star = next((i for i, t in enumerate(targets) if t.__class__ is ast.Starred), None)
        if star is None:
            for i, target in enumerate(targets):
                self.bind(target, unpacked(kind, i, len(targets)), env)
            return
        after = len(targets) - star - 1
        elements = kind.elements if kind.exact else None
        for i, target in enumerate(targets):
            if elements is None or len(elements) < star + after:
                inside = part(kind)
                rest = Kind(Tag.SEQUENCE, kind.variable, inside.certain, name="list", evidence=kind.evidence,
                            elements=None if inside.tag is Tag.UNKNOWN else (inside,))  # fmt: skip
                self.bind(target, rest if i == star else inside, env)
            elif i == star:
                self.bind(target, sequence(elements[star : len(elements) - after], "list"), env)
            else:
                self.bind(target, elements[i if i < star else i - len(targets)], env)

    def _store(self, target: ast.Subscript, base: Kind, index: Kind, kind: Kind, env: Environment) -> None:
        """`name[index] = value` changes what the container `name` holds."""
        name = dotted(target.value)
        if name is None or base.tag not in (Tag.SEQUENCE, Tag.DICT):
            return
        self._note_dotted((name,))
        elements = base.elements or ()
        variable = base.variable or kind.variable
        position: int | None = None
        if base.tag is Tag.DICT and base.exact and base.keys is not None and index.value is not NO_VALUE:
            if index.value not in base.keys:
                env[name] = base._replace(elements=(*elements, kind), keys=(*base.keys, index.value), variable=variable,
                                          evidence=base.evidence or kind.evidence)  # fmt: skip
                return
            position = base.keys.index(index.value)
        elif base.tag is Tag.SEQUENCE and base.exact and index.value.__class__ is int:
            position = index.value
        if position is not None and -len(elements) <= position < len(elements):
            changed = list(elements)
            changed[position] = kind
            env[name] = base._replace(elements=tuple(changed), variable=variable,
                                      evidence=base.evidence or kind.evidence)  # fmt: skip
        else:
            env[name] = base._replace(elements=(join_all([*elements, kind]),), keys=None, exact=False,
                                      variable=variable, evidence=base.evidence or kind.evidence)  # fmt: skip

    # Functions

    def _lambda(self, node: ast.Lambda, env: Environment) -> Kind:
        parameters = {a.arg: UNKNOWN for a in all_arguments(node.args)}
        self.evaluate(node.body, {**env, **parameters})
        self._closures[node] = env
        return Kind(Tag.FUNCTION, info=node)

    @property
    def _closures(self) -> dict[ast.Lambda, Environment]:
        return self.inference.closures

    def call_lambda(self, node: ast.Lambda, arguments: list[Kind]) -> Kind:
        """The result of calling a lambda of this function; its parts take the kinds of the last call."""
        if self._lambdas >= _MAX_LAMBDAS:
            return UNKNOWN
        names = [a.arg for a in all_arguments(node.args)]
        parameters = dict.fromkeys(names, UNKNOWN) | dict(zip(names, arguments))
        for name, default in zip(reversed(names), reversed(node.args.defaults)):
            if name in names[len(arguments) :]:
                parameters[name] = self.record.get(default) or self.evaluate(default, self._closures.get(node, {}))
        self._lambdas += 1
        try:
            return self.evaluate(node.body, {**self._closures.get(node, {}), **parameters})
        finally:
            self._lambdas -= 1

    def _walrus(self, node: ast.NamedExpr, env: Environment) -> Kind:
        kind = self.evaluate(node.value, env)
        env[node.target.id] = self.record[node.target] = kind
        return kind

    def _starred(self, node: ast.Starred, env: Environment) -> Kind:
        return part(self.evaluate(node.value, env))

    def _text(self, node: ast.JoinedStr, env: Environment) -> Kind:
        """An f-string compiles whatever is in it; what it says is of no use to a graph."""
        for value in node.values:
            self.evaluate(value.value if isinstance(value, ast.FormattedValue) else value, env)
        return STRING

    def _other(self, node: ast.expr, env: Environment) -> Kind:
        kinds = [self.evaluate(c, env) for c in ast.iter_child_nodes(node) if isinstance(c, ast.expr)]
        return Kind(Tag.UNKNOWN, any(k.variable for k in kinds), False)

    # Calls

    def _call(self, node: ast.Call, env: Environment) -> Kind:
        arguments = [self.evaluate(a, env) for a in node.args]
        for keyword in node.keywords:
            arguments.append(self.evaluate(keyword.value, env))
        variable, evidence = False, ""
        for argument in arguments:
            if argument.variable:
                variable, evidence = True, argument.evidence
                break
        func = node.func
        if func.__class__ is ast.Name:
            return self._named_call(node, func.id, arguments, variable, evidence, env)
        if func.__class__ is ast.Attribute:
            return self._attribute_call(node, func, arguments, variable, evidence, env)
        return self.results.value(self.evaluate(func, env), node, arguments, variable, evidence)

    def _named_call(
        self, node: ast.Call, name: str, arguments: list[Kind], variable: bool, evidence: str, env: Environment
    ) -> Kind:
        if name in env:
            return self.results.value(self.evaluate(node.func, env), node, arguments, variable, evidence)
        qualified = self._meaning(node.func)
        if qualified is not None:
            return self._imported_call(qualified, node, arguments, variable, evidence)
        if name == self.receiver and self.cell is not None:
            return self.results.value(self._self(), node, arguments, variable, evidence)
        found = self.inference.visible(self.function, name)
        if found is not None:
            self.record[node.func] = Kind(Tag.FUNCTION if isinstance(found, FunctionInfo) else Tag.OBJECT,
                                          name=found.qualname)  # fmt: skip
            return self.results.project_call(found, arguments, variable, evidence, node)
        if name in self.function.module.assignments:
            callee = self.evaluate(node.func, env)
            if callee.tag is not Tag.UNKNOWN:
                return self.results.value(callee, node, arguments, variable, evidence)
        return self.results.builtin(name, node, arguments, variable, evidence, env)

    def _imported_call(
        self, qualified: str, node: ast.Call, arguments: list[Kind], variable: bool, evidence: str
    ) -> Kind:
        self.record[node.func] = Kind(Tag.OBJECT, name=qualified)
        outside = self.results.outside(qualified, node, arguments, variable, evidence)
        if outside is not None:
            return outside
        found = self.project.definition(qualified)
        if found is None:
            callee = self._imported(qualified)
            if callee.tag is not Tag.OBJECT:
                return self.results.value(callee, node, arguments, variable, evidence)
        return self.results.project_call(found, arguments, variable, evidence, node)

    def _attribute_call(
        self, node: ast.Call, func: ast.Attribute, arguments: list[Kind], variable: bool, evidence: str,
        env: Environment,
    ) -> Kind:  # fmt: skip
        value = func.value
        if value.__class__ is ast.Name and value.id == self.receiver and self.cell is not None:
            method = self.inference.method(self.cell, func.attr)
            if method is not None:
                return self._method_call(func, method, arguments, variable, evidence, node)
        else:
            if self._is_free(value, env):
                qualified = self._meaning(func)
                if qualified is not None:
                    return self._imported_call(qualified, node, arguments, variable, evidence)
            if is_super(value) and self.cell is not None:
                around = self.function.class_around
                method = self.project.method(self.cell, func.attr, after=around)
                if method is not None:
                    return self._method_call(func, method, arguments, variable, evidence, node)
            base = self.evaluate(value, env)
            if base.tag not in (Tag.CELL, Tag.OBJECT, Tag.UNKNOWN):
                self.record[func] = Kind(Tag.FUNCTION)
                return self.results.method(base, node, arguments, env)
            if isinstance(base.info, ClassInfo):
                method = self.inference.method(base.info, func.attr)
                if method is not None:
                    return self._method_call(func, method, arguments, variable or base.variable, evidence, node)
            if value.__class__ is ast.Name:
                found = self.inference.visible(self.function, value.id)
                if isinstance(found, ClassInfo):
                    method = self.inference.method(found, func.attr)
                    if method is not None:
                        return self._method_call(func, method, arguments, variable, evidence, node)
        callee = self.evaluate(func, env)
        return self.results.value(callee, node, arguments, variable, evidence)

    def _method_call(
        self, func: ast.Attribute, method: FunctionInfo, arguments: list[Kind], variable: bool, evidence: str,
        node: ast.Call,
    ) -> Kind:  # fmt: skip
        if is_property(method):
            callee = self.record[func] = self.inference.function(method).returns
            return self.results.value(callee, node, arguments, variable, evidence)
        self.record[func] = Kind(Tag.FUNCTION, name=method.qualname)
        return self.results.project_call(method, arguments, variable, evidence, node)


def is_property(method: FunctionInfo) -> bool:
    """Whether reading the method as an attribute calls it."""
    return bool(method.node.decorator_list) and any(
        name.rpartition(".")[2] in ("property", "cached_property") for name, _ in method.decorators
    )


# Conditions that may say something of the names in them.
_TELLING = frozenset({ast.Compare, ast.UnaryOp, ast.BoolOp, ast.Call, ast.Name, ast.Attribute})
_METHODS: dict[type[ast.expr], Callable[..., Kind]] = {
    ast.Constant: Evaluator._constant, ast.Name: Evaluator._name, ast.Attribute: Evaluator._attribute,
    ast.Call: Evaluator._call, ast.BinOp: Evaluator._binop, ast.UnaryOp: Evaluator._unary,
    ast.Compare: Evaluator._compare, ast.BoolOp: Evaluator._boolop, ast.IfExp: Evaluator._ifexp,
    ast.Subscript: Evaluator._subscript, ast.Slice: Evaluator._slice, ast.Tuple: Evaluator._sequence,
    ast.List: Evaluator._sequence, ast.Set: Evaluator._sequence, ast.Dict: Evaluator._dict,
    ast.ListComp: Evaluator._comprehension, ast.GeneratorExp: Evaluator._comprehension,
    ast.SetComp: Evaluator._comprehension, ast.DictComp: Evaluator._dictcomp, ast.Lambda: Evaluator._lambda,
    ast.NamedExpr: Evaluator._walrus, ast.Starred: Evaluator._starred, ast.JoinedStr: Evaluator._text,
}  # fmt: skip
