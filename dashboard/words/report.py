"""What a report says beside what the pages say: headings, marks, the label, and how to check it."""

from __future__ import annotations

from collections.abc import Sequence

from dashboard.words import amount, failing, number, plural, safe
from dpcore.ledger.commands import CONFIRM
from dpcore.written import exact

MARKS = {
    "what_if": "Not private: do not publish",
    "twin": "Simulated: computed from rows that follow a declaration, not from anybody's data",
    "sample": "Sample data, open to everybody",
    "practice": "Practice: a private answer about sample data",
    "plan": "A plan: nothing was asked of any data for it",
    "answer": "",
}
"""What stands on each page of a section, by its kind."""
FILES = {
    "what_if": "not-private-do-not-publish-report",
    "twin": "simulated-report",
    "sample": "sample-report",
    "practice": "practice-answer-report",
    "plan": "plan-report",
    "answer": "private-answer-report",
}
"""Beginnings of file names, by the kind that decides."""
KINDS = {
    "what_if": "What-if: computed from the person's own file",
    "twin": "Twin: computed from simulated rows",
    "sample": "Computed from a bundled sample",
    "practice": "Private answer, practice on sample data",
    "plan": "Plan of private answers",
    "answer": "Private answer",
}

TITLE = "What privacy costs here"
ANSWER_TITLE = "A private answer with its receipt"
BY, ON, MADE, PAGE, OF = "Written by or for", "Date", "Made by the server on", "Page", "of"
LANGUAGE = "en"
PRODUCT = "Epsilon Lab"
NO_AUTHOR = "______________________________"
CONTENTS = "In this report"

# -- headings ----------------------------------------------------------------------------------------------------------

VERDICT = "The verdict, and what was needed"
PICTURE = "What accuracy costs in privacy"
TABLE = "At these levels, this good"
PROTECTED = "Who is protected, and what is not"
THEORY = "What theory guarantees"
UNCERTAINTY = "Which uncertainty is which"
METHOD = "Method and settings"
LABEL = "Label"
ANSWER = "The private answer"
RECEIPT = "The receipt, and how to check it"
MADE_WITH = "Made with"
NOTES = "To keep in mind"

PRIVACY_LEVEL = "Privacy loss ε"
NEEDED = "Needed"
SMALLEST = "Smallest ε that reaches it"


def for_most(answers: str) -> str:
    return f"Smallest ε at which 9 of 10 {answers} reach it"


NOT_FOUND = "not found among the sizes that were looked at"
CHOSEN_ROW = "The row in bold is the level that was chosen."


def size_needed(epsilon: float, word: str) -> str:
    return f"{word[:1].upper()}{word[1:]} that reach it at ε = {number(epsilon)}"


def table_caption(title: str, who: str, kinds: set[str]) -> str:
    how = "averages of simulated runs" if "simulated" in kinds else "exact"
    bound = "; what a theorem guarantees comes last" if "bound" in kinds else ""
    return f"{title[:1].upper()}{title[1:]}, at ε from strict to loose, with {who}: {how}{bound}. {CHOSEN_ROW}"


# -- uncertainty -------------------------------------------------------------------------------------------------------

EXACT = (
    "**Privacy noise** is what this report is about: the noise that is added on purpose. Its effect is computed from "
    "the exact law of the mechanism, so the numbers above carry no simulation error."
)
SIMULATED = (
    "**Privacy noise** is the noise that is added on purpose. Its effect was found by training many private models "
    "with different noise, so the numbers above are averages and carry a small simulation error; the shaded band holds "
    "80 in 100 of the models."
)
RUNS = (
    "**Luck of the run** is part of the privacy noise: the numbers are exact averages, and the shaded band in the "
    "picture shows where most single runs end."
)
SAMPLING_SHOWN = (
    "**The luck of having just these people** is a second, separate error, which no privacy level removes: other "
    "people of the same kind would give other data. The shaded band in the picture shows it."
)
SAMPLING_NOT_SHOWN = (
    "**The luck of having just these people** is a second, separate error, which no privacy level removes: other "
    "people of the same kind would give other data. It is not in these numbers."
)
THEOREM = (
    "**What a theorem promises** holds whatever the data are, and is usually cautious: the dotted lines. What really "
    "happens on these data is the solid line."
)
NO_THEOREM = "No theorem in this program bounds this measure on these data; the numbers above are what stands."
ANSWER_NOISE = (
    "**Privacy noise** is in the answer on purpose and cannot be taken out of it again. How far it may move the answer "
    "is forecast above from what was declared, not from the data."
)
PRACTICE_NOISE = (
    "**Privacy noise** is in the answer on purpose and cannot be taken out of it again. How far it may move the answer "
    "is forecast above; the data are open to everybody, so the forecast may look at them."
)
ANSWER_SAMPLING = (
    "**The luck of having just these people** comes on top: the answer speaks of the people in the data, and others "
    "like them could give another one."
)

