"""The form that an uploaded file comes in, and when it is none that a browser sends.

Whoever takes such a form apart goes through some of it letter by letter in Python, while nobody else is answered: each
place where a part seems to begin, the heads of parts, and blanks behind what stands between them. Measured, with three
megabytes made of nothing else: 0.15 to 2 s. A browser has one part, and between parts a word that it makes by chance,
which is nowhere in the file. So a form with more, or with such a word that is short, is refused, as soon as it shows.
"""

from __future__ import annotations

import re

from python_multipart.multipart import parse_options_header

_MARK = re.compile(rb"[0-9A-Za-z'()+_,./:=?-]{16,70}")
"""What may stand between parts. RFC 2046 allows 70 letters; Chromium, Safari, Firefox and libraries for Python take 30
to 60, and a short one makes a form of many parts."""
_MOST = 2
"""Places of it in a form with one part: before and behind it."""


def mark_of(kind: str | None) -> bytes | None:
    """What stands between the parts of a form, by the kind that its request says; None where no browser says so."""
    told, options = parse_options_header(kind)
    between = options.get(b"boundary", b"")
    plain = told == b"multipart/form-data" and set(options) == {b"boundary"} and _MARK.fullmatch(between)
    return b"--" + between if plain else None


class OnePart:
    """What has come of a form, piece by piece: whether it is one with one part so far."""

    def __init__(self, mark: bytes) -> None:
        self._mark, self._rest, self._seen = mark, b"", 0

    def goes_on_with(self, piece: bytes) -> bool:
        """Whether the form still has one part, and nothing but its end or that of a line behind what stands around
        it."""
        text, at = self._rest + piece, 0
        while (found := text.find(self._mark, at)) >= 0:
            at = found + len(self._mark)
            if at == len(text):  # what stands behind it is still to come
                self._rest = text[found:]
                return self._seen < _MOST
            self._seen += 1
            if self._seen > _MOST or text[at] not in b"\r-":
                return False
        self._rest = text[max(at, len(text) - len(self._mark) + 1) :]
        return True
