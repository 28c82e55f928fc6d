"""The whole audit, engine and pages: exit code 1 if a release leaks or a broken twin goes unseen.

The engine's own (``epsilon-lab audit``: answers drawn many times, and every question on neighbouring files); then
every page, with all that it offers before an answer; what the server keeps, hands out and draws of a file; and every
hole that once was, which must be found again. Run as ``python -m benchmarks.audit``; a few minutes on two cores.
"""

from __future__ import annotations

import multiprocessing
import sys
import time
from collections.abc import Iterator
from multiprocessing.pool import Pool

from benchmarks.audit.pages import PAGE_HOLES, kinds
from benchmarks.audit.server import CHECKS, SERVER_HOLES
from benchmarks.audit.work import dug_in_server, dug_on_pages, on_pages, on_server, on_unspoken
from dpcore.audit import telling
from dpcore.audit.holes import HOLES
from dpcore.audit.interference import Verdict
from dpcore.audit.work import dug


def main() -> int:
    began = time.monotonic()
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        tables = (telling.releases(pool), telling.files(pool), _pages(pool), _server(pool), telling.holes(_dug(pool)))
    return telling.ended(began, good=all(tables))


def _pages(pool: Pool) -> bool:
    print(f"\n{'':4} {'page on neighbouring files: all that is offered':58} {'pairs':>19}")
    found = [telling.told(verdict, f"{verdict.pairs:19,}") for verdict in pool.imap(on_pages, kinds())]
    found += [telling.told(verdict, f"{verdict.pairs:19,}") for verdict in pool.imap(on_unspoken, kinds())]
    return all(found)


def _server(pool: Pool) -> bool:
    print(f"\n{'':4} what the server keeps, hands out and draws of a file")
    found = [telling.told(verdict, "") for verdict in pool.imap(on_server, CHECKS)]
    return all(found)


def _dug(pool: Pool) -> Iterator[tuple[str, Verdict]]:
    names = [hole.name for hole in HOLES]
    yield from zip(names, pool.imap(dug, names), strict=True)
    pages = [hole.name for hole in PAGE_HOLES]
    yield from zip(pages, pool.imap(dug_on_pages, pages), strict=True)
    yield from zip([hole.name for hole in SERVER_HOLES.values()], pool.imap(dug_in_server, SERVER_HOLES), strict=True)


if __name__ == "__main__":
    sys.exit(main())
