"""What a private answer from a person's own file still waits for."""

from __future__ import annotations

from dashboard import words
from dashboard.data import put_together
from dashboard.data.file_form import WITH_TYPES
from dashboard.data.own_file import OwnFile
from dpcore.datasets.steps import puts_rows_together

_SPILLED = (
    "Some lines of this file have more or fewer cells than others, or a quotation mark that stays open: see “What was"
    " read, and when” on the Data page, and mend them. Or have rows with too many cells set aside, under “Read it "
    "differently”: then no private answer calls a row by a name from the file."
)


def unreleasable(own: OwnFile) -> str:
    """Why nothing can be released yet, all of it at once; "" when something can."""
    if own.described:
        return "These rows are simulated, so there is nobody to protect. Load a file to make a release."
    return " ".join(lacking(own))


def lacking(own: OwnFile) -> tuple[str, ...]:
    """Everything for which a private answer from this file waits, a sentence each: the Data page lists what a
    question's page says."""
    asked = {
        "Answer the open questions about this file on the Data page first.": bool(doubts(own)),
        say_rows(own): own.decisions.asks_rows and not own.decisions.said_rows,
        "Say on the Data page whether these are the people of an earlier file.": bool(own.alike),
        "Say on the Data page what a column can hold (bounds, options, yes or no): a private answer needs it.": (
            own.columns.declared is None
        ),
        _SPILLED: own.form.spills,
        _suggesting(own): asks_confirmation(own),
    }
    first = (sentence for sentence in (_put_together(own), own.uncompared) if sentence)
    return (*first, *(sentence for sentence, open_ in asked.items() if open_))


def doubts(own: OwnFile) -> tuple[str, ...]:
    """The open questions that a private answer waits for: about the file, and about columns that were declared.

    Where a declaration was brought that fits, none is left but those about what it does not state of the form.
    """
    declared = own.columns.declared
    read = own.schema.names if declared is None else declared.names
    open_ = (doubt for doubt in own.doubts if doubt.startswith("file:") or doubt in read)
    return (*open_, *own.form.doubts)


def asks_confirmation(own: OwnFile) -> bool:
    """Whether something that a private answer would rest on was suggested by the file, and nobody called it right
    yet."""
    columns = own.columns
    open_ = bool(columns.open) or own.rows.open or bool(own.form.suggested)
    return open_ and columns.declared is not None


def say_rows(own: OwnFile) -> str:
    """That it is to be said how many rows one of those who are protected can have, or steps change."""
    steps, who = own.schema.each_row == "step", words.visible(own.schema.unit)
    asked = f"in how many steps one {who} can change a number" if steps else f"how many rows one {who} can have"
    return f"Say on the Data page {asked}: a private answer needs to know."


def _suggesting(own: OwnFile) -> str:
    form = "".join(f"{WITH_TYPES[doubt].format(own.schema.each_row)}, " for doubt in own.form.suggested)
    return f"Say on the Data page that {form}the types and what one row is are right: the file suggested them."


def _put_together(own: OwnFile) -> str:
    """Why rows that steps put together cannot be asked privately; "" where they can."""
    if own.schema.each_row != "record" and puts_rows_together(own.steps):
        return (
            "The rows of this table were put together from what the file holds, so how many there are and what "
            "they are called is private. Take that step back on the Data page: a private alarm counts days itself."
        )
    if own.schema.each_row != "record":
        return ""
    return (
        put_together.refusal(own.steps, own.schema.unit)
        or put_together.of_made(own.steps, own.schema)
        or put_together.of_nobody(own.steps, own.schema)
    )