# -- the label ---------------------------------------------------------------------------------------------------------

LABEL_CAPTION = "The fields that public registries of deployments ask for, on one label"
UNIT, NEIGHBOURS, EPSILON, DELTA, RHO = "Protected unit", "Neighbouring data", "ε", "δ", "ρ (zCDP)"
ACCOUNTANT, MECHANISM, SENSITIVITY, BOUNDS = "Accountant", "Mechanism", "Sensitivity", "Bounds and options"
TRUST, RANDOM, RELEASED, ODDS = "Who sees the raw data", "Randomness", "What is published", "In odds"
PURE = "0 (pure ε)"
CENTRAL = "central: the computer this runs on, and whoever runs it; nobody else"
RANDOM_REAL = "the operating system's entropy through OpenDP; it cannot be repeated"
RANDOM_SEEDED = "seeded; the pictures repeat for the same seed. A private answer never uses a seed"
NOTHING_YET = "nothing yet: this is a picture of what could be published"
NOTHING_SPENT = "nothing was charged for it. One such answer would cost the ε and δ above, in its ledger's account"
NO_BOUNDS = "none are needed"
NOT_STATED = "not stated"


def neighbours(relation: str, unit: str) -> str:
    """The relation by its term, then in words: of one ``unit``."""
    words: dict[str, str] = {
        "add_remove": f"add or remove one (unbounded): two data sets differ by all rows of one {unit}",
        "replace_one": f"replace one (bounded): two data sets differ by what one {unit}'s row holds",
    }
    return words.get(relation, NOT_STATED)


def unit(name: str, rows: int) -> str:
    return f"one {name}, of whom at most {plural(rows, 'row counts', 'rows count')}"


def accountant(counting: str) -> str:
    """How costs add up, by the budget's own rule."""
    return {
        "sum": "basic composition: ε and δ add up",
        "zcdp": "zero-concentrated differential privacy: ρ adds up, and is converted to ε at the budget's δ",
        "both": "two accounts side by side: basic composition, and zCDP",
    }.get(counting, "the guarantee of this one answer; a ledger adds answers up by basic composition or in ρ (zCDP)")


def bounds(low: float, high: float, where: str) -> str:
    return f"{exact(low)} to {exact(high)} ({where})"


def options(count: int, where: str) -> str:
    return f"{plural(count, 'option')} ({where})"


def days(first: str, last: str, where: str) -> str:
    return f"{first} to {last} ({where})"


DECLARED = "declared by a person"
OF_SAMPLE = "part of the sample's description"
FROM_FILE = "read from the file: good for looking, never for a private answer"
WORDS_FROM_FILE = "the words that occur in the file; that they occur is not hidden"
YES_NO = "yes or no"
YES, NO, NONE, NOT_PROTECTED, THESE_ROWS = "yes", "no", "none", "Not protected", "these rows"


def clipped(most: int, unit: str, length: float | None) -> str:
    """``length`` None: by the public rule."""
    cut = "a length that ε, δ and about how many rows there are decide by a public rule"
    return f"{rows_of_one(most, unit)}, the gradient of each cut to {cut if length is None else exact(length)}"


def rows_of_one(most: int, unit: str) -> str:
    return f"{plural(most, 'row')} of one {unit}"


