"""Checked text that goes into the ledger, and sentences that come out of it."""

from __future__ import annotations

import platform
import re
import unicodedata
from collections.abc import Collection
from functools import cache, partial
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from dpcore.costs import Cost
from dpcore.errors import InvalidArgument
from dpcore.ledger.budget import Budget
from dpcore.written import CHANCE, rounded_down, rounded_up

_ONE = r"-?[0-9](?:[0-9.,]*[0-9])?(?:e[+-]?[0-9]+)?(?: × 10)?[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]*"
_NUMBER = re.compile(rf"{_ONE}(?:(?:/| to ){_ONE}| %)?")


_SEEN = "a person who had seen the file or an earlier one"
_SAID = (  # of a file, before and now
    ("suggested by the file and confirmed by a person", f"stated or called right by {_SEEN}"),
    ("was stated or called right by", "were stated or called right by"),
    ("rows was stated and not counted.", f"rows was stated by {_SEEN}: not covered by ε."),
    (
        "no row has more cells than there are columns and no quotation mark stays open, whatever it holds",
        "whatever people write stays in its cell, as signs that end cells and quotation marks within one do where the "
        "program that wrote the file puts marks around it",
    ),
)
_SAID_LATER = (
    re.compile(" and never spelled in two ways"),
    re.compile("(?<= are read) and what they can hold(?= were stated or called right by)"),
    re.compile("(?<= are read) and what they can hold,(?= and that each row is )"),
    re.compile(
        "(?<= each row is )(one record|one option|a step in time) and how (?:many of them|far) one .+? "
        "(?:has|changes it),?(?= were stated or called right by)"
    ),
    re.compile(r" So was that each row is of one [^.]+ alone: [^.]+\."),
    re.compile(r": nothing less was stated, or none that holds of this kind of file, as it does of CSV(?=\.)"),
)
"""What is said of a file now and was not before; of a pattern with a group that part was."""
_STEPS = re.compile(r"(?<= )can change the numbers of (at most [0-9,]+) step(?=s? was stated)")
_ROWS = r"has \1 row"
"""How many of its steps one person can change, now and before."""
_CHOSEN = re.compile(
    " ε and what is asked were chosen after looking at the data(?: or an earlier file)?: not covered by ε[.]\\Z"
)
_SAID_AFTER = (_CHOSEN,)
"""Sentences that stand behind a question, which is the same one without them."""
LONGEST_QUESTION = 4000
"""Letters of a question with all that is promised and not covered: of a file whose form, steps and columns somebody
spoke of these are more than a thousand."""


def same_question(kept: tuple[str, str], asked: tuple[str, str]) -> bool:
    """Whether two questions, each its words and its digest, are the same: numbers, parts and ranges may be written
    otherwise, and so may what was said of a file.

    A receipt or a request from before keeps its words; the digest holds every number to the last digit.
    """
    if kept == asked:
        return True
    (was, before), (now, digest) = kept, asked
    return bool(digest) and digest == before and _bare(was) == _bare(now)


def fuller(granted: str, asked: str) -> str:
    """The words in which a question is charged that was granted in some and is asked in others: those that say more of
    what is not covered, with each sentence that stands behind either. Empty where both say more than the other, of one
    column or another: it is asked anew then."""
    before, now = _later(granted), _later(asked)
    if before <= now:
        return with_all(asked, granted)
    if now <= before:
        return with_all(granted, asked)
    return ""


def with_all(told: str, other: str) -> str:
    """What is ``told`` with the sentences that stand behind the ``other`` words of its question and not behind it."""
    found = [each.search(other) for each in _SAID_AFTER if not each.search(told)]
    return told + "".join(one[0] for one in found if one)


def chosen_after_looking(told: str) -> bool:
    """Whether the words of a question say of it that it was chosen after looking at the data."""
    return _CHOSEN.search(told) is not None


_PLACES = {0xE000 + each: each for each in range(len(_SAID) + len(_SAID_LATER))}
"""Signs of nobody's use, which no name holds: each stands where one part was that was not always said."""
_NO_PLACES = dict.fromkeys(_PLACES)


def _later(words: str) -> set[tuple[int, int]]:
    """Where in a question without them each part stands that was not always said, and which one it is."""
    places, length = set[tuple[int, int]](), 0
    for sign in _with_places(words):
        if ord(sign) in _PLACES:
            places.add((length, _PLACES[ord(sign)]))
        else:
            length += 1
    return places


def _with_places(told: str) -> str:
    """A question as it was and is now, without its numbers, and a sign for each part that was not always said."""
    signs = map(chr, _PLACES)
    for (before, now), sign in zip(_SAID, signs, strict=False):
        told = told.replace(now, now + sign).replace(before, now)
    for later, sign in zip(_SAID_LATER, signs, strict=True):
        told = later.sub(partial(_instead, sign), told)
    for after in _SAID_AFTER:
        told = after.sub("", told)
    told = _STEPS.sub(_ROWS, told)
    return _NUMBER.sub("0", told)


def _instead(sign: str, found: re.Match[str]) -> str:
    return (found[1] if found.re.groups else "") + sign


def _bare(told: str) -> str:
    """The words of a question as they were and are now, without its numbers."""
    return _with_places(told).translate(_NO_PLACES)


