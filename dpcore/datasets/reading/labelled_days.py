"""Days, times of day and spans of time of SPSS, Stata and SAS files: what a column's format makes of numbers, each cell
by itself.

A number that no calendar has a day for is missing in its row, and takes no other with it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from typing import Any, Literal

Moment = date | time | timedelta | None
Way = Literal["date", "datetime", "time", "span"]
_SIZE = re.compile(r"(?<![\d.])[\d.]+$")
_SPSS: dict[str, Way] = {
    **dict.fromkeys(("DATE", "ADATE", "EDATE", "JDATE", "SDATE"), "date"),
    **dict.fromkeys(("DATETIME", "YMDHMS"), "datetime"),
    **dict.fromkeys(("TIME", "DTIME"), "span"),
}
_SAS: dict[str, Way] = {
    **dict.fromkeys((f"{order}{sign}" for order in ("MMDDYY", "DDMMYY", "YYMMDD") for sign in "BCDNPS"), "date"),
    **dict.fromkeys(("DATE", "MMDDYY", "DDMMYY", "YYMMDD", "WEEKDATE", "WEEKDATX"), "date"),
    **dict.fromkeys(("IS8601DA", "E8601DA", "B8601DA"), "date"),
    **dict.fromkeys(
        ("DATETIME", "DTDATE", "DATEAMPM", "MDYAMPM", "IS8601DT", "E8601DT", "B8601DT", "B8601DN"), "datetime"
    ),
    **dict.fromkeys(("TOD", "TIMEAMPM", "IS8601TM", "E8601TM", "B8601TM"), "time"),
    **dict.fromkeys(("TIME", "HHMM"), "span"),  # of any number of hours
}
_SPSS_BEGINS, _BEGINS = datetime(1582, 10, 14), datetime(1960, 1, 1)


def moments(program: str, written: str) -> Callable[[Any], Moment] | None:
    """What the numbers of a column with this format stand for in a file of SPSS, Stata or SAS; None for numbers."""
    if program == "Stata":
        way = _of_stata(written)
        second = 1e-3
    else:
        way = (_SPSS if program == "SPSS" else _SAS).get(_SIZE.sub("", written))
        second = 1.0
    if way is None:
        return None
    begins = _SPSS_BEGINS if program == "SPSS" else _BEGINS
    length = 86_400.0 if way == "date" and program != "SPSS" else second

    def moment(number: Any) -> Moment:
        try:
            span = timedelta(seconds=float(number) * length)
            if way == "span":
                return span
            found = begins + span
        except (OverflowError, ValueError, TypeError):
            return None
        return found if way == "datetime" else found.date() if way == "date" else found.time()

    return moment


def _of_stata(written: str) -> Way | None:
    if written in ("%tcHH:MM:SS", "%tcHH:MM"):
        return "time"
    if written.startswith(("%tc", "%tC")):
        return "datetime"
    return "date" if written.startswith(("%td", "%d")) else None
