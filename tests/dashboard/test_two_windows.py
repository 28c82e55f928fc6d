"""Files about the same people in several windows at once share one budget, or a sentence on the record says why not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from dashboard.catalogue import address
from dashboard.data import private_answer
from dashboard.session import EPSILON
from dpcore.errors import LedgerError
from dpcore.ledger import Budget, Ledger, terms
from tests.dashboard.conftest import text
from tests.dashboard.keys import about
from tests.dashboard.test_data_page import declare, drop, held, look, press, shown, workbook

Open = Callable[..., AppTest]
ROWS = [f"{('red', 'blue', 'red')[n % 3]},{7919 * n % 1009},{('yes', 'no')[n % 2]}" for n in range(90)]
CHANGED = [*ROWS[:-1], "green,7,yes"]
LOOKS_ALIKE, SAME_FILE = "This file looks like one about people", "This very file is one of people"


def table(rows: list[str]) -> bytes:
    return ("\n".join(["colour,number,answer", *rows]) + "\n").encode()


def window(open_app: Open, rows: list[str]) -> AppTest:
    """A window with a file of which an answer could be asked, on the Budget page."""
    app = drop(open_app("data"), table(rows), name="file.csv")
    assert held(app).alike == (), "nobody is known yet"
    return ready(app)


def ready(app: AppTest) -> AppTest:
    """Say what an answer needs, and turn to the Budget page."""
    app.number_input(key="own-rows-None").set_value(1).run()
    declare(app, "colour", categories="red\nblue\ngreen", public=True)
    return look(app).switch_page(address("budget")).run()


def opens(app: AppTest, name: str) -> AppTest:
    """Review and open a budget, as the page offers it."""
    app.text_input(key=about(app, "budget-name")).set_value(name).run()
    press(app, "open-budget-review")
    return press(app, "budget-open")


def release(app: AppTest) -> None:
    app.switch_page(address("selection"))
    app.session_state["selection_tab"] = "A private answer"
    app.run()
    press(app, "selection-begin")
    press(app, "selection-confirm")


def budgets(file: Path) -> list[Budget]:
    with Ledger.open(f"sqlite:///{file}") as ledger:
        ledger.verify()
        return [one for one in ledger.budgets() if not one.practice]


def choices(app: AppTest) -> list[str]:
    return list(app.radio(key=about(app, "own-whose")).options)


@pytest.mark.thorough
def test_three_windows_open_one_budget(open_app: Open, ledger_file: Path) -> None:
    """Files that arrived before there was a budget: the very same one uses it, one with a changed row is asked about,
    and who says that they are others says why, on the record."""
    first, same, changed, other = (window(open_app, rows) for rows in (ROWS, ROWS, CHANGED, [*CHANGED, "red,8,no"]))
    opens(first, "People")
    assert not first.error
    for app, told, offered in (
        (same, SAME_FILE, ["Yes, the people of “People”"]),
        (changed, LOOKS_ALIKE, ["Yes, the people of “People”", "No, other people"]),
        (other, LOOKS_ALIKE, ["Yes, the people of “People”", "No, other people"]),
    ):
        opens(app, "People again")
        assert [one.name for one in budgets(ledger_file)] == ["People"], "nothing was opened"
        assert told in text(app)
        assert choices(app) == offered
        assert shown(app).rows is None, "and nothing can be asked before it is answered"
        assert "budget-name" not in [one.key for one in app.text_input]
    lineage = held(first).lineage
    for app in (same, changed):
        app.radio(key=about(app, "own-whose")).set_value(lineage).run()
        press(app, "own-whose-keep")
        assert held(app).lineage == lineage
        assert shown(app).rows is not None
        assert "What is left** · for good" in text(app)
    other.radio(key=about(other, "own-whose")).set_value("others").run()
    press(other, "own-whose-keep")
    assert "Say in a sentence why these are other people" in text(other)
    other.radio(key=about(other, "own-whose")).set_value("others").run()
    other.text_area(key=about(other, "own-why")).set_value("They were asked in another town.").run()
    press(other, "own-whose-keep")
    opens(other, "Others")
    assert [one.name for one in budgets(ledger_file)] == ["Others", "People"]
    with Ledger.open(f"sqlite:///{ledger_file}") as ledger:
        assert [(one.lineage, one.than) for one in ledger.statements()] == [(held(other).lineage, lineage)]


@pytest.mark.thorough
def test_a_budget_that_compares_nothing_is_found_out(
    open_app: Open, ledger_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The test above can fail: as it was, each window had its own."""
    whole = Ledger.open_budget
    monkeypatch.setattr(Ledger, "open_budget", lambda self, lineage, file, **wanted: whole(self, lineage, **wanted))
    for app in [window(open_app, rows) for rows in (ROWS, CHANGED)]:
        opens(app, "People")
    assert len(budgets(ledger_file)) == 2