def label(*, longest: int = 200, **named: Any) -> str:
    """A name of 1 to ``longest`` visible characters. Raises InvalidArgument."""
    ((name, value),) = named.items()
    if not isinstance(value, str) or not value.strip():
        raise InvalidArgument(name, "must be text that is not blank")
    if len(value) > longest:
        raise InvalidArgument(name, f"must have at most {longest} characters")
    if not value.isprintable() and any(
        unicodedata.category(character) in ("Cc", "Cs", "Co", "Cn") for character in value
    ):
        raise InvalidArgument(name, "must not hold control characters")
    return value


def text(**named: Any) -> str:
    """Text, whatever it says. A database finds its text by a number too. Raises InvalidArgument."""
    ((name, value),) = named.items()
    if not isinstance(value, str):
        raise InvalidArgument(name, "must be text")
    return value


def texts(**named: Any) -> set[str]:
    """Texts, each as ``text`` has it; one text is not several. Raises InvalidArgument."""
    ((name, value),) = named.items()
    if isinstance(value, str) or not isinstance(value, Collection) or not all(isinstance(one, str) for one in value):
        raise InvalidArgument(name, "must be a list of texts")
    return set(value)


_HIDES = {"add_remove": "one {} added or removed", "replace_one": "one {}'s row changed"}


OLDER_COPIES = (
    "This ledger was written anew on {}: digests of data, on which a guess could be tested, are gone from it. Backups "
    "and receipts from before still hold them; keep them as you keep the data, or delete them."
)
STRAYED = (
    "{} of the charges protect others than their budget was opened for, so a program of an earlier version made them "
    "meanwhile: look who lost by it, and stop every such program before a new one starts."
)
COUNTED = {
    "sum": "adding up",
    "zcdp": "ρ, for many small answers",
    "both": "two accounts, as before",
}


PERSON = "person"
"""Whom a charge hides that names no unit."""


def other_unit(first: str, unit: str) -> str:
    """Why a budget takes no charge of another unit than it was opened for, or its first charge was of."""
    return (
        f"This budget protects one {first}, and this answer would protect one {unit}: what both cost together is not "
        f"known. Nothing was charged. Say on the Data page that one {first} is protected; of a source of this server "
        "whoever lists it says so."
    )


def hides(neighbours: str, unit: str) -> str:
    """What a budget or a release hides, in words: of one ``unit``, of a person where a record names none."""
    return _HIDES.get(neighbours, "as its first answer will say").format(unit or PERSON)


def refusal(budget: Budget, asked_cost: Cost, neighbours: str, unit: str) -> str:
    """How much was asked, how much is left, and what would fit; ``unit`` as in ``hides``."""
    cost = budget.counted(asked_cost, neighbours)
    if cost is None:
        return (
            f"This answer hides {hides(neighbours, unit)}, and the budget of these people promises to hide "
            f"{hides(budget.neighbours, unit)}, which is not in it; nothing was charged. Ask a question that hides "
            f"{hides(budget.neighbours, unit)}."
        )
    if cost == asked_cost:
        return _refusal(budget, cost, "")
    return (
        f"{_refusal(budget, cost, f' that hides {hides(budget.neighbours, unit)}')} It counts more here than where one "
        f"{unit or PERSON} is added or removed (twice in ε, four times in ρ): this budget hides a changed row, which "
        "is one row removed and another added."
    )


def _refusal(budget: Budget, cost: Cost, which: str) -> str:
    """``which`` are the answers that would fit, after the word for them: of others only smaller ones do."""
    asked, left = _asked(cost), budget.remaining
    epsilon, rho = rounded_down(left.epsilon), rounded_down(left.zcdp)
    if budget.kind == "pure" and cost.delta > 0.0:
        return (
            "This answer has a δ above 0 and the budget of these people is for pure ε only; nothing was charged. "
            f"A pure answer{which} of up to ε = {epsilon} would fit."
        )
    if budget.counting == "zcdp" and cost.zcdp == float("inf"):
        return (
            f"This answer is known by its ε and δ alone ({asked}), and the budget of these people counts in ρ; nothing "
            f"was charged. An answer{which} of up to ρ = {rho} would fit."
        )
    if budget.counting == "sum":
        with_delta = f" and δ = {rounded_down(left.delta, small=CHANCE)}" if cost.delta > 0.0 else ""
        rest, verb = f"ε = {epsilon}{with_delta}", "are" if cost.delta > 0.0 else "is"
        fits = left.epsilon > 0.0 and (cost.delta == 0.0 or left.delta > 0.0)
        return f"This answer costs {asked} and {rest} {verb} left; nothing was charged. " + (
            f"An answer{which} of up to {rest} would fit." if fits else "The budget is spent."
        )
    return (
        f"This answer costs {asked}; ρ = {rho} is left; nothing was charged. "
        f"A pure answer{which} of up to ε = {epsilon}, or any answer{which} of up to ρ = {rho}, would fit."
    )


def _asked(cost: Cost) -> str:
    delta = f", δ = {rounded_up(cost.delta, small=CHANCE)}" if cost.delta > 0.0 else ""
    rho = f" (ρ = {rounded_up(cost.zcdp)})" if cost.delta > 0.0 and cost.zcdp < float("inf") else ""
    return f"ε = {rounded_up(cost.epsilon)}{delta}{rho}"


@cache
def _versions() -> tuple[tuple[str, str], ...]:
    found = [("python", platform.python_version())]
    for name in ("epsilon-lab", "opendp", "dp-accounting", "numpy", "sqlalchemy"):
        try:
            found.append((name, version(name)))
        except PackageNotFoundError:
            found.append((name, "not installed as a package"))
    return tuple(found)


def versions() -> dict[str, str]:
    """Versions of what an answer is made with."""
    return dict(_versions())
