"""Whether rows that steps put together hold what one protected unit did alone, so that leaving it out takes rows away.

Only then does a private answer cover it. It is told from names, which are public, and never from cells: what names do
not say for certain is refused, with a way out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from dashboard import words
from dpcore.datasets.steps import OneRowPer, Step
from dpcore.datasets.suitability import names_someone
from dpcore.datasets.text import skeleton

_SOMEBODY = {"", "person", "people", "individual", "human", "who"}
_PEOPLE = {
    *("patient", "member", "user", "client", "customer", "employee", "student", "pupil", "respondent", "participant"),
    *("citizen", "resident", "voter", "donor", "visitor", "guest", "driver", "owner", "tenant", "worker", "author"),
    *("player", "passenger"),
}
_LABELS = {
    *("id", "uid", "uuid", "guid", "no", "nr", "num", "number", "code", "key", "name"),
    *("email", "e-mail", "phone", "telephone", "mobile"),
}
_DAY = "day"


def refusal(steps: Iterable[Step], unit: str) -> str:
    """Why a table of records that these steps made cannot be asked privately; "" where it can."""
    for step in steps:
        if isinstance(step, OneRowPer) and not whole_of(_DAY if step.day else step.by, unit):
            one = f"one day of “{words.safe(step.by)}”" if step.day else f"one “{words.safe(step.by)}”"
            return (
                f"A row of this table holds all of {one}, so leaving out one {words.safe(unit)} may change rows and "
                "take none away: this no private answer here covers. Put rows together by who is protected on the "
                "Data page, or say there that what is protected is called by the name of that column."
            )
    return ""


def whole_of(by: str, unit: str) -> bool:
    """Whether all rows with one value of ``by`` are those of one ``unit``: both name the same, or simply somebody."""
    named, protected = _named(by), _named(unit or "person")
    if named == protected:
        return True
    return "" in (named, protected) and {named, protected} <= {"", *_PEOPLE}


def _named(name: str) -> str:
    """What a name says its values are, one of them: "ward" of "Ward_ID"; "" for somebody of no kind ("who", "e-mail").

    A first name or a surname is that of several people.
    """
    several = skeleton(re.sub(r"([a-z])([A-Z])", r"\1 \2", name)).split()
    kinds = list(several)
    while kinds and kinds[-1].strip(".").removesuffix("s") in _LABELS:
        kinds.pop()
    kind = " ".join(kinds).removesuffix("s")
    if kind in _SOMEBODY and (kinds or names_someone(name)):
        return ""
    return kind or " ".join(several) or "no name"
