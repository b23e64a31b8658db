"""Arguments for a constructor that nobody declared: small values that fit together, by annotation, by name, by what the
constructor does with them, and by what it says about the first attempts."""

from __future__ import annotations

import inspect
import re
from collections.abc import Generator
from dataclasses import dataclass, field
from types import ModuleType

import mindspore as ms

from . import blame
from .configurations import PARAMETER, Configurations, attributes_read, name_of, small_defaults
from .examples import constructor_examples
from .limits import TooSlow
from .repairs import unequal
from .signatures import Kind, constructor_of, kind_of, mentioned, required
from .uses import Uses, uses_of_constructor

_SIZES = (8, 4, 32, 16, 3, 64)
"""Values tried for a constructor's widths, all at once, so that what has to be equal is equal."""

_INTEGERS = (
    (re.compile(r"head_(dim|size)|dim_head|size_per_head|patch"), 4),
    (re.compile(r"head|group"), 2),
    (re.compile(r"layer_?(idx|id|index|number)|block_?(idx|id|index)"), 0),
    (re.compile(r"layer|depth|block|repeat|stage|step"), 2),
    (re.compile(r"kernel"), 3),
    (re.compile(r"stride|dilation"), 1),
    (re.compile(r"expan|ratio|factor|scale|multiplier|reduction"), 2),
    (re.compile(r"pad"), 0),
    (re.compile(r"vocab|num_embed|max_(len|seq|pos)|max_position"), 32),
    (re.compile(r"image|img|resolution|input_size"), 16),
    (re.compile(r"class|label"), 4),
)
_RATES = re.compile(r"prob|rate|drop|coef|eps|momentum|alpha|beta|smooth|temperature")
_FLAGS = re.compile(r"^(use|with|has|is|do|enable|add|return)_|^bias$|^(affine|causal|training|transpose)$")
_CELLS = re.compile(r"^(net|network|backbone|model|module|cell|layer|block|encoder|decoder|fn|func)$")
_LOSSES = re.compile(r"loss|criterion")
_TEXTS = (
    (re.compile(r"act"), "relu"),
    (re.compile(r"reduction"), "mean"),
    (re.compile(r"pad(ding)?_mode"), "same"),
    (re.compile(r"data_format|layout"), "NCHW"),
)
_PARAMETERS = re.compile(r"^(params|parameters|trainable_params|net_parameters)$")
_DTYPE = re.compile(r"(^|_)dtype$|_type$")
_SEVERAL = {"tuple": 2, "Tuple": 2, "list": 2, "List": 2, "Sequence": 2, "Iterable": 2}
_PLAIN = ("int", "float", "bool")
_TOO_PLAIN = re.compile(r"not (subscriptable|iterable)|object of type '\w+' has no len|cannot unpack|\*: 'int' and")
_TOO_SHORT = re.compile(r"not enough values|index out of range")
_TOO_LONG = re.compile(r"'(list|tuple)'|(must|should) be (an )?int")
_WAY_IN = re.compile(r"(?:^|, )(in\w*|\w*_in|dim|c1)=")
_MOST = 64  # constructor calls
_REPAIRS = 6  # for each size
_LONGEST = 5  # items of a sequence
_CONFIGURATIONS = 4  # tried for a parameter

IMPROVISED = "__import__('types').SimpleNamespace"
"""Makes an object of no class, for a parameter whose class nothing tells."""

Attempts = Generator[str, "Exception | None", None]
"""Gets the exception that the arguments led to, or None when they were not tried."""


class Unknown(Exception):
    """A parameter whose value cannot be guessed; the text says what to write instead."""


class Refused(Exception):
    """What was made took none of the inputs that were tried; `messages` of the errors."""

    def __init__(self, messages: list[str]):
        super().__init__("no inputs found")
        self.messages = messages


