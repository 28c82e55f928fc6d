"""What the audit's worker processes do. Not in ``__main__``, which a process that is spawned cannot import."""

from __future__ import annotations

from benchmarks.audit.files import question
from benchmarks.audit.holes import HOLES
from benchmarks.audit.interference import Verdict, check
from benchmarks.audit.pages import PAGE_HOLES, check_page
from benchmarks.audit.server import SERVER_HOLES, check_server

GENERATED, FROM_BYTES = 40, 8


def on_files(name: str) -> Verdict:
    """One question on neighbouring files."""
    return check(question(name), most=GENERATED, from_bytes=FROM_BYTES, answers=FROM_BYTES)


def dug(name: str) -> Verdict:
    """One hole."""
    return next(hole for hole in HOLES if hole.name == name).dug(most=GENERATED, from_bytes=2)


def on_pages(name: str) -> Verdict:
    """One question of a page on neighbouring files."""
    return check_page(name, most=2, every=7)


def dug_on_pages(name: str) -> Verdict:
    """One hole of the pages."""
    return next(hole for hole in PAGE_HOLES if hole.name == name).dug()


def on_server(check: str) -> Verdict:
    """One thing that the server must not do with a file."""
    return check_server(check)


def dug_in_server(name: str) -> Verdict:
    """One hole of the server."""
    hole = SERVER_HOLES[name]
    return check_server(hole.check, hole.within)
