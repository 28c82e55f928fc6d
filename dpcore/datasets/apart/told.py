"""What the process that reads a file says to the one that asked: a line of JSON each, of which no part is trusted."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from typing import Any

LONGEST = 1 << 16
"""Bytes of one line; a sentence of ours takes a few hundred."""
MOST, MOST_LINES = 1 << 20, 5_000
"""Bytes that one reading may say in all, and lines, or pieces where it says fewer lines than that: each of them takes
time of whoever listens, and none of who speaks. A reading of ours says some hundred lines."""


class TooMuch(Exception):
    """More was said than a reading has to say."""


def sparingly(say: Callable[[float, str], None]) -> Callable[[float, str], None]:
    """``say``, called where it would say another sentence or another hundredth."""
    said: tuple[float, str] | None = None

    def told(part: float, words: str) -> None:
        nonlocal said
        now = round(part, 2), words
        if now != said:
            said = now
            say(part, words)

    return told


def tell(pipe: int, what: str, *rest: Any) -> None:
    """One line. Raises BrokenPipeError where nobody listens any more."""
    line = json.dumps([what, *rest]).encode() + b"\n"
    while line:
        line = line[os.write(pipe, line) :]


class Lines:
    """Puts lines together from the pieces that a pipe gives; what is no line of ours is left out."""

    def __init__(self) -> None:
        self._begun = b""
        self._bytes = self._pieces = self._lines = 0

    def of(self, piece: bytes) -> Iterator[list[Any]]:
        """Raises TooMuch, then and for whatever comes after, before anything of the piece is looked at."""
        self._bytes += len(piece)
        self._pieces += bool(piece)
        self._lines += piece.count(b"\n")
        if self._bytes > MOST or max(self._pieces, self._lines) > MOST_LINES:
            raise TooMuch
        *whole, self._begun = (self._begun + piece).split(b"\n")
        self._begun = self._begun[:LONGEST]
        for line in whole:
            try:
                found = json.loads(line[:LONGEST]) if line else None
            except (ValueError, RecursionError):
                continue
            if isinstance(found, list) and found:
                yield found
