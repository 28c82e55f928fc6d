"""What the process that reads a file says to the one that asked: a line of JSON each, of which no part is trusted."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import Any

LONGEST = 1 << 16
"""Bytes of one line; a sentence of ours takes a few hundred."""


def tell(pipe: int, what: str, *rest: Any) -> None:
    """One line. Raises BrokenPipeError where nobody listens any more."""
    line = json.dumps([what, *rest]).encode() + b"\n"
    while line:
        line = line[os.write(pipe, line) :]


class Lines:
    """Puts lines together from the pieces that a pipe gives; what is no line of ours is left out."""

    def __init__(self) -> None:
        self._begun = b""

    def of(self, piece: bytes) -> Iterator[list[Any]]:
        *whole, self._begun = (self._begun + piece).split(b"\n")
        self._begun = self._begun[:LONGEST]
        for line in whole:
            try:
                found = json.loads(line[:LONGEST]) if line else None
            except (ValueError, RecursionError):
                continue
            if isinstance(found, list) and found:
                yield found
