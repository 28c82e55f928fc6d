"""Audit everything that can be released: exit code 1 if a release leaks or a broken twin goes unseen.

Three tables: answers drawn many times (a black box, with its broken twins); every question on neighbouring files, from
their bytes to the exact law of the answer; and every hole that once was, which must be found again. Run as
``epsilon-lab audit``; a few minutes on two cores.
"""

from __future__ import annotations

import multiprocessing
import sys
import time

from dpcore.audit import telling
from dpcore.audit.holes import HOLES
from dpcore.audit.work import dug


def main() -> int:
    began = time.monotonic()
    names = [hole.name for hole in HOLES]
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        tables = (
            telling.releases(pool),
            telling.files(pool),
            telling.holes(zip(names, pool.imap(dug, names), strict=True)),
        )
    return telling.ended(began, good=all(tables))


if __name__ == "__main__":
    sys.exit(main())
