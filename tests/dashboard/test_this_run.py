"""What is read once while a page is drawn once."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

from dashboard.background import this_run
from dashboard.budget import tracker
from dpcore.ledger import Ledger

Open = Callable[..., AppTest]


def test_a_value_is_made_once_in_a_run_and_anew_in_the_next() -> None:
    made: list[int] = []

    def make() -> int:
        made.append(len(made))
        return made[-1]

    for first in (0, 1):
        with this_run.drawing():
            assert this_run.once(("a",), make) == this_run.once(("a",), make) == first
            assert this_run.once(("b",), lambda: None) is None
    assert this_run.once(("a",), make) != this_run.once(("a",), make), "a callback keeps nothing"


def test_nothing_is_kept_of_a_run_that_fails_nor_of_what_could_not_be_read() -> None:
    def fails() -> int:
        raise ValueError("not now")

    def drawn() -> None:
        with this_run.drawing():
            with pytest.raises(ValueError, match="not now"):
                this_run.once(("a",), fails)
            assert this_run.once(("a",), lambda: 1) == 1
            raise InterruptedError

    with pytest.raises(InterruptedError):
        drawn()
    assert this_run.once(("a",), lambda: 2) == 2


def test_a_page_reads_a_budget_once_and_shows_the_next_answer_in_the_next_run(
    open_app: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []
    budget = Ledger.budget

    def counted(ledger: Ledger, lineage: str) -> object:
        read.append(lineage)
        return budget(ledger, lineage)

    app = open_app("selection")
    monkeypatch.setattr(Ledger, "budget", counted)
    app.number_input(key="epsilon-typed").set_value(1.0).run()
    assert not app.exception
    assert len(read) == len(set(read)) == 1
    left = tracker.said.left(3.0, 2.0)
    assert left not in _texts(app)
    app.button(key="selection-now-0").click().run()
    assert left in _texts(app), "what the click charged is seen in the very run that follows it"


def _texts(app: AppTest) -> list[str]:
    return [str(element.proto.text) for element in app.get("progress")]
