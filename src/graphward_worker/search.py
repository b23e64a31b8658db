"""The search for a target and for inputs that PyNative accepts: guesses in the order of their likelihood, and what the
errors of earlier ones say about the next."""

from __future__ import annotations

import inspect
import itertools
import time
from collections.abc import Iterator
from types import ModuleType
from typing import Any, Callable

import mindspore as ms

from . import blame, graph, loading, messages, weights
from . import inputs as values
from .candidates import combinations
from .constructors import IMPROVISED, Refused, constructor_arguments
from .hints import Hints
from .limits import TooSlow, until
from .repairs import repairs
from .signatures import optional, required
from .specs import Input
from .synchronise import synchronise

_ATTEMPTS = 80  # in each round
_ROUNDS = 3  # of combinations, each of which knows the errors of those before
_UNREPAIRED = 10  # combinations that are tried before the errors of these are used to change them
_REPAIRED = 48  # attempts at changed ones
_DEEP = 6  # changes one after the other
_PATIENCE = 0.4  # of the time that is left, for one constructor or the first call of what it made
_WITHOUT_KERNEL = 8  # attempts; what the first ones lack, the others will too
_INSTANCES = 3  # that are made and called before the constructor's other arguments are given up
_IMPROVISED = "an argument of the constructor has no known class: it is an object with the attributes that are read"


class NoInputs(Exception):
    """The search gave up; the text says why."""


