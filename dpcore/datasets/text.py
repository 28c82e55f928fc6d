"""Text that came from a file, made safe to show and to export. It is data, never markup."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable

import pandas as pd

from dpcore.formulas import disarmed
from dpcore.visible import BLANK, LIMIT, LONGEST_TOLD
from dpcore.visible import told_apart as told_apart
from dpcore.visible import visible as visible

# Letters that look Latin but are not, for warning about look-alike names.
_CYRILLIC_AND_GREEK = "аеорсухіјѕԁԛԝһАВЕКМНОРСТУХІЈЅΑΒΕΖΗΙΚΜΝΟΡΤΥΧονα"
_LATIN = "aeopcyxijsdqwhABEKMHOPCTYXIJSABEZHIKMNOPTYXova"
_LOOKS_LIKE = str.maketrans(_CYRILLIC_AND_GREEK, _LATIN)


def within(sentence: str, *names: str) -> str:
    """``sentence`` with columns' names in place of its ``{}``.

    A name stands in quotation marks where it would be read as part of the sentence: where it shares a word with it
    ("the median of “median age”"), is one of the words by which we speak of tables ("row", "person", "value"), has many
    words, or ends like a sentence.
    """
    own = _words(sentence)
    return sentence.format(*(f"“{name}”" if _taken_for(name, own) else name for name in names))


def _taken_for(name: str, own: set[str]) -> bool:
    words = _words(name)
    told = len(name.split()) > 3 or name.rstrip().endswith(("?", ".", ":", "!"))
    return told or bool(words & (own - _SMALL)) or (bool(words) and words <= own | _OURS)


def _words(text: str) -> set[str]:
    return {word.casefold() for word in _WORD.findall(text)}


_WORD = re.compile(r"[^\W_]+")
_SMALL = frozenset({"a", "an", "be", "can", "does", "has", "in", "is", "of", "the", "to", "what", "which", "with"})
_OURS = frozenset(
    word + end for word in ("row", "record", "person", "column", "option", "value", "number") for end in ("", "s")
) | {"people", "yes", "no"}


def plain_markdown(text: str, limit: int = LIMIT) -> str:
    """``visible`` text with every character escaped that Markdown or HTML would act on.

    For the few places, such as chart titles and metric labels, that always take markup. No escape keeps Markdown from
    making a link of an address, or Streamlit an icon of ``:material/check:``, so in one stands ``UNSEEN``.
    """
    return _ACTING.sub(UNSEEN, visible(text, limit)).translate(_ESCAPED)


def named_markdown(name: str, limit: int = LONGEST_TOLD) -> str:
    """A name as an answer, or what is said of one, gives it: ``told_apart``, and so as good as always whole, since of
    two that are cut alike nobody knows which one is meant; escaped as in ``plain_markdown``."""
    told = told_apart(name, limit)
    return plain_markdown(told, len(told))


UNSEEN = "\u2060"
"""A sign that takes no place and parts no line; ``visible`` text has none of its own."""
_ACTING = re.compile(
    r"(?<=:)(?=//|[\w+-])|(?<=www)(?=\.)|(?<=\S)(?=@\S)|(?<=(?<!\S)[-<>~])(?=[-=>]+(?!\S))", re.IGNORECASE
)
"""Where is parted what is found in a text once its escapes are gone: a page's address or that of a letter, and what
Streamlit makes icons, its logo, emoji, badges, colours and arrows of."""
_ENTITIES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"})
_ESCAPED = _ENTITIES | {ord(character): f"\\{character}" for character in r"\`*_{}[]()#+-.!|~$:"}
_WITHIN = _ENTITIES | {ord(character): f"\\{character}" for character in r"\`*_[]!|~$"}


def plain_sentence(text: str, limit: int = 1000) -> str:
    """One of our own sentences that holds names from a file, as ``plain_markdown``.

    It begins with a word of ours, so signs that mean something only where a line begins stay as they are.
    """
    return _ACTING.sub(UNSEEN, visible(text, limit)).translate(_WITHIN)


def plain_html(text: str, limit: int = LIMIT) -> str:
    """``visible`` text escaped for a picture's labels, which take a little HTML."""
    return visible(text, limit).translate(_ENTITIES)


def spreadsheet_safe(value: object) -> object:
    """A cell that no spreadsheet runs as a formula, also where another separator cuts it: ``formulas.disarmed``.

    Numbers stay numbers. NUL characters are dropped.
    """
    if not isinstance(value, str):
        return value
    return disarmed(value.replace("\x00", ""))


def safe_csv(frame: pd.DataFrame) -> str:
    """A frame as CSV (comma, UTF-8, one header line) that is safe to open in a spreadsheet."""
    safe = pd.DataFrame({place: _safe_column(frame.iloc[:, place]) for place in range(frame.shape[1])})
    safe.columns = pd.Index([str(spreadsheet_safe(str(name))) for name in frame.columns])
    return safe.to_csv(index=False, lineterminator="\n")


def safe_cells(frame: pd.DataFrame) -> pd.DataFrame:
    """A frame for a page whose table has a button that saves it as it is: as in ``safe_csv``, but what is plainly a
    number is shown as it is."""
    columns = {place: _safe_column(frame.iloc[:, place], _shown_safe) for place in range(frame.shape[1])}
    return pd.DataFrame(columns).set_axis([spreadsheet_safe(name) for name in frame.columns], axis=1)


def _shown_safe(value: object) -> object:
    if isinstance(value, str):
        try:
            float(value)
        except ValueError:
            return spreadsheet_safe(value)
    return value


def _safe_column(column: pd.Series, safe: Callable[[object], object] = spreadsheet_safe) -> pd.Series:
    if pd.api.types.is_numeric_dtype(column.dtype) or pd.api.types.is_datetime64_any_dtype(column.dtype):
        return column.reset_index(drop=True)
    return column.astype(object).map(safe).reset_index(drop=True)


_LONGEST_LOOKED_AT = 500


def skeleton(name: str) -> str:
    """What a name looks like to a reader: two names with one skeleton are easily taken for each other."""
    name = name[:_LONGEST_LOOKED_AT]  # the marks of one letter are put in order one by one, while nobody else may go on
    seen = "".join(c for c in unicodedata.normalize("NFKC", name) if unicodedata.category(c) not in ("Cf", "Cc"))
    seen = BLANK.sub("", seen)
    flat = unicodedata.normalize("NFKC", seen.translate(_LOOKS_LIKE)).casefold()
    return " ".join(flat.replace("_", " ").split())
