"""Audit everything that can be released: exit code 1 if a release leaks or a broken twin goes unseen.

Answers drawn many times (a black box, with its broken twins); every question on neighbouring files, from their bytes to
the exact law of the answer; every page, with all that it offers before an answer; what the server keeps, hands out and
draws of a file; and every hole that once was, which must be found again. Run as ``python -m
benchmarks.audit``; a few minutes on two cores.
"""

from __future__ import annotations

import multiprocessing
import sys
import time
from itertools import chain

from benchmarks.audit.bounds import ALPHA
from benchmarks.audit.files import QUESTIONS
from benchmarks.audit.holes import HOLES
from benchmarks.audit.interference import Verdict
from benchmarks.audit.pages import PAGE_HOLES, kinds
from benchmarks.audit.server import CHECKS, SERVER_HOLES
from benchmarks.audit.trials import AUDITED, TRIALS, run
from benchmarks.audit.work import dug, dug_in_server, dug_on_pages, on_files, on_pages, on_server
from dpcore.releases import catalog


def main() -> int:
    began, good = time.monotonic(), True
    missing = set(catalog()) - AUDITED
    if missing:
        print(f"BAD  no case for: {', '.join(sorted(missing))}")
        good = False
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        print(f"{'':4} {'release':52} {'claimed':10} {'found':18} {'answers':>8}  broken twin")
        for finding in pool.imap(run, TRIALS):
            fine = finding.good and finding.caught
            good &= fine
            print(
                f"{'ok' if fine else 'BAD':4} {finding.name:52} {finding.claimed:10} {finding.found:18} "
                f"{finding.answers:8,}  {finding.twin}{'' if finding.caught else ' NOT SEEN'}",
                flush=True,
            )
        print(f"\n{'':4} {'question on neighbouring files':58} {'of the claim':>12} {'pairs':>6}")
        for verdict in pool.imap(on_files, [found.name for found in QUESTIONS]):
            good &= _told(verdict, f"{verdict.used:12.4f} {verdict.pairs:6,}")
        print(f"\n{'':4} {'page on neighbouring files: all that is offered':58} {'pairs':>19}")
        for verdict in pool.imap(on_pages, kinds()):
            good &= _told(verdict, f"{verdict.pairs:19,}")
        print(f"\n{'':4} what the server keeps, hands out and draws of a file")
        for verdict in pool.imap(on_server, CHECKS):
            good &= _told(verdict, "")
        print(f"\n{'':4} {'hole dug again':58} found as")
        caught = chain(
            zip(HOLES, pool.imap(dug, [hole.name for hole in HOLES]), strict=True),
            zip(PAGE_HOLES, pool.imap(dug_on_pages, [hole.name for hole in PAGE_HOLES]), strict=True),
            zip(SERVER_HOLES.values(), pool.imap(dug_in_server, SERVER_HOLES), strict=True),
        )
        for hole, verdict in caught:
            good &= not verdict.good
            words = "; ".join(verdict.trouble) or "NOT FOUND"
            print(f"{'BAD' if verdict.good else 'ok':4} {hole.name:58} {words}", flush=True)
    print(
        f"{'All good' if good else 'TROUBLE'} in {time.monotonic() - began:.0f} s. "
        f"A bound of the first table is wrong with chance at most {ALPHA:g}; the others are exact."
    )
    return 0 if good else 1


def _told(verdict: Verdict, numbers: str) -> bool:
    """Print what was found about one thing; whether it is as it must be."""
    mark, words = "ok" if verdict.good else "BAD", "; ".join(verdict.trouble)
    print(f"{mark:4} {verdict.name:58} {numbers}  {words}", flush=True)
    return verdict.good


if __name__ == "__main__":
    sys.exit(main())