@pytest.mark.thorough
def test_who_names_earlier_people_is_asked_of_those_known_since(open_app: Open, ledger_file: Path) -> None:
    """To say of a file that arrived early that its people are those of a budget without a file is no way around."""
    with Ledger.open(f"sqlite:///{ledger_file}") as ledger:
        ledger.open_budget("people-1", epsilon=1.0, name="A list")
    first = window(open_app, ROWS)
    late = drop(open_app("data"), table(CHANGED))
    opens(first, "People")
    late.selectbox(key=about(late, "own-group-name")).set_value("people-1")
    press(late, "own-group-join")
    assert held(late).lineage != "people-1"
    assert choices(late) == ["Yes, the people of “People”", "No, other people"]


def cover_sheet(open_app: Open) -> AppTest:
    """A workbook of two sheets: of the first its own budget was opened, the other is about the people of "People"."""
    cover = [f"{'red' if n % 3 else 'green'},{31 * n % 997},{n % 7}" for n in range(60)]
    book = workbook(
        *(
            (name, [["colour", "number", "answer"], *(row.split(",") for row in rows)])
            for name, rows in (("Cover", cover), ("All", CHANGED))
        )
    )
    opens(window(open_app, ROWS), "People")
    app = drop(open_app("data"), book, name="book.xlsx")
    press(app, "own-part-go")
    opens(ready(app), "Cover")
    app.session_state[EPSILON.key] = 0.5
    return app


def turn_to_the_other_sheet(app: AppTest) -> None:
    cover_people = held(app).lineage
    app.switch_page(address("data"))
    app.session_state["own-tab"] = "Read it differently"
    app.run()
    app.text_input(key="own-again-part").set_value("All")
    press(app, "own-again-go")
    assert held(app).lineage != cover_people
    assert choices(app) == ["Yes, the people of “People”", "No, other people"], "it was said of the other sheet alone"
    app.number_input(key="own-rows-None").set_value(1).run()  # of other rows it is asked anew
    look(app)
    app.session_state[EPSILON.key] = 0.5


def draws_what_was_charged(app: AppTest) -> None:
    app.switch_page(address("selection"))
    app.session_state["selection_tab"] = "A private answer"
    app.run()
    for key in [str(one.key) for one in app.button if "-draw-" in str(one.key)]:
        press(app, key)


def charged_without_an_answer(open_app: Open, monkeypatch: pytest.MonkeyPatch) -> AppTest:
    def lost(*_: object) -> None:
        raise LedgerError("The ledger is held by another program.")

    app = cover_sheet(open_app)
    with monkeypatch.context() as broken:
        broken.setattr(Ledger, "begin_draw", lost)
        release(app)
    return app