class Search:
    """`expr` names a target in `module`; a class is made with guessed arguments. `deadline`: on the monotonic clock.
    `attempts`: calls in a round. After `run`, `target` is the object, `expr` the expression that made it, `specs` its
    inputs, `notes` what was assumed."""

    def __init__(
        self, module: ModuleType, expr: str, *, train: bool, deadline: float, attempts: int = _ATTEMPTS
    ):
        self.module = module
        self.named = expr
        self.expr = expr
        self.train = train
        self.deadline = self.patience = deadline
        self.attempts = attempts
        self.target: Any = None
        self.specs: list[str] | None = None
        self.notes: list[str] = []
        self.stage = "construct"
        self.failure: Exception | None = None
        self.refusals: list[str] = []
        self.call: Callable[..., Any] = _nothing

    def run(self) -> None:
        """Raises what the constructor raised, constructors.Unknown or NoInputs."""
        error: Exception | None = None
        for _ in itertools.islice(self.targets(), _INSTANCES):
            self.stage = "inputs"
            try:
                self.specs = self.find()
                return
            except Exception as failure:
                error = error or failure
                self.failure = failure
                if time.monotonic() > self.deadline or lacks_kernel(failure):
                    break
            finally:
                self.target = None if self.specs is None else self.target
        assert error is not None
        raise error

    def targets(self) -> Iterator[Any]:
        """The objects that can be made, one at a time in `target` and `expr`; raises when there is none."""
        with until(self.deadline):
            named = loading.evaluate(self.module, self.named)
        if not isinstance(named, type):
            self.target = named
            yield named
            return
        first: Exception | None = None
        made = 0
        attempts = constructor_arguments(named, self.module)
        error: Exception | None = None
        while made == 0 or time.monotonic() < self.deadline:
            try:
                arguments = next(attempts) if error is None else attempts.send(error)
            except StopIteration:
                break
            weights.seed(1)
            error = None
            try:
                with until(self.soon()):
                    self.target = loading.evaluate(self.module, f"{self.named}({arguments})")
            except Exception as failure:
                error = failure
                first = first or failure
                if time.monotonic() > self.deadline:
                    break
                continue
            made += 1
            self.expr = f"{self.named}({arguments})" if arguments else self.named
            self.notes = [_IMPROVISED] if IMPROVISED in arguments else []
            self.failure, self.refusals = None, []
            # Another choice of the arguments may do where no inputs do.
            self.patience = self.soon() if arguments and made < _INSTANCES else self.deadline
            yield self.target
            error = self.failure if isinstance(self.failure, TooSlow) else Refused(self.refusals)
        if not made and first is not None:
            raise first

    def soon(self) -> float:
        """When to give up on one step, so that time is left for something smaller."""
        now = time.monotonic()
        return now + _PATIENCE * (self.deadline - now)

    def find(self) -> list[str]:
        """The specs of the first combination that PyNative accepts."""
        if isinstance(self.target, ms.nn.Cell) and self.train:
            self.target.set_train(True)
        self.call = graph.bare(self.target)
        function = self.target.construct if isinstance(self.target, ms.nn.Cell) else self.call
        parameters = required(function)
        if not parameters:
            try:
                self.attempt([])
                return []
            except Exception:
                # Every argument may be left out, but not all of them.
                parameters = optional(function)[:1]
                if not parameters:
                    raise
        return self.search(function, parameters)

    def search(self, function: Callable[..., Any], parameters: list[inspect.Parameter]) -> list[str]:
        hints = Hints()
        lacking = slow = 0
        without_kernel: Exception | None = None
        for _ in range(_ROUNDS):
            first: Exception | None = None
            known = len(parameters)
            more: list[inspect.Parameter] = []
            guesses = combinations(self.target, function, parameters, hints)
            for combination in self.repaired(itertools.islice(guesses, self.attempts), function, parameters):
                if time.monotonic() > self.patience:
                    break
                try:
                    self.attempt(combination)
                except Exception as error:
                    first = first or error
                    self.failure = error
                    self.refusals.append(str(error).split("\n----")[0])
                    slow += isinstance(error, TooSlow)
                    if slow > 1:
                        raise without_kernel or error from None
                    hints.learn(str(error))
                    if lacks_kernel(error):
                        lacking += 1
                        without_kernel = without_kernel or error
                    more = self.left_out(error, function, parameters)
                    if more or lacking >= _WITHOUT_KERNEL:
                        break
                    continue
                return [str(item) for item in combination]
            if lacking >= _WITHOUT_KERNEL or time.monotonic() > self.patience:
                break
            parameters = [*parameters, *more]
            if len(parameters) == known and not hints.fresh():
                break
        # An attempt that comes as far as a missing kernel has the right shapes, as far as anybody can tell.
        first = without_kernel or first
        names = ", ".join(parameter.name for parameter in parameters)
        reason = f"; PyNative says {messages.first_line(str(first))}" if first else ""
        raise NoInputs(f"found no values for {names} that it accepts: declare them with --input{reason}") from first

    def repaired(
        self, guesses: Iterator[list[Input]], function: Callable[..., Any], parameters: list[inspect.Parameter]
    ) -> Iterator[list[Input]]:
        """The guesses, and behind the first of them what their errors make of these; `failure` is the error of the
        combination that was handed out last."""
        waiting: list[tuple[int, list[Input], str]] = []
        tried: set[str] = set()
        names = [parameter.name for parameter in parameters]

        def changed(combination: list[Input], error: Exception, before: str) -> list[tuple[list[Input], str]]:
            text = str(error)
            if text == before:
                return []  # it was not this that was wrong
            culprits = blame.blamed(error, function, names)
            made = repairs(combination, text, [name in culprits for name in names])
            return [(other, text) for other in made if str(list(map(str, other))) not in tried]

        for combination in itertools.islice(guesses, _UNREPAIRED):
            tried.add(str(list(map(str, combination))))
            yield combination
            if self.failure is not None:
                waiting += [(1, *one) for one in changed(combination, self.failure, "")]
        for _ in range(_REPAIRED):
            if not waiting:
                break
            depth, combination, before = waiting.pop(0)
            key = str(list(map(str, combination)))
            if key in tried:
                continue
            tried.add(key)
            yield combination
            if self.failure is not None and depth < _DEEP:
                waiting[:0] = [(depth + 1, *one) for one in changed(combination, self.failure, before)]
        for combination in guesses:
            if str(list(map(str, combination))) not in tried:
                yield combination

    def left_out(
        self, error: Exception, function: Callable[..., Any], parameters: list[inspect.Parameter]
    ) -> list[inspect.Parameter]:
        """Parameters with the default None that the failing line reads, when the error is about None."""
        if "None" not in str(error):
            return []
        missing = [p for p in optional(function) if p.name not in {known.name for known in parameters}]
        names = blame.blamed(error, function, [p.name for p in missing])
        return [p for p in missing if p.name in names][:1]

    def attempt(self, combination: list[Input]) -> None:
        """Call with both variants, so that a value which fits by luck is not taken."""
        for variant in (0, 1):
            args, kwargs = values.arguments(combination, variant)
            weights.seed(100)
            with until(self.soon()):
                synchronise(self.call(*args, **kwargs))


def lacks_kernel(error: BaseException) -> bool:
    """Whether the device has no kernel for an operator, which no other input would change."""
    while error is not None:
        if messages.describe(error, "inputs", "")["no_kernel"]:
            return True
        error = error.__cause__  # type: ignore[assignment]
    return False


def _nothing() -> None:
    """Stands for the target until there is one."""
