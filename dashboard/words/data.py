"""What the Data page says: whose rows these are, how a file gets in and was read, and what is declared about it.

What it says of columns is in ``columns.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from dashboard.words import either, many, plural, safe

# -- whose data these are --------------------------------------------------------------------------------------------

ID_COLUMN = "Column that says whose row it is"
ID_PLACEHOLDER = "none: I vouch for the number"
PEOPLE_PLACEHOLDER = "not said"
PEOPLE_HELP = (
    "A public number, about right is enough; never count it in the file. Training needs it to know how large a model's "
    "steps can be, and gives it away as you say it. The exact number of rows is never read for it."
)


def rows_at_most(unit: str, *, steps: bool = False) -> str:
    """``steps``: a row is one in time, and nobody's."""
    return (
        f"Steps whose numbers one {safe(unit)} can change, at most"
        if steps
        else f"Rows one {safe(unit)} can have, at most"
    )


def rows_in_file(unit: str, *, steps: bool = False) -> str:
    if steps:
        return f"Rows of the file whose numbers one {safe(unit)} can change, at most"
    return f"Rows one {safe(unit)} can have in the file, at most"


def rows_help(unit: str, *, steps: bool = False) -> str:
    if steps:
        return (
            f"One {safe(unit)} may be counted in many steps, as somebody who calls each day is. Where you cannot tell, "
            "say how many steps there are."
        )
    return (
        f"Private answers hide a {safe(unit)} with all its rows. A file cannot show how many there could have been, so "
        f"say it from what you know. A row whose numbers count or add up several {safe(many(unit))}, such as a day's "
        "total, is nobody's: say first, beside “One row is”, that it is an option or a step."
    )


def id_help(unit: str) -> str:
    return (
        f"A number or code that is the same in all rows of one {safe(unit)}. With it, every private answer uses at "
        f"most as many rows of each {safe(unit)} as you say above and leaves out the rest; rows of none are left out. "
        "Who is spelled in two ways is two."
    )


def each_became(made: int) -> str:
    return f"What you did to the table makes up to {made:,} rows of each, and private answers reckon with all of them."


def people(unit: str) -> str:
    return f"About how many {safe(many(unit))}"


def enforced(unit: str, most: int, column: str) -> str:
    """What is done where an id column is named."""
    return (
        f"Enforced: at most {plural(most, 'row')} of each “{safe(column)}” count in a private answer. That each is all "
        f"of one {safe(unit)}, and never spelled in two ways, is your promise."
    )


def promised(unit: str, together: str = "") -> str:
    """What rests on the person's word where no id column is named; rows may have been put ``together`` by a column."""
    if together:
        return f"This number is your promise, and that {all_of_one(together, unit)}."
    return (
        f"Without a column that says whose row it is, this number is your promise: a {safe(unit)} with more rows is "
        "protected less."
    )


def rows_open(unit: str, *, steps: bool = False) -> str:
    can = "change" if steps else "have"
    return (
        f"Until you say how many rows one {safe(unit)} can {can}, charts take one, and no private answer can be given."
    )


def reach_open(unit: str, columns: Sequence[str]) -> str:
    """Of columns of which nobody said how far one moves an entry: what counts then."""
    return (
        f"How much one {safe(unit)} changes a number of {safe(either(columns, 40), 400)} is not said: the whole range "
        "counts, and answers are rough. It may be said under Columns."
    )


def all_of_one(column: str, unit: str) -> str:
    """What a column must be by which rows were put together."""
    return (
        f"each “{safe(column, 40)}” is all of one {safe(unit)}, none a word such as “unknown”, and never spelled in "
        "two ways"
    )


def row_alone(row: str, unit: str, together: str = "") -> str:
    """What a record is, and that it is of one alone; where rows were put ``together``, that each value is too."""
    who = safe(unit)
    whole = f", and {all_of_one(together, unit)}" if together else ""
    return (
        f"{row}, of one {who} alone: without that {who} it is gone and no other row changes, and no number in it "
        f"counts or adds up several {safe(many(unit))}{whole}"
    )


def no_row_is(row: str, unit: str) -> str:
    """What a row of steps or options is, and what none of them may be where people come and go."""
    return (
        f"{row}, and none of them is itself a {safe(unit)} or made by one: with one {safe(unit)} more or less there "
        "are as many rows"
    )


def moves_asked(unit: str) -> str:
    return (
        f"How far one {safe(unit)} can move an entry is asked for each column of numbers, under Columns; where it is "
        "not said, the whole declared range counts."
    )


