"""The app in process: its own ledger per test, and one way to open a page."""

from __future__ import annotations

import functools
import shutil
from collections.abc import Callable, Hashable, Iterator
from concurrent.futures import Executor, Future
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from streamlit.runtime.caching.cache_resource_api import clear_session_cache
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import PageLink
from streamlit.util import calc_hash

from dashboard import session
from dashboard.background import compute
from dashboard.background.in_turn import InTurn
from dashboard.background.lending import Loan
from dashboard.background.once import forget_all
from dashboard.background.workers import Workers
from dashboard.budget import visitor
from dashboard.case import Case
from dashboard.poll.rooms import ROOMS
from dashboard.widgets import finger
from dashboard.words.data import PAGE
from dpcore.datasets import load_sample
from dpcore.ledger import Ledger

SESSION = "test session id"  # of every AppTest
TOKEN = "0123456789abcdef" * 2
CLINIC = Ledger.practice_lineage(TOKEN, "clinic")
PATIENCE = 600.0  # seconds; nothing here measures time
APP = Path(__file__).parents[2] / "dashboard" / "app.py"


bundled = functools.cache(load_sample)
"""Samples are never changed by who gets one, so all tests may have the same."""


@pytest.fixture(autouse=True)
def one_visitor(monkeypatch: pytest.MonkeyPatch) -> None:
    """All windows of a test are one visitor's, as one browser's are."""
    monkeypatch.setattr(visitor, "token", lambda: TOKEN)
    monkeypatch.setattr(visitor, "remember", lambda: None)  # the cookie of a token that no window has


@pytest.fixture
def ledger_file(empty_ledger: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    file = tmp_path / "ledger.db"
    monkeypatch.setenv("EPSILON_LAB_LEDGER", f"sqlite:///{file}")
    shutil.copyfile(empty_ledger, file)  # a ledger that is named is never made in silence
    return file


@pytest.fixture(scope="session")
def workers() -> Iterator[Workers]:
    """One process for all tests of one run: starting it takes longer than what most pages ask of it."""
    pool = Workers(1)
    yield pool
    pool.shutdown(cancel_futures=True)


class Idle(Executor):
    """Takes all work and does none, so that everything a page begins stays under way."""

    turns = property(InTurn)

    def lend(self, value: Any, take: Any) -> Loan:
        return Loan(None, shared=False)

    def submit(self, *_: Any, **__: Any) -> Future[Any]:
        return Future()


def _few_steps(question: Any, kind: Any, case: Case, *rest: Any) -> None:
    """Hand the browser, which is not there, the first, the last and the present step instead of all thirty-one: these
    take a quarter of a page's first run. ``every_step`` is for who asks about the others."""
    asked = (*session.EPSILON_STEPS[:1], *session.EPSILON_STEPS[-1:], case.epsilon)

    def memo(key: tuple[Hashable, ...], make: Callable[[], Any]) -> Any:
        return {} if key[-2] == "finger" and key[-1] not in asked else case.memo(key, make)

    _follow(question, kind, replace(case, memo=memo), *rest)


_follow = finger.follow


@pytest.fixture
def every_step(open_app: Callable[..., AppTest], monkeypatch: pytest.MonkeyPatch) -> None:
    """The browser is handed every step of ε, as by a server."""
    monkeypatch.setattr(finger, "follow", _follow)


@pytest.fixture
def open_app(ledger_file: Path, workers: Workers, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., AppTest]]:
    """Opens a page in a fresh session; ``query`` is the link's part after the question mark."""
    forget_all()
    clear_session_cache(SESSION)  # what Streamlit keeps for a session; here one test's has the name of the next one's
    monkeypatch.setattr(compute, "pool", lambda: workers)
    monkeypatch.setattr(compute, "load_sample", bundled)
    monkeypatch.setattr(finger, "follow", _few_steps)

    opened: list[AppTest] = []

    def go(page: str = "start", **query: str) -> AppTest:
        app = AppTest.from_file(str(APP), default_timeout=600)
        for name, value in query.items():
            app.query_params[name] = value
        if page != "start":
            app._page_hash = calc_hash(page)  # as a browser asks for an address, without the start page before it
        app.run()
        assert not app.exception, [error.value for error in app.exception]
        opened.append(app)
        return app

    yield go
    ROOMS.leave(TOKEN)  # whatever was clicked: of another test's room no page knows
    assert [sentence for app in opened for sentence in without_a_way(app)] == []
    for job in list(compute.shelf()._jobs.values()):
        job.cancel()  # what is still under way is for nobody


@pytest.fixture
def idle_app(open_app: Callable[..., AppTest], monkeypatch: pytest.MonkeyPatch) -> Callable[..., AppTest]:
    """As ``open_app``, where everything that is begun beside a page stays under way."""

    def go(page: str = "start", **query: str) -> AppTest:
        with monkeypatch.context() as idle:
            pool = Idle()
            idle.setattr(compute, "pool", lambda: pool)
            app = open_app(page, **query)
        compute.shelf.clear()  # nobody else waits for what never comes
        return app

    return go


def rested(app: AppTest) -> AppTest:
    """Run until nothing that this session began is under way. A page in Chromium looks again and again; here each look
    is a run of the whole page, and may begin what waited for the last."""
    for _ in range(9):
        held = app.session_state
        jobs = [job for job in held["_jobs"]._jobs.values() if not job.finished] if "_jobs" in held else []
        tasks = [held[key] for key in ("_own_task", "_sample_task") if key in held and held[key] is not None]
        for job in jobs:
            job.wait(PATIENCE, lambda results: False)
            assert job.finished, "what is under way never ends"
        for task in tasks:
            assert task.wait(PATIENCE), "what is under way never ends"
        app.run()
        if not jobs:
            return app
    raise AssertionError("one look after another begins something")


def without_a_way(app: AppTest) -> list[str]:
    """Sentences of a page's body that send people to the Data page while no link there is below them."""
    sent = [str(note.value) for kind in (app.main.info, app.main.warning) for note in kind]
    links = [one.page for one in app.main.get("page_link") if isinstance(one, PageLink)]
    return [] if "data" in links else [sentence for sentence in sent if PAGE in sentence]


def widget(app: AppTest, name: str) -> Any:
    """One of the widgets of ε, under the key it is drawn under now."""
    return next(one for one in [*app.number_input, *app.select_slider] if str(one.key).startswith(name))


def text(app: AppTest) -> str:
    """All prose on the page."""
    kinds = (app.title, app.header, app.subheader, app.markdown, app.caption, app.info, app.warning, app.error)
    return "\n".join(str(element.value) for kind in kinds for element in kind)
