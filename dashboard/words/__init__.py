"""Sentences made from results. Numbers come first as counts people can picture, symbols after."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal

from dpcore.datasets.text import plain_html as html
from dpcore.datasets.text import plain_markdown as safe
from dpcore.datasets.text import visible
from dpcore.ledger.words import hides
from dpcore.validate import Neighbours

__all__ = [
    "LabelCard",
    "amount",
    "html",
    "many",
    "number",
    "odds",
    "odds_sentence",
    "one_person",
    "plural",
    "safe",
    "sentence",
    "times_in_100",
    "tiny",
    "visible",
    "whole",
]

_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def times_in_100(chance: float) -> str:
    """A chance as "93 times in 100", never rounded to certainty or impossibility."""
    if chance >= 0.9995:
        return "practically always" if chance < 1 - 1e-9 else "every time"
    if chance > 0.99:
        return f"{chance * 1000:.0f} times in 1,000"
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


def amount(value: float) -> str:
    """An amount of budget, to six digits so that what is shown adds up."""
    if not math.isfinite(value):
        return "without end"
    return number(value) if value and abs(value) < 1e-4 else f"{value:,.6f}".rstrip("0").rstrip(".")


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


def odds(epsilon: float) -> float:
    """How often, of 100 tries, the best guesser at even prior odds can be right: 100·e^ε/(1+e^ε)."""
    return 100.0 / (1.0 + math.exp(-epsilon))


def odds_sentence(epsilon: float, guess: str = "whether you are in the data") -> str:
    """What hiding means for someone who guesses at even odds; ``guess`` says what they guess."""
    best = odds(epsilon)
    shown = f"{best:.1f}" if best > 99 or best < 52 else f"{best:.0f}"
    return f"Someone who would guess right 50 times in 100 {guess} could be right at most **{shown}** times in 100."


def one_person(neighbours: Neighbours) -> str:
    """The neighbour relation in words."""
    return hides(neighbours)


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelCard:
    """What every result states about itself; ``guess`` is what someone who looks at it would like to find out."""

    neighbours: Neighbours
    epsilon: float
    delta: float = 0.0
    who: str | None = None
    guess: str = "whether you are in the data"
    sees_raw: str = "the computer this runs on, and whoever runs it"
    not_protected: str = "that the data exist, the list of options, and how many rows there are"

    def lines(self) -> list[str]:
        chance = f", except with a chance of {tiny(self.delta)} (δ)" if self.delta else ""
        return [
            f"{odds_sentence(self.epsilon, self.guess)[:-1]}{chance}.",
            f"**Protected:** {self.who or one_person(self.neighbours)}.",
            f"**Sees the raw data:** {self.sees_raw}.",
            f"**Not protected:** {self.not_protected}.",
        ]
