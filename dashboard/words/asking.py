"""What the Data page says once a table is there: what was understood, what can be asked, and what a question needs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dashboard.words import plural, safe
from dashboard.words.release import TAB
from dpcore.datasets.schema import ColumnType

ASK = "What do you want to know?"
NOT_SO, CHANGE_ROW = "Not so?", "Change it"
ASK_FIRST = "Click one; the best come first. What it still needs is asked next."
ABOUT, ANY_COLUMN = "Ask about", "any column"
NOTHING_SUITS = "No question suits these columns yet. Give one the type options, number, yes or no, or date."
OTHER_QUESTION = "Ask something else"
SHOW_FILE, SHOW_MADE_UP = "Show the chart of the file", "Show the chart of made-up rows"

LOOK = "Look at the file itself"
PRIVATE = "Keep the file private"
PRIVATE_ABOUT = (
    "A free chart of made-up rows shows what ε, people and budget do. "
    f"The real answer comes from the file, under “{TAB}” below it, and costs budget."
)
NOT_SHOWN = "Show these charts to nobody unless the file is public."
LOOKED_AT = (
    "Looking costs no budget; private answers about it, and about whatever you bring later, say until this session "
    "ends that they were chosen after looking."
)
FIELDS = "Say which values are possible"
DESCRIBED_ABOUT = "The chart shows rows made up from what you say here. There is no file behind it."
WHAT_COULD_BE = "Say what is possible, from what everyone knows: do not look it up in the file."
ALL_NUMBERS = "numbers in all of these"
ONE_BY_ONE = "Or say it column by column"
ROWS_MADE_UP = "Rows to make up"
SAY = "please say"
EACH_OPTION = "Count every option that was named"
WHOLE_CELL = "Take each cell as one answer"
WHOLE_CELL_ABOUT = "Then only people who named exactly the same options count together."
SAY_MOST = "Say how many options one person can name at most: from what the form allowed, not from the file."
WORDS_HELP = "Needed for the chart of made-up rows and for a private answer."
_MOST_NAMED = 12
USUAL_UNIT, UNITS = "person", ("day", "week", "month")
_COLUMNS: dict[ColumnType, tuple[str, str]] = {
    "category": ("has options", "have options"),
    "yes/no": ("says yes or no", "say yes or no"),
    "number": ("holds numbers", "hold numbers"),
    "date": ("holds dates", "hold dates"),
    "text": ("is text", "are text"),
}


def rows_read(rows: int, set_aside: int) -> str:
    """The first line: how many rows."""
    aside = f" {plural(set_aside, 'line')} of the file {'was' if set_aside == 1 else 'were'} set aside."
    return f"**{plural(rows, 'row')}.**{aside}" if set_aside else f"**All {plural(rows, 'row')}.**"


def columns_read(types: Mapping[ColumnType, int]) -> str:
    """The second line: how many columns, and what they hold."""
    counts: dict[ColumnType, int] = dict.fromkeys(_COLUMNS, 0)
    for kind, count in types.items():
        counts["number" if kind == "integer" else kind] += count
    told = [f"{count:,} {_COLUMNS[kind][count > 1]}" for kind, count in counts.items() if count]
    listed = told[0] if len(told) == 1 else f"{', '.join(told[:-1])} and {told[-1]}"
    return f"**{plural(sum(types.values()), 'column')}**: {listed}."


def one_row(what: str, stated: bool) -> str:
    """The third line: who one row is."""
    return f"**One row is {what}.**{' You said so.' if stated else ''}"


def row_instead(what: str) -> str:
    """What a button that says otherwise is called."""
    return f"It is {what}"


def row_per(column: str) -> str:
    """A button that makes one row of all that belong to one person."""
    return f"Make it one row per “{safe(column, 40)}”"


def more_questions(count: int) -> str:
    """What the fold of the questions that suit less is called."""
    return f"{plural(count, 'more question')}"


def hidden(unit: str) -> str:
    """What a private answer about steps in time hides, behind the sentence about a row."""
    return f"Private answers hide any one {safe(unit)}."


def hidden_instead(unit: str) -> str:
    """What a button that has it hide something else is called."""
    return f"Hide any one {unit}"


def several(column: str) -> str:
    """The question about cells that name several options."""
    return f"Cells of “{safe(column, 60)}” name several options. How do they count?"


def left_out(names: Sequence[str]) -> str:
    """Columns whose cells can be read in two ways, when nobody said which."""
    listed = ", ".join(f"“{safe(name, 40)}”" for name in names[:4])
    more = f" and {len(names) - 4:,} more" if len(names) > 4 else ""
    return f"Left out until you say how they are to be read: {listed}{more}."


def takes_part(about: Sequence[str], others: Sequence[str]) -> str:
    """Which columns the question asks about, and which others it may use."""
    return f"**Asked about: {named(about)}.**{f' Beside it: {named(others)}.' if others else ''}"


def all_numbers(names: Sequence[str]) -> str:
    """Under the row that is said for several columns at once."""
    return f"All of these: {named(names)}."


def named(names: Sequence[str]) -> str:
    """Columns by their names, the first few of many."""
    listed = [f"“{safe(name, 40)}”" for name in names[:_MOST_NAMED]]
    if len(names) > _MOST_NAMED:
        listed.append(f"{len(names) - _MOST_NAMED:,} more as listed under Columns")
    return listed[0] if len(listed) == 1 else f"{', '.join(listed[:-1])} and {listed[-1]}"


def not_said(names: Sequence[str]) -> str:
    """Columns of which nobody said what they could hold."""
    return f"Not said yet: which values {named(names)} can hold. Needed of a column that you ask about, under Columns."


def others(least: int, count: int) -> str:
    """Above the columns that take part beside the leading one."""
    if least >= count:
        return "These take part too, so all of them are needed."
    return f"These can take part too, at least {plural(least, 'of them', 'of them')}. Leave open those that shall not."


def right(told: str) -> str:
    """The tick by which a person states what the file suggested."""
    return f"I checked what the program guessed, and it is right: {told}"


def names_later(each_row: str) -> str:
    """Under that tick, where a column names rows: what that means is called right elsewhere."""
    return f"A private answer also needs your word on what names each {each_row}: the Data page asks it."


def missing(names: Sequence[str]) -> str:
    """What a form did not say and the chart cannot do without."""
    listed = ", ".join(f"“{name}”" for name in names)
    return f"Still needed for the chart: what {listed} could hold, with both bounds, or the options as a public list."


def too_few(least: int) -> str:
    return f"Still needed for the chart: what at least {least} of the other columns could hold."
