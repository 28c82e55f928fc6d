"""Audit everything that can be released; one table, exit code 1 if a release leaks or a broken twin goes unseen.

Run as ``python -m benchmarks.audit``; under a minute on two cores.
"""

from __future__ import annotations

import multiprocessing
import sys
import time

from benchmarks.audit.bounds import ALPHA
from benchmarks.audit.trials import AUDITED, TRIALS, run
from dpcore.releases import catalog


def main() -> int:
    began, good = time.monotonic(), True
    missing = set(catalog()) - AUDITED
    if missing:
        print(f"BAD  no case for: {', '.join(sorted(missing))}")
        good = False
    print(f"{'':4} {'release':52} {'claimed':10} {'found':18} {'answers':>8}  broken twin")
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        for finding in pool.imap(run, TRIALS):
            fine = finding.good and finding.caught
            good &= fine
            print(
                f"{'ok' if fine else 'BAD':4} {finding.name:52} {finding.claimed:10} {finding.found:18} "
                f"{finding.answers:8,}  {finding.twin}{'' if finding.caught else ' NOT SEEN'}",
                flush=True,
            )
    print(
        f"{'All good' if good else 'TROUBLE'} in {time.monotonic() - began:.0f} s. "
        f"A bound is wrong with chance at most {ALPHA:g}."
    )
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
