"""Words about the columns of a person's own table: what they hold, the steps before, and what is called right."""

from __future__ import annotations

from collections.abc import Sequence

from dashboard.words import either, many, safe
from dpcore.datasets.text import within

# -- one column ------------------------------------------------------------------------------------------------------

MOVES_PLACEHOLDER = "the whole range"
COPY = "Or copy the words in the file, if everybody knows them"
COPY_HELP = (
    "Fills the list for you to check, in alphabetical order. A word that only one person has gives them away: better "
    "type what is possible yourself. Until you allow more the list serves your own charts only."
)
CODEBOOK = "Or copy the options of the file's own codebook"
CODEBOOK_HELP = (
    "Fills the list for you to check. Many programs write down just the words that occur in the rows, so until you "
    "allow more it serves your own charts only."
)
CODEBOOK_ANYONE_HELP = (
    "Of a codebook that was written before anybody answered, as a questionnaire's. Then private answers may use the "
    "list, and nothing is said of where it is from."
)
ANYONE = "Anyone could write this list without seeing the file."
ANYONE_HELP = "Needed for private answers and twins. Without it the list serves your own what-if charts only."
NOT_HIDDEN = "Private answers may use these words. That a word occurs in the file is then not hidden."
NOT_HIDDEN_HELP = (
    "You copied these words from the file. They stay in alphabetical order, so that their order tells nothing; "
    "receipts say where they are from. Empty the list and write your own to take that back."
)
SAVED_FOR_CHARTS = "Saved for your own charts. Tick the box below the list to use it for private answers."


def moves(unit: str) -> str:
    return f"If one {safe(unit)} is added or removed, a number here changes by at most"


FILL_ENTRY_HELP = "Leave it empty to have such an entry read as 0, or as the bound that is nearest to it."
MOVES_READ = (
    "Where people are counted: usually 1. Left empty, the whole range counts, and answers are much rougher. Cells like "
    "“<20”, words and empty ones are read as 0: where one person more can make a number of such a cell, say how far it "
    "jumps, or leave this empty."
)


def counts(unit: str) -> str:
    return f"This column counts {safe(many(unit))}, each in plain numbers"


def counts_help(unit: str) -> str:
    who = safe(unit)
    return (
        f"Then one {who} added or removed moves every entry the same way, by at most the number above: as often as it "
        "can be counted in one entry. Leave it open for balances, votes for and against, amounts, and small counts "
        "written as “<20”. Where a missing cell counts as more than 0, or a number stands for a missing one, the whole "
        f"range counts, whatever stands above: one {who} more could move an entry further."
    )


DECLARED = "You said what it can hold."
"""Instead of how many different words it holds, to who keeps the file private."""
BEYOND = {
    "options": "Cells with anything else count as missing, and are not told apart here: options follow what everyone "
    "knows, not the file.",
    "words": "Cells that are neither yes nor no count as missing, and are not told apart here: words for these follow "
    "what everyone knows, not the file.",
    "bounds": "Cells beyond the bounds are moved to the nearest one, and are not told apart here: bounds follow what "
    "everyone knows, not the file.",
}
"""What becomes of cells beyond what was declared, said to who keeps the file private."""
NOTATION_SUGGESTED = "{} (suggested)"
NOTATION_HELP = (
    "What you state binds every cell, while one cell can tip what the file suggests. Answers say that you had seen the "
    "file, whether you state it or call it right."
)
NAMED_BY_ROWS = "named by rows: charts only"
FROM_ROWS = (
    "This column exists only because rows name or fill it, so it is good for charts and for no private answer. To ask "
    "about it, name it in the file, or take the step back that made it and state its options there."
)


def too_many_words(most: int) -> str:
    return (
        f"This column holds more than {most:,} different words, or very long ones: too many to make all of them its "
        "options. Write those that matter into the list above, or choose “text” as the column's type."
    )


# -- several columns at once -----------------------------------------------------------------------------------------

USUAL_PLACEHOLDER = "pick one, or type the bounds"
USUAL_HELP = "Ranges that everyone knows; none is read from the file. What you type beside it goes first."
USUAL_RANGES: dict[str, tuple[float, float]] = {
    "age in years: 0 to 120": (0.0, 120.0),
    "percent: 0 to 100": (0.0, 100.0),
    "share: 0 to 1": (0.0, 1.0),
    "marks: 0 to 10": (0.0, 10.0),
    "month: 1 to 12": (1.0, 12.0),
    "day of the month: 1 to 31": (1.0, 31.0),
    "hour of the day: 0 to 23": (0.0, 23.0),
    "0 to 1,000": (0.0, 1_000.0),
    "0 to 10,000": (0.0, 10_000.0),
    "0 to 100,000": (0.0, 100_000.0),
    "0 to 1,000,000": (0.0, 1_000_000.0),
}
BULK_WHY = (
    "Say what is possible, from what everyone knows and not from the file: nothing is filled in from it. Leave open "
    "what you will not ask about."
)
BULK_PUBLIC = "Anyone could write these lists of options without seeing the file."
BULK_SAVE = "Save all of these"
BULK_NOTHING = "Nothing was stated, so nothing changed."
BULK_CHARTS_ONLY = "The options are saved for your own charts. Say that the lists are public to use them for answers."


