"""Whether rows that steps put together hold what one protected unit did alone, so that leaving it out takes rows away.

Only then does a private answer cover it. It is told from names, which are public, and never from cells: what a name
says is of others is refused, with a way out. Of what is left, as an “id” that may be a shop's, a person states that
each is all of one of those who are protected: it is called right with what one row is, and stands on receipts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from dashboard import words
from dpcore.datasets.headings import names_someone
from dpcore.datasets.schema import Schema
from dpcore.datasets.steps import OneRowPer, ReadAsMissing, Step, is_made
from dpcore.datasets.text import skeleton

_SOMEBODY = {"", "person", "people", "individual", "human", "who"}
_LABELS = {"id", "uid", "uuid", "guid", "key"}
"""What is given out one to each. Two people may have one name, phone, e-mail, number or code."""
_DAY = "day"


def refusal(steps: Sequence[Step], unit: str) -> str:
    """Why a table of records that these steps made cannot be asked privately; "" where it can."""
    for step in steps:
        told = isinstance(step, OneRowPer) and not is_made(step.by, steps)
        if isinstance(step, OneRowPer) and not (told and whole_of(_DAY if step.day else step.by, unit)):
            one = f"one day of “{words.visible(step.by)}”" if step.day else f"one “{words.visible(step.by)}”"
            return (
                f"A row of this table holds all of {one}, so leaving out one {words.visible(unit)} may change rows and "
                "take none away: this no private answer here covers. Put rows together by who is protected on the "
                "Data page, or say that what is protected is called by the name of that column."
            )
    return ""


def of_made(steps: Sequence[Step], schema: Schema) -> str:
    """Why rows that are told by whose they are cannot be asked privately where a step made the column that says it,
    whatever it is called. "" where they can."""
    if schema.id_column is None or not is_made(schema.id_column, steps):
        return ""
    return (
        f"“{words.visible(str(schema.id_column))}” was made by a step and says of no row whose it is. Choose another "
        "column on the Data page for whose row it is, or none."
    )


def of_nobody(steps: Sequence[Step], schema: Schema) -> str:
    """Why rows put together by a column cannot be asked privately where, of that column, a word was called missing only
    afterwards: the row with that word holds what several people did. "" where they can."""
    for place, step in enumerate(steps):
        if not isinstance(step, OneRowPer):
            continue
        left_out = {word.lower() for word in step.missing_words}
        gone = step.by not in schema.names  # nobody knows any more which of its words mean missing
        means = () if gone else schema.column(step.by).missing_words
        later = any(isinstance(one, ReadAsMissing) and one.column == step.by for one in steps[place + 1 :])
        if gone or later or not {word.lower() for word in means} <= left_out:
            return (
                f"A word of “{words.visible(step.by)}” was said to mean missing after rows were put together by it: "
                "the row with that word holds what several people did. Take that step back on the Data page and do it "
                "again."
            )
    return ""


def leaving_out(steps: Iterable[Step], schema: Schema) -> tuple[Step, ...]:
    """Steps that put rows together with the words that are now declared to mean missing in that column."""
    return tuple(
        replace(step, missing_words=schema.column(step.by).missing_words)
        if isinstance(step, OneRowPer) and step.by in schema.names
        else step
        for step in steps
    )


def whole_of(by: str, unit: str) -> bool:
    """Whether all rows with one value of ``by`` are those of one ``unit``: both name the same, or both simply somebody.

    A file may name others beside, under whatever heading: rows of one driver are not those of one person.
    """
    return _named(by) == _named(unit or "person")


def _named(name: str) -> str:
    """What a name says its values are, one of them: "ward" of "Ward_ID"; "" for somebody of no kind ("who", "id").

    A name, a phone or a player's number may be that of several people.
    """
    several = skeleton(re.sub(r"([a-z])([A-Z])", r"\1 \2", name)).split()
    kinds = list(several)
    while kinds and kinds[-1].strip(".").removesuffix("s") in _LABELS:
        kinds.pop()
    kind = " ".join(kinds).removesuffix("s")
    if kind in _SOMEBODY and (kinds or names_someone(name)):
        return ""
    return kind or " ".join(several) or "no name"
