"""Text for a cell that no spreadsheet is to run as a formula."""

from __future__ import annotations

import re

_START = ("=", "+", "-", "@", "\t", "\r", "＝", "＋", "－", "＠")
"""What spreadsheets start a formula with, behind any blanks."""
_WITHIN = re.compile(r"""(?<![;\s"])([;\s"]++)(?=[=+\-@＝＋－＠])""")
"""Signs between two words that a formula may follow; from where they begin, or many of them would be looked at anew for
each."""
_SEPARATORS = re.compile(r"[;\t\n\r]")


def disarmed(text: str) -> str:
    """The text with an apostrophe before each place at which a spreadsheet would see a formula.

    That is where a cell starts, and where one does in a spreadsheet that takes other signs for separators than the file
    does: many countries' take ``;``, and then no quotation marks hold a cell together. Commas are the file's own.
    """
    within = _WITHIN.sub(lambda found: f"{found[1]}'" if _SEPARATORS.search(found[1]) else found[1], text)
    return f"'{within}" if text.startswith(_START) or text.lstrip().startswith(_START) else within