def bulk(count: int) -> str:
    """The form's title."""
    return f"Say what {count:,} columns could hold, all at once"


def bulk_rest(count: int) -> str:
    """Under a form that has not room for all."""
    return f"{count:,} more follow after these."


def bulk_wrong(column: str, sentence: str) -> str:
    """What cannot be in one row of the form."""
    return f"“{column}” was not changed: {sentence[:1].lower()}{sentence[1:]}"


# -- the labels of one row name its column, for those who hear the page ----------------------------------------------


def usual(column: str) -> str:
    return within("Usual range of {}", column)


def smallest(column: str) -> str:
    return within("Lowest possible {}", column)


def largest(column: str) -> str:
    return within("Highest possible {}", column)


def earliest(column: str) -> str:
    return within("Earliest possible {}", column)


def latest(column: str) -> str:
    return within("Latest possible {}", column)


def draft_options(column: str) -> str:
    return within("Options of {}, one on each line", column)


def bulk_options(column: str) -> str:
    return within("Options of {}, with ; between them", column)


BINARY_HELP = "Instead of options. A cell with any word that means neither counts as missing."


def binary(column: str) -> str:
    return within("{} holds yes or no", column)


# -- steps before columns are declared -------------------------------------------------------------------------------

STEPS = "Change the table first?"
STEPS_ABOUT = (
    "What you do here stands on receipts, without a word of a row: which steps seem right, one row can decide."
)
STEP_DO = "Do this"
STEP_BACK = "Undo"
DOING_STEP = "Doing this step"
WITH_POINT = "Do this: a point marks decimals"
WITH_COMMA = "Do this: a comma marks decimals"
SIGN = "What stands between the options of one cell"
SIGN_HELP = "Every cell is read by it. Other signs are letters of an option."
SAY_SIGN = "Say which sign stands between the options of one cell."
SPLIT_OPTIONS = "Options that one cell can name, one on each line"
SPLIT_OPTIONS_HELP = (
    "Write them from what you know, and private answers may use the columns. Left empty, the words in the file are "
    "taken, for your own charts only."
)
SPLIT_MOST = "Options one person can name, at most"


def step_taken(sentence: str) -> str:
    return f"Done as you asked: {safe(sentence, 400)}"


def step_taken_back(sentence: str) -> str:
    return f"Taken back: {safe(sentence, 400)}"


# -- what the file suggested, and is called right --------------------------------------------------------------------

NOTATION = {
    ",": " with a decimal comma",
    "dmy": ", the day first",
    "mdy": ", the month first",
    "serial": ", counted in days",
}
"""What belongs to a type that is called right, where it is not the usual."""
RIGHT = "I checked all of this: it is right"
RIGHT_HELP = (
    "Then you state them, and private answers rest on your word. Receipts say that you had seen the file, whether you "
    "call it right or change it: one person's cell can decide what a file suggests. Change a type under Columns if one "
    "is wrong."
)
CONFIRMED = "You said that what the file suggested is right."
MOST_TYPES = 8


def names_each(each_row: str) -> str:
    """Said of a column whose cells private answers give out, once somebody calls that right."""
    return f"what each {each_row} is called, shown with an answer"


def names_shown(columns: Sequence[str], each_row: str) -> str:
    """What calling that right means, of columns that hold names of rows."""
    return (
        f"{safe(either(columns, 40), 400)} says which {each_row} a row is. Two things must be so: none of its names is "
        "a person's or gives one away, as whoever gets an answer sees them all; and nobody's data can change which "
        f"{each_row} a row is. If not, choose another type for that column, or empty its options."
    )


def names_rows(kind: str, each_row: str) -> str:
    """The same beside what such a column holds."""
    return f"{kind}, and {names_each(each_row)}"


def suggested(
    types: Sequence[tuple[str, str]], row: str, form: Sequence[str] = (), most: int | None = MOST_TYPES
) -> str:
    """What the file suggested: of its ``form``, each column with its type, as far as the first ``most``, and what one
    row is; nothing of what was not suggested."""
    told = [f"“{safe(name, 40)}”: {kind.lower()}" for name, kind in types[:most]]
    if len(types) > len(told):
        told.append(f"{len(types) - len(told):,} more as listed under Columns")
    points = [*form, *told, *([f"one row is {row}"] if row else [])]
    if len(points) == 1:
        return f"{points[0]}."
    return f"{'; '.join(f'({place}) {point}' for place, point in enumerate(points, 1))}."


AS_STATED = "They show what you stated of it: bounds, options, relations."
"""Of the rows of a twin."""


def looks_like(names: str) -> str:
    """What a twin shows of a file where its cells alone said what a column holds; ``names`` as they are shown."""
    return (
        f" That {names} hold what they seem to (numbers, whole numbers, yes and no) was told from the file's cells, "
        "and whoever sees the twin sees it: change what is wrong, and call the types right, before you show it to "
        "anybody."
    )
