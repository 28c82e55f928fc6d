"""Whoever draws for one granted charge in several windows learns nothing of what the others' draws came out as."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import pytest
from streamlit.runtime import Runtime
from streamlit.testing.v1 import AppTest

from dashboard.budget import drawn
from dashboard.words import login as login_words
from dashboard.words import release as said
from dpcore.alone import Alone
from dpcore.ledger import Ledger
from dpcore.ledger.member import MembersLedger
from dpcore.ledger.roles import Person
from dpcore.release import UNDER_WAY
from dpcore.releases.selection import MostCommonOption
from tests.dashboard.conftest import text
from tests.dashboard.test_login import people, settings, subject, user  # noqa: F401
from tests.questions.samples import sample_case

Open = Callable[..., AppTest]


def question(table: str) -> None:
    from dataclasses import replace

    import pandas as pd

    from dashboard import session
    from dashboard.data import source
    from dashboard.question import Offer
    from dashboard.widgets.release import release_panel
    from dpcore.datasets import Column, PrivateRows
    from dpcore.datasets.declaration import Declaration
    from dpcore.releases.selection import MostCommonOption

    session.begin()
    shown = source.current()
    if shown is None:
        return
    declared = Declaration(columns=(Column(name="o", type="category", categories=("a", "b")),))
    private = PrivateRows(pd.DataFrame({"o": ["a", "b"]}, dtype="str"))
    mine = replace(shown, lineage="people", practice=False, mode="what_if", title="source", drawn_from=table)
    offer = Offer(
        request=MostCommonOption.of(declared, "o", epsilon=0.5),
        data=lambda: private,
        forecast="",
        describe=lambda answer: f"Answer {answer['option']}",
        gives="one",
    )
    release_panel(mine, offer, slot="test")


def window(table: str = "its table") -> AppTest:
    app = AppTest.from_function(question, args=(table,), default_timeout=600)
    app.user = user("anna")
    app.run()
    assert not app.exception
    return app


def windows(*tables: str) -> list[AppTest]:
    """One of Anna's for each table, to whom the answer was granted once."""
    first = window()
    first.button(key="test-begin").click().run()
    first.button(key="test-confirm").click().run()
    with Ledger.open() as whole:
        olga = MembersLedger(whole, Person(subject=subject("olga")), "olga" * 8)
        (waiting,) = [one for one in whole.petitions() if one.state == "waiting"]
        olga.grant(waiting.request_id, "Once.")
    return [window(table) for table in tables]


def click_at_once(monkeypatch: pytest.MonkeyPatch, apps: list[AppTest], draws: str) -> list[str]:
    """What each window says, where each draws before any other's answer is stored; the last one's is stored first."""
    left, outcomes, store_answer = list(apps[1:]), iter(draws), MembersLedger.store_answer

    def at_that_moment(self: MembersLedger, *asked: Any, **more: Any) -> Any:
        if left:
            runtime = Runtime._instance
            left.pop(0).button(key="test-granted").click().run()
            Runtime._instance = runtime
        return store_answer(self, *asked, **more)

    monkeypatch.setattr(MembersLedger, "store_answer", at_that_moment)
    monkeypatch.setattr(MostCommonOption, "answer", lambda self, rows: {"option": next(outcomes)})
    apps[0].button(key="test-granted").click().run()
    return [text(app) for app in apps]


@pytest.mark.parametrize("draws", ["aaa", "aba", "bba"])
@pytest.mark.usefixtures("people")
def test_no_window_says_what_its_draw_was_where_another_s_is_kept(
    open_app: Open, monkeypatch: pytest.MonkeyPatch, draws: str
) -> None:
    """At replicas, none of which knows what the others do."""
    monkeypatch.setattr(Alone, "at", lambda self, what, seconds: nullcontext(True))
    monkeypatch.setattr(drawn, "waiting", lambda request_id, source: nullcontext())
    open_app("start")
    told = click_at_once(monkeypatch, windows(*3 * ["its table"]), draws)
    assert [said.ELSEWHERE_BEFORE in one for one in told] == [True, True, False]
    with Ledger.open() as whole:
        assert [one.answer for one in whole.receipts()] == [{"option": draws[-1]}]


