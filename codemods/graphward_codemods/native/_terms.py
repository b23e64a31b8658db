"""What an expression computes, as a term: sums and products in a normal form, so that equal arithmetic looks equal.

`x / (1 + exp(-x))`, `x * (1 + ops.exp(x.neg())) ** -1` and `1 / (ops.Exp()(-x) + 1) * x` are one term. The normal form
holds over the reals: two equal terms may differ by rounding. Coefficients are kept to six digits, since constants such
as the square root of two over pi are written with seven.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple


class Term(NamedTuple):
    """`op` is `num` (`value` the number), `leaf` (`value` says which value), `add` and `mul` (of at least two), `pow`
    (`value` the exponent; a `mul` holds its factors and divisors as powers), or an operator's name, with `value` its
    attributes. A `mul` has its coefficient in `value`."""

    op: str
    args: tuple[Term, ...] = ()
    value: object = None


def num(value: float) -> Term:
    return Term("num", (), float(f"{value:.6g}"))


ZERO, ONE = num(0), num(1)


def leaf(key: object) -> Term:
    return Term("leaf", (), key)


def number(term: Term) -> float | None:
    """The value of a term that is a number."""
    return term.value if term.op == "num" else None  # type: ignore[return-value]


def add(*terms: Term) -> Term:
    """The sum, like summands joined."""
    constant = 0.0
    coefficients: dict[Term, float] = {}
    for term in _flat("add", terms):
        if term.op == "num":
            constant += term.value  # type: ignore[operator]
            continue
        factor, rest = split(term)
        coefficients[rest] = coefficients.get(rest, 0.0) + factor
    found = [mul(num(c), rest) for rest, c in coefficients.items() if abs(c) > 1e-12]
    found.sort(key=str)
    if constant or not found:
        found.insert(0, num(constant))
    return found[0] if len(found) == 1 else Term("add", tuple(found))


def sub(first: Term, second: Term) -> Term:
    return add(first, neg(second))


def neg(term: Term) -> Term:
    return mul(num(-1), term)


def mul(*terms: Term) -> Term:
    """The product, powers of one base joined; a number times a sum alone is a sum."""
    coefficient = 1.0
    exponents: dict[Term, float] = {}
    for term in _flat("mul", terms):
        if term.op == "mul":
            raise AssertionError("products are flat")
        if term.op == "num":
            coefficient *= term.value  # type: ignore[operator]
            continue
        base, exponent = (term.args[0], term.value) if term.op == "pow" else (term, 1.0)
        if base.op == "add" and exponent == int(exponent):  # type: ignore[call-overload]
            lead, base = _monic(base)
            coefficient *= lead ** int(exponent)  # type: ignore[call-overload]
        exponents[base] = exponents.get(base, 0.0) + exponent  # type: ignore[operator]
    if coefficient == 0:
        return ZERO
    factors = [b if e == 1 else Term("pow", (b,), e) for b, e in exponents.items() if abs(e) > 1e-12]
    factors.sort(key=str)
    if not factors:
        return num(coefficient)
    if len(factors) == 1:
        only = factors[0]
        if coefficient == 1:
            return only
        if only.op == "add":
            return add(*(mul(num(coefficient), part) for part in only.args))
    return Term("mul", tuple(factors), float(f"{coefficient:.6g}"))


def div(first: Term, second: Term) -> Term:
    return mul(first, power(second, -1))


def power(base: Term, exponent: float) -> Term:
    if exponent == 1:
        return base
    if exponent == 0:
        return ONE
    whole = exponent == int(exponent)
    if base.op == "num":
        value: float = base.value  # type: ignore[assignment]
        if value > 0 or (whole and value != 0):
            return num(value**exponent)
    if base.op == "exp":
        return Term("exp", (mul(num(exponent), base.args[0]),))
    if base.op == "pow" and (whole or base.value != int(base.value)):  # type: ignore[call-overload]
        return power(base.args[0], base.value * exponent)  # type: ignore[operator]
    if base.op == "mul":
        coefficient: float = base.value  # type: ignore[assignment]
        if whole:
            return mul(num(coefficient**exponent), *(power(part, exponent) for part in base.args))
        if coefficient > 0 and coefficient != 1:
            return mul(num(coefficient**exponent), power(Term("mul", base.args, 1.0), exponent))
        if coefficient == 1 and len(base.args) == 1:
            return power(base.args[0], exponent)
    if base.op == "add" and whole:
        lead, monic = _monic(base)
        if lead != 1:
            return mul(num(lead**exponent), Term("pow", (monic,), float(exponent)))
    return Term("pow", (base,), float(exponent))


def apply(op: str, *args: Term, value: object = None) -> Term:
    """An operator that is no arithmetic; `exp(0)` and the like stay as they are."""
    return Term(op, args, value)


def factors(term: Term) -> tuple[Term, ...]:
    """The factors of a product, the coefficient as a number among them if it is not 1."""
    if term.op != "mul":
        return (term,)
    return term.args if term.value == 1 else (num(term.value), *term.args)  # type: ignore[arg-type]


def without(term: Term, factor: Term) -> Term:
    """The product of the other factors; dividing by an exponential would only change its exponent."""
    return mul(*(part for part in factors(term) if part is not factor))


def summands(term: Term) -> tuple[Term, ...]:
    return term.args if term.op == "add" else (term,)


def _flat(op: str, terms: Iterable[Term]) -> Iterable[Term]:
    for term in terms:
        if term.op != op:
            yield term
        elif op == "mul":
            yield from (num(term.value), *term.args)  # type: ignore[arg-type]
        else:
            yield from term.args


def split(term: Term) -> tuple[float, Term]:
    """Coefficient and rest of a summand."""
    if term.op != "mul" or term.value == 1:
        return 1.0, term
    rest = term.args[0] if len(term.args) == 1 else Term("mul", term.args, 1.0)
    return term.value, rest  # type: ignore[return-value]


def _monic(term: Term) -> tuple[float, Term]:
    """A sum as a number times a sum whose number, or else first summand, has the coefficient 1."""
    first = term.args[0]
    lead = number(first)
    if lead is None:
        lead = split(min(term.args, key=lambda part: str(split(part)[1])))[0]
    if lead == 1:
        return 1.0, term
    return lead, add(*(mul(num(1 / lead), part) for part in term.args))
