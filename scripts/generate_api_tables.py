"""Writes `src/graphward/knowledge/api_<version>.json`: what MindSpore's public callables give back.

    python scripts/generate_api_tables.py            # under an interpreter that has the MindSpore of that version

Every public function of `ops`, `mint` and `numpy`, every Tensor method, Primitive and layer is called on small Tensors
of four dtypes and several shapes; what comes out gives its rule. Where no call runs on the CPU, the section of the
docstring that describes the result tells whether it is a Tensor or a tuple. What neither settles is left out. The rules
are described at `graphward.knowledge.api.Result`. Calls run in a child process, since some kernels crash.
"""

from __future__ import annotations

import importlib
import inspect
import json
import re
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

OUTPUT = Path(__file__).resolve().parents[1] / "src" / "graphward" / "knowledge"
MODULES = (
    "mindspore.ops", "mindspore.mint", "mindspore.mint.nn.functional", "mindspore.mint.linalg",
    "mindspore.mint.special", "mindspore.numpy", "mindspore.Tensor", "mindspore.nn", "mindspore.mint.nn",
)  # fmt: skip
DTYPES = ("float32", "float16", "int32", "bool_")
SHAPES = ((2, 3), (2, 3, 4), (3,), (1, 3))
# Names that say how a result is shaped: a call with and one without them must agree on the rank.
AXES = ("axis", "dim")
SECONDS = 30


def names_of(module: str) -> list[str]:
    holder = holder_of(module)
    return sorted(n for n in dir(holder) if not n.startswith("_") and callable(getattr(holder, n, None)))


def holder_of(module: str) -> Any:
    if module == "mindspore.Tensor":
        return importlib.import_module("mindspore").Tensor
    return importlib.import_module(module)


# In the child


def child() -> None:
    """Says `ready`, then answers each `module name` line with a rule, or `-`."""
    import mindspore

    # An error of one call must not show in a later one.
    mindspore.set_context(mode=mindspore.PYNATIVE_MODE, pynative_synchronize=True)
    answers = sys.stdout
    sys.stdout = sys.stderr
    answers.write("ready\n")
    answers.flush()
    for line in sys.stdin:
        module, name = line.split()
        try:
            rule = rule_of(module, name)
        except Exception:
            rule = None
        answers.write(f"{rule or '-'}\n")
        answers.flush()


def rule_of(module: str, name: str) -> str | None:
    documented = from_docstring(getattr(holder_of(module), name))
    measured = measured_rule(module, name)
    if measured is None:
        return documented
    form, _, rest = measured.partition(" ")
    if documented is None or form not in ("tensor", "tuple"):
        return measured
    if form == "tuple":
        # How many a function splits into depends on its arguments, unless the documentation names each.
        dtypes, _, rank = rest.partition(" ")
        kinds = set(dtypes.split(","))
        if len(kinds) == 1 and documented.count(",") != measured.count(","):
            return f"tensors {kinds.pop()} {rank}"
        return measured
    # A call with few arguments may hide that others make a tuple of the result.
    return documented if documented.startswith("tuple") else measured


def measured_rule(module: str, name: str) -> str | None:
    """What all ways of calling it agree on: the form, and each dtype and the rank where they do."""
    agreed: list[str] | None = None
    for call, takes_second in candidates(module, name):
        rule = one_rule(call, takes_second, module, name)
        if rule is None:
            continue
        parts = rule.split(" ")
        if agreed is None:
            agreed = parts
        elif agreed[0] != parts[0] or len(agreed) != len(parts):
            # The first is the call with the fewest arguments; another form says that they matter.
            return None if "python" in (agreed[0], parts[0]) else f"{agreed[0]} - -" if agreed[0] == "tensor" else None
        elif len(parts) == 3:
            first, second = agreed[1].split(","), parts[1].split(",")
            if len(first) != len(second):
                return f"tensors {first[0] if len({*first, *second}) == 1 else '-'} -"
            dtypes = [wider(one, other) for one, other in zip(first, second)]
            agreed = [agreed[0], ",".join(dtypes), agreed[2] if agreed[2] == parts[2] else "-"]
    return None if agreed is None else " ".join(agreed)


