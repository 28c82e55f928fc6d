"""Polls, rooms and windows that the tests share."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from dashboard.budget import visitor
from dashboard.poll.asked import Poll
from dashboard.poll.rooms import ROOMS

SPEAKER = "0123456789abcdef" * 2
APP = Path(__file__).parents[2] / "dashboard" / "app.py"
SNACKS = Poll(question="Which snack?", form="options", options=("Fruit", "Cake", "Nothing"), people=12, epsilon=0.5)
YES_NO = Poll(question="Do you reuse a password?", form="yes_no", people=12, epsilon=0.5)
SLEEP = Poll(question="How many hours?", form="number", low=0.0, high=12.0, step=0.5, people=12, epsilon=0.5)
POLLS = (SNACKS, YES_NO, SLEEP)
ANNOUNCED = replace(SNACKS, counts=True)


@pytest.fixture
def ledger_file(empty_ledger: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    file = tmp_path / "ledger.db"
    monkeypatch.setenv("EPSILON_LAB_LEDGER", f"sqlite:///{file}")
    shutil.copyfile(empty_ledger, file)
    st.cache_resource.clear()
    st.cache_data.clear()
    return file


@pytest.fixture
def speaker(ledger_file: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], AppTest]]:
    """Opens a window of the speaker's, whose browser is always the same."""
    monkeypatch.setattr(visitor, "token", lambda: SPEAKER)
    ROOMS.leave(SPEAKER)

    def go() -> AppTest:
        app = AppTest.from_file(str(APP), default_timeout=600).run()
        app.switch_page("app_pages/poll.py").run()
        return fine(app)

    yield go
    ROOMS.leave(SPEAKER)


@pytest.fixture
def phone() -> Callable[[str], AppTest]:
    """Opens a window on a phone of its own."""

    def go(code: str) -> AppTest:
        app = AppTest.from_file(str(APP), default_timeout=600)
        app.query_params["join"] = code
        return fine(app.run())

    return go


def fine(app: AppTest) -> AppTest:
    assert not app.exception, [error.value for error in app.exception]
    return app


def press(app: AppTest, key: str) -> AppTest:
    return fine(app.button(key=key).click().run())


def told(app: AppTest) -> list[str]:
    """Everything on the page in words, and which buttons are enabled, in order."""
    kinds = (app.title, app.header, app.subheader, app.markdown, app.caption, app.info, app.warning, app.error)
    said = [str(element.value) for kind in kinds for element in kind]
    return said + [f"{button.key}: {button.label} {'off' if button.disabled else 'on'}" for button in app.button]