@pytest.mark.usefixtures("people")
def test_at_one_server_one_window_draws(open_app: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dpcore.release.AWAITED", 1)
    open_app("start")
    told = click_at_once(monkeypatch, windows("its table", "its table"), "a")
    assert [UNDER_WAY in one for one in told] == [False, True]
    assert said.ELSEWHERE_BEFORE not in told[0]
    with Ledger.open() as whole:
        assert [one.answer for one in whole.receipts()] == [{"option": "a"}]
    assert login_words.ASKED not in told[0]


def told_while_one_draws(monkeypatch: pytest.MonkeyPatch, drawing: AppTest, waiting: AppTest) -> str:
    """What a window says that is clicked while another one draws, and waits for that."""
    clicked = threading.Thread(target=lambda: waiting.button(key="test-granted").click().run())
    at, second, draws = Alone.at, threading.Event(), []

    def turn(self: Alone, what: str, seconds: float) -> Any:
        if draws:
            second.set()
        return at(self, what, seconds)

    def answer(self: MostCommonOption, rows: Any) -> Any:
        draws.append(1)
        runtime = Runtime._instance  # of two pages at once in one test, each ends the other's
        monkeypatch.setattr(Runtime, "instance", lambda: runtime)
        clicked.start()
        assert second.wait(60)
        return {"option": "a"}

    monkeypatch.setattr("dpcore.release.AWAITED", 240)
    monkeypatch.setattr(MostCommonOption, "answer", answer)
    monkeypatch.setattr(Alone, "at", turn)
    drawing.button(key="test-granted").click().run()
    clicked.join(60)
    assert not drawing.exception
    assert not waiting.exception
    return text(waiting)


@pytest.mark.parametrize("table", ["its table", "another table"])
@pytest.mark.usefixtures("people")
def test_who_waited_for_their_own_draw_has_its_answer(
    open_app: Open, monkeypatch: pytest.MonkeyPatch, table: str
) -> None:
    """Where both windows have the very table; and where they do not, it may be about another file."""
    open_app("start")
    told = told_while_one_draws(monkeypatch, *windows("its table", table))
    assert (said.ELSEWHERE_BEFORE in told) == (said.DRAWN_BEFORE in told) == (table != "its table")
    assert "Answer a" in told
    assert not drawn._WAITING, "nothing stays of windows that wait no more"
    with Ledger.open() as whole:
        assert [one.answer for one in whole.receipts()] == [{"option": "a"}]


@pytest.mark.usefixtures("people")
def test_a_window_that_does_not_know_what_it_waited_for_is_found_out(
    open_app: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The test above can fail: as it was, one's own draw of a moment ago was maybe about another file."""
    monkeypatch.setattr(drawn, "waiting", lambda request_id, source: nullcontext())
    open_app("start")
    assert said.ELSEWHERE_BEFORE in told_while_one_draws(monkeypatch, *windows("its table", "its table"))


def test_nobody_learns_by_waiting_that_somebody_else_has_the_same_table(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever guesses all of another's table and comes with their request is told nothing of it."""
    own, guessed = {}, {}
    told: dict[str, dict[str, str]] = {"anna": own, "otto": guessed}
    at = ["anna"]
    monkeypatch.setattr(drawn.visitor, "token", lambda: at[0])
    monkeypatch.setattr(drawn, "DRAWN", type("Held", (), {"once": lambda self: told[at[0]]})())
    table = replace(sample_case("clinic").source, drawn_from="one")
    note = drawn.noting("r", table)
    at[0] = "otto"
    with drawn.waiting("r", table):
        note()
    assert (own, guessed) == ({"r": "one"}, {})
