"""What the audit's worker processes do. Not in ``__main__``, which a process that is spawned cannot import."""

from __future__ import annotations

from benchmarks.audit.pages import PAGE_HOLES, check_page, check_unspoken
from benchmarks.audit.server import SERVER_HOLES, check_server
from dpcore.audit.interference import Verdict


def on_pages(name: str) -> Verdict:
    """One question of a page on neighbouring files."""
    return check_page(name, most=2, every=7)


def on_unspoken(name: str) -> Verdict:
    """One question of a page beside a column that nobody declared."""
    return check_unspoken(name)


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
