"""Releases as people make them: second clicks, refreshes, second windows, second thoughts, and refusals."""

from __future__ import annotations

import re
import shutil
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection
from sqlalchemy.exc import OperationalError
from streamlit.testing.v1 import AppTest

from dashboard.background import compute
from dashboard.background.once import forget_all
from dashboard.words import release as said
from dashboard.words import tracker as tracker_words
from dpcore.costs import Cost
from dpcore.errors import LedgerError, UnreadableFile
from dpcore.ledger import Ledger, Receipt
from dpcore.ledger.engine import UNREACHABLE
from dpcore.ledger.failed import Failed
from dpcore.ledger.kept import KEPT
from dpcore.ledger.records import Kind
from dpcore.ledger.store import Store
from dpcore.ledger.words import refusal
from dpcore.release import FAILED, question_digest
from tests.dashboard.asking import CANARY, Draw
from tests.dashboard.conftest import CLINIC, text
from tests.dashboard.keys import about

Window = Callable[..., AppTest]


def shown(lineage: str | None, epsilon: float, delta: float, breaks: str) -> None:
    from tests.dashboard.asking import page

    page(lineage, epsilon, delta, breaks)


@pytest.fixture
def window(ledger_file: Path) -> Window:
    """Opens another window (a fresh session) on the same ledger."""
    forget_all()

    def go(lineage: str | None = None, epsilon: float = 0.5, delta: float = 0.0, breaks: str = "") -> AppTest:
        app = AppTest.from_function(shown, args=(lineage, epsilon, delta, breaks), default_timeout=600).run()
        assert not app.exception, [error.value for error in app.exception]
        return app

    return go


def ledger(file: Path) -> Ledger:
    return Ledger.open(f"sqlite:///{file}")


def charges(file: Path, lineage: str = CLINIC) -> int:
    with ledger(file) as found:
        return sum(receipt.lineage == lineage for receipt in found.receipts())


def press(app: AppTest, key: str) -> AppTest:
    app.button(key=key).click().run()
    assert not app.exception, [error.value for error in app.exception]
    return app


def keys(app: AppTest) -> set[str | None]:
    return {button.key for button in app.button}


def begun(app: AppTest) -> bool:
    return "test-confirm" in keys(app)


def released(app: AppTest) -> str:
    """Makes one release and returns the sentence of the answer."""
    press(press(app, "test-begin"), "test-confirm")
    return answer(app)


def answer(app: AppTest) -> str:
    found = [one.value for one in app.markdown if one.value.startswith("### Number")]
    assert len(found) == 1
    return found[0].removeprefix("### ")


def test_looking_writes_nothing(window: Window, ledger_file: Path) -> None:
    """Neither a budget nor a charge comes from looking, from the preview, or from second thoughts."""
    app = window()
    assert not begun(app)
    press(app, "test-begin")
    assert begun(app)
    press(app, "test-cancel")
    assert not begun(app)
    with ledger(ledger_file) as found:
        assert found.budgets() == []


