"""What pages say of rows that were made up from a declaration: of these, and never that it is so of a person's data."""

from __future__ import annotations

from typing import Literal

from dashboard.view import EPSILON_HIGH, EPSILON_LOW, Needed
from dashboard.words import needs, number, plural, safe, visible

Kind = Literal["file", "described", "source"]
TITLE = "Made-up rows"
_OF: dict[Kind, str] = {
    "file": "the program made up {rows} from what you declared, and used no row of {name}.",
    "source": "the program made up {rows} from what was declared, and used no row of {name}.",
    "described": "there is no file. The program made up {rows} from what you described.",
}
_SO = "What this page says of who wins, what is true and which ε is enough is said of these."
_ELSE: dict[Kind, str] = {
    "file": "Your file may be quite different: only a private answer tells of it.",
    "source": "The source may be quite different: only a private answer tells of it.",
    "described": "Real people may be quite different.",
}
NOT_YET = "How far off an answer about the real data may be stands under “A private answer” once one can be drawn."


def banner(kind: Kind, name: str, rows: int) -> str:
    """Above the answer of a question about made-up rows; ``name`` is the file's or the source's."""
    of = _OF[kind].format(rows=plural(rows, "row"), name=f"“{safe(name, 40)}”")
    return f"**{TITLE}:** {of} {_SO} {_ELSE[kind]}"


def headline(text: str) -> str:
    """The headline of a question about them."""
    start, rest = text[:3], text[3:]
    return f"In made-up rows, at {rest}" if start == "At " else f"In made-up rows: {text}"


def caption(text: str) -> str:
    """What stands below it: guarantees in it are guaranteed of these rows."""
    return f"Of made-up rows: {text}" if text else ""


def of_these(what: str) -> str:
    """Of what the fifty dots are."""
    return f"{what} about the made-up rows, not about the real ones"


def guaranteed(name: str) -> str:
    """What a line is called that a theorem draws of them."""
    return f"{name}, of made-up rows"


def next_step(found: Needed, whatever: str) -> str:
    """What to do with what is enough for them; ``whatever`` holds whatever the real data are."""
    least = found.epsilon
    if least is None or least > EPSILON_HIGH:
        start = ""
    elif least <= EPSILON_LOW:
        start = "**Next:** made-up rows do not tell which ε the real data need. "
    else:
        start = f"**Next:** ε = {number(least)} is enough for made-up rows. The real data may need more. "
    return f"{start}{whatever}"


def holds(forecast: str, epsilon: float) -> str:
    """What holds of an answer about the real data, whatever these are; ``forecast`` is that of the release."""
    return f"**Of the real data** holds, at ε = {number(epsilon)}: {forecast}"


def told(found: Needed) -> str:
    """Why there is no ε to use."""
    return f"In made-up rows: {needs.told(found)}"


def try_it(epsilon: float) -> str:
    return f"Try ε = {number(epsilon)} on these rows"


def unrelated(column: str) -> str:
    """Why rows in which nothing goes with a column cannot tell how well it is predicted."""
    return (
        f"Made-up rows cannot tell how well “{visible(column)}” is predicted: in them no column goes with it, unless "
        "you say so. Say on the Data page, under “Change the twin”, which one does and how closely, and see what that "
        "would mean; or, of a file, look at it there, for your eyes only. A private model can be drawn without "
        "either, and how good it is is then not known."
    )
