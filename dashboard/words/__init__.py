"""Sentences made from results. Numbers come first as counts people can picture, symbols after."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal

from dpcore.datasets.text import named_markdown as named
from dpcore.datasets.text import plain_html as html
from dpcore.datasets.text import plain_markdown as safe
from dpcore.datasets.text import plain_sentence, told_apart, visible
from dpcore.ledger.words import hides
from dpcore.validate import Neighbours
from dpcore.visible import LIMIT
from dpcore.written import CHANCE, rounded_down, rounded_up

__all__ = [
    "NOT_PROTECTED",
    "LabelCard",
    "amount",
    "at_most",
    "either",
    "failing",
    "html",
    "labels",
    "many",
    "named",
    "no_less",
    "number",
    "odds",
    "odds_sentence",
    "one_of",
    "plural",
    "reason",
    "safe",
    "sentence",
    "shortened",
    "times_in_100",
    "tiny",
    "told_apart",
    "visible",
    "whole",
]

_COMMAND = re.compile(r"(`(?:epsilon-lab|--)[ a-zA-Z-]*`)")
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def times_in_100(chance: float) -> str:
    """A chance as "93 times in 100", never rounded to certainty or impossibility."""
    if chance >= 0.9995:
        return "practically always" if chance < 1 - 1e-9 else "every time"
    if chance > 0.99:
        return f"{chance * 100:.1f} times in 100"
    if chance < 0.005:
        return "fewer than 1 time in 100"
    count = round(chance * 100)
    return f"{count} {'time' if count == 1 else 'times'} in 100"


def number(value: float) -> str:
    """A number as people write it: three significant digits, thousands separated, no exponent."""
    if not math.isfinite(value):
        return "more than can be written"
    if value == 0:
        return "0"
    if abs(value) >= 1000:
        return f"{float(f'{value:.3g}'):,.0f}" if abs(value) >= 100_000 else f"{value:,.0f}"
    text = f"{value:.3g}"
    text = format(Decimal(text), "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def as_written(value: float) -> float:
    """The number that ``number`` writes, so that a difference is that of the numbers beside it; of finite ones."""
    return float(number(value).replace(",", ""))


def height(value: float, *, hundred: bool = False) -> str:
    """A number read off a chart, never rounded to certainty: ``hundred`` says that 100 would be all."""
    if 0.0 < abs(value) < 1e-4:
        return "about 0"
    return "almost 100" if hundred and 99.95 <= value < 100.0 else number(value)


def amount(value: float, *, left: bool = False) -> str:
    """An amount of budget, to the last digit, so that no two read the same and what is shown adds up. What was worked
    out reads as no less than it is, of what is ``left`` as no more."""
    if not math.isfinite(value):
        return "without end"
    return rounded_down(value) if left else rounded_up(value)


def in_100(share: float, *, left: bool = False) -> str:
    """A share of a budget, from 0 to 1, in 100: what is spent or taken reads as no less than it is, what is ``left`` as
    no more, and neither as nothing or all before it is."""
    if not 0.0 < share < 1.0:
        return "100" if share > 0.0 else "0"
    if share < 0.01:
        return "less than 1"
    whole_ones = math.floor(100 * share + 1e-9) if left else math.ceil(100 * share - 1e-9)
    return "more than 99" if whole_ones == 100 else f"{whole_ones}"


def about_100(share: float, *, left: bool = False) -> str:
    """As ``in_100``, where it is one among several figures: about 5 in 100, less than 1 in 100."""
    told = in_100(share, left=left)
    return f"{'about ' if told.isdigit() else ''}{told} in 100"


def failing(delta: float, *, left: bool = False) -> str:
    """A δ that is promised or paid, as ``amount``, below 0.001 as a power of ten."""
    return rounded_down(delta, small=CHANCE) if left else rounded_up(delta, small=CHANCE)


def no_less(value: float) -> str:
    """A bound that is promised, as ``number`` but never below it, by more than a float is off."""
    return _rounded(value, ROUND_CEILING)


def no_more(value: float) -> str:
    """What may be had, as ``number`` but never above it, by more than a float is off."""
    return _rounded(value, ROUND_FLOOR)


def _rounded(value: float, rounding: str) -> str:
    known = Decimal(f"{value:.12g}") if math.isfinite(value) else Decimal(0)
    if known == 0:
        return number(value)
    place = 0 if 3 <= known.adjusted() < 5 else known.adjusted() - 2
    return number(float(known.quantize(Decimal(1).scaleb(place), rounding)))


def tiny(value: float) -> str:
    """A very small chance such as δ: plain down to 0.001, then as a power of ten."""
    if not 0 < value < 0.001:
        return number(value)
    digits, exponent = f"{value:.2e}".split("e")
    power = f"10{str(int(exponent)).translate(_RAISED)}"
    digits = digits.rstrip("0").rstrip(".")
    return power if digits == "1" else f"{digits} × {power}"


def sentence(said: object) -> str:
    """What an exception of dpcore or a request says, as a sentence."""
    text = str(said)
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "?")) else ".")


def reason(said: object) -> str:
    """``sentence`` as Markdown that acts on nothing in it but our commands: it may hold a name somebody chose."""
    parts = _COMMAND.split(sentence(said))
    return "".join(part if place % 2 else plain_sentence(part, 2000) for place, part in enumerate(parts))


def whole(value: float) -> str:
    return f"{round(value):,}"


def plural(count: int, one: str, many: str | None = None) -> str:
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def many(unit: str) -> str:
    """The plural of what a row stands for: people, days, countries."""
    if unit == "person":
        return "people"
    if unit.endswith("y") and unit[-2:-1] not in "aeiou":
        return f"{unit[:-1]}ies"
    return f"{unit}es" if unit.endswith(("s", "x", "ch", "sh")) else f"{unit}s"


def either(names: Sequence[str], longest: int = 60) -> str:
    """One of these names, as plain text: “a” or “b”."""
    return " or ".join(f"“{visible(name, longest)}”" for name in names)


def shortened(names: Sequence[str], longest: int) -> list[str]:
    """Each of these names in ``longest`` letters, as plain text: its beginning, of those that would read alike both
    ends, and a mark where these are alike too."""
    shown = {name: visible(name, longest) for name in names}
    for cut in (_both_ends, told_apart):
        often = Counter(shown.values())
        shown |= {name: cut(name, longest) for name, told in shown.items() if often[told] > 1}
    return [shown[name] for name in names]


def _both_ends(name: str, longest: int) -> str:
    shown = visible(name, 3 * len(name) + 1)
    if len(shown) <= longest:
        return shown
    return f"{shown[: (longest - 1) // 2].rstrip()}…{shown[-(longest // 2) :].lstrip()}"


def labels(names: Sequence[str], longest: int = LIMIT) -> list[str]:
    """``shortened`` names for a picture, which takes a little HTML."""
    return [html(name, len(name)) for name in shortened(names, longest)]


def odds(epsilon: float, delta: float = 0.0) -> float:
    """How often, of 100 tries, someone can be right who was right 50 times before an (ε, δ) answer.

    100·(e^ε + δ)/(1 + e^ε): no test of two neighbouring worlds is right more often (Kairouz, Oh & Viswanath 2015).
    """
    small = math.exp(-epsilon)
    return 100.0 * (1.0 + delta * small) / (1.0 + small)


def rare(epsilon: float, before: float) -> float:
    """What a chance of ``before`` that something is true of a person can become by an ε answer, by Bayes' rule."""
    grown = math.exp(min(epsilon, 700.0)) * before
    return grown / (1.0 - before + grown)


