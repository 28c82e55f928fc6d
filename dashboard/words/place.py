"""Sentences about sources that the people who run a server have configured, and that are counted where they are."""

from __future__ import annotations

from dashboard.words import amount, failing, plural, safe

SOURCE = "A source of this server"
CHOOSE = "Which source?"
TABLE = "Table or view"
USE = "Use this table"
ABOUT_SOURCES = (
    "The people who run this server offer these. Their rows stay where they are: nothing of them is shown or kept, "
    "the charts are of made-up rows, and a private answer has their rows counted there, or read once for a model."
)
NO_TABLES = "This source offers no table or view."
UNLISTED = "The list of this server's sources cannot be read; the people who run it can mend it."
SEVERAL_FOR_ONE = (
    "In the column of this source that says whose a row is its database takes texts for one that are written in "
    "several ways, as “Ann” and “ann”: each would count as somebody else. Ask the people who run the server."
)
NO_PERSON = "This table has no column that says whose a row is, as its owner states; choose another."
ROW_BY_ROW = (
    "That no row of this table or view hangs on rows of others is stated by the people who run this server, and not "
    "checked."
)
OTHER = "Use other data"
ABOUT = (
    "The chart shows rows made up from what you say here, and nothing of the source. For a private answer the source "
    "counts its own rows; for a model they are read once."
)
WHAT_COULD_BE = "Say what is possible, from what everyone knows: do not look it up in the source."
NOT_READ = "No row of the source was read for them."
DECLARED_BY_YOU = (
    "Names and types of the columns are those of the source's own schema. What they could hold you state yourself, "
    "from what everyone knows."
)
TYPED_BY_YOU = (
    "Names of the columns are those of the files. Of what type each is, and what it could hold, you state yourself, "
    "from what everyone knows: the type in such a file can hang on one row."
)
ASKED_PRIVATELY = (
    "Private answers can say which option is most common, what a median is, which simple rule predicts best, which "
    "column costs least, on which day or for which option a count passes a line, and how a model on steps predicts. "
    "Every other question shows its chart on made-up rows alone."
)
NO_BUDGET = (
    "The budget of this source is not open, and only the people who run this server state it; choose the source again "
    "on the Data page."
)
NOT_SEEN = "The budget of this source is not open, or was not shared with you: ask an owner of this server's budgets."
OTHER_BUDGET = (
    "The budget of this source was opened with other numbers, or to protect others, than are configured now; it stays "
    "as it was opened."
)


def rows_stay(columns: int) -> str:
    """What is known of the table before anything is asked."""
    return f"{plural(columns, 'column')}; how many rows there are is not shown."


def whose(unit: str, rows: int, column: str | None) -> str:
    """How many rows of one person count, and how that is known."""
    most = plural(rows, "row")
    if column is None:
        return f"That one {safe(unit)} has at most {most} is stated by the people who run this server, and not checked."
    name = safe(column)
    return (
        f"At most {most} of one {safe(unit)} count, by the column “{name}”. That each “{name}” is all of one "
        f"{safe(unit)} and never spelled in two ways is stated by the people who run this server, and not checked."
    )


def budget(epsilon: float, delta: float) -> str:
    """The one budget of a source."""
    also = f" and δ = {failing(delta)}" if delta else ""
    return (
        f"One budget of ε = {amount(epsilon)}{also} for all answers from this source together, whoever asks and about "
        "whichever table; the people who run this server have set it."
    )


STATED_ANEW = (
    "Whoever runs this server states something else of this source now, or offers it no more, so nothing was asked of "
    "it: choose it anew on the Data page."
)
