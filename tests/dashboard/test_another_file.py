"""What was answered about one file stands on no page about another."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from streamlit.testing.v1 import AppTest

from dashboard.catalogue import address
from tests.dashboard.test_data_page import drop, held, press, shown, workbook
from tests.dashboard.test_two_windows import opens, ready, release, table

Open = Callable[..., AppTest]
FIRST = [f"{('red', 'blue', 'red')[n % 3]},{7919 * n % 1009},{('yes', 'no')[n % 2]}" for n in range(90)]
SECOND = [
    f"{('green', 'green', 'blue')[n % 3]},{5003 * n % 3001 + 20000},{('no', 'yes', 'yes')[n % 3]}" for n in range(120)
]


def answers(app: AppTest) -> list[str]:
    """The answers that stand on the page."""
    return [one.value for one in app.markdown if one.value.startswith("### Most common")]


def brought(app: AppTest, rows: list[str], people: str) -> AppTest:
    drop(app.switch_page(address("data")).run(), table(rows), name=f"{people}.csv")
    opens(ready(app), people)
    app.switch_page(address("selection"))
    app.session_state["selection_tab"] = "A private answer"
    return app.run()


@pytest.mark.thorough
def test_an_answer_stands_on_the_page_of_its_own_file_alone(open_app: Open) -> None:
    app = brought(open_app("data"), FIRST, "first")
    release(app)
    before, kept = held(app).lineage, dict(app.session_state["_receipts"])
    assert len(kept) == len(answers(app)) == 1
    brought(app, SECOND, "second")
    assert held(app).lineage != before
    assert app.session_state["_receipts"] == {}
    assert answers(app) == []
    app.session_state["_receipts"] = kept  # as if it had been kept: it is about others
    assert answers(app.run()) == []
    own = {slot: replace(one, lineage=held(app).lineage) for slot, one in kept.items()}
    app.session_state["_receipts"] = own
    assert answers(app.run()) == [], "nor does one about its own people that was drawn from another table"
    app.session_state["_drawn"] = {one.request_id: shown(app).drawn_from for one in own.values()}
    assert len(answers(app.run())) == 1, "and one that was drawn from this table would stand there"


@pytest.mark.parametrize(("sheet", "stands"), [("A", True), ("B", False)])
def test_nor_on_those_of_another_sheet(sheet: str, stands: bool, open_app: Open) -> None:
    """Both have one budget, and the very same question of the other was answered with the first one's answer."""
    rows = [["colour", "age"], *([("red", "blue")[n > 19], 20 + n] for n in range(24))]
    others = [["colour", "age"], *([("blue", "red")[n > 19], 20 + n] for n in range(24))]
    app = drop(open_app("data"), workbook(("A", rows), ("B", others)), name="two.xlsx")
    app.selectbox(key="own-part").set_value(0).run()
    press(app, "own-part-go")
    app.session_state["_receipts"] = {"selection": "an answer"}
    app.session_state["own-tab"] = "Read it differently"
    app.run()
    app.text_input(key="own-again-part").set_value(sheet)
    press(app, "own-again-go")
    reading = held(app).reading
    assert reading is not None
    assert reading.report.part == sheet
    assert bool(app.session_state["_receipts"]) == stands
