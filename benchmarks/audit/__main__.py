"""Audit everything that can be released: exit code 1 if a release leaks or a broken twin goes unseen.

Three tables: answers drawn many times (a black box, with its broken twins); every question on neighbouring files, from
their bytes to the exact law of the answer; and every hole that once was, which must be found again. Run as ``python -m
benchmarks.audit``; a few minutes on two cores.
"""

from __future__ import annotations

import multiprocessing
import sys
import time

from benchmarks.audit.bounds import ALPHA
from benchmarks.audit.files import QUESTIONS
from benchmarks.audit.holes import HOLES
from benchmarks.audit.trials import AUDITED, TRIALS, run
from benchmarks.audit.work import dug, on_files
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
