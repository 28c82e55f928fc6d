"""Audit everything that can be released: exit code 1 if a release leaks or a broken twin goes unseen.

Three tables: answers drawn many times (a black box, with its broken twins); every question on neighbouring files, from
their bytes to the exact law of the answer; and every hole that once was, which must be found again. Run as ``python -m
dpcore.audit``; a few minutes on two cores.
"""

from __future__ import annotations

import multiprocessing
import sys
import time

from dpcore.audit.bounds import ALPHA
from dpcore.audit.files import QUESTIONS, question
from dpcore.audit.holes import HOLES
from dpcore.audit.interference import Verdict, check
from dpcore.audit.trials import AUDITED, TRIALS, run
from dpcore.releases import catalog

GENERATED, FROM_BYTES = 40, 8


def on_files(name: str) -> Verdict:
    """One question on neighbouring files; for worker processes."""
    return check(question(name), most=GENERATED, from_bytes=FROM_BYTES, answers=FROM_BYTES)


def dug(name: str) -> Verdict:
    """One hole; for worker processes."""
    return next(hole for hole in HOLES if hole.name == name).dug(most=GENERATED, from_bytes=2)


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
            good &= verdict.good
            mark, words = "ok" if verdict.good else "BAD", "; ".join(verdict.trouble)
            print(f"{mark:4} {verdict.name:58} {verdict.used:12.4f} {verdict.pairs:6,}  {words}", flush=True)
        print(f"\n{'':4} {'hole dug again':58} found as")
        for hole, verdict in zip(HOLES, pool.imap(dug, [hole.name for hole in HOLES]), strict=True):
            good &= not verdict.good
            words = "; ".join(verdict.trouble) or "NOT FOUND"
            print(f"{'BAD' if verdict.good else 'ok':4} {hole.name:58} {words}", flush=True)
    print(
        f"{'All good' if good else 'TROUBLE'} in {time.monotonic() - began:.0f} s. "
        f"A bound of the first table is wrong with chance at most {ALPHA:g}; the others are exact."
    )
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