def constructor_arguments(cls: type, module: ModuleType) -> Attempts:
    """Texts of keyword arguments for the parameters that have to be given, to be evaluated in the module. Raises
    Unknown when nothing says what one is."""
    try:
        parameters = required(cls)
    except (TypeError, ValueError):
        parameters = []
    tried: set[str] = set()
    everything = _parameters(cls)
    uses = uses_of_constructor(cls)
    first: Unknown | None = None
    examples = constructor_examples(cls, module)
    for several in (False, True):
        for size in _SIZES:
            for which in range(_CONFIGURATIONS if any(map(_is_configuration, parameters)) else 1):
                attempt = _Attempt(cls, module, uses, size, several, which)
                chosen = {p.name: p for p in parameters}
                for _ in range(_REPAIRS):
                    try:
                        text = attempt.arguments(chosen)
                    except Unknown as error:
                        first = first or error
                        break
                    if text in tried:
                        break
                    tried.add(text)
                    failure = yield text
                    if isinstance(failure, TooSlow):
                        yield from _smaller(cls, module, text, tried)
                        return
                    if isinstance(failure, Refused):
                        yield from _balanced(text, failure, tried)
                        break
                    if failure is None or not attempt.repair(failure, chosen, everything):
                        break
            while examples:
                text = examples.pop(0)
                if text not in tried:
                    tried.add(text)
                    yield text
    if first is not None and not tried:
        raise first


def _balanced(text: str, failure: Refused, tried: set[str]) -> Attempts:
    """The same arguments, and a width on the way in which equals that on the way out: a block that adds what it gets to
    what it makes of it says so when both differ."""
    for a, b in dict.fromkeys(pair for message in failure.messages for pair in unequal(message)):
        for came, wanted in ((min(a, b), max(a, b)), (max(a, b), min(a, b))):
            for name in _WAY_IN.findall(text):
                made = re.sub(rf"\b{name}={came}\b", f"{name}={wanted}", text)
                if made not in tried and len(tried) < _MOST:
                    tried.add(made)
                    yield made


def _smaller(cls: type, module: ModuleType, text: str, tried: set[str]) -> Attempts:
    """The same arguments, and for what the defaults make large something smaller."""
    given = set(re.findall(r"(?:^|, )(\w+)=", text))
    for scaled in (True, False):
        chosen = {name: value for name, value in small_defaults(cls, module, scaled).items() if name not in given}
        parts = ([text] if text else []) + [f"{name}={value}" for name, value in chosen.items()]
        smaller = ", ".join(parts)
        if chosen and smaller not in tried:
            tried.add(smaller)
            yield smaller


def _is_configuration(parameter: inspect.Parameter) -> bool:
    return bool(PARAMETER.search(parameter.name)) or "Config" in str(parameter.annotation)


def _parameters(cls: type) -> dict[str, inspect.Parameter]:
    """All that the constructors of a class and of those above take, the nearest first."""
    found: dict[str, inspect.Parameter] = {}
    for one in cls.__mro__:
        made = vars(one).get("__init__")
        if one is ms.nn.Cell:
            break
        if made is not None:
            for p in list(inspect.signature(made).parameters.values())[1:]:
                if p.kind in (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY):
                    found.setdefault(p.name, p)
    return found


