"""The audit's tables, printed as they come; each says whether all of it is as it must be."""

from __future__ import annotations

import time
from collections.abc import Iterable
from multiprocessing.pool import Pool

from dpcore.audit.bounds import ALPHA
from dpcore.audit.interference import Verdict
from dpcore.audit.questions import QUESTIONS
from dpcore.audit.sources import SOURCES
from dpcore.audit.trials import AUDITED, TRIALS, run
from dpcore.audit.work import on_files
from dpcore.releases import catalog


def releases(pool: Pool) -> bool:
    """Answers drawn many times, with their broken twins; nothing that can be released may be without a case."""
    good = True
    missing = set(catalog()) - AUDITED
    if missing:
        print(f"BAD  no case for: {', '.join(sorted(missing))}")
        good = False
    print(f"{'':4} {'release':52} {'claimed':10} {'found':18} {'answers':>8}  broken twin")
    for finding in pool.imap(run, TRIALS):
        fine = finding.good and finding.caught
        good &= fine
        print(
            f"{'ok' if fine else 'BAD':4} {finding.name:52} {finding.claimed:10} {finding.found:18} "
            f"{finding.answers:8,}  {finding.twin}{'' if finding.caught else ' NOT SEEN'}",
            flush=True,
        )
    return good


def files(pool: Pool) -> bool:
    """Every question on neighbouring files, from their bytes to the exact law of the answer, and those that need counts
    alone on neighbouring sources."""
    good = True
    print(f"\n{'':4} {'question on neighbouring files':58} {'of the claim':>12} {'pairs':>6}")
    for verdict in pool.imap(on_files, [found.name for found in (*QUESTIONS, *SOURCES)]):
        good &= told(verdict, f"{verdict.used:12.4f} {verdict.pairs:6,}")
    return good


def holes(caught: Iterable[tuple[str, Verdict]]) -> bool:
    """Every hole that once was, dug again: by its name what was found of it, which must be something."""
    good = True
    print(f"\n{'':4} {'hole dug again':58} found as")
    for name, verdict in caught:
        good &= not verdict.good
        words = "; ".join(verdict.trouble) or "NOT FOUND"
        print(f"{'BAD' if verdict.good else 'ok':4} {name:58} {words}", flush=True)
    return good


def told(verdict: Verdict, numbers: str) -> bool:
    """Print what was found about one thing; whether it is as it must be."""
    mark, words = "ok" if verdict.good else "BAD", "; ".join(verdict.trouble)
    print(f"{mark:4} {verdict.name:58} {numbers}  {words}", flush=True)
    return verdict.good


def ended(began: float, *, good: bool) -> int:
    """The last line and the exit code; ``began`` by ``time.monotonic``."""
    print(
        f"{'All good' if good else 'TROUBLE'} in {time.monotonic() - began:.0f} s. "
        f"A bound of the first table is wrong with chance at most {ALPHA:g}; the others are exact."
    )
    return 0 if good else 1
