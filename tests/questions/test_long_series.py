"""A series that is too long to be shown is refused before it is counted: days can be millions."""

from __future__ import annotations

from datetime import date
from typing import Any

import numpy as np
import pytest

from dashboard.questions.thresholding import watched
from dashboard.questions.thresholding.watched import LONGEST, Watched, series_of
from dpcore.datasets import Column, Schema, twin


@pytest.mark.parametrize("last", [date(2020, 3, 1), date(9999, 1, 1)])
def test_days_are_counted_where_they_are_few_alone(last: date, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    counted = watched.counted

    def noted(*one: Any) -> Any:
        asked.append(1)
        return counted(*one)

    monkeypatch.setattr(watched, "counted", noted)
    schema = Schema(columns=(Column(name="day", type="date", earliest=date(2020, 1, 1), latest=last),))
    table = twin(schema, rows=50, rng=np.random.Generator(np.random.PCG64(1)))
    found = series_of(table, Watched("rows", "day"))
    long = (last - date(2020, 1, 1)).days > LONGEST
    assert isinstance(found, str) == long
    assert bool(asked) != long