def moves_any(unit: str, heading: str) -> str:
    """Where the one who is protected may be a row, as the ``heading`` of a column says, or "" where none does."""
    if heading:
        return (
            f"“{safe(heading, 40)}” is called as if each row were one {safe(unit)} itself, whose numbers can be any: "
            "the whole declared range counts, and answers are rough. If it is not so, rename that column in the file."
        )
    return (
        f"A row may be one {safe(unit)} itself, whose numbers can be any: the whole declared range counts, and answers "
        "are rough. Where people are counted here and are to be protected, say “person” under “Whose data are these?”."
    )


_RECODED = {
    "workbook": "In a workbook another cell of its row, or how it is shown, may make a number missing or another one",
    "json": "In a JSON file another key of its row may take a number's place",
}


def moves_recoded(unit: str, kind: str) -> str:
    """Of a file of a kind in which a number may be read as something else, whatever this one holds."""
    labelled = "A file of SPSS, Stata or SAS may itself call a number missing, or something else"
    return (
        f"{_RECODED.get(kind, labelled)}: so the whole declared range counts of how far one {safe(unit)} can move "
        "an entry, and answers are rough. To say how far, save it as CSV."
    )


# -- getting a file in -----------------------------------------------------------------------------------------------

YOU_STATE = (
    "**Before a private answer you state** what one row is, how many rows one person may have, and between which "
    "bounds the numbers lie that it uses. You answer for that: no program can check it, and where it is untrue the "
    "promise does not hold."
)
WITHOUT_FILE = (
    "No file at hand? “No file: describe a table” asks for columns and how many people, makes up rows to match, and "
    "shows how good private answers about such a table would be."
)
TO_CLUSTER = (
    "While a chart of it is computed its rows go to the computers of the cluster that this server works with, and "
    "whoever runs these can read them."
)
DROP = "Drop a table here: CSV, Excel, JSON, Parquet, SPSS, Stata, SAS, or one of these zipped"
PASTE = "Or paste a table"
PASTE_LABEL = "Cells copied from a sheet, a page or a mail, with the names of the columns first"
PASTE_EXAMPLE = "age\tcity\n34\tHaifa"
PASTE_GO = "Read it"
PASTED = "Pasted table"
NOTHING_PASTED = "There was nothing in the box. Copy the cells with their headings, paste them, then read."
PART = "Sheet, or file of the archive"
PART_ASKED = "There are several tables in this file. Which one do you want?"
PART_GO = "Use this one"
CODED = "Columns to read by their codes, not their labels"
CODED_HELP = (
    "For a scale of which only the ends have a label, and for numbers such as 99, labelled “no answer”. Leave out "
    "words that a program numbered as they occur, as pandas does: one person more can change all their codes."
)
_KINDS = {
    "workbook": "a workbook",
    "json": "a JSON file",
    "parquet": "a Parquet file, which names its columns itself",
    "arrow": "an Arrow file, which names its columns itself",
    "labelled": "a file of SPSS, Stata or SAS, which names its columns itself",
    "database": "a database",
}


def in_use(title: str) -> str:
    """Which data all pages are about until a file is in use; plain text in Markdown."""
    return f"In use until then: **{safe(title, 80)}**."


def drop_help(megabytes: int) -> str:
    return f"Up to {megabytes} MB. What the file holds decides, not its name."


Kind = Literal["file", "described", "source"]
"""What is behind a person's own data: a file, nothing, or a source of this server."""
YOUR_OWN = "Your own data"
CHARGED_TO_THEM = "Releases from this file are charged to their budget, whatever the file is called."
NO_BUDGET_YET = "These people have no budget yet. You set one before the first private answer."
GONE = (
    "You see a sample: a file of your own is forgotten some minutes after its tab was closed, and links never carry it "
    "or choose a source. Bring or choose it again on the Data page; its budget and answers are kept."
)
WAITS = (
    "The file that you had before this page was reloaded is not shown yet: the ledger cannot be asked just now whether "
    "you may hold it. Keep this tab open, which asks again every few seconds; the file is kept for some minutes."
)
LOADED_ANEW = "The page was reloaded in the same tab: the file and what is declared about it stayed."


def demo(*, simulated: bool) -> str:
    """On the badge of charts of a sample."""
    return f"Demo: {'simulated' if simulated else 'real'} sample, truth shown"


def twin(kind: Kind) -> str:
    """On the badge of charts of made-up rows: whose rows they are not."""
    return {
        "file": "Twin: simulated rows, not the file's",
        "described": "Twin: simulated rows of the table you described",
        "source": "Twin: simulated rows, not the source's",
    }[kind]


def decide_first(kind: Kind) -> str:
    """On a page that has nothing to show yet."""
    if kind == "file":
        return "Decide on the Data page how your file may be used; then come back here."
    what = "this source" if kind == "source" else "the table"
    return f"Say on the Data page what {what} could hold; then come back here."


