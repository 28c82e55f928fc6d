"""What the audit's worker processes do. Not in ``__main__``, which a process that is spawned cannot import."""

from __future__ import annotations

from dpcore.audit.holes import HOLES
from dpcore.audit.interference import Verdict, both, check, check_declared
from dpcore.audit.sources import SOURCES, question

GENERATED, FROM_BYTES, DECLARED = 40, 8, 6


def on_files(name: str) -> Verdict:
    """One question on neighbouring files or sources; of files with all that can be declared about them as well."""
    of_source = name in {one.name for one in SOURCES}
    every = 6 if of_source else 1  # a source is made anew for each look at it
    found = check(question(name), most=GENERATED, from_bytes=FROM_BYTES, answers=FROM_BYTES, every=every)
    return found if of_source else both(found, check_declared(question(name), draws=DECLARED))


def dug(name: str) -> Verdict:
    """One hole."""
    return next(hole for hole in HOLES if hole.name == name).dug(most=GENERATED, from_bytes=2)
