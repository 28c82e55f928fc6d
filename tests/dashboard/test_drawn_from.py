"""An answer stands as a table's private answer only where it was drawn from that table."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from dashboard import words
from dashboard.budget import drawn
from dashboard.budget.held import DRAWN
from dashboard.case import Source
from dashboard.catalogue import address
from dashboard.data import source
from dashboard.data.own_file import OwnFile
from dashboard.session import Slot
from dashboard.view import EPSILON
from dashboard.widgets import release as panel
from dashboard.words import release as said
from dpcore.costs import Cost
from dpcore.datasets import LeaveOutTotals, read_table
from dpcore.ledger import Ledger, Receipt
from dpcore.release import _asked, notes_of, sentence
from dpcore.releases.asked import CHOSEN
from tests.dashboard.conftest import text
from tests.dashboard.keys import about
from tests.dashboard.test_another_file import answers
from tests.dashboard.test_data_page import drop, held, press, shown
from tests.dashboard.test_two_windows import opens, ready, release, table
from tests.questions.samples import sample_case

Open = Callable[..., AppTest]
JANUARY = [f"{('red', 'blue', 'red')[n % 3]},{7919 * n % 1009},{('yes', 'no')[n % 2]}" for n in range(90)]
FEBRUARY = [f"{('green', 'green', 'green', 'blue')[n % 4]},{7919 * n % 1009},{('yes', 'no')[n % 2]}" for n in range(90)]
EARLIER, BESIDE = "maybe from another file", "Answered about these people before, 20"


def january(open_app: Open) -> AppTest:
    """A file of which an answer was drawn."""
    app = drop(open_app("data"), table(JANUARY), name="january.csv")
    opens(ready(app), "People")
    app.session_state[EPSILON.key] = 0.2
    return app


def february(app: AppTest) -> AppTest:
    """The next file of the same people, declared in the same way, on the page of the same question."""
    drop(app.switch_page(address("data")).run(), table(FEBRUARY), name="february.csv")
    (people,) = held(app).alike
    app.radio(key=about(app, "own-whose")).set_value(people.lineage).run()
    press(app, "own-whose-keep")
    return asked(ready(app))


def asked(app: AppTest) -> AppTest:
    app.session_state[EPSILON.key] = 0.2
    app.switch_page(address("selection"))
    app.session_state["selection_tab"] = "A private answer"
    return app.run()


def stands(app: AppTest) -> list[str]:
    """What the page says is a private answer, beside the chart and in the tab."""
    return [*answers(app), *re.findall(r"^\*\*Private answer\b.*", text(app), re.MULTILINE)]


def receipts(file: Path) -> list[Receipt]:
    with Ledger.open(f"sqlite:///{file}") as ledger:
        ledger.verify()
        return [one for budget in ledger.budgets() if not budget.practice for one in ledger.history(budget.lineage)]


@pytest.mark.thorough
def test_an_answer_about_one_file_is_none_about_the_next_of_these_people(
    open_app: Open, ledger_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    papers: list[str] = []
    monkeypatch.setattr("dashboard.widgets.release.report_button", lambda make, *, key, label: papers.append(key))
    app = january(open_app)
    release(app)
    assert len(stands(app)) == 3
    assert EARLIER not in text(app)
    assert papers
    papers.clear()
    february(app)
    assert stands(app) == []
    assert papers == []
    (first,) = receipts(ledger_file)
    for told in (said.DRAWN_BEFORE, f"- {first.time[:10]}", BESIDE, "No answer yet."):
        assert told in text(app), "reading it stays free, and it says what it is"
    assert said.BEFORE not in text(app)
    press(app, "selection-begin")
    assert said.again_before(1) in text(app)
    press(app, "selection-confirm")
    assert len(receipts(ledger_file)) == 2, "this table's own is a draw of its own"
    assert len(stands(app)) == 3
    assert said.DRAWN_BEFORE in text(app)
    assert BESIDE not in text(app), "the table has one of its own"


def test_a_page_that_takes_any_answer_for_its_own_is_found_out(open_app: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    """The test above can fail: as it was, January's answer stood on February's page."""
    app = january(open_app)
    release(app)
    monkeypatch.setattr(drawn, "of_this", lambda source, receipt: True)
    february(app)
    assert stands(app)
    assert said.BEFORE in text(app)


@pytest.mark.thorough
def test_an_answer_from_another_window_is_shown_as_what_it_is(open_app: Open, ledger_file: Path) -> None:
    """The click costs nothing, as before; but what was drawn elsewhere may be of another file."""
    other = january(open_app)
    app = february(open_app("data"))
    press(app, "selection-begin")
    release(other)
    press(app, "selection-confirm")
    assert len(receipts(ledger_file)) == 1, "nothing was charged"
    assert said.ELSEWHERE_BEFORE in text(app)
    assert said.DRAWN_BEFORE in text(app)
    assert stands(app) == []


def test_a_session_that_begins_anew_claims_nothing(open_app: Open) -> None:
    """It cannot know of which file the ledger's answers are, and says so, also where it is the very same."""
    release(january(open_app))
    app = drop(open_app("data"), table(JANUARY), name="january.csv")
    if held(app).alike:
        app.radio(key=about(app, "own-whose")).set_value(held(app).alike[0].lineage).run()
        press(app, "own-whose-keep")
    asked(ready(app))
    assert stands(app) == []
    assert said.DRAWN_BEFORE in text(app)


