"""Where a login before the server lets several in (``EPSILON_LAB_VISITORS=trusted``), a page knows them by browser."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from dashboard.background import compute
from dashboard.people import visitors
from dpcore.datasets import sketch
from dpcore.ledger import Ledger, compared
from dpcore.ledger.people import CONFIGURED, Brought
from tests.dashboard.conftest import TOKEN, text
from tests.dashboard.keys import about
from tests.dashboard.test_data_page import drop, held, press
from tests.ledger.patients import guessed, patients, reading

SOURCE = f"{CONFIGURED}clinic"


@pytest.mark.parametrize("shared", [False, True])
def test_a_page_tells_nobody_that_another_browser_brought_this_very_file(
    open_app: Callable[..., AppTest], ledger_file: Path, monkeypatch: pytest.MonkeyPatch, shared: bool
) -> None:
    """One that was explored alone, and one that was joined with a source's people; who brought them goes on."""
    monkeypatch.setenv("EPSILON_LAB_VISITORS", "trusted")
    monkeypatch.setattr(visitors, "address", lambda: "192.0.2.1")
    with Ledger.open(f"sqlite:///{ledger_file}") as ledger:
        ledger.open_budget(SOURCE, epsilon=2.0, unit="person", name="Clinic")
        file = reading(patients(seed=7))
        ledger.join(Brought(fingerprint=file.fingerprint, sketch=sketch(file, ledger.sketch_key)), SOURCE)

    def brings(frame: pd.DataFrame, browser: str) -> AppTest:
        monkeypatch.setattr(compute.visitor, "token", lambda: TOKEN if shared else browser * 16)
        return drop(open_app("data"), frame.to_csv(index=False).encode(), name="file.csv")

    explored, joined = patients(), patients(seed=2)
    assert not held(brings(explored, "victim")).uncompared
    app = brings(joined, "victim")
    app.selectbox(key=about(app, "own-group-name")).set_value(SOURCE)
    press(app, "own-group-join")
    assert held(app).joined
    monkeypatch.setattr(compared, "MOST_FILES", 2)  # they are used up
    told = []
    for frame in (explored, guessed(explored, "none"), joined, guessed(joined, "none")):
        app = brings(frame, "another")
        told.append(bool(held(app).uncompared))
        if not shared:
            assert compared.TOO_MANY_OF_NETWORK in text(app)
            app.selectbox(key=about(app, "own-group-name")).set_value(SOURCE)
            press(app, "own-group-join")
            assert not held(app).joined
    assert told == ([False, True] * 2 if shared else [True] * 4)
    if not shared:
        assert not held(brings(explored, "victim")).uncompared
