"""Text that somebody else chose, so that whoever reads it sees all of it."""

from __future__ import annotations

import hashlib
import re
import unicodedata

LIMIT = 80
LONGEST_TOLD = 500
"""Letters of a name that is given whole in an answer."""
BLANK = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180d\u180f\u2800\u3164\ufe00-\ufe0d\uffa0"
    "\U00016fe4\U0001d159\U000e0100-\U000e01ef]|(?<![\u203c-\u27bf\u2900-\u2bff\U0001f000-\U0001faff])[\ufe0e\ufe0f]"
)
"""Signs of letters' categories that take no place or look like a blank (Default_Ignorable_Code_Point, and three more);
but for those by which keyboards say that a symbol is to be in colour."""


def visible(text: str, limit: int = LIMIT) -> str:
    """The text on one line, with control, bidirectional, zero-width and other unseen characters as code points.

    Longer than ``limit`` characters it ends in "…". A page shows it as plain text, never as Markdown or HTML.
    """
    head = text[: limit + 1]
    # Python prints what is seen: nothing of the categories that ``_shown`` looks for
    shown = BLANK.sub(_code_point, head if head.isprintable() else "".join(map(_shown, head)))
    return shown if len(text) <= limit and len(shown) <= 4 * limit else shown[: max(limit - 1, 1)] + "…"


def told_apart(text: str, limit: int = LONGEST_TOLD) -> str:
    """``visible`` text of which no two read alike: one that is cut, or has signs that are not seen, ends in a mark of
    all of it, eight hexadecimal digits."""
    if visible(text, limit) == text:
        return text
    mark = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{visible(text, limit - len(mark) - 1)} {mark}"


def _shown(character: str) -> str:
    if character in "\n\r\t":
        return {"\n": "¶", "\r": "¶", "\t": "→"}[character]
    category = unicodedata.category(character)
    unseen = category in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp") or (category == "Zs" and character != " ")
    return f"⟨U+{ord(character):04X}⟩" if unseen else character


def _code_point(found: re.Match[str]) -> str:
    return f"⟨U+{ord(found[0]):04X}⟩"
