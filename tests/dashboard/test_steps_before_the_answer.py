"""A table of steps: what the tab of the private answer says hangs on no column that nobody declared."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from dashboard.questions.thresholding import alarm_setting
from dashboard.session import EPSILON
from dpcore.ledger import Ledger
from tests.dashboard.keys import about
from tests.dashboard.test_data_page import declare, drop, held, look
from tests.dashboard.test_same_before_the_answer import click, opened, release_tab, told

Open = Callable[..., AppTest]
ROWS = [f"{4 + n % 7},{n % 3}," for n in range(30)]
REMARKED = [[*ROWS[:20], ROWS[20] + word, *ROWS[21:]] for word in ("2024-05-06", "yes", "7", "she called")]
pytestmark = pytest.mark.thorough


def seen(open_app: Open, ledger: Path, rows: list[str], monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The tab of an alarm's private answer, with a budget opened for it."""
    monkeypatch.setenv("EPSILON_LAB_LEDGER", f"sqlite:///{ledger}")
    Ledger.open(f"sqlite:///{ledger}", create=True).close()
    st.cache_resource.clear()
    st.cache_data.clear()
    app = drop(open_app("data"), ("\n".join(["callers,other,remark", *rows]) + "\n").encode(), name="file.csv")
    if held(app).schema.each_row != "step":
        app.get_by_key(f"own-each-row-{held(app).schema.each_row}").set_value("step").run()
    declare(app, "callers", low=0.0, high=50.0, sensitivity=1.0)
    for box in [one for one in app.number_input if str(one.key).startswith("own-rows-")]:
        box.set_value(1).run()
    look(app)
    app.session_state[EPSILON.key] = 0.5
    opened(app, "thresholding", "thresholding")
    click(app, "thresholding-instead")
    app.text_input(key=about(app, "budget-name")).set_value("people of the file").run()
    click(app, "open-budget-review")
    click(app, "budget-open")
    found = told(release_tab(app))
    assert any("is the first to reach" in str(one) for one in found), found
    return found


def test_no_cell_of_a_column_that_nobody_declared_changes_it(
    open_app: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One day in a column of remarks made days of the steps that the question speaks of."""
    alike = seen(open_app, tmp_path / "none.db", ROWS, monkeypatch)
    for place, rows in enumerate(REMARKED):
        assert seen(open_app, tmp_path / f"{place}.db", rows, monkeypatch) == alike, place
    monkeypatch.setattr(alarm_setting.Setting, "_row", property(lambda self: self.series.step))
    assert seen(open_app, tmp_path / "looked.db", REMARKED[0], monkeypatch) != alike, "as the picture is looked at"