def wider(first: str, second: str) -> str:
    """One Tensor alone has nothing to be promoted with; ways that all keep floats say at least that."""
    if first == second:
        return first
    if {first, second} == {"same", "promoted"}:
        return "promoted"
    return "same-float" if {first, second} <= {"same", "floating", "same-float"} else "-"


def one_rule(call: Call, takes_second: bool, module: str, name: str) -> str | None:
    """The rule of one way of calling it; None when it does not run."""
    results = {}
    for dtype in DTYPES:
        found = attempt(call, dtype, (2, 3))
        if found is not None:
            results[dtype] = found
    if not results:
        return None
    form, parts = next(iter(results.values()))
    if any(r[0] != form or len(r[1]) != len(parts) for r in results.values()):
        return None
    if form not in ("tensor", "tuple"):
        return form
    rules = [dtype_rule({d: r[1][i][0] for d, r in results.items()}) for i in range(len(parts))]
    if takes_second and rules == ["same"]:
        rules = [second_rule(call)]
    return f"{form} {','.join(rules)} {rank_rule(call, module, name)}"


Call = Callable[[Any, Any], Any]


def candidates(module: str, name: str) -> Iterator[tuple[Call, bool]]:
    """Ways to call it with one Tensor `x` and another `y` of the same shape."""
    held = getattr(holder_of(module), name)
    shapes: list[tuple[Callable[[Any, Any], tuple[Any, ...]], bool]] = [
        (lambda x, y: (x,), False), (lambda x, y: (x, y), True), (lambda x, y: (x, y, y), True),
        (lambda x, y: (x, 0), False), (lambda x, y: (x, 1), False), (lambda x, y: (x, x.shape), False),
        (lambda x, y: ((x, y),), False), (lambda x, y: (x, (0,)), False), (lambda x, y: (x, 0, 1), False),
        (lambda x, y: (), False),
    ]  # fmt: skip
    if inspect.isclass(held):
        for made in instances(held):
            yield from ((lambda x, y, m=made, a=arguments: m(*a(x, y)), second) for arguments, second in shapes)
    elif module == "mindspore.Tensor":
        for arguments, second in shapes[:-1]:
            yield (lambda x, y, a=arguments: getattr(x, name)(*a(x, y)[1:])), second
    else:
        yield from ((lambda x, y, a=arguments: held(*a(x, y)), second) for arguments, second in shapes)


def instances(held: type) -> Iterator[Any]:
    """Instances of a layer or Primitive, made with guesses for what it requires."""
    import mindspore

    if not issubclass(held, (mindspore.nn.Cell, mindspore.ops.Primitive)):
        return
    required = [p for p in inspect.signature(held).parameters.values() if p.default is p.empty and p.kind <= 1]
    for value in (3, 1) if required else (None,):
        try:
            yield held(*[value] * len(required))
        except Exception:
            continue


def attempt(call: Call, dtype: str, shape: tuple[int, ...]) -> tuple[str, list[tuple[str, int]]] | None:
    """The form of the result, and dtype and rank of each Tensor in it; None when the call fails."""
    import mindspore
    import numpy

    values = numpy.abs(numpy.arange(numpy.prod(shape)).reshape(shape) % 3 - 1)
    x = mindspore.Tensor(values, getattr(mindspore, dtype))
    y = mindspore.Tensor(numpy.ones(shape), getattr(mindspore, dtype))
    try:
        return described(call(x, y))
    except Exception:
        return None


def described(result: Any) -> tuple[str, list[tuple[str, int]]] | None:
    import mindspore

    if isinstance(result, mindspore.Tensor):
        result.asnumpy()
        return "tensor", [(dtype_name(result), result.ndim)]
    if isinstance(result, (tuple, list)) and result and all(isinstance(r, mindspore.Tensor) for r in result):
        return "tuple", [(dtype_name(r), r.ndim) for r in result]
    if isinstance(result, (bool, int, float, str)):
        return f"python {type(result).__name__}", []
    if isinstance(result, tuple) and result and all(type(r) is int for r in result):
        return "shape", []
    return None


