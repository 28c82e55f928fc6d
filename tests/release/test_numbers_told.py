"""What a request says of its numbers: two that differ never read the same, and nothing promised reads larger than it
is."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpcore
from dashboard import words
from dashboard.widgets.answer import cost_words
from dashboard.words import login as login_words
from dashboard.words import report as report_words
from dashboard.words import tracker as tracker_words
from dpcore import written
from dpcore.audit.files import Question
from dpcore.audit.questions import QUESTIONS
from dpcore.costs import Cost
from dpcore.datasets import Column
from dpcore.errors import InvalidArgument
from dpcore.ledger import Budget
from dpcore.ledger.__main__ import _line
from dpcore.ledger.words import refusal
from dpcore.release import question_digest, sentence
from dpcore.selection.rules import Rule
from dpcore.written import exact, hundredths, rounded_down, rounded_up

BY_KIND: dict[str, Question] = {}
for _one in QUESTIONS:
    BY_KIND.setdefault(_one.name.split(",")[0], _one)
NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
OF_COLUMNS = ("low", "high", "fill", "sensitivity")
Change = Callable[[float], Any]


def told(request: Any) -> tuple[str, ...]:
    """All that stands of a request on its page, its receipt and its report."""
    return (sentence(request), *request.rules, request.mechanism, cost_words(request.cost))


def numbers(found: Question) -> Iterator[tuple[str, float, Change]]:
    """Each number of a request and of the columns it was declared by: its name, and the request with another one."""
    file, declared = found.file(found.tables[0], from_bytes=False), found.declaration
    request = found.ask(declared, file)
    for one in fields(request):
        value = getattr(request, one.name)
        if isinstance(value, int | float) and not isinstance(value, bool):
            yield one.name, value, lambda other, name=one.name: replace(request, **{name: other})
    for name in OF_COLUMNS:  # of all columns at once: where they are read alike it is by the widest bounds

        def declared_by(other: float, name: str = name) -> Any:
            may = (
                ("number",) if name == "fill" else ("number", "integer")
            )  # what is missing may count as no whole number
            columns = (replace(one, **{name: other}) if one.type in may else one for one in declared.columns)
            return found.ask(replace(declared, columns=tuple(columns)), file)

        own = (getattr(one, name) for one in declared.columns if one.is_numeric)
        yield f"{name} of a column", float(next((one for one in own if one), 0.25)), declared_by


def done(request: Any) -> Any:
    """What is done at such a request: the digest, but for a quantile's share, which is taken as a near fraction."""
    return question_digest(replace(request, q=float(request.fraction)) if hasattr(request, "fraction") else request)


def made(change: Change, value: float) -> Any:
    """The request with this number, where it can have it."""
    try:
        return change(value)
    except (InvalidArgument, OverflowError, TypeError):
        return None


def pairs(value: float) -> Iterator[tuple[float, float]]:
    """Near numbers, as many digits long as somebody states: of the size of ``value``, and large ones beside it."""
    if isinstance(value, int):
        yield from ((start, start + 1) for start in (value, 20_000_015, 1_234_566))
        return
    for start in (float(value), value + 20_000_015.0, value + 0.123456789):
        for near in (2e-14, 2e-10, 1e-7):
            yield float(f"{start:.15g}"), float(f"{start * (1 + near) or near:.15g}")
    yield 0.333, 0.334


def unlike(found: Question) -> tuple[set[str], list[str]]:
    """Names of the numbers that are told at all, and those of which two read the same."""
    stated, same = set(), []
    for name, value, change in numbers(found):
        plain = made(change, value)
        parts = () if isinstance(value, int) else (value / 2, value / 4)
        others = [made(change, other) for other in (2 * value, value + 1, *parts)]
        if plain is None or all(other is None or told(other) == told(plain) for other in others):
            continue
        stated.add(name)
        for first, second in pairs(value):
            one, other = made(change, first), made(change, second)
            if one is None or other is None or done(one) == done(other):
                continue
            if told(one) == told(other):
                same.append(f"{found.name}: {name}, {first!r} and {second!r}")
    return stated, same


@pytest.mark.parametrize("found", BY_KIND.values(), ids=lambda found: found.name)
def test_two_requests_that_differ_in_a_number_never_read_the_same(found: Question) -> None:
    stated, same = unlike(found)
    assert "epsilon" in stated
    assert not same


def test_every_kind_of_number_is_among_them() -> None:
    stated = set().union(*(unlike(found)[0] for found in BY_KIND.values()))
    assert stated >= {f"{name} of a column" for name in OF_COLUMNS}
    assert stated >= {"epsilon", "delta", "threshold", "entries", "move", "q", "points", "rounds", "cuts_share"}