def test_what_was_drawn_goes_with_the_file_and_stays_with_the_tab(open_app: Open) -> None:
    app = january(open_app)
    release(app)
    assert list(app.session_state["_drawn"].values()) == [shown(app).drawn_from]
    assert "_drawn" in Slot.staying(), "the page may be loaded anew"
    drop(app.switch_page(address("data")).run(), table(FEBRUARY), name="february.csv")
    assert "_drawn" not in app.session_state
    assert DRAWN._own is not None


def back(app: AppTest, way: str) -> AppTest:
    """January's file is put aside, ``way`` says how, and brought back."""
    app.switch_page(address("data")).run()
    if way == "removed":
        press(app, "own-remove")
    else:
        drop(app, table(FEBRUARY), name="february.csv")
    assert "_drawn" not in app.session_state, "nothing of it is said of another file"
    press(app, "own-back")
    app.selectbox(key="data").set_value("own").run()
    return asked(app)


@pytest.mark.thorough
@pytest.mark.parametrize("way", ["removed", "replaced"])
def test_a_file_that_is_brought_back_has_its_answers_again(open_app: Open, way: str) -> None:
    app = january(open_app)
    release(app)
    assert len(stands(app)) == 3
    before, name = stands(app), shown(app).drawn_from
    back(app, way)
    assert shown(app).drawn_from == name
    assert stands(app) == before
    assert EARLIER not in text(app)
    assert said.HAVE_ONE in text(app), "before the same is paid for again"


def test_what_was_drawn_is_kept_as_long_as_its_file_and_of_no_other(open_app: Open) -> None:
    app = january(open_app)
    release(app)
    notes = app.session_state["_drawn"]
    drop(app.switch_page(address("data")).run(), table(FEBRUARY), name="february.csv")
    assert app.session_state["_drawn_before"] == notes
    assert "_drawn_before" in Slot.staying(), "as the file that can be brought back"
    press(app, "own-back")
    press(app, "own-forget")
    assert app.session_state["_drawn"] == notes, "to forget February's takes nothing of January's"
    assert "_drawn_before" not in app.session_state
    press(app, "own-remove")
    press(app, "own-forget")
    assert not [kept for kept in ("_drawn", "_drawn_before") if kept in app.session_state]


def test_a_file_that_comes_back_without_its_answers_is_found_out(
    open_app: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The tests above can fail: as it was, what is noted ended with every file that was put aside."""
    monkeypatch.setattr(drawn, "brought_back", lambda notes: None)
    app = january(open_app)
    release(app)
    assert stands(back(app, "removed")) == []
    assert EARLIER in text(app)


def test_what_a_charge_from_before_said_is_listed_before_it_is_drawn_for(
    open_app: Open, ledger_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its receipt has its words: that it was chosen after looking, also where this session has not looked."""
    requests: list[Any] = []

    def noting(request: Any, **told: Any) -> tuple[str, ...]:
        requests.append(request)
        return notes_of(request, **told)

    monkeypatch.setattr(panel, "notes_of", noting)
    monkeypatch.setattr(Source, "looked_at", property(lambda self: False))
    app = asked(january(open_app))
    listed = words.safe(CHOSEN, 1000)
    assert listed not in text(app)
    looked = replace(requests[-1], chosen_after_looking=True)
    with Ledger.open(f"sqlite:///{ledger_file}") as ledger:
        (budget,) = [one for one in ledger.budgets() if not one.practice]
        ledger.charge("before", budget.lineage, looked.cost, sentence(looked), **_asked(looked))
    assert listed in text(app.run())


# -- what a table is known by ------------------------------------------------------------------------------------------


def test_another_file_reading_or_step_is_another_table(open_app: Open) -> None:
    own = held(ready(drop(open_app("data"), table(JANUARY), name="january.csv")))
    assert own.reading is not None

    def read(rows: list[str], **choices: str) -> OwnFile:
        return replace(own, reading=read_table(table(rows), **choices), read=None)  # type: ignore[arg-type]

    first = source._drawn_from(read(JANUARY))
    assert source._drawn_from(read(JANUARY)) == first
    assert source._drawn_from(replace(read(JANUARY), name="other.csv", lineage="others")) == first
    step = LeaveOutTotals(column="colour")
    one = read(JANUARY)
    assert one.reading is not None
    stepped = replace(one, read=one.reading, reading=one.reading.after((step,)), steps=(step,))
    names = [source._drawn_from(found) for found in (read(FEBRUARY), read(JANUARY[:-1]), read(JANUARY, decimal=","))]
    assert len({first, *names, source._drawn_from(stepped)}) == 5
    assert first not in one.reading.key, "keyed: nobody tests a guess of the table by it"


def test_an_answer_of_which_nothing_is_known_is_no_tables(ledger_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sample = sample_case("clinic").source
    one, other = replace(sample, drawn_from="one"), replace(sample, drawn_from="other")
    known: dict[str, str] = {}
    monkeypatch.setattr(drawn, "DRAWN", type("Held", (), {"get": lambda self: known, "once": lambda self: known})())
    with Ledger.open(f"sqlite:///{ledger_file}") as ledger:
        ledger.open_budget("people", epsilon=1.0, name="People")
        found = ledger.charge("a", "people", Cost.pure(0.1), "?", neighbours="add_remove")
    assert drawn.of_this(sample, found.request_id), "a sample has one table for good"
    assert drawn.apart(one, ["a"]) == ([], ["a"])
    drawn.noting(found.request_id, one)()
    assert drawn.apart(one, ["a"]) == (["a"], [])
    assert drawn.apart(other, ["a"]) == ([], ["a"])