def dtype_name(tensor: Any) -> str:
    return str(tensor.dtype).lower().rstrip("_")


def dtype_rule(seen: dict[str, str]) -> str:
    """How the dtype of a result follows from that of the arguments."""
    seen = {d.rstrip("_"): out for d, out in seen.items()}
    floats = {d: out for d, out in seen.items() if d.startswith("float")}
    if all(d == out for d, out in seen.items()):
        return "same"
    if len(set(seen.values())) == 1 and (len(seen) > 1 or not floats):
        return next(iter(seen.values()))
    if all(d == out for d, out in floats.items()):
        others = {out for d, out in seen.items() if d not in floats}
        if others == {"float32"}:
            return "floating"
        if seen.get("int32") == "int32":
            return "same"
        if len(floats) > 1:
            return "same-float"
    return "-"


def second_rule(call: Call) -> str:
    """Whether two Tensors of different dtypes are promoted."""
    import mindspore
    import numpy

    half = mindspore.Tensor(numpy.ones((2, 3)), mindspore.float16)
    single = mindspore.Tensor(numpy.ones((2, 3)), mindspore.float32)
    try:
        found = {dtype_name(call(half, single)), dtype_name(call(single, half))}
    except Exception:
        return "same"
    return "promoted" if found == {"float32"} else "same"


def rank_rule(call: Call, module: str, name: str) -> str:
    """`same` where the result has as many dimensions as the argument, whatever its shape and the axis; a number where
    it always has so many and nothing else can be asked for."""
    ranks = {}
    for shape in SHAPES:
        for dtype in ("float32", "bool_", "int32"):
            found = attempt(call, dtype, shape)
            if found is not None and found[1]:
                ranks[shape] = {rank for _, rank in found[1]}
                break
    if not all(len(found) == 1 for found in ranks.values()) or len(ranks) < 2:
        return "-"
    same = all(found == {len(shape)} for shape, found in ranks.items())
    fixed = {rank for found in ranks.values() for rank in found}
    with_axis = axis_ranks(module, name)
    if same and (1, 3) in ranks and (2, 3, 4) in ranks and with_axis <= {0}:
        return "same"
    if len(fixed) == 1 and not with_axis and len({len(s) for s in ranks}) > 1 and not has_options(module, name):
        return str(fixed.pop())
    return "-"


def axis_ranks(module: str, name: str) -> set[int]:
    """By how much the rank changes when an axis is named."""
    held = getattr(holder_of(module), name)
    try:
        options = set(inspect.signature(held).parameters)
    except (TypeError, ValueError):
        options = set(AXES)
    changes = set()
    for axis in AXES:
        if axis not in options and not (options & {"args", "kwargs"}):
            continue
        if module == "mindspore.Tensor":
            named: Call = lambda x, y, a=axis: getattr(x, name)(**{a: 0})  # noqa: E731
        else:
            named = lambda x, y, a=axis: held(x, **{a: 0})  # noqa: E731
        found = attempt(named, "float32", (2, 3)) or attempt(named, "bool_", (2, 3))
        if found is not None:
            changes |= {rank - 2 for _, rank in found[1]}
    return changes


def has_options(module: str, name: str) -> bool:
    try:
        parameters = inspect.signature(getattr(holder_of(module), name)).parameters.values()
    except (TypeError, ValueError):
        return True
    return any(p.default is not p.empty or p.kind in (p.VAR_KEYWORD, p.VAR_POSITIONAL) for p in parameters)


