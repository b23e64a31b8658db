"""Writing calls of deprecated names in the form of their successors: of functions where they stand, of layers and
operators where the instance is called."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping

from graphward.analysis.names import Names
from graphward.knowledge.renames import Version
from graphward.knowledge.renames_calls import CallForm, Parameter
from graphward.rules.module_context import ModuleContext, Use
from graphward.rules.rewrite import Rewrite
from graphward.source.precedence import guarded

from ._exchange import CannotExchange, drop_import
from ._mentions import Mention

_OPTIONAL = re.compile(r"<([^<>]*)>")
_PLACE = re.compile(r"\{(\w+)\}")
_NAME = re.compile(r"\bmindspore(?:\.\w+)+")
# An argument may stand here as it is written.
_OPEN, _CLOSED = ("(", ", ", "="), (")", ",", "]")


def in_new_form(context: ModuleContext, mention: Mention, form: CallForm, version: Version) -> Rewrite:
    """A rewrite of every call that `mention` leads to. Raises CannotExchange."""
    lacking = next((n for n in _NAME.findall(form.gives) if version.missing(n)), None)
    if lacking is not None:
        raise CannotExchange(f"{lacking} does not exist")
    if mention.use is not None:
        uses = [mention.use]
    else:
        assert mention.alias is not None
        bound = mention.alias.asname or mention.alias.name
        uses = [use for use in context.uses if use.head == bound and use.written == mention.written]
        if not uses or context.is_interface:
            raise CannotExchange("nothing in this file calls it")
    rewrite = context.rewrite(uses[0].names)
    for use in uses:
        _of_use(rewrite, context, use, form)
    if mention.statement is not None:
        assert isinstance(mention.statement, ast.ImportFrom) and mention.alias is not None
        drop_import(rewrite, context, mention.statement, mention.alias)
    return rewrite


def _of_use(rewrite: Rewrite, context: ModuleContext, use: Use, form: CallForm) -> None:
    if use.call is None:
        raise CannotExchange("it is handed on, and not called here")
    if form.made is None:
        _write(rewrite, context, use.call, form, _bound(context, use.call, form.takes, form), use.names)
        return
    made = _bound(context, use.call, form.made, form)
    outer = context.parent(use.call)
    if isinstance(outer, ast.Call) and outer.func is use.call:
        given = _bound(context, outer, form.takes, form)
        _write(rewrite, context, outer, form, made | given, use.names)
        return
    _check_constant(context, use.call)
    statement, calls = _kept(context, use.call)
    for call in calls:
        given = _bound(context, call, form.takes, form)
        _write(rewrite, context, call, form, made | given, context.names_at(call, ""))
    _take_out(rewrite, context, statement)


def _bound(
    context: ModuleContext, call: ast.Call, parameters: tuple[Parameter, ...], form: CallForm
) -> dict[str, ast.expr]:
    """The arguments of a call by parameter. Raises CannotExchange where they cannot be told, or cannot be rewritten."""
    if any(isinstance(a, ast.Starred) for a in call.args) or any(k.arg is None for k in call.keywords):
        raise CannotExchange("its arguments are unpacked")
    free = [p.name for p in parameters if not p.keyword_only]
    if len(call.args) > len(free):
        raise CannotExchange("it takes fewer arguments")
    given = dict(zip(free, call.args)) | {k.arg: k.value for k in call.keywords if k.arg}
    known = {p.name: p for p in parameters}
    for name, value in given.items():
        if name not in known:
            raise CannotExchange(f"it takes no {name}")
        text = context.text(value)
        if name in form.never and text != known[name].default:
            raise CannotExchange(form.never[name])
        if name in form.only and text != form.only[name]:
            raise CannotExchange(f"the successor has no {name}")
    lacking = next((p.name for p in parameters if p.default is None and p.name not in given), None)
    if lacking is not None:
        raise CannotExchange(f"its {lacking} is missing")
    return {n: v for n, v in given.items() if context.text(v) != known[n].default}


def _write(
    rewrite: Rewrite, context: ModuleContext, call: ast.Call, form: CallForm, given: Mapping[str, ast.expr],
    names: Names,
) -> None:  # fmt: skip
    defaults = {p.name: p.default or "" for p in (*(form.made or ()), *form.takes)}

    def optional(found: re.Match[str]) -> str:
        return found[1] if all(name in given for name in _PLACE.findall(found[1])) else ""

    def filled(found: re.Match[str]) -> str:
        value = given.get(found[1])
        if value is None:
            return defaults[found[1]]
        text = context.text(value)
        before, after = template[: found.start()], template[found.end() :]
        plain = before.endswith(_OPEN) and after.startswith(_CLOSED)
        atom = isinstance(value, (ast.Name, ast.Attribute, ast.Call, ast.Subscript, ast.Tuple, ast.List))
        number = isinstance(value, ast.Constant) and not after.startswith(".")
        return text if plain or atom or number else f"({text})"

    def spelled(found: re.Match[str]) -> str:
        text = rewrite.spell(found[0])
        head = text.partition(".")[0]
        if names.is_local(head):
            raise CannotExchange(f"{head} is something else where it is called")
        return text

    template = _OPTIONAL.sub(optional, form.gives)
    twice = {name for name in _PLACE.findall(template) if template.count(f"{{{name}}}") > 1}
    if any(not isinstance(given[name], (ast.Name, ast.Constant)) for name in twice & set(given)):
        raise CannotExchange("an argument would be computed twice")
    # Names first: arguments may hold some of their own.
    template = _NAME.sub(spelled, template)
    new, parent = _PLACE.sub(filled, template), context.parent(call)
    if "#" in context.text(call):
        rewrite.replace(call, new, parent)
    else:
        rewrite.replace_span(context.module.start(call), context.module.end(call), guarded(new, call, parent))


def _check_constant(context: ModuleContext, made: ast.Call) -> None:
    """Raises CannotExchange where the arguments of a constructor mean something else at the place of the call."""
    imported = context.module.names.aliases
    for node in (n for a in (*made.args, *(k.value for k in made.keywords)) for n in ast.walk(a)):
        if isinstance(node, ast.Name) and node.id not in imported:
            raise CannotExchange(f"{node.id} is not known where the instance is called")
        if isinstance(node, (ast.Call, ast.Lambda)):
            raise CannotExchange("an argument of the constructor is computed")


def _kept(context: ModuleContext, made: ast.Call) -> tuple[ast.Assign, list[ast.Call]]:
    """The statement that keeps an instance, and all calls of it."""
    statement = context.parent(made)
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        raise CannotExchange("the instance is handed on")
    target = statement.targets[0]
    function = context.function_at(made)
    if isinstance(target, ast.Name) and target.id not in context.module.names.aliases:
        places = [n for n in context.nodes if isinstance(n, ast.Name) and n.id == target.id]
        name = target.id
        if function is None:
            _check_private(context, name)
    elif (
        isinstance(target, ast.Attribute) and function is not None and function.class_around is not None
        and isinstance(target.value, ast.Name) and target.value.id == function.receiver
    ):  # fmt: skip
        name = target.attr
        _check_private(context, name)
        places = [n for n in context.nodes if isinstance(n, ast.Attribute) and n.attr == name]  # type: ignore[misc]
        owner = function.class_around
        for place in places:
            around = context.function_at(place)
            if around is None or around.class_around is not owner:
                raise CannotExchange(f"{name} is used outside of its class")
    else:
        raise CannotExchange("the instance is handed on")
    calls = []
    for place in places:
        if place is target:
            continue
        call = context.parent(place)
        if not isinstance(call, ast.Call) or call.func is not place:
            raise CannotExchange(f"{name} is not only called")
        calls.append(call)
    if any(inner is not call and inner in calls for call in calls for inner in ast.walk(call)):
        raise CannotExchange(f"calls of {name} stand within each other")
    return statement, calls


def _check_private(context: ModuleContext, name: str) -> None:
    """Raises CannotExchange where another file of the project may use an attribute or a name of this one."""
    word = re.compile(rb"\b%b\b" % re.escape(name.encode()))
    module = context.module
    heads = [d.encode() for d in module.definitions] + [module.name.rpartition(".")[2].encode()]
    for other in context.project.modules.values():
        data = other.source.utf8
        if other is not module and any(head in data for head in heads) and word.search(data):
            raise CannotExchange(f"{name} may be used in {other.path.name}")


def _take_out(rewrite: Rewrite, context: ModuleContext, statement: ast.stmt) -> None:
    """Take a statement out that stands on lines of its own; what is said beside it stays."""
    module, source = context.module, context.module.source
    start, end = module.start(statement), module.end(statement)
    last = statement.end_lineno or statement.lineno
    first = source.offset(statement.lineno, 0)
    line_end = source.offset(last, 0) + len(source.line_bytes(last))
    head, tail = source.utf8[first:start], source.utf8[end:line_end].strip()
    if head.strip() or (tail and not tail.startswith(b"#")) or b"#" in source.utf8[start:end]:
        raise CannotExchange("the statement shares its lines")
    if _fills_block(context, statement):
        rewrite.replace_span(start, end, "pass")
    elif tail:
        rewrite.replace_span(start, line_end - len(source.utf8[end:line_end].lstrip()), "")
    else:
        rewrite.replace_span(first, line_end, "")


def _fills_block(context: ModuleContext, statement: ast.stmt) -> bool:
    holder = context.parent(statement)
    blocks: Iterable[object] = (getattr(holder, name, None) for name in ("body", "orelse", "finalbody"))
    return not isinstance(holder, ast.Module) and any(block == [statement] for block in blocks)