@pytest.mark.parametrize(
    ("kind", "number"),
    [("alarm over revenue", "threshold"), ("median", "low of a column"), ("prices", "move"), ("best rule", "epsilon")],
)
def test_six_digits_are_found_out(kind: str, number: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(written, "_text", lambda value, small: f"{float(value):g}")
    assert any(f": {number}, " in one for one in unlike(BY_KIND[kind])[1])


@given(NUMBERS)
def test_a_number_is_read_back_to_the_last_digit(value: float) -> None:
    assert number_of(exact(value)) == value
    other = math.nextafter(value, math.inf)
    assert exact(other) != exact(value) or other == value


def number_of(text: str) -> float:
    """A written number, as a person reads it."""
    plain = text.replace(",", "").translate(str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789"))
    if text[-1] in "⁰¹²³⁴⁵⁶⁷⁸⁹":
        plain = re.sub(r"(.*) × 10|(-?)10", lambda found: f"{found[1] or f'{found[2]}1'}e", plain, count=1)
    return float(plain)


@given(st.floats(min_value=0.0, allow_nan=False, allow_infinity=False))
def test_what_was_worked_out_promises_no_more_than_it_is(value: float) -> None:
    up, down = number_of(rounded_up(value)), number_of(rounded_down(value))
    off = value * 10.0 ** (1 - written.STATED)  # as the ledger reads amounts
    assert down - off <= value <= up + off
    if len(Decimal(repr(value)).normalize().as_tuple().digits) <= written.STATED:
        assert down == value == up, "what somebody states stays as it is"
    if value < 1e300:  # beyond that the dashboard writes no number
        assert number_of(words.no_less(value)) >= value * (1 - 1e-11)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (-0.0, "0"),
        (1990, "1990"),
        (9999.5, "9999.5"),
        (20_000_015.0, "20,000,015"),
        (-1_234_561.25, "-1,234,561.25"),
        (0.1, "0.1"),
        (1e-6, "0.000001"),
        (2.5e-7, "2.5 × 10⁻⁷"),
        (1e-7, "10⁻⁷"),
        (-1e300, "-10³⁰⁰"),
        (2**53 + 1, "9.007199254740993 × 10¹⁵"),
        (math.inf, "∞"),
    ],
)
def test_a_number_is_written_as_people_read_it(value: float, text: str) -> None:
    assert exact(value) == text


def test_what_was_asked_and_promised_of_large_numbers_is_what_is_read() -> None:
    assert hundredths(0.29) == "29"
    assert str(Rule(column="pay", comparison="at_least", value=1_234_567.0)) == "yes when pay is at least 1,234,567"
    assert cost_words(Cost.pure(0.1234564)) == "ε = 0.1234564"
    assert cost_words(Cost(epsilon=1.0, delta=1.234e-7)) == "ε = 1 with δ = 1.234 × 10⁻⁷"
    assert words.amount(0.1 + 0.2) == words.no_less(0.1 + 0.2) == "0.3"
    assert (words.no_less(12.34), words.no_less(1234.2), words.no_less(123_400.5)) == ("12.4", "1,235", "124,000")
    assert words.amount(2 / 3) == "0.666667"
    assert words.amount(2 / 3, left=True) == "0.666666"
    moved = Column(name="sales", type="integer", low=0, high=30_000_049, sensitivity=9_999_995)
    assert "by at most 9,999,995 was stated" in promise(moved)
    assert "over its whole declared range of 0.1 to 0.3:" in promise(Column(name="x", type="number", low=0.1, high=0.3))


AMOUNTS: dict[str, Callable[[float], str]] = {
    "a cost on a page": lambda value: cost_words(Cost(epsilon=value, delta=1e-7)),
    "δ on a page": lambda value: cost_words(Cost(epsilon=1.0, delta=value / 1e9)),
    "a cost in a report": lambda value: report_words.cost(value, 0.0),
    "a bound in a report": lambda value: report_words.bounds(-value, 1e9, ""),
    "a cut in a report": lambda value: report_words.clipped(1, "person", value),
    "the card": lambda value: words.LabelCard(neighbours="add_remove", epsilon=value, unit="person").judged,
    "what is left": lambda value: tracker_words.left(1e6, value),
    "what one may take alone": lambda value: login_words.above(value),
    "a refusal": lambda value: refusal(Budget.planned(epsilon=1e-3), Cost.pure(value), "add_remove", "person"),
    "the tool": lambda value: _line(Budget.planned(epsilon=value, delta=1e-6, name="people")),
}


@pytest.mark.parametrize("place", AMOUNTS)
def test_no_two_amounts_read_the_same(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """To the billionth in which the ledger counts."""
    apart = {AMOUNTS[place](value) for value in (0.123456789, 0.12345679, 123.456789012, 123.456789013)}
    assert len(apart) == 4
    monkeypatch.setattr(written, "_text", lambda value, small: f"{float(value):g}")
    assert len({AMOUNTS[place](value) for value in (0.123456789, 0.12345679)}) == 1


def promise(column: Column) -> str:
    from dpcore.releases.cells import sensitivity_rule

    return sensitivity_rule(column, "person", "add_remove")


_ROUNDS = re.compile(r"\{[^{}\"]*:[ ,+]*\.?[0-9]*[gfeGE]\}|\bround\([^()]*\)\}|:\.[0-9]+[gfe%]\}")
_MAY = {"sizes.py": 1, "__main__.py": 1, "confirming.py": 1}
"""Sizes of answers in MB, and the share of a budget that is spent in a hundred parts, which are no parameters; and what
other programs write of a number, with which that of a receipt is compared."""


def rounding(text: str) -> list[str]:
    return [found[0] for found in _ROUNDS.finditer(text)]


def test_no_sentence_of_a_request_or_of_the_ledger_rounds_by_itself() -> None:
    root = Path(dpcore.__file__).parent
    files = [root / "release.py", root / "costs.py", *(root / "releases").glob("*.py"), *(root / "ledger").glob("*.py")]
    found = {file.name: len(rounding(file.read_text("utf-8"))) for file in files}
    assert len(files) > 60
    assert {name: count for name, count in found.items() if count} == _MAY
    assert rounding('f"to reach {self.threshold:g}?" f"{left.zcdp:.4g}" f"{low:,.6f}"') == [
        "{self.threshold:g}",
        "{left.zcdp:.4g}",
        "{low:,.6f}",
    ]
