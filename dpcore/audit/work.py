"""What the audit's worker processes do. Not in ``__main__``, which a process that is spawned cannot import."""

from __future__ import annotations

from dpcore.audit.holes import HOLES
from dpcore.audit.interference import Verdict, check
from dpcore.audit.sources import SOURCES, question

GENERATED, FROM_BYTES = 40, 8


def on_files(name: str) -> Verdict:
    """One question on neighbouring files or sources."""
    every = 6 if name in {one.name for one in SOURCES} else 1  # a source is made anew for each look at it
    return check(question(name), most=GENERATED, from_bytes=FROM_BYTES, answers=FROM_BYTES, every=every)


def dug(name: str) -> Verdict:
    """One hole."""
    return next(hole for hole in HOLES if hole.name == name).dug(most=GENERATED, from_bytes=2)
