"""A file that came while the ledger was closed: nobody knows what was spent for its people until it opens."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

from streamlit.testing.v1 import AppTest

from dashboard.background.once import forget_all
from dashboard.catalogue import address
from dashboard.words import tracker as said
from tests.dashboard.conftest import text
from tests.dashboard.test_data_page import drop, held
from tests.dashboard.test_two_windows import ready, table

ROWS = [f"{('red', 'blue', 'red')[n % 3]},{7919 * n % 1009},{('yes', 'no')[n % 2]}" for n in range(90)]
CLOSED = "no ledger at the place"


def test_it_is_said_on_every_page_and_its_people_are_asked_about_once_it_opens(
    open_app: Callable[..., AppTest], ledger_file: Path
) -> None:
    away = ledger_file.with_name("away")
    shutil.move(ledger_file, away)
    app = ready(drop(open_app("data"), table(ROWS), name="people.csv"))
    assert held(app).lineage is None
    assert len({error.value for error in app.error if CLOSED in error.value}) == 1, "on the Budget page"
    app.switch_page(address("data")).run()
    assert "cannot be used now" in text(app)
    assert [CLOSED in error.value for error in app.sidebar.error] == [True]
    assert said.CLOSED in [one.value for one in app.sidebar.caption]
    app.switch_page(address("selection"))
    app.session_state["selection_tab"] = "A private answer"
    app.run()
    assert said.NOT_OPENED not in text(app)
    assert "whose data these are" not in text(app), "that is of no use while it is closed"
    assert len({error.value for error in app.error if CLOSED in error.value}) == 1
    shutil.move(away, ledger_file)
    forget_all()
    assert "whose data these are" in text(app.run())
    app.switch_page(address("data")).run()
    assert held(app).lineage is not None
    assert "cannot be used now" not in text(app)
    app.switch_page(address("selection"))
    app.session_state["selection_tab"] = "A private answer"
    assert "set the budget of these people" in text(app.run())
