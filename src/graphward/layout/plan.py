"""The layout of a file: what goes where, why, and the files that come of it. Nothing is written and nothing is run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ..analysis.module import module_name
from ..engine.check import analyse
from ..engine.workspace import Workspace
from ..errors import GraphwardError
from ..source.discovery import SUFFIXES
from ..source.paths import display
from ..source.text import SourceText
from .evidence import Judge
from .items import Item, Kind, Reading, read
from .loading import Part, check_order, load_order, reordered, steps
from .needs import needs_of
from .outside import set_from_outside
from .parts import Writer
from .placing import Placing, by_part, pinned
from .roles import Role
from .structure import Component, Structure, structure


@dataclass(frozen=True)
class Decision:
    """Where a definition goes. `file` is a file of the package, `line` is where it stands now."""

    name: str
    file: str
    line: int
    why: str


@dataclass
class Layout:
    """`before` is the file; `files` are those of the package, empty where there is nothing to split, for the `reason`.
    `exports` are all names that could be imported from the file; `live` are those that change while the program runs,
    and that the package passes on from their part; `notes` are what the user has to know."""

    before: SourceText
    module: str
    decisions: list[Decision]
    files: dict[Path, SourceText] = field(default_factory=dict)
    exports: list[str] = field(default_factory=list)
    live: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    reason: str = ""

    @property
    def package(self) -> Path:
        return self.before.path.with_suffix("")

    @property
    def script(self) -> Path:
        return self.package / "__main__.py"


def plan(path: Path, pins: Sequence[str] = (), project: Sequence[Path] = ()) -> Layout:
    """How a file is laid out. `pins` are `NAME=FILE`, `project` the files that may set names of it.

    Raises GraphwardError for what is no such file, and for what cannot be kept right.
    """
    _check_path(path)
    workspace = Workspace([path])
    module = workspace.module(path)
    if module is None:
        problem = workspace.problems[path]
        raise GraphwardError(problem.message, path=path, line=problem.line or None, hint="the file must be Python 3")
    analysis = analyse(workspace)
    if module.name not in analysis.project.modules:
        analysis.project.add(module)
    reading = read(module.source, module.tree)
    judge = Judge(analysis.project, module)
    stays = {item: why for item in reading.items if item.kind is Kind.DEFINITION and (why := judge.stays(item))}
    name = module_name(path)
    outside = set_from_outside(name, path.stem, [p for p in project if p.resolve() != path.resolve()])
    whole = structure(reading, outside, stays)
    taken = set(reading.bound) | {n for i in reading.items for n in i.symbols.writes}
    places = Placing(whole, judge, pinned(pins, whole)).places(taken)
    groups = by_part(places)
    decisions = [
        Decision(item.name, f"{places[c].stem}.py", item.line, _why(judge, c, item, places[c].why))
        for c in whole.components for item in c.items
    ]  # fmt: skip
    if whole.main is not None and not whole.inside:
        decisions.append(Decision(whole.main.name, "__main__.py", whole.main.line, "the block of the script"))
    layout = Layout(module.source, name, sorted(decisions, key=lambda d: d.line), exports=_exports(reading, whole))
    parts = [stem for stem in groups if stem != "__init__"]
    if len(parts) < 2:
        layout.reason = _reason(parts, groups, whole)
        return layout
    _compose(layout, whole, places_of(whole, {c: p.stem for c, p in places.items()}), groups)
    layout.notes += [f"{place} sets {n}: it is set in its part too" for n, place in outside.items() if n in whole.live]
    return layout


def _why(judge: Judge, component: Component, item: Item, why: str) -> str:
    """Why an item is where it is: for itself, or with others that it cannot be parted from."""
    if len(component.items) == 1 or judge.judge(item).why == why:
        return why
    others = [i for i in component.items if i is not item]
    first = next((i for i in others if judge.judge(i).why == why), others[0])
    return f"it cannot be parted from {first.name}" + (f" ({why})" if why else "")


def places_of(whole: Structure, stems: dict[Component, str]) -> dict[str, str]:
    """The part of each name of the file that is not merely imported."""
    return {name: stems[component] for name, component in whole.owner.items()}


def _check_path(path: Path) -> None:
    if path.is_dir():
        raise GraphwardError("this is a folder; layout takes one file", path=path, hint="name the file of the model")
    if not path.exists():
        package = path.with_suffix("")
        if (package / "__init__.py").is_file():
            raise GraphwardError("it is a package already", path=path, hint=f"its parts are in {package}")
        raise GraphwardError("no such file", path=path, hint="check the path for a typing error")
    if path.suffix not in SUFFIXES or path.suffix == ".pyi":
        raise GraphwardError("this is not a Python file", path=path, hint="layout takes a .py file")
    if path.name in ("__init__.py", "__main__.py"):
        raise GraphwardError("it is part of a package already", path=path, hint="name a module of its own")
    if path.is_symlink():
        raise GraphwardError("this is a symbolic link", path=path, hint=f"name the file itself: {path.resolve()}")
    if not path.stem.isidentifier():
        raise GraphwardError(f"{path.stem!r} is no name for a package", path=path, hint="rename the file first")
    if path.with_suffix("").exists():
        raise GraphwardError(f"there is a {path.stem} beside it already", path=path,
                             hint="the package would be called like that: move one of them away")  # fmt: skip


def _exports(reading: Reading, whole: Structure) -> list[str]:
    """The names that could be imported from the file."""
    names = dict.fromkeys(n for i in reading.items if i.kind is not Kind.FUTURE for n in i.symbols.binds
                          if i.kind is not Kind.MAIN)  # fmt: skip
    deleted = {n for i in reading.items for n in i.symbols.deleted}
    return [n for n in names if n not in deleted and n not in whole.live and _certain(n, reading)]


def _certain(name: str, reading: Reading) -> bool:
    return any(name in item.symbols.certain for item in reading.bound[name])


def _reason(parts: list[str], groups: dict[str, list[Item]], whole: Structure) -> str:
    if not parts and not groups:
        return "the file defines nothing"
    if whole.live and len(whole.components) == 1:
        return f"all of it shares {', '.join(sorted(whole.live)[:3])}, which change while the program runs"
    reason = f"all of it is one part ({parts[0]})" if parts else "it holds no part of a model"
    held = [c for c in whole.components if c.stays and "__all__" not in c.names]
    if held:
        reason += f"; {held[0].items[0].name} and what needs it stay in one module: {held[0].stays}"
    return reason


def _compose(layout: Layout, whole: Structure, owner: dict[str, str], groups: dict[str, list[Item]]) -> None:
    """Write the texts of the package."""
    reading, writer = whole.reading, Writer(whole)
    needs = {stem: needs_of(stem, items, whole, owner) for stem, items in groups.items()}
    parts = {
        stem: Part(stem, items, list(needs[stem].imports), needs[stem].parts)
        for stem, items in groups.items() if stem != "__init__"
    }  # fmt: skip
    moved = {item for part in parts.values() for item in part.items}
    own = {item for item in reading.items if item not in moved and item.kind is not Kind.MAIN}
    if whole.inside and whole.main in groups.get("__init__", ()):
        raise GraphwardError("the script's block sets what has to stay in the package itself", path=reading.source.path,
                             line=whole.main.line if whole.main else None,
                             hint="put the block into a function that the script calls")  # fmt: skip
    order = steps(reading.items, own, parts, {n: s for n, s in owner.items() if s != "__init__"})
    check_order(reading.items, order, parts)
    exported = set(layout.exports)
    exports = {
        stem: [n for n in dict.fromkeys(n for i in part.items for n in i.symbols.binds) if n in exported]
        for stem, part in parts.items()
    }  # fmt: skip
    live = {name: owner[name] for name in sorted(whole.live) if owner[name] in parts}
    if live and any("__getattr__" in i.symbols.binds for i in own):
        raise GraphwardError("the module answers for names itself (__getattr__), and some of its names change",
                             path=reading.source.path, hint=f"these do: {', '.join(live)}")  # fmt: skip
    layout.live = list(live)
    titles = {role.value: role.title for role in Role}
    loaded = load_order(parts)
    for stem in loaded:
        title = titles.get(stem) or next(
            (r.title for r in Role if r is not Role.INIT and stem.startswith(r.value[:4])), f"Part of {layout.module}."
        )  # fmt: skip
        earlier = set(loaded[: loaded.index(stem)])
        _import_hints(needs[stem].hints, needs[stem].parts, earlier)
        _add(layout, stem, writer.part(title, parts[stem].items, needs[stem]))
    _add(layout, "__init__", writer.init(order, exports, live))
    script = next((i for s, p in parts.items() for i in p.items if i.kind is Kind.EFFECT and s == "train"), None)
    if whole.main is not None or script is not None:
        block = [whole.main] if whole.main is not None and not whole.inside else []
        where = next((stem for stem, part in parts.items() if whole.main in part.items), "")
        _add(layout, "__main__", writer.main(needs_of("__main__", block, whole, owner), layout.module, where))
    layout.notes += _notes(layout, reading, parts, loaded)


def _import_hints(hints: dict[str, list[str]], names: dict[str, list[str]], earlier: set[str]) -> None:
    """Import what annotations name where that makes no circle."""
    for stem in [s for s in hints if s in earlier]:
        names.setdefault(stem, []).extend(hints.pop(stem))


def _add(layout: Layout, stem: str, text: str) -> None:
    path = layout.package / f"{stem}.py"
    before = layout.before
    after = SourceText(path, text.encode(), before.encoding, before.bom)
    compile(after.text, str(path), "exec", dont_inherit=True)
    layout.files[path] = after


def _notes(layout: Layout, reading: Reading, parts: dict[str, Part], order: list[str]) -> list[str]:
    notes = []
    if layout.script in layout.files:
        notes.append(f"`python {layout.before.path.name}` becomes `python -m {layout.module}`, run from "
                     f"{display(_import_root(layout)) or '.'}")  # fmt: skip
    classes = [i.name for p in parts.values() for i in p.items if _is_class(i)]
    if classes:
        stem = next(s for s, p in parts.items() if any(i.name == classes[0] for i in p.items))
        notes.append(f"{classes[0]}.__module__ is {layout.module}.{stem} now (likewise {len(classes) - 1} more): old "
                     f"pickles load as before, new ones need the new layout")  # fmt: skip
    for first, second in reordered(reading.items, parts, order):
        notes.append(f"the decorators of {second.name} run before those of {first.name} now")
    return notes


def _import_root(layout: Layout) -> Path:
    """The folder from which the package is imported."""
    return layout.before.path.absolute().parents[layout.module.count(".")]


def _is_class(item: Item) -> bool:
    return item.kind is Kind.DEFINITION and type(item.nodes[0]).__name__ == "ClassDef"