def at_most(share: float) -> str:
    """A bound out of 100 in words, never rounded down: 62.3 for 62.246."""
    digits = 1 if share < 99.9 else 2
    scale = 10.0**digits
    return number_of(math.ceil(share * scale - 1e-9) / scale, digits)


def number_of(value: float, digits: int) -> str:
    return f"{value:.{digits}f}".rstrip("0").rstrip(".")


def goal(*, higher: bool) -> str:
    """What the dashed line of a chart is called."""
    return "goal set" if higher else "limit set"


_ONE = "the answer"
"""What somebody sees, where it is one answer."""


def of_a_value(epsilon: float, delta: float, neighbours: str) -> tuple[float, float]:
    """(ε, δ) between two tables that differ in what they say of one person: twice the way where ``neighbours`` are told
    apart by whether that person is in them, for one table is between the two."""
    if neighbours == "replace_one":
        return epsilon, delta
    return 2.0 * epsilon, min(delta * (1.0 + math.exp(min(epsilon, 700.0))), 1.0)


def _whom(unit: str) -> str:
    """Of whom a guess is that is bounded: of one visit where one is hidden, since who has several is hidden less."""
    return "somebody" if unit == "person" else f"one {safe(unit, 40)}"


def guessed(neighbours: str, unit: str) -> str:
    """What a guess is about that is bounded by ε itself, where one ``unit`` is hidden."""
    who = _whom(unit)
    return f"what the data say of {who}" if neighbours == "replace_one" else f"whether {who} is in the data"