def from_docstring(held: Any) -> str | None:
    """The rule that the docstring states: a Tensor, or a tuple of so many."""
    text = inspect.getdoc(held) or ""
    section = re.search(r"^(?:Returns|Outputs):\n((?:[ \t]+.*\n?|\n)+)", text, re.MULTILINE)
    if section is None:
        return None
    body = inspect.cleandoc(section.group(1))
    first = body.split("\n", 1)[0]
    items = re.findall(r"^- \*\*\w+\*\*\s*\(Tensor", body, re.MULTILINE)
    if len(items) > 1:
        return f"tuple {','.join('-' for _ in items)} -"
    if re.match(r"(?:an? |the |scalar |output )*tensor\b(?!s)", first, re.IGNORECASE):
        return "tensor - -"
    if re.search(r"tuple|list|tensors", first, re.IGNORECASE) and "int" not in first.lower():
        return "tensors - -"
    return None


# In the parent


class Child:
    def __init__(self) -> None:
        self.process: subprocess.Popen[str] | None = None

    def ask(self, module: str, name: str) -> str:
        """The rule of one callable; `-` when the child dies over it or takes too long, twice: the first time another
        one before it may be to blame."""
        return self._answer(module, name) or self._answer(module, name) or "-"

    def _answer(self, module: str, name: str) -> str:
        """One try; empty when the child died."""
        if self.process is None or self.process.poll() is not None:
            self.process = self._started()
        assert self.process.stdin is not None and self.process.stdout is not None
        timer = threading.Timer(SECONDS, self.process.kill)
        timer.start()
        try:
            self.process.stdin.write(f"{module} {name}\n")
            self.process.stdin.flush()
            answer = self.process.stdout.readline().strip()
        except OSError:
            answer = ""
        finally:
            timer.cancel()
        if not answer:
            self.process.wait()
        return answer

    @staticmethod
    def _started() -> subprocess.Popen[str]:
        """A child that has imported MindSpore, which on a busy machine takes longer than any answer."""
        # Some kernels leave files where they run.
        process = subprocess.Popen([sys.executable, str(Path(__file__).resolve()), "--child"], text=True,
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                   cwd=tempfile.gettempdir())  # fmt: skip
        assert process.stdout is not None
        process.stdout.readline()
        return process


def main() -> None:
    import mindspore

    version = ".".join(mindspore.__version__.split(".")[:2])
    found: dict[str, dict[str, str]] = {}
    worker = Child()
    for module in MODULES:
        try:
            names = names_of(module)
        except ImportError:
            continue
        found[module] = {name: rule for name in names if (rule := worker.ask(module, name)) != "-"}
        note(f"{module}: {len(found[module])} of {len(names)}")
    fill_from_twins(found)
    results: dict[str, dict[str, str]] = {}
    for module, rules in found.items():
        by_rule: dict[str, list[str]] = {}
        for name, rule in sorted(rules.items()):
            by_rule.setdefault(rule, []).append(name)
        results[module] = {rule: " ".join(names) for rule, names in sorted(by_rule.items())}
    path = OUTPUT / f"api_{version}.json"
    data = {"mindspore": mindspore.__version__, "results": results}
    path.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
    note(str(path))


def note(text: str) -> None:
    sys.stderr.write(text + "\n")


def fill_from_twins(found: dict[str, dict[str, str]]) -> None:
    """`mint.exp` has no kernel on the CPU, `ops.exp` has one: the same function, the same result. A Primitive is named
    like its function, in capitals."""
    functions = found.get("mindspore.ops", {})
    spelled = {name.replace("_", "").lower(): rule for name, rule in functions.items() if name[0].islower()}
    methods = found.get("mindspore.Tensor", {})
    for module, rules in found.items():
        for name, rule in rules.items():
            twin = functions.get(name) or methods.get(name)
            if name[0].isupper() and module == "mindspore.ops":
                twin = spelled.get(name.lower())
            if twin and " - -" in f"{rule} " and twin.split()[0] == rule.split()[0]:
                if twin.count(",") == rule.count(","):
                    rules[name] = twin


if __name__ == "__main__":
    if sys.argv[1:] == ["--child"]:
        child()
    else:
        main()