@dataclass
class _Attempt:
    """The choice of values for some attempts. `several`: a size without an annotation is a pair; `which` of the
    configurations; `lengths`: how many items a parameter turned out to need, 0 for a plain value."""

    cls: type
    module: ModuleType
    uses: dict[str, Uses]
    size: int
    several: bool
    which: int
    lengths: dict[str, int] = field(default_factory=dict)

    def arguments(self, parameters: dict[str, inspect.Parameter]) -> str:
        return ", ".join(f"{name}={self.text(p)}" for name, p in parameters.items())

    def repair(
        self, error: Exception, chosen: dict[str, inspect.Parameter], everything: dict[str, inspect.Parameter]
    ) -> bool:
        """Change what the exception is about; False when there is nothing to change."""
        keyword = inspect.Parameter.KEYWORD_ONLY
        lacking = [name for name in blame.missing(error) if name not in chosen]
        for name in lacking:
            chosen[name] = everything.get(name, inspect.Parameter(name, keyword))
        if lacking:
            return True
        changed = False
        message = str(error)
        for name in blame.blamed(error, constructor_of(self.cls), list(everything)):
            if name not in chosen:
                if everything[name].default is None and "None" in message:
                    chosen[name] = everything[name]
                    changed = True
            elif _TOO_PLAIN.search(message):
                changed = self.longer(name, 2) or changed
            elif _TOO_SHORT.search(message):
                changed = self.longer(name, self.lengths.get(name, 1) + 1) or changed
            elif _TOO_LONG.search(message) and self.lengths.get(name) != 0:
                self.lengths[name] = 0
                changed = True
        return changed

    def longer(self, name: str, length: int) -> bool:
        if length > _LONGEST or self.lengths.get(name, 1) >= length:
            return False
        self.lengths[name] = length
        return True

    def text(self, parameter: inspect.Parameter) -> str:
        """The source text of the value of one parameter."""
        kind = kind_of(parameter)
        name = parameter.name.lower()
        use = self.uses.get(parameter.name, Uses())
        if self.lengths.get(parameter.name):
            item = kind.items[0] if kind is not None and kind.items else Kind("int")
            return self.sequence(Kind("list", (item,)), name, self.lengths[parameter.name])
        if _is_configuration(parameter):
            return self.configuration(parameter)
        if use.values and (kind is None or kind.name in ("str", "int", "Literal")):
            usable = [v for v in use.values if kind is None or kind.name == "Literal" or type(v).__name__ == kind.name]
            if usable:
                return repr(usable[0])
        if kind is None:
            return self.by_name(name, use)
        if kind.name == "Literal" and kind.items:
            return kind.items[0].name
        if kind.name in _SEVERAL:
            return self.sequence(kind, name, use.items)
        if kind.name in ("Cell", "Module", "Callable"):
            return self.cell(name, kind)
        if kind.name in ("Type", "type"):
            return self.kind_of_cell(name, kind)
        if kind.name == "Tensor":
            return self.tensor()
        if kind.name == "str":
            return self.word(name, use)
        simple = {"int": self.integer(name, use), "bool": "True", "float": _rate(name)}
        return simple.get(kind.name) or self.made(kind, name)

    def by_name(self, name: str, use: Uses) -> str:
        if use.called:
            return self.cell(name, None)
        if _PARAMETERS.search(name):
            return self.parameters()
        if _DTYPE.search(name) and not name.endswith("_type"):
            return self.dtype()
        if _CELLS.search(name) or (_LOSSES.search(name) and not _RATES.search(name)):
            return self.cell(name, None)
        if _FLAGS.search(name) or (use.flag and not use.count and not use.number):
            return "True"
        if _RATES.search(name):
            return "0.1"
        text = next((text for pattern, text in _TEXTS if pattern.search(name)), None)
        if text is not None and name != "reduction":
            return repr(text)
        if name == "normalized_shape":
            return self.sequence(Kind("tuple", (Kind("int"),)), name, 1)
        if use.items and self.lengths.get(name) != 0:
            return self.sequence(Kind("list", (Kind("int"),)), name, use.items)
        if self.several and re.search(r"size|shape|resolution|dims|channels", name):
            return self.sequence(Kind("tuple", (Kind("int"), Kind("int"))), name, None)
        return self.integer(name, use)

    def integer(self, name: str, use: Uses) -> str:
        for known in (name, *(role.lower() for role in use.roles)):
            value = next((value for pattern, value in _INTEGERS if pattern.search(known)), None)
            if value is not None:
                return str(value)
        return str(self.size)

    def word(self, name: str, use: Uses) -> str:
        for known in (name, *(role.lower() for role in use.roles)):
            text = next((text for pattern, text in _TEXTS if pattern.search(known)), None)
            if text is not None:
                return repr(text)
        raise Unknown(f"cannot guess the text {name!r} of {self.cls.__name__}: write it into the target")

    def sequence(self, kind: Kind, name: str, length: int | None) -> str:
        item = kind.items[0] if kind.items else Kind("int")
        if item.name in _SEVERAL:
            value = self.sequence(item, name, None)
        elif item.name in _PLAIN:
            value = {"int": self.integer(name, Uses()), "float": _rate(name), "bool": "True"}[item.name]
        elif item.name == "str":
            value = self.word(name, Uses())
        else:
            raise self.unknown(name, kind)
        fixed = kind.name in ("tuple", "Tuple") and kind.items
        count = len(kind.items) if fixed else min(length or _SEVERAL[kind.name], _LONGEST)
        inside = ", ".join([value] * count)
        return f"[{inside}]" if kind.name in ("list", "List") else f"({inside},)"

    def cell(self, name: str, kind: Kind | None) -> str:
        """A layer made with the name under which the module imports `mindspore.nn`."""
        prefix = next((key for key, value in vars(self.module).items() if value is ms.nn), None)
        if prefix is None:
            raise self.unknown(name, kind)
        if re.search(r"act|norm", name):
            return f"{prefix}.ReLU()"
        return f"{prefix}.MSELoss()" if _LOSSES.search(name) else f"{prefix}.Dense({self.size}, {self.size})"

    def kind_of_cell(self, name: str, kind: Kind) -> str:
        """A class: the one that the annotation names."""
        for item in kind.items:
            if isinstance(vars(self.module).get(item.name), type) and item.name != "Cell":
                return item.name
        prefix = next((key for key, value in vars(self.module).items() if value is ms.nn), None)
        if prefix is None or not re.search(r"act|norm", name):
            raise self.unknown(name, kind)
        return f"{prefix}.ReLU" if "act" in name else f"{prefix}.BatchNorm2d"

    def dtype(self) -> str:
        return f"{self.mindspore()}.float32"

    def tensor(self) -> str:
        prefix = self.mindspore()
        return f"{prefix}.ops.ones(({self.size}, {self.size}), {prefix}.float32)"

    def parameters(self) -> str:
        """What an optimizer trains."""
        prefix = self.mindspore()
        return f"[{prefix}.Parameter({self.tensor()}, name='weight')]"

    def mindspore(self) -> str:
        own = next((key for key, value in vars(self.module).items() if value is ms), None)
        return own or "__import__('mindspore')"

    def made(self, kind: Kind, name: str) -> str:
        """An object of a class that the module knows, such as a configuration."""
        found = vars(self.module).get(kind.name)
        if kind.name.lower() in ("dtype", "type_"):
            return self.dtype()
        if not isinstance(found, type) or found is self.cls:
            raise self.unknown(name, kind)
        values = [f"{p.name}={self.text(p)}" for p in required(found)]
        return f"{kind.name}({', '.join(values)})"

    def configuration(self, parameter: inspect.Parameter) -> str:
        """An object of a class that makes configurations, else whatever has the attributes that are read."""
        name = parameter.name
        known = Configurations(self.cls, self.module)
        texts = known.texts(mentioned(parameter), name)
        for found in known.classes(mentioned(parameter)):
            needed = required(found)
            if needed and (found.__name__ in mentioned(parameter) or not texts):
                values = ", ".join(f"{p.name}={self.text(p)}" for p in needed if not _is_configuration(p))
                texts.append(f"{name_of(found, self.module)}({values})")
        texts = texts[: _CONFIGURATIONS - 1]
        return texts[self.which] if self.which < len(texts) else self.improvised(parameter)

    def improvised(self, parameter: inspect.Parameter) -> str:
        """An object with the attributes, or a dictionary with the keys, that are read from a parameter."""
        reads = attributes_read(self.cls, self.module, parameter.name)
        if reads:
            values = ", ".join(f"{read}={self.by_name(read.lower(), Uses())}" for read in reads)
            return f"{IMPROVISED}({values})"
        keys = self.uses.get(parameter.name, Uses()).keys
        if keys:
            return "{" + ", ".join(f"{key!r}: {self.by_name(key.lower(), Uses())}" for key in keys) + "}"
        raise self.unknown(parameter.name, kind_of(parameter))

    def unknown(self, name: str, kind: Kind | None) -> Unknown:
        what = f"{name!r}" if kind is None else f"{name!r} ({kind.name})"
        hint = f"write it into the target, as in {self.cls.__name__}({name}=...)"
        return Unknown(f"cannot guess {what} of {self.cls.__name__}: {hint}")


def _rate(name: str) -> str:
    return "2.0" if re.search(r"expan|ratio|factor|scale|multiplier", name) else "0.1"
