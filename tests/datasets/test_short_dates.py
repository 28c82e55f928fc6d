"""Dates of digits are read together exactly as one by one, and no digit by Python."""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd
import pytest

from dpcore.datasets import dates
from dpcore.datasets.schema import DateOrder
from dpcore.datasets.short_dates import read_short

DAYS = [
    f"{one}{mark}{two}{same}{year}"
    for one, two in product(("0", "1", "02", "2", "12", "13", "29", "30", "31", "32", "123", ""), repeat=2)
    for mark, same in (("/", "/"), (".", "."), ("-", "-"), ("/", "-"))
    for year in ("0", "00", "04", "69", "70", "99", "100", "0000", "0001", "1900", "2024", "2025", "9999", "20245")
]
LED = [
    f"{year}{mark}{one}{same}{two}"
    for one, two in product(("0", "1", "02", "2", "12", "13", "30", "31"), repeat=2)
    for mark, same in (("/", "/"), ("-", "-"), ("-", "."))
    for year in ("0000", "0004", "1900", "2024", "99", "20240")
]
CLOCKS = [
    *("", " 7:05", " 07:05", "T7:05", ",  7:05:09", " 7:5", " 24:00", " 23:60", " 23:59:60", " 0:00 am", " 12:00 am"),
    *(" 12:30PM", " 13:00 pm", " 1:00 p.m.", " 1:00 p.M", " 7:05:09.123456789", " 7:05:09,1", " 7:05:09.1234567890"),
    *(" 7:05Z", " 7:05+02:00", " 7:05 -0230", " 7:05 am+02", " 7:05\n", " ", " 7:05 xm", " ٧:٠٥", f"{' ' * 60}7:05"),
]
ODD = [
    "٣/٤/٢٠٢٤",
    "3/4/２０２４",
    "2024-W05",
    "20240131",
    "2024-01",
    "3 March 2024",
    "",
    "x",
    "1/2/3/4",
    "45000",
    "3/4/2024x",
]


def cells() -> pd.Series:
    rng = np.random.Generator(np.random.PCG64(7))
    days = np.array([*DAYS, *LED])
    mixed = [f"{day}{clock}" for day, clock in zip(rng.choice(days, 20_000), rng.choice(CLOCKS, 20_000), strict=True)]
    return pd.Series([*days, *mixed, *ODD, *(f"3/4/04{clock}" for clock in CLOCKS)], dtype="str")


@pytest.mark.parametrize("order", ["dmy", "mdy", "ymd"])
def test_they_are_read_as_one_by_one(order: DateOrder) -> None:
    text = cells()
    expected = np.array([dates.moment(word, order) for word in text])
    assert np.array_equal(dates.dates(text, order), expected, equal_nan=True)
    read, known = read_short(text, order)
    assert np.array_equal(read[known], expected[known], equal_nan=True)
    assert np.isnat(read[~known]).all()
    assert (~np.isnat(expected)).sum() > 300
    assert known[~np.isnat(expected)].mean() > 0.95, "those with digits that are not ours are left to Python"


def test_none_of_many_is_read_by_python(monkeypatch: pytest.MonkeyPatch) -> None:
    text = pd.Series([f"{1 + n % 12}/{1 + n // 12 % 12}/{n // 144:02} {n % 24}:30" for n in range(5_000)], dtype="str")
    seen: list[str] = []
    monkeypatch.setattr(dates, "moment", lambda word, order: seen.append(word) or np.datetime64("NaT", "s"))
    assert not np.isnat(dates.dates(text, "dmy")).any()
    assert not seen
    monkeypatch.setattr(
        dates,
        "read_short",
        lambda text, order: (np.full(len(text), "NaT", dtype="datetime64[s]"), np.zeros(len(text), dtype=bool)),
    )
    dates.dates(text, "dmy")
    assert len(seen) > 1_000, "without it they all would be"
