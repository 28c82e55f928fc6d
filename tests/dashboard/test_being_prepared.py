"""While a person's columns are made ready, no page says that they still have to decide something."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from dashboard import session
from dashboard.case import OWN
from dashboard.data import source


@pytest.mark.parametrize("working", [True, False])
def test_pages_say_that_it_is_being_prepared(working: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    own = SimpleNamespace(name="a.csv", place=None, described=False)
    monkeypatch.setattr(source, "own_file", lambda: own)
    monkeypatch.setattr(source, "held", lambda: None)
    monkeypatch.setattr(source, "under_way", lambda: object() if working else None)
    monkeypatch.setattr(source, "control", lambda: None)
    monkeypatch.setattr(session, "ask", lambda _: OWN)
    told = (source.undecided(), source.beside())
    assert [("being prepared" in one) for one in told] == [working, working]
    assert [("Data page" in one) for one in told] == [not working, not working]
