"""Whoever draws for one granted charge in several windows learns nothing of what the others' draws came out as."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import pytest
from streamlit.runtime import Runtime
from streamlit.testing.v1 import AppTest

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

Open = Callable[..., AppTest]


def question() -> None:
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
    mine = replace(shown, lineage="people", practice=False, mode="what_if", title="source", drawn_from="its table")
    offer = Offer(
        request=MostCommonOption.of(declared, "o", epsilon=0.5),
        data=lambda: private,
        forecast="",
        describe=lambda answer: f"Answer {answer['option']}",
        gives="one",
    )
    release_panel(mine, offer, slot="test")


def window() -> AppTest:
    app = AppTest.from_function(question, default_timeout=600)
    app.user = user("anna")
    app.run()
    assert not app.exception
    return app


def windows(count: int) -> list[AppTest]:
    """So many of Anna, to whom the answer was granted once."""
    first = window()
    first.button(key="test-begin").click().run()
    first.button(key="test-confirm").click().run()
    with Ledger.open() as whole:
        olga = MembersLedger(whole, Person(subject=subject("olga")), "olga" * 8)
        (waiting,) = [one for one in whole.petitions() if one.state == "waiting"]
        olga.grant(waiting.request_id, "Once.")
    return [window() for _ in range(count)]


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
    open_app("start")
    told = click_at_once(monkeypatch, windows(3), draws)
    assert [said.ELSEWHERE_BEFORE in one for one in told] == [True, True, False]
    with Ledger.open() as whole:
        assert [one.answer for one in whole.receipts()] == [{"option": draws[-1]}]


@pytest.mark.usefixtures("people")
def test_at_one_server_one_window_draws(open_app: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dpcore.release.AWAITED", 1)
    open_app("start")
    told = click_at_once(monkeypatch, windows(2), "a")
    assert [UNDER_WAY in one for one in told] == [False, True]
    assert said.ELSEWHERE_BEFORE not in told[0]
    with Ledger.open() as whole:
        assert [one.answer for one in whole.receipts()] == [{"option": "a"}]
    assert login_words.ASKED not in told[0]