@pytest.mark.thorough
def test_a_charge_without_an_answer_is_drawn_from_no_other_peoples_table(
    open_app: Open, ledger_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file is read otherwise meanwhile: its people are asked about before they are answered about."""
    app = charged_without_an_answer(open_app, monkeypatch)
    turn_to_the_other_sheet(app)
    draws_what_was_charged(app)
    with Ledger.open(f"sqlite:///{ledger_file}") as ledger:
        assert [one.answer for one in ledger.receipts()] == [None], "nothing was drawn"
    assert held(app).alike


@pytest.mark.thorough
def test_a_charge_without_an_answer_is_drawn_once(
    open_app: Open, ledger_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From the table that it was charged for, at no further cost."""
    app = charged_without_an_answer(open_app, monkeypatch)
    spent = {one.name: one.share_spent for one in budgets(ledger_file)}
    draws_what_was_charged(app)
    with Ledger.open(f"sqlite:///{ledger_file}") as ledger:
        assert [one.lineage for one in ledger.receipts()] == [held(app).lineage]
    assert {one.name: one.share_spent for one in budgets(ledger_file)} == spent
    assert spent["Cover"] > spent["People"] == 0.0


@pytest.mark.thorough
def test_another_sheet_of_the_same_file_is_compared_before_its_first_answer(open_app: Open, ledger_file: Path) -> None:
    """A workbook whose budget was opened for one sheet does not charge to it what is asked about other people's."""
    app = cover_sheet(open_app)
    turn_to_the_other_sheet(app)
    assert [one.share_spent for one in budgets(ledger_file)] == [0.0, 0.0], "nothing was charged"
    assert "Say on the Data page whether these are the people of an earlier file." in private_answer.unreleasable(
        held(app)
    )
    app.switch_page(address("data")).run()
    app.radio(key=about(app, "own-whose")).set_value(held(app).alike[0].lineage).run()
    press(app, "own-whose-keep")
    release(app)
    assert {one.name: one.share_spent > 0.0 for one in budgets(ledger_file)} == {"Cover": False, "People": True}


@pytest.mark.thorough
def test_a_table_of_two_groups_is_not_charged_to_one_of_them_without_a_sentence(
    open_app: Open, ledger_file: Path
) -> None:
    """To choose one of several whom a table looks like says nothing of the rest, whose budget may be spent."""
    south = [f"{('blue', 'green')[n % 2]},{5003 * n % 2003 + 3000},{('yes', 'no')[n % 3 == 0]}" for n in range(90)]
    opens(window(open_app, ROWS), "North")
    opens(window(open_app, south), "South")
    app = drop(open_app("data"), table([*ROWS, *south]), name="both.csv")
    assert choices(app) == ["Yes, the people of “North”", "Yes, the people of “South”", "No, other people"]
    lineage = {one.name: one.lineage for one in held(app).alike}["South"]
    app.radio(key=about(app, "own-whose")).set_value(lineage).run()
    press(app, "own-whose-keep")
    assert "Say in a sentence why these are other people" in text(app)
    assert not held(app).joined
    app.radio(key=about(app, "own-whose")).set_value(lineage).run()
    assert "bring each group's rows alone" in text(app)
    assert "Why is nobody of “North” in this file?" in app.text_area(key=about(app, "own-why")).label
    app.text_area(key=about(app, "own-why")).set_value("Everybody of North left before this list.").run()
    press(app, "own-whose-keep")
    assert held(app).joined
    assert held(app).lineage == lineage
    with Ledger.open(f"sqlite:///{ledger_file}") as ledger:
        assert [one.lineage for one in ledger.statements()] == [lineage]


@pytest.mark.thorough
def test_what_was_said_of_one_file_is_said_of_another_by_nobody(open_app: Open, ledger_file: Path) -> None:
    """Of a list of South's that looks like North a reason stands on the record; all of North, joined to South, takes
    one of its own."""
    opens(window(open_app, ROWS), "North")
    south = [f"{('blue', 'green')[n % 2]},{5003 * n % 2003 + 3000},{('yes', 'no')[n % 3 == 0]}" for n in range(90)]
    app = drop(open_app("data"), table([*ROWS[:60], *south[:40]]), name="south.csv")
    assert [one.name for one in held(app).alike] == ["North"]
    app.radio(key=about(app, "own-whose")).set_value("others").run()
    app.text_area(key=about(app, "own-why")).set_value("These are the people of South alone.").run()
    press(app, "own-whose-keep")
    opens(ready(app), "South")
    assert len(budgets(ledger_file)) == 2
    app = drop(open_app("data"), table(CHANGED), name="north-again.csv")
    found = {one.name: one.lineage for one in held(app).alike}
    app.radio(key=about(app, "own-whose")).set_value(found["South"]).run()
    press(app, "own-whose-keep")
    assert "Say in a sentence why" in text(app)
    assert not held(app).joined
    app.text_area(key=about(app, "own-why")).set_value("North moved to South in March, all of them.").run()
    press(app, "own-whose-keep")
    assert held(app).joined
    with Ledger.open(f"sqlite:///{ledger_file}") as ledger:
        assert [one.because for one in ledger.statements(found["South"])] == [
            "These are the people of South alone.",
            "North moved to South in March, all of them.",
        ]


@pytest.mark.thorough
@pytest.mark.parametrize("recorded", [True, False])
def test_a_budget_protects_whom_it_was_opened_for(
    open_app: Open, ledger_file: Path, monkeypatch: pytest.MonkeyPatch, recorded: bool
) -> None:
    """As its dialog said: what hides one visit is not charged to a budget of persons, neither by their own window nor
    by another that comes first; and the page says of it whom it protects."""
    if not recorded:
        monkeypatch.setattr(terms, "promised", lambda connection, lineage: "")
    app = window(open_app, ROWS)
    app.text_input(key=about(app, "budget-name")).set_value("People").run()
    press(app, "open-budget-review")
    assert "one person's row changed" in text(app)
    press(app, "budget-open")
    app.run()
    assert "It protects any one person." in text(app)
    other = drop(open_app("data"), table(CHANGED), name="visits.csv")
    other.radio(key=about(other, "own-whose")).set_value(held(other).alike[0].lineage).run()
    press(other, "own-whose-keep")
    other.text_input(key="own-unit-person").set_value("visit").run()
    ready(other)
    other.session_state[EPSILON.key] = 0.2
    release(other)
    if not recorded:
        assert budgets(ledger_file)[0].share_spent > 0.0, "whoever came first decided"
        return
    refused = "protects one person, and this answer would protect one visit"
    assert refused in text(other)
    assert budgets(ledger_file)[0].share_spent == 0.0
    app.session_state[EPSILON.key] = 0.2
    release(app)
    spent = budgets(ledger_file)[0].share_spent
    assert spent > 0.0
    app.switch_page(address("data")).run()
    app.text_input(key="own-unit-person").set_value("visit").run()
    app.number_input(key="own-rows-None").set_value(1).run()
    press(app, "own-right")  # of another unit it is called right anew that each row is of one alone
    app.session_state[EPSILON.key] = 0.3
    release(app)
    assert refused in text(app)
    assert budgets(ledger_file)[0].share_spent == spent
    app.run()
    assert "It protects any one person." in text(app)