def odds_sentence(epsilon: float, delta: float, neighbours: str, unit: str, *, of: str = _ONE) -> str:
    """The odds picture in words; ``unit`` is what is hidden, and ``of`` what somebody sees."""
    told = (
        f"Someone who would guess right 50 times in 100 without {of} {guessed(neighbours, unit)} is right at most "
        f"**{at_most(odds(epsilon, delta))}** times in 100 with {'it' if of == _ONE else 'them'}."
    )
    if neighbours == "replace_one":
        return told
    value = at_most(odds(*of_a_value(epsilon, delta, neighbours)))
    there = f"{_whom(unit)} {'who' if unit == 'person' else 'that'} is in them"
    return f"{told} A guess what the data say of {there}: at most **{value}** times."


def one_of(neighbours: str, unit: str) -> str:
    """Whom a difference of ``neighbours`` hides, in Markdown: one ``unit`` added or removed, or its row changed."""
    return hides(neighbours, safe(unit, 40))


def protected_words(neighbours: Neighbours, unit: str) -> str:
    """Who is protected and what about them, in words that come before any number."""
    who = safe(unit, 40)
    if neighbours == "add_remove":
        return (
            f"Any one {who}. Whoever sees the private answer, whatever else they know, cannot tell for sure whether "
            f"that {who} is in the data, or what the data say of that {who}."
        )
    return (
        f"What is written about any one {who}. Whoever sees the private answer, whatever else they know, cannot tell "
        f"for sure what that {who}'s record says."
    )


NOT_PROTECTED = (
    "what is true of everybody, such as how common an option is; that the data exist, which options there are, and "
    "about how many rows"
)
YARDSTICK = (
    "**Where that comes from:** many published uses lie between ε = 0.1 and 10; the tables of the 2020 US census spent "
    "about 19.6 in all (US Census Bureau, 2021). Less is safer; above about 3 the protection of one {} is weak."
)
STRONG, WEAK = 1.0, 3.0
"""ε up to which we call the protection of whoever is protected strong, and from which weak."""


def strength(epsilon: float) -> str:
    """What we call the protection of whoever is protected at ``epsilon``."""
    return "strong protection" if epsilon <= STRONG else "usual, not strong" if epsilon <= WEAK else "weak protection"


SLACK = (
    "**δ = {}:** by that chance more a guess may be right than ε alone allows. It belongs to ε, and each answer uses "
    "some of it."
)


@dataclass(frozen=True, slots=True, weakref_slot=True, kw_only=True)
class LabelCard:
    """What every result states about itself.

    ``unit`` is whom the answer hides, one visit or one person; ``who`` says more of them. ``of`` is what ε is the sum
    of.
    """

    neighbours: Neighbours
    epsilon: float
    unit: str
    delta: float = 0.0
    who: str | None = None
    of: str = _ONE
    sees_raw: str = "the computer this runs on, and whoever runs it"
    not_protected: str = NOT_PROTECTED

    @property
    def protected(self) -> str:
        """Who is protected, in words."""
        return self.who or protected_words(self.neighbours, self.unit)

    @property
    def judged(self) -> str:
        """Whether such a promise is usual, and of one answer what becomes of it with another, in one line."""
        twice = at_most(odds(2 * self.epsilon, 2 * self.delta))
        guess = f" With two such answers a guess {guessed(self.neighbours, self.unit)} is right at most {twice} times."
        more = guess if self.of == _ONE else ""
        return (
            f"**Is that good?** ε = {amount(self.epsilon)} is {strength(self.epsilon)}. Many published uses "
            f"lie between ε = 0.1 and 10; less is safer.{more}"
        )

    @property
    def odds(self) -> float:
        """How often of 100 an even guess can be right with the answer."""
        return odds(self.epsilon, self.delta)

    @property
    def at_once(self) -> str:
        """The odds, short enough to stand large beside their picture."""
        return (
            f"A guess {guessed(self.neighbours, self.unit)} that is right 50 times in 100 without the answer is right "
            f"at most **{at_most(self.odds)}** times with it."
        )

    def lines(self) -> list[str]:
        """The odds, then the details."""
        apart, _ = of_a_value(self.epsilon, self.delta, self.neighbours)
        small = f"at most {at_most(1000 * rare(apart, 0.001))} in 1,000 after it"
        return [
            odds_sentence(self.epsilon, self.delta, self.neighbours, self.unit, of=self.of),
            *([] if self.delta else [f"**Something rare:** a chance of 1 in 1,000 before the answer is {small}."]),
            *([SLACK.format(failing(self.delta))] if self.delta else []),
            f"**Sees the raw data:** {self.sees_raw}.",
            YARDSTICK.format(safe(self.unit, 40)),
        ]