def not_in_use(name: str, kind: Kind, *, sample: bool) -> str:
    """Beside the choice of data, while no page shows the person's own table; ``sample``: one is chosen."""
    named = f"“{safe(name, 60)}”"
    what = {"file": f"Your file {named}", "described": "The table you described", "source": f"The source {named}"}[kind]
    return f"{IN_USE + ' ' if sample else ''}{what} is not in use yet: ask something about it on the Data page."


def being_prepared(name: str, *, sample: bool) -> str:
    """Beside the choice of data, and on a page that has nothing to show yet, while the columns are made ready."""
    return f"{IN_USE + ' ' if sample else ''}“{safe(name, 60)}” is being prepared; pages show it in a moment."


def shown_instead(name: str, own: str) -> str:
    """Beside the choice of data, while a sample was chosen although the person's own data could be shown."""
    return f"{IN_USE} To see “{safe(name, 60)}”, choose “{own}” in this list."


def too_many_rows(rows: int, most: int) -> str:
    """A file with more rows than one session may have."""
    return f"The table has {rows:,} rows and one session here may have {most:,}; keep fewer rows and bring it again."


def too_many_records(records: int, most: int) -> str:
    """A file with more rows than one session may have, if those without anything in them count."""
    return (
        f"The file has {records:,} rows with those that are empty or were set aside, and one session here may have "
        f"{most:,}; take the empty ones out, or keep fewer rows, and bring it again."
    )


def too_much_held(held: int, most: int) -> str:
    """Files that take more memory together than one session may have, in bytes and megabytes."""
    return (
        f"With this file your session would hold {-(-held >> 20):,} MB of files and tables, and one may hold {most:,}; "
        "keep fewer rows or columns, or remove the file that is here for good, and bring it again."
    )


def not_declared(why: str) -> str:
    """There is no room for what was declared."""
    return f"What you declared last was not taken, as there is no room for it; shorter lists take less. {why}"


def server_is_full(most: int) -> str:
    """What all sessions hold together leaves no room; ``most`` bytes is what they may."""
    return (
        "Everybody's files together, with what is worked out from them, would take more than the "
        f"{most >> 20:,} MB that this server gives them; try again when others have left, or bring a smaller file."
    )


SERVER_HAS_NO_MEMORY = (
    "The computer that this runs on has little memory left just now; try again in a minute, or bring a smaller file."
)


def address_is_full(most: int) -> str:
    """What sessions from one address hold leaves no room; ``most`` bytes is what they may together."""
    return (
        "The files that are open from your address (your computer's, or that of a network which you share), with what "
        f"is worked out from them, would take more than the {most >> 20:,} MB that one address has here; close a page "
        "that holds a file, ask who else on your network holds one, or bring a smaller file."
    )


def too_much_prepared(held: int, most: int) -> str:
    """A table for the charts that would take more memory than one session may have, in bytes and megabytes."""
    return (
        f"The rows for these charts would make your session hold {-(-held >> 20):,} MB of files and tables, and one "
        f"may hold {most:,}; choose fewer rows, or remove the file that was here before for good, and ask again."
    )


def step_of_too_many_rows(rows: int, most: int) -> str:
    """A step that would make more rows than one session may have."""
    return (
        f"The table would then have {rows:,} rows and one session here may have {most:,}, so it stays as it was; "
        "bring a file with fewer rows to do this."
    )


def step_too_large(held: int, most: int) -> str:
    """A step whose table would take more memory than one session may have, in bytes and megabytes."""
    return (
        f"Your session would then hold {-(-held >> 20):,} MB of files and tables, and one may hold {most:,}, so the "
        "table stays as it was; bring a file with fewer rows or columns to do this."
    )


def container(kind: str, part: str, header: str) -> str:
    """What kind of file it is, which part of it was read, and where its columns are named."""
    if kind == "workbook":
        return f"The sheet “{safe(part)}” of a workbook. {header}"
    what = _KINDS.get(kind, "a file")
    return f"From “{safe(part)}” of an archive: {what}." if part else f"{what[:1].upper()}{what[1:]}."


def from_archive(part: str) -> str:
    return f"From “{safe(part)}” of an archive."


DOUBTS_OF_FILE = "This is asked because of what is in the file, so no private answer, receipt or link repeats it."
FORM_OF_FILE = (
    "The program guessed this from the file, where one row can change the guess: please press what you know to be "
    "right. Charts do not wait for it. A private answer does, and says with it what you answered here; until then you "
    "can change it under “Read it differently”."
)
READ_SO = ":gray[This is how it is read now.]"
"""Beside the one of several answers that holds already."""