def test_many_receipts_do_not_slow_a_page(window: Window, ledger_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a rerun reads of the ledger does not grow with it: no receipt is read that was read before."""
    app = window()
    released(app)
    with ledger(ledger_file) as found:
        for number in range(150):
            found.charge(f"r{number}", CLINIC, Cost.pure(1e-4), "?", neighbours="replace_one", question=f"q{number}")
    app.run()
    read = []
    made = Receipt.of
    monkeypatch.setattr(Receipt, "of", lambda *given, **more: read.append(1) or made(*given, **more))
    app.run()
    quiet, read[:] = len(read), []
    with ledger(ledger_file) as found:
        found.charge("one more", CLINIC, Cost.pure(1e-4), "?", neighbours="replace_one", question="another")
    read.clear()
    app.run()
    assert quiet <= 3, "the answers to this very question alone"
    assert len(read) <= 4


def test_one_confirmation_is_one_charge_and_one_answer(window: Window, ledger_file: Path) -> None:
    app = window()
    first = released(app)
    assert charges(ledger_file) == 1
    app.run()
    app.run()
    assert answer(app) == first
    assert charges(ledger_file) == 1
    with ledger(ledger_file) as found:
        (receipt,) = found.receipts()
        assert found.confirms(receipt)
        assert found.budget(CLINIC).practice
    assert f"Number {receipt.answer['number']}" == first
    assert receipt.journal_hash[:12] in text(app)


def test_a_second_draw_is_asked_for_and_charged_again(window: Window, ledger_file: Path) -> None:
    app = window()
    first = released(app)
    press(app, "test-begin")
    assert "This very question has been answered once already" in text(app)
    press(app, "test-confirm")
    assert answer(app) != first
    assert f"UTC: {first}" in text(app)
    assert charges(ledger_file) == 2


def test_a_refresh_loses_no_answer_and_gives_no_budget_back(window: Window, ledger_file: Path) -> None:
    first = released(window())
    again = window()
    assert first in text(again)
    assert "Answered before" in text(again)
    assert "ε = 2.5 of 3 is left" in text(again).replace("\u00a0", " ")
    assert charges(ledger_file) == 1


def test_an_answer_stays_with_its_receipt_and_in_one_sentence_after_a_refresh(
    window: Window, ledger_file: Path
) -> None:
    own = "own:people"
    app = window(own)
    app.text_input(key=about(app, "budget-name")).set_value("Clinic").run()
    press(press(app, "open-budget-review"), "budget-open")
    assert not app.code
    first = released(app)
    for page in (app, window(own)):
        assert [one.value.count(f"{first}{end}") for one, end in zip(page.code, (" (", "."), strict=True)] == [1, 1]
        assert answer(page) == first
    practice = window()
    released(practice)
    assert not practice.code, "of a sample nothing is printed elsewhere"


def test_a_refresh_while_the_question_is_open_charges_nothing(window: Window, ledger_file: Path) -> None:
    press(window(), "test-begin")
    assert not begun(window())
    assert charges(ledger_file) == 0


@pytest.mark.parametrize("redrawn", [False, True])
def test_a_second_window_gets_the_first_windows_answer(window: Window, ledger_file: Path, *, redrawn: bool) -> None:
    """Both windows stand before the same question: one charge, one answer; a draw of one's own is asked for anew.

    That the second window is drawn again meanwhile, as after a connection that was lost, changes nothing.
    """
    one, other = window(), window()
    press(one, "test-begin")
    press(other, "test-begin")
    press(one, "test-confirm")
    if redrawn:
        other.run()
    press(other, "test-confirm")
    assert answer(other) == answer(one)
    assert "answered in another window a moment ago" in text(other)
    assert charges(ledger_file) == 1
    released(other)
    assert charges(ledger_file) == 2


def test_a_release_that_another_window_made_impossible_is_refused_with_what_would_fit(
    window: Window, ledger_file: Path
) -> None:
    own = "own:people"
    with ledger(ledger_file) as found:
        found.open_budget(own, epsilon=1.0, name="Ours")
    one, other = window(own, 0.7), window(own, 0.6)
    press(one, "test-begin")
    press(other, "test-begin")
    press(one, "test-confirm")
    press(other, "test-confirm")
    told = [warning.value for warning in other.warning]
    assert told[-1] == (
        "This answer costs ε = 0.6 and ε = 0.3 is left; nothing was charged. An answer of up to ε = 0.3 would fit."
    )
    assert charges(ledger_file, own) == 1
    assert not begun(other)


def test_what_an_answer_took_is_said_where_one_more_does_not_fit(window: Window, ledger_file: Path) -> None:
    """“Nothing was charged”, beside an answer that was paid for, read as if that had been free."""
    own = "own:people"
    with ledger(ledger_file) as found:
        found.open_budget(own, epsilon=1.0, name="Ours")
    app = window(own, 0.7)
    assert f", {said.share(0.7)}." in text(app)
    press(app, "test-begin")
    press(app, "test-confirm")
    assert f", {said.share(0.7)}." in text(app)
    assert app.warning[0].value.startswith(said.ONE_MORE)
    fresh = window(own, 0.8)
    assert said.ONE_MORE not in fresh.warning[0].value, "this one has no answer"


def test_a_refusal_by_a_budget_in_rho_speaks_of_epsilon_and_shares_alone(window: Window, ledger_file: Path) -> None:
    """It stood as “paid for” beside “nothing was charged”, with twelve digits of ρ for somebody who asked in ε."""
    own = "own:people"
    with ledger(ledger_file) as found:
        found.open_budget(own, epsilon=3.0, delta=1e-6, counting="zcdp", name="Ours")
    app = window(own, 0.6)
    assert tracker_words.IN_RHO in text(app), "why the share is what it is, where it is shown"
    press(app, "test-begin")
    press(app, "test-confirm")
    for warning in (app.warning[0].value, window(own, 0.7).warning[0].value):
        assert refused_in_rho(warning) == [], warning
        assert re.search(
            r"takes (?:about \d+ in 100 of|more than) the (?:whole )?budget, and .* is left; nothing is charged for it",
            warning,
        )
        assert re.search(r"One of up to ε = 0\.\d+ would fit", warning)
    with ledger(ledger_file) as found:
        budget = found.budget(own)
    assert budget is not None
    assert refused_in_rho(f"{said.ONE_MORE} {refusal(budget, Cost.pure(0.7), 'add_remove', 'person')}")
    assert refused_in_rho("The answer below is drawn and paid for. Nothing was charged.")
    money = window(None, 0.5)
    assert tracker_words.IN_RHO not in text(money), "where ε adds up there is nothing to explain"


def refused_in_rho(warning: str) -> list[str]:
    """What in a refusal nobody can read who asked in ε."""
    return re.findall(r"ρ|paid for|\d\.\d{7,}", warning)


def test_an_answer_that_a_crash_took_is_drawn_for_the_charge_that_stands(window: Window, ledger_file: Path) -> None:
    """Where nothing was drawn; where a draw had begun, it is told and not offered."""
    request = Draw(epsilon=0.5)
    with ledger(ledger_file) as found:
        found.open_budget(CLINIC, epsilon=3.0, practice=True)
        for name in ("a" * 32, "b" * 32):
            asked = {"mechanism": request.mechanism, "neighbours": "replace_one", "question": question_digest(request)}
            found.charge(name, CLINIC, request.cost, request.what, **asked)
        found.begin_draw("b" * 32)
    app = window()
    assert "An answer was not drawn" in text(app)
    assert "its draw began, and no answer is stored" in text(app)
    assert [key for key in keys(app) if "draw" in str(key)] == ["test-draw-aaaaaaaa"]
    app = press(app, "test-draw-aaaaaaaa")
    assert answer(app)
    assert "An answer was not drawn" not in text(app)
    assert charges(ledger_file) == 2
    with ledger(ledger_file) as found:
        assert found.remaining(CLINIC).epsilon == 2.0
        assert found.receipt("a" * 32).state == "answered"


def away(self: Draw, data: Any) -> Any:
    raise UnreadableFile(f"The source went away at {CANARY}.")


def failed(window: Window, monkeypatch: pytest.MonkeyPatch) -> AppTest:
    """A window whose question was charged, and could not be answered."""
    app = window()
    with monkeypatch.context() as patch:
        patch.setattr(Draw, "answer", away)
        press(press(app, "test-begin"), "test-confirm")
    assert FAILED in text(app)
    return app


@pytest.mark.thorough
@pytest.mark.parametrize("other", [False, True])
@pytest.mark.parametrize("by", ["the next click", "the button", "the next click after two failures"])
def test_a_draw_that_failed_is_paid_for_once_however_it_is_asked_for_again(
    window: Window, ledger_file: Path, monkeypatch: pytest.MonkeyPatch, by: str, *, other: bool
) -> None:
    app = failed(window, monkeypatch)
    if by == "the next click after two failures":
        app = failed(window, monkeypatch)
    app = window() if other else app
    if by == "the button":
        (draw,) = [key for key in keys(app) if key is not None and key.startswith("test-draw")]
        press(app, draw)
        assert answer(app)
    else:
        released(app)
        assert said.PAID in text(app)
    assert charges(ledger_file) == 1
    assert "An answer was not drawn" not in text(app)
    released(app)
    assert charges(ledger_file) == 2, "another answer is another charge"


def test_a_failed_draw_that_nobody_noted_is_paid_for_twice(
    window: Window, ledger_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A mutant that forgets, as after a restart: what the test above is there to find."""
    monkeypatch.setattr(Failed, "note", lambda self, request_id: None)
    app = failed(window, monkeypatch)
    assert "its draw began, and no answer is stored" in text(app)
    released(app)
    assert charges(ledger_file) == 2


def test_a_failed_charge_from_before_a_reset_pays_for_nothing(
    window: Window, ledger_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    failed(window, monkeypatch)
    compute.ledger().reset_practice(CLINIC)
    released(window())
    assert charges(ledger_file) == 2


def test_an_answer_that_could_not_be_stored_is_told_of_and_shown_later(
    window: Window, ledger_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also while the ledger cannot even be read; it is paid for once."""
    app = press(window(), "test-begin")
    append, be_open, away = Store.append, Store._be_open, threading.Event()

    def lost(store: Store, connection: Connection, kind: Kind, **parts: Any) -> Any:
        if kind == "answer":
            away.set()
            raise OperationalError("INSERT", {}, Exception("the connection is closed"))
        return append(store, connection, kind, **parts)

    def closed(store: Store) -> Any:
        if away.is_set():
            raise LedgerError(UNREACHABLE)
        return be_open(store)

    with monkeypatch.context() as patch:
        patch.setattr(Store, "append", lost)
        patch.setattr(Store, "_be_open", closed)
        press(app, "test-confirm")
        assert [warning.value for warning in app.warning] == [KEPT]
        assert UNREACHABLE in [error.value for error in app.error]
    until = time.monotonic() + 60
    with ledger(ledger_file) as found:
        while found.receipts()[0].answer_hash is None and time.monotonic() < until:
            time.sleep(0.05)
    app.run()
    assert "Answered before" in text(app)
    assert "no answer is stored" not in text(app)
    assert charges(ledger_file) == 1


def test_what_does_not_fit_cannot_be_begun(window: Window, ledger_file: Path) -> None:
    app = window(epsilon=5.0)
    assert app.button(key="test-begin").disabled
    assert "This answer costs ε = 5" in app.warning[0].value
    assert "would fit" in app.warning[0].value
    assert "can be reset on the Budget page" in app.warning[0].value


def test_the_budget_can_be_spent_to_the_end_and_no_further(window: Window, ledger_file: Path) -> None:
    """Ten answers of 0.1 from a pure cap of 1, in decimal: the tenth fits, the eleventh does not."""
    own = "own:people"
    with ledger(ledger_file) as found:
        found.open_budget(own, epsilon=1.0, name="Ours")
        for number in range(9):
            found.charge(f"r{number}", own, Cost.pure(0.1), "before")
    app = window(own, 0.1)
    released(app)
    assert app.button(key="test-begin").disabled
    assert "The budget is spent." in app.warning[0].value
    assert charges(ledger_file, own) == 10


def test_an_answer_is_never_shown_under_another_question(window: Window, ledger_file: Path) -> None:
    app = window()
    first = released(app)
    app.number_input(key="asked").set_value(0.25).run()
    assert first not in text(app)
    assert "ε = 0.25" in text(app)
    app.number_input(key="asked").set_value(0.5).run()
    assert answer(app) == first
    assert charges(ledger_file) == 1


@pytest.mark.parametrize(("breaks", "charged"), [("data", 0), ("answer", 1)])
def test_failures_say_one_sentence_and_nothing_private(
    window: Window, ledger_file: Path, breaks: str, charged: int, capfd: pytest.CaptureFixture[str]
) -> None:
    """Before the charge nothing is charged; after it the charge stands. The private value goes nowhere."""
    app = window(breaks=breaks)
    press(press(app, "test-begin"), "test-confirm")
    assert charges(ledger_file) == charged
    told = [warning.value for warning in app.warning if "An answer was not drawn" not in warning.value]
    assert len(told) == 1
    assert ("nothing was charged" if charged == 0 else "its charge stands") in told[0]
    assert CANARY not in text(app) + "".join(capfd.readouterr())
    assert not begun(app)


def test_text_from_files_is_escaped(window: Window) -> None:
    app = press(window(), "test-begin")
    assert "the \\*north\\* clinic" in text(app)
    assert "the *north* clinic" not in text(app)


def test_a_pure_budget_says_that_it_cannot_take_a_delta(window: Window, ledger_file: Path) -> None:
    own = "own:people"
    with ledger(ledger_file) as found:
        found.open_budget(own, epsilon=1.0, name="Ours")
    app = window(own, 0.5, delta=1e-7)
    assert app.button(key="test-begin").disabled
    assert "for pure ε only" in app.warning[0].value


def test_an_own_budget_is_never_opened_by_accident(window: Window, ledger_file: Path) -> None:
    """No name, second thoughts, and a mere review open nothing; the last click opens exactly what was reviewed."""
    own = "own:people"
    app = window(own)
    press(app, "open-budget-review")
    assert "Give the group a name first" in app.error[0].value
    app.text_input(key=about(app, "budget-name")).set_value("North *clinic*")
    app.number_input(key=about(app, "budget-epsilon")).set_value(2.0).run()
    press(app, "open-budget-review")
    assert "budget-open" in keys(app)
    press(app, "budget-not-yet")
    assert "budget-open" not in keys(app)
    with ledger(ledger_file) as found:
        assert found.budgets() == []
    press(press(app, "open-budget-review"), "budget-open")
    with ledger(ledger_file) as found:
        budget = found.budget(own)
    assert (budget.name, budget.counting, budget.cap.epsilon, budget.practice) == ("North *clinic*", "sum", 2.0, False)
    assert budget.neighbours == "replace_one"  # as the question in view
    released(app)
    assert charges(ledger_file, own) == 1


def test_a_budget_opened_elsewhere_stays_as_it_is(window: Window, ledger_file: Path) -> None:
    own = "own:people"
    app = window(own)
    app.text_input(key=about(app, "budget-name")).set_value("Ours")
    app.radio(key=about(app, "budget-kind")).set_value("zcdp").run()
    assert app.selectbox(key=about(app, "budget-delta")).value == 1e-6
    press(app, "open-budget-review")
    with ledger(ledger_file) as found:
        found.open_budget(own, epsilon=0.3, name="Theirs")
    press(app, "budget-open")
    with ledger(ledger_file) as found:
        assert found.budget(own).cap.epsilon == 0.3
    assert "a cap is never changed" in app.error[0].value


@pytest.mark.parametrize("value", [0.0, -1.0, 1e9])
def test_a_cap_from_a_tampered_browser_never_opens_a_budget(window: Window, ledger_file: Path, value: float) -> None:
    """Limits of widgets are advice to the browser: what is opened is within them, and is what the review showed."""
    own = "own:people"
    app = window(own)
    app.text_input(key=about(app, "budget-name")).set_value("Ours")
    app.number_input(key=about(app, "budget-epsilon")).set_value(value)
    press(app, "open-budget-review")
    if "budget-open" in keys(app):
        assert "**ε = 1** with δ = 10⁻⁶ for all answers together" in text(app)
        press(app, "budget-open")
    with ledger(ledger_file) as found:
        assert all(budget.cap.epsilon == 1.0 for budget in found.budgets())


def test_a_closed_ledger_says_what_its_owner_must_do(window: Window, ledger_file: Path) -> None:
    """Without its journal the ledger stays closed: one sentence instead of the release; back with the journal."""
    released(window())
    journal = ledger_file.with_name(ledger_file.name + ".journal")
    shutil.move(journal, ledger_file.with_name("kept"))
    forget_all()
    app = window()
    assert [error.value for error in app.error] == [
        "The ledger's journal is missing, so the ledger cannot tell whether it is complete and stays closed; put the "
        "journal file back where it was, or name it with `--journal`; only where it is lost, run "
        "`epsilon-lab ledger restore --new-journal`."
    ]
    assert "test-begin" not in keys(app)
    shutil.move(ledger_file.with_name("kept"), journal)
    forget_all()  # that it was closed is kept for some seconds
    assert "test-begin" in keys(window())


def test_a_ledger_that_breaks_at_the_moment_of_release_charges_and_shows_nothing(
    window: Window, ledger_file: Path
) -> None:
    released(window())
    app = window(epsilon=0.25)
    press(app, "test-begin")
    ledger_file.with_name(ledger_file.name + ".journal").unlink()
    press(app, "test-confirm")
    assert any("journal is missing" in one.value for one in [*app.warning, *app.error])
    assert not [one for one in app.markdown if one.value.startswith("### Number")]


# -- what the budget hides --------------------------------------------------------------------------------------------


def test_the_first_answer_settles_what_the_practice_budget_hides(window: Window, ledger_file: Path) -> None:
    app = window()
    assert "fixes what this budget protects, until it is reset: one person's row changed." in text(app)
    app = press(press(app, "test-begin"), "test-confirm")
    assert "settles what" not in text(app)
    with ledger(ledger_file) as found:
        assert found.budget(CLINIC).neighbours == "replace_one"


def test_a_budget_that_hides_something_else_says_so_and_takes_nothing(window: Window, ledger_file: Path) -> None:
    with ledger(ledger_file) as found:
        found.open_budget("ours", epsilon=3.0, neighbours="add_remove")
    app = window("ours")
    assert app.button(key="test-begin").disabled
    assert "hides one person's row changed, and the budget of these people promises" in text(app)
    assert "Use ε" not in " ".join(button.label for button in app.button)
    assert charges(ledger_file, "ours") == 0


def test_an_answer_that_counts_twice_says_so_before_it_is_bought(
    window: Window, ledger_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tests.dashboard import asking

    monkeypatch.setattr(asking.Draw, "neighbours", "add_remove")
    with ledger(ledger_file) as found:
        found.open_budget("ours", epsilon=1.5, neighbours="replace_one")
    app = window("ours")
    assert "ε = 1 (ε = 0.5 for one person added or removed, which counts twice" in text(app)
    app = press(press(app, "test-begin"), "test-confirm")
    assert "It cost ε = 1." in text(app)
    assert "It counts more here" in text(app)  # the next one does not fit any more
    assert app.button(key="test-begin").disabled
    with ledger(ledger_file) as found:
        assert found.remaining("ours") == Cost(epsilon=0.5)


def test_one_click_asks_for_what_the_budget_hides(open_app: Callable[..., AppTest], ledger_file: Path) -> None:
    with ledger(ledger_file) as found:
        found.open_budget(CLINIC, epsilon=3.0, practice=True)
        found.charge("r", CLINIC, Cost.pure(0.1), "?", neighbours="add_remove")
    app = open_app("selection", neighbours="replace_one")
    app.session_state["selection_tab"] = "A private answer"
    app.run()
    assert "cannot pay for answers that hide one person's row changed" in text(app)
    assert app.button(key="selection-begin").disabled
    assert app.button(key="release-relation").label == "Hide one person added or removed instead"
    app = press(app, "release-relation")
    assert app.segmented_control(key="neighbours").value == "add_remove"
    app = press(press(app, "selection-begin"), "selection-confirm")
    with ledger(ledger_file) as found:
        assert [receipt.neighbours for receipt in found.history(CLINIC)] == ["add_remove"] * 2