def odds(right: str, guessed: str) -> str:
    """How much more often ``guessed`` is right."""
    return (
        f"someone who would guess right 50 times in 100 without the answer {guessed} is right at most {right} times "
        "with it"
    )


# -- the answer and its receipt ----------------------------------------------------------------------------------------

FORECAST, COST, DRAWN, CHECK_WORD = "How wrong it may be", "Cost", "Drawn", "Check-word"
HASH, REQUEST, RULES = "Hash in the journal", "Request", "By which fixed rules the rows were read"
NO_FORECAST = "Not part of the receipt: it stands on the page of the question."


def conclude(unit: str) -> str:
    return (
        "This answer may be shown. It is not certain: noise was added, so another draw could differ. It may not be "
        f"read as proof about any one {safe(unit, 40)}."
    )


def how_to_check(word: str) -> str:
    return (
        "Whoever holds this report can learn whether its ledger knows the answer, and whether a word was changed: drop "
        f"the file on the Budget page under “Check a receipt”, type the check-word {word} there, or run "
        f"{CONFIRM} where the ledger is. A file that was saved anew by another program "
        "counts as changed; its check-word still finds the answer as the ledger keeps it."
    )


def cost(epsilon: float, delta: float) -> str:
    return f"ε = {amount(epsilon)}" + (f" with δ = {failing(delta)}" if delta else "")


UNSEALED = (
    "Not sealed: when this report was made, the ledger could not put its seal on it. So nobody can check whether a "
    "word was changed since; a check-word in it can still be looked up once the ledger is open."
)
NOT_SEEN = (
    "Something in this report tells of an answer or a budget that may not be seen here any more, or the ledger cannot "
    "be asked, so no file of it is given. Take that out of the report."
)
UNSEALED_FILES = "These files will carry no seal, so nobody can check later whether a word was changed; they say so."

# -- a plan ------------------------------------------------------------------------------------------------------------

PLAN_TITLE = "A plan: these answers, each this good"
PLANNED = "What is wanted"
TOGETHER = "What they cost together"
RULE, TOTAL, VALID = "Rule of adding up", "ε together", "Holds"
EACH = "ε of each"
PLAN_DATA = "how good each is was found from the data in use, so this plan is marked like them"


def plan_caption(delta: float) -> str:
    return f"ε of all answers together, at δ = {failing(delta)}"


# -- a budget ----------------------------------------------------------------------------------------------------------

SPENT = "What is spent, and what is left"
ADDS_UP = "How it adds up"
CHARGES = "Every charge"
CAP, COUNTED, LARGEST = "The budget", "Counted by", "Largest single answer without δ that is left"


def spent_title(name: str) -> str:
    return f"What is spent about “{name}”, and what is left"


def charges_told(count: int, shown: int) -> str:
    if not count:
        return "Nothing was charged yet."
    which = "" if shown == count else f"These are the newest {shown} of {plural(count, 'charge')}. "
    return f"{which}Each can be looked up by its check-word, on the Budget page under “Check a receipt”."


def as_of(count: int, time: str, word: str) -> str:
    return (
        f"This is what the ledger held after {plural(count, 'charge')}, the last of {time}. A seal on this report "
        f"names that one, {word}: whoever has it in their journal has all before it."
    )


def kept_at(time: str) -> str:
    return f"Kept for this report on {time}: what it says of a budget is as it was then."


# -- a deck ------------------------------------------------------------------------------------------------------------

QUESTION = "The question"
AGAINST_SIZE = "What accuracy costs in people"
DECK_HELP = "The scenes of this deck on paper, each asked again with its numbers."
DECK_MAKING = "Asking the scenes again"
DECK_DRAWING = "Drawing the scene"
NO_SCENE = "No scene of this deck asks a question, so there is nothing to report."


def simulating_scene(number: int) -> str:
    return f"Simulating for scene {number}"


def scene_asks_nothing(where: str) -> str:
    return f"{where} is not in the report, because its page asks no question."


def instead_of(wanted: str) -> str:
    return f"This scene was made with a file of the speaker's own ({wanted}). A sample stands in its place here."


def files_missing(count: int) -> str:
    return (
        f"{plural(count, 'scene')} {'was' if count == 1 else 'were'} made with a file of one's own: bring it on the "
        "Data page first, or a sample stands in its place."
    )