# -- a declaration as a file -----------------------------------------------------------------------------------------

SAVE = "Save this declaration"
SAVE_HELP = (
    "Types, bounds, options, steps and what you stated of the file's form (such as where cells end), for the next "
    "table of this kind. What a row is, and how many one person has, you say again of each table. Of what was read "
    "from the rows it holds options you copied, and of columns that you said nothing of their types, as the file "
    "suggests them: which of its words mean missing is asked again."
)
SAVED_AS = "declaration.json"
BRING = "Use a saved one"
BRING_LABEL = "A declaration that was saved here"
DESCRIBED = "A described table"
NOTHING_TO_SAVE = (
    "Each row of this file names its own cells, so a declaration names those columns alone that you declared: declare "
    "one, and it can be saved."
)
NOT_IN_FORM = (
    "This file is not written as the declaration says, such as in which line the columns are named. So nothing was "
    "declared yet. To use what it says of the columns all the same, press “Use this declaration” below; you are then "
    "asked how the file is to be read."
)
DECLARED_AS_BEFORE = "The columns were declared as in an earlier declaration."
KNOWN = "You declared such a table before."
SIMULATING_ROWS = "Making up rows"
KNOWN_ALSO = "Another time you declared one in another way."
KNOWN_USE = "Use this declaration"
KNOWN_TOO_LONG = (
    f"That declaration is too long to be shown here. To use it, press “{BRING}” and bring the file that you saved it "
    "to; without one, declare the columns below anew."
)
AS_THEY_ARE = "The rows stay as they are."
REMEMBERED = "This server remembers what was declared about these people."
FORGET_DECLARED = "Forget that"
DECLARED_FORGOTTEN = "What this server remembered of its declaration was forgotten."
NOT_FORGOTTEN = (
    "This budget is closed for good, on record; what was declared about its people is still kept beside the ledger, "
    "where whoever runs the server can remove it."
)
LOOKS_ALIKE = (
    "This file looks like one about people who have a budget already. The same people share one budget, whatever file "
    "they come in: no other is opened and nothing is charged before you answer, and your answer cannot be taken back."
)
SEVERAL = (
    "A table with people of several budgets cannot be asked: bring each group's rows alone. If nobody of the others is "
    "in this file, say why."
)
WHY_OTHERS = "Why are they others? One sentence; it is kept in the ledger's journal with the date"
SAY_WHY = "Say in a sentence why these are other people; it is kept with the date."


def why_not_in_it(names: Sequence[str]) -> str:
    """The question to whoever chose one of several budgets, with the names of the rest."""
    rest = " or ".join(f"“{safe(name, 40)}”" for name in names)
    return f"Why is nobody of {rest} in this file? One sentence; it is kept in the ledger's journal with the date"


SAME_FILE = (
    "This very file is one of people who have a budget already, so no other is opened for it: answers from it are "
    "charged to theirs."
)
NOT_REMEMBERED = "What is declared could not be written beside the ledger, so another session begins without it."


def columns(names: tuple[str, ...]) -> str:
    count = f"{len(names):,} columns" if len(names) > 8 else "columns"
    return f"Its {count} were {', '.join(f'“{name}”' for name in names)}."


def lacking(names: tuple[str, ...]) -> str:
    listed = ", ".join(f"“{name}”" for name in names)
    return f"The declaration was taken as far as it fits: this table has no column {listed}."


ROWS_NAME_COLUMNS = (
    "Rows name their own cells in this file, so a declared column that no row names counts as missing in all of them. "
    "Look whether the rows spell the names as the declaration does."
)
DETAILS = "Everything about these data"
LET_GO = "Forget this file"


# -- the Data page itself --------------------------------------------------------------------------------------------

IN_USE = "**In use: this sample.**"
TWIN_SHOWN = (
    "A twin is rows made up from what you declare, none of them the file's. Show it to anybody who may know what you "
    "declared."
)
NEEDED = "Before a private answer"
NEEDED_ABOUT = "Say it here, or begin with a question above: it asks for what it needs."
THEN_A_BUDGET = "Ask your question above. Its page lets you set a budget before the first answer."
CHANGED_MEANWHILE = "The table has changed meanwhile, so nothing was done. Look at it as it is now and click again."
PAGE = "Data page"
GO = "Go to the Data page"


def here(sentence: str) -> str:
    """A sentence that sends people to the Data page, as the page itself says it."""
    return sentence.replace(" on the Data page", "")


def step(place: int, sentence: str) -> str:
    """What is to be done there as the ``place``-th; the sentence may name a column."""
    return f"**{place}.** {safe(here(sentence), 1000)}"
