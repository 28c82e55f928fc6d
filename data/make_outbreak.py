"""Writes ``outbreak.csv``, byte for byte the same each time: ``python data/make_outbreak.py [folder]``.

Daily reported cases of an illness in an invented town over 120 days: a dozen a day with fewer at weekends, and from the
twelfth week on an outbreak. Nobody in it exists. The numbers are chosen to make a good first example of an alarm: the
line of 50 cases a day is passed once, clearly, and quiet days stay well below it, so that a private alarm goes from
chance to certainty between ε = 0.05 and ε = 1. A person is a case at most once.
"""

from __future__ import annotations

import csv
import sys
from datetime import date, timedelta
from pathlib import Path

import numpy as np

DAYS, FIRST_DAY = 120, date(2024, 1, 8)
QUIET, WEEKEND = 12.0, 0.6
PEAK, PEAK_DAY, SPREAD = 110.0, 94, 6.0


def expected() -> np.ndarray:
    """Mean number of cases on each day, shape (DAYS,)."""
    day = np.arange(DAYS)
    wave = PEAK * np.exp(-(((day - PEAK_DAY) / SPREAD) ** 2) / 2)
    return (QUIET + wave) * np.where(day % 7 >= 5, WEEKEND, 1.0)


def main(folder: Path) -> None:
    rng = np.random.Generator(np.random.PCG64(20_240_108))
    with (folder / "outbreak.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("day", "cases"))
        for index, cases in enumerate(rng.poisson(expected()).tolist()):
            writer.writerow((FIRST_DAY + timedelta(days=index), cases))


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
