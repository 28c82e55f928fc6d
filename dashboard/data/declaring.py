"""From what stands in a column's form to its declaration, or one sentence about what cannot be."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from typing import Any

from dashboard import session, words
from dpcore.datasets import Column
from dpcore.errors import InvalidArgument

_PROBLEMS = {
    "high": "The largest possible value must be a number greater than the smallest.",
    "low": "The smallest possible value must be a number.",
    "latest": "The latest possible date must be after the earliest.",
    "no_words": "A word cannot mean both yes and no.",
    "sensitivity": "What one person can move a score by must be more than 0.",
}

_EARLY, _LATE = date(1700, 1, 1), date(2200, 12, 31)


def days_offered(column: Column) -> dict[str, Any]:
    """Between which days a form lets somebody choose: usual ones, and those that were declared, which a declaration
    that is brought can state however far."""
    stated = [day for day in (column.earliest, column.latest) if day is not None]
    return {"min_value": min([_EARLY, *stated]), "max_value": max([_LATE, *stated])}


def problem(error: InvalidArgument) -> str:
    """What is wrong with a form, in its own words."""
    if error.argument == "fill":
        return f"What a missing cell counts as {error.problem}, or is left empty: then its row is left out."
    return _PROBLEMS.get(error.argument, words.sentence(error))


def declared(old: Column, key: str, *, copied: bool = False) -> Column:
    """The column as the form ``key`` now has it; its options were ``copied`` from the file's words, or were not.

    Raises InvalidArgument.
    """

    def typed(name: str, other: Any) -> Any:
        return session.entered(f"{key}-{name}", other)

    missing = ("", *_words(typed("missing", ", ".join(old.missing_words))))
    fill = _fill(old, str(typed("fill", "")).strip())
    # all at once: what a missing cell counts as must agree with the bounds and options beside it
    now: dict[str, Any] = {
        "missing_words": missing,
        "fill": fill,
        "from_file": old.from_file and old.type == "yes/no",
    }
    if old.is_numeric:
        low, high = _both(typed("low", None), typed("high", None), "the smallest and the largest possible value")
        now |= {
            "low": None if low is None else float(low),
            "high": None if high is None else float(high),
            "unit": str(typed("unit", "")).strip(),
            "decimal": typed("decimal", None) or old.decimal,
            "sensitivity": typed("sensitivity", old.sensitivity) or None,
            "counts": old.type == "integer" and bool(typed("counts", old.counts)),
            "better": "lower" if typed("better", old.better) == "lower" else "higher",
        }
    elif old.type == "date":
        earliest, latest = _both(typed("earliest", None), typed("latest", None), "the earliest and the latest date")
        now |= {"earliest": earliest, "latest": latest, "date_order": typed("date_order", None) or old.date_order}
    elif old.type == "category":
        listed = [line.strip() for line in str(typed("categories", "")).splitlines() if line.strip()]
        anyone = bool(typed("anyone", False))  # of a codebook
        now |= {
            "categories": tuple(dict.fromkeys(listed)),
            # Without a file there is no such question: everything is declared.
            "from_file": bool(listed) and not (anyone or bool(typed("public", True))),
            "words_from_file": copied and bool(listed) and not anyone,
        }
    elif old.type == "yes/no":
        words_ = {part: typed(part, ", ".join(was)) for part, was in (("yes", old.yes_words), ("no", old.no_words))}
        now |= {f"{part}_words": _words(text) for part, text in words_.items()}  # a form of options has none
    return replace(old, **now)


def _both(one: Any, other: Any, names: str) -> tuple[Any, Any]:
    """Two bounds, or none. Raises InvalidArgument."""
    if (one is None) != (other is None):
        raise InvalidArgument("Both bounds", f"are needed, {names}; nothing is changed until you state the other one")
    return one, other


def _words(text: object) -> tuple[str, ...]:
    return tuple(dict.fromkeys(word.strip().lower() for word in str(text).split(",") if word.strip()))


def _fill(column: Column, text: str) -> str | float | None:
    """Raises InvalidArgument for a value the column cannot hold."""
    if not text:
        return None
    if column.is_numeric:
        try:
            return float(text)
        except ValueError:
            raise InvalidArgument("A missing cell", "must count as a number, or its row is left out") from None
    if column.type == "date":
        try:
            return date.fromisoformat(text).isoformat()
        except ValueError:
            raise InvalidArgument("A missing cell", "must count as a date such as 2024-12-31") from None
    if column.type == "yes/no" and text.lower() not in ("yes", "no"):
        raise InvalidArgument("A missing cell", "must count as yes or no, or its row is left out")
    return text
