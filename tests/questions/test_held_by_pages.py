"""What a page that is open holds of many rows is counted for whoever opened it, whatever question it shows."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from types import FunctionType, ModuleType
from typing import Any

import numpy as np
import pytest

from dashboard import catalogue, machine_memory, offering
from dashboard.background import in_use
from dashboard.background.large_turns import LargeTurns
from dashboard.case import Case
from dashboard.controls import Setting
from dashboard.question import CannotAsk, Kind
from dpcore.datasets import Table
from dpcore.memory import Memory
from tests.questions import large_probe

MOST = 40.0
"""Bytes for each row of a table of sixteen columns, in arrays that count nowhere, on a page and in all its tabs."""


def held(page: Any, beside: tuple[object, ...]) -> Iterator[np.ndarray]:
    """The arrays that a page holds on to, whatever they lie in, beside what its data are and what counts."""
    seen, open_ = set(map(id, beside)), [page]
    while open_:
        one = open_.pop()
        if id(one) in seen or isinstance(one, type | ModuleType) or counted(one):
            continue
        seen.add(id(one))
        if isinstance(one, np.ndarray):
            if one.base is None:
                yield one
            open_.append(one.base)
        elif isinstance(one, FunctionType):
            open_ += [one.__closure__, one.__defaults__, one.__kwdefaults__]
        else:
            open_ += gc.get_referents(one)


def uncounted(kind: type[Kind], table: Table, values: dict[str, Any]) -> float:
    """Bytes for each row that count for nobody while the page is open."""
    case = large_probe.case_of(table, large_probe.texts(SMALL))
    large = in_use.InUse(Memory(32, room=1 << 30), LargeTurns())
    case = replace(case, memo=Memory(400, room=1 << 30), large=large)
    found = offering.ask(kind, case, Setting(values))
    view = found.question.view
    shown = [view.picture(axis) for axis in (() if view.empty else view.axes)]
    tabs = [list(tab.blocks()) for tab in found.question.tabs]
    own = (case.source, table, table.frame, case.source.declared, case.memo, case.large)
    known = [known() for known, _ in list(in_use._counted.values())]
    elsewhere = {id(one) for one in (*held(table.frame, ()), *held([vars_of(one) for one in known], ()))}
    loose = [one for one in held((found, shown, tabs), own) if id(one) not in elsewhere]
    return sum(one.nbytes for one in loose if one.nbytes > machine_memory.LITTLE) / len(table.frame)


def vars_of(value: Any) -> list[Any]:
    """What a value that counts holds, which counts with it."""
    return [*gc.get_referents(value), getattr(value, "base", None)]


def counted(value: Any) -> bool:
    known = in_use._counted.get(id(value))
    return known is not None and known[0]() is value


SMALL = large_probe.made("small")
SMALL_CASE = large_probe.case_of(SMALL, large_probe.texts(SMALL))
SETTINGS = {
    f"{kind.key}, {name}": (kind, dict(values))
    for _, kind in catalogue.every()
    for name, values in large_probe.settings(kind, SMALL_CASE)
}


@pytest.fixture(scope="module")
def table() -> Table:
    return large_probe.made("long")


@pytest.mark.thorough
@pytest.mark.parametrize("name", SETTINGS)
def test_a_page_holds_little_that_counts_for_nobody(name: str, table: Table) -> None:
    """Forty tabs of one question held two gigabytes beside what was counted."""
    kind, values = SETTINGS[name]
    with suppress(CannotAsk):  # of so many rows
        assert uncounted(kind, table, values) <= MOST


@pytest.mark.thorough
def test_what_is_kept_without_being_counted_is_found(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Case, "keeping", lambda case, _numbers: case.memo)
    kind, values = SETTINGS["quantile, highest"]
    assert uncounted(kind, table, values) > MOST