def as_in(number: int, title: str, headings: Sequence[str]) -> str:
    return f"As in {number}, “{title}”: {'; '.join(heading[:1].lower() + heading[1:] for heading in headings)}."


# -- the notebook ------------------------------------------------------------------------------------------------------


def script_head(title: str, mark: str) -> str:
    """The first words of the script and of the notebook."""
    marked = f"{mark}.\n\n" if mark else ""
    return (
        f"{title}\n\n{marked}This computes every number of the report again, with dpcore, and says which of them "
        "differ. "
        "It needs this program's two packages, dpcore and dashboard, and no browser."
    )


NOT_THIS_FILE = "This is not the file of the report, so nothing was computed."
WHICH_FILE = "That this is the very file of the report shows by the numbers: those of another one differ."
NO_FILE = "Put the file of the report beside this script, or give its place as the first argument."

# -- the page ----------------------------------------------------------------------------------------------------------

BUTTON = "Report"
HELP = "This on paper: PDF, Word, a web page, and Python that computes its numbers again."
REPORT_TITLE, REPORT_AUTHOR, REPORT_DATE, LOGO = "Title", "Written by or for", "Date", "Logo (PNG or JPEG)"
LOGO_HELP = "Stands at the top of the first page. It stays in this session and goes nowhere but into the report."
KEEP, KEPT, REMOVE, ALSO = "Keep for a report of several", "In this report", "Remove", "and what is on the page now"
IS_KEPT = "This is in the report already."
FULL = "A report holds at most {} questions; remove one first."
MAKING = "Writing the report"
NOT_READY = "A report can be made once everything on this page is computed."
OTHER_AXIS = "Show the picture against the privacy loss ε first: the report holds that one."
NOTHING_KEPT = "Nothing is in the report yet. Keep a question on its page, an answer, or a plan."
WHAT_IF_NOTE = "Each page and the file's name will say: not private, do not publish."
ANSWER_REPORT = "Report of this answer"


def not_made(why: str) -> str:
    """There is no room for the files of a report."""
    return f"The report's files are not offered, as there is no room for them. {why}"


FORMS = {
    "pdf": "PDF",
    "docx": "Word (DOCX)",
    "html": "Web page (HTML)",
    "ipynb": "Notebook",
    "py": "Python script",
}

# -- checking ----------------------------------------------------------------------------------------------------------

DROP = "A report (PDF, Word, web page) or a receipt (JSON)"
CHECK_FILE = "Check this file"
NO_FILE_YET = "Drop a file first."
TOO_LARGE = "This file is too large to be a report."


def examined(unchanged: bool, known: Sequence[str], unknown: Sequence[str], *, sees_all: bool, since: str = "") -> str:
    """What a check of a report's file found. ``sees_all``: whoever brought it sees all that the ledger knows; ``since``
    as ``Examined`` has it."""
    if not unchanged:
        before = f", or it was made before {since[:10]}, when this server's key was lost" if since else ""
        whole = (
            "Not confirmed: this file is not exactly as it was made. A word was changed, another program saved it "
            f"anew, or another ledger's server made it{before}."
        )
    elif unknown:
        whole = "Not confirmed: not a byte of this report was changed since it was made here, and yet"
    else:
        whole = "Confirmed: not a byte of this report was changed since it was made here."
    found = f" This ledger knows {plural(len(known), 'answer')} it names ({', '.join(known)})." if known else ""
    lost = f" {'this' if unchanged else 'This'} ledger does not know {', '.join(unknown)}." if unknown else ""
    if unknown and not unchanged and not sees_all:  # of a genuine one everybody is told
        lost = f" No answer that you may see is {' or '.join(unknown)}."
    none = "" if known or unknown else " It names no private answer."
    return whole + (lost + found if unchanged else found + lost) + none


BAD_LOGO = "This logo cannot be used: bring a PNG or JPEG of at most 1 MB and 2 million pixels."
NO_CODE = "Nothing can make these data again here, so these numbers are not computed."
FACTS_HEAD = ("What", "Is")
