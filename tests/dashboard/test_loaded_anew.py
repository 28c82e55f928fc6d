"""A page that is loaded anew in the same tab still has the file; nobody else gets it, and nobody gets it twice."""

from __future__ import annotations

import gc
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.state.session_state import SessionState
from streamlit.testing.v1 import AppTest

from dashboard import session
from dashboard.background import compute, leaving
from dashboard.background.leaving import Visit
from dashboard.case import OWN
from dashboard.data import held, tab
from dashboard.data.whence import HOME
from dashboard.session import EPSILON_TAKEN, Slot
from dashboard.words.data import GONE, LOADED_ANEW, WAITS, here
from dashboard.words.server import CLOSED
from dpcore.errors import LedgerError, LedgerUnsound
from dpcore.ledger.engine import UNREACHABLE
from dpcore.ledger.lock import HELD
from dpcore.ledger.roles import Role
from tests.dashboard.conftest import text
from tests.dashboard.test_data_page import declare, drop, look, press, survey
from tests.dashboard.test_data_page import held as own_file

Open = Callable[..., AppTest]
GOES = {
    "OWN_ROUND": "numbers an uploader, which a new page has anew",
    "DESCRIBED_ROUND": "numbers a form, which a new page has anew",
    "OWN_TAKEN": "of who may hold none; a new page begins with a sample",
    "LINKED_DATA": "what the new page's link says",
    "OWN_WAITS": "of a file that another session still holds",
    "SAMPLE_TASK": "a sample that is being loaded is loaded by a click",
    "SAMPLE_LOADING": "goes with that",
    "SAMPLE_ROUND": "goes with that",
}
"""What of a person's data does not stay where their page is loaded anew, and why."""


class Browser:
    """Stands for the part in the browser: what its tab keeps, and one more button that says a name to the server."""

    def __init__(self) -> None:
        self.kept, self.says = "", ""
        self.waits = False
        """Whether it goes on asking."""
        self.open: set[str] = set()

    def __call__(self, *, key: str, data: dict[str, Any], on_back_change: Callable[[], None], height: int) -> None:
        self.kept, self.waits = data["name"] or self.kept, data["waits"]

        def said() -> None:
            session.enter(key, SimpleNamespace(back=self.says))
            on_back_change()

        st.button("say", key="said-to-server", on_click=said)


@pytest.fixture
def browser(monkeypatch: pytest.MonkeyPatch) -> Browser:
    found = Browser()
    visits: dict[int, Visit] = {}

    def visit() -> Visit:  # one a session; in this test each app is one
        context = get_script_run_ctx()
        assert context is not None
        state = context.session_state._state
        return visits.setdefault(id(state), Visit(str(id(state)), state))

    monkeypatch.setattr(tab, "_COMPONENT", found)
    monkeypatch.setattr(leaving, "visit", visit)
    monkeypatch.setattr(Visit, "open", property(lambda visit: visit.session in found.open))
    return found


def says(app: AppTest, browser: Browser, name: str) -> AppTest:
    """The page's script in the browser says this name."""
    browser.says = name
    return press(app, "said-to-server")


def in_use(open_app: Open) -> AppTest:
    app = look(drop(open_app("data"), survey()))
    return declare(app, "Alter", low=0.0, high=110.0)


def test_a_page_loaded_anew_has_the_file_what_is_declared_and_what_was_chosen(open_app: Open, browser: Browser) -> None:
    first = in_use(open_app)
    press(first, "own-selection-0")
    before, settings = own_file(first), dict(first.session_state["_set"])
    assert settings["data"] == OWN
    assert first.query_params["data"] == OWN
    link = dict(first.query_params)

    anew = open_app("selection", **link)
    assert GONE in text(anew)
    says(anew, browser, browser.kept)

    now = own_file(anew)
    assert (now.data, now.reading, now.decisions, now.use) == (before.data, before.reading, before.decisions, "what_if")
    assert now.log[-1].sentence == LOADED_ANEW
    assert now.log[:-1] == before.log
    assert GONE not in text(anew)
    assert anew.session_state["_own_source"].table is not None
    assert {key: value for key, value in anew.session_state["_set"].items() if key in settings} == settings
    assert not any("not offered" in one.value for one in anew.warning)
    assert text(anew) == text(first)


def test_epsilon_typed_beside_the_file_stays_though_no_link_carries_it(open_app: Open, browser: Browser) -> None:
    first = in_use(open_app)
    press(first, "own-selection-0")
    first.number_input(key="epsilon-typed").set_value(0.37).run()
    link = dict(first.query_params)
    assert "epsilon" not in link
    anew = says(open_app("selection", **link), browser, browser.kept)
    assert anew.session_state["_set"]["epsilon"] == 0.37
    assert "epsilon" not in anew.query_params


def opened_by(name: str) -> str:
    """The session that holds what the tab's name stands for."""
    visit = tab._names[name].visit()
    assert visit is not None
    return visit.session


def test_the_earlier_session_holds_nothing_of_it_and_there_is_one_holder(open_app: Open, browser: Browser) -> None:
    first = in_use(open_app)
    name = browser.kept
    second = says(open_app("data"), browser, name)
    assert own_file(second).name == "umfrage.csv"
    assert not [name for name in first.session_state if name.startswith("_")], "it is empty"
    browser.open = {opened_by(name)}
    third = says(open_app("data"), browser, name)
    assert "_own_file" not in third.session_state


def test_a_page_that_is_loaded_anew_before_its_tab_was_told_a_name_loses_nothing(
    open_app: Open, browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two reloads at once: the first took the file over and never came to its end."""
    in_use(open_app)
    name, second = browser.kept, open_app("data")
    with monkeypatch.context() as patch:
        patch.setattr(tab, "draw", lambda *_: None)
        says(second, browser, name)
    assert browser.kept == name
    assert own_file(says(open_app("data"), browser, name)).name == "umfrage.csv"
    assert "_own_file" not in second.session_state


def test_taking_over_is_not_broken_off(open_app: Open, browser: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    """Streamlit ends a run wherever it asks for something: what was let go of there is held here, whole."""
    first = in_use(open_app)
    press(first, "own-selection-0")
    settings, link = dict(first.session_state["_set"]), dict(first.query_params)
    second, over = open_app("selection", **link), session.take_over
    broken: list[bool] = []

    def taken(held: Any, *, settings: bool) -> None:
        context = get_script_run_ctx()
        assert context is not None
        safe = context.session_state

        def broke_off() -> None:
            broken.append(True)
            raise RuntimeError

        before = safe._yield_callback
        object.__setattr__(safe, "_yield_callback", broke_off)
        try:
            over(held, settings=settings)
        finally:
            object.__setattr__(safe, "_yield_callback", before)

    monkeypatch.setattr(session, "take_over", taken)
    says(second, browser, browser.kept)
    assert not broken
    assert own_file(second).name == "umfrage.csv"
    assert {key: second.session_state["_set"][key] for key in settings} == settings


class Work:
    """Stands for work beside the page."""

    def __init__(self) -> None:
        self.cancelled = False

    def cancel(self) -> None:
        self.cancelled = True


def test_what_is_being_read_is_read_on_and_other_work_ends() -> None:
    state, reading, other = SessionState(), Work(), Work()
    state["_own_task"], state["_simulating"] = reading, other
    assert "_own_task" in session.staying()
    assert "_simulating" not in session.staying()
    assert Visit("left", state).taken(session.staying()) == {"_own_task": reading}
    assert not reading.cancelled
    assert other.cancelled
    assert not state.filtered_state


def test_nothing_is_taken_from_a_tab_that_is_open(open_app: Open, browser: Browser) -> None:
    first = in_use(open_app)
    browser.open = {opened_by(browser.kept)}
    second = says(open_app("data"), browser, browser.kept)  # the tab was doubled: its copy keeps the name too
    assert "_own_file" not in second.session_state
    assert own_file(first).name == "umfrage.csv"
    browser.open = set()
    assert own_file(says(second, browser, browser.kept)).name == "umfrage.csv"


@pytest.mark.parametrize("other", [("10.0.0.9", "", ""), ("", "somebody else", ""), ("", "", "2")])
def test_another_network_or_another_login_gets_nothing(
    open_app: Open, browser: Browser, monkeypatch: pytest.MonkeyPatch, other: tuple[str, str, str]
) -> None:
    in_use(open_app)
    name, own, second = browser.kept, tab._whose, open_app("data")
    assert tab._names[name].whose != other
    monkeypatch.setattr(tab, "_whose", lambda: other)
    assert "_own_file" not in says(second, browser, name).session_state
    monkeypatch.setattr(tab, "_whose", own)
    assert own_file(says(second, browser, name)).name == "umfrage.csv"


def test_who_may_bring_no_file_gets_none_back(
    open_app: Open, browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_use(open_app)
    name, second = browser.kept, open_app("data")
    monkeypatch.setattr(compute, "_roles", lambda: frozenset({"viewer"}))
    assert "_own_file" not in says(second, browser, name).session_state
    assert not browser.waits
    assert WAITS not in text(second)


class Away:
    """A ledger that says nobody's roles while it is away."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.why: LedgerError | None = None
        self.may: frozenset[Role] = frozenset({"analyst"})
        monkeypatch.setattr(compute, "_roles", self)

    def __call__(self) -> frozenset[Role]:
        if self.why is not None:
            raise self.why
        return self.may


@pytest.fixture
def ledger(monkeypatch: pytest.MonkeyPatch) -> Away:
    return Away(monkeypatch)


@pytest.mark.thorough
@pytest.mark.parametrize(
    "why",
    [LedgerError(UNREACHABLE), LedgerError(HELD), LedgerUnsound(CLOSED)],
    ids=["unreachable", "held", "closed"],
)
@pytest.mark.parametrize("guarded", [True, False], ids=["", "as it was"])
def test_a_file_waits_while_the_ledger_cannot_be_asked(
    guarded: bool, why: LedgerError, open_app: Open, browser: Browser, ledger: Away, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its page says so, on whichever page it is, and goes on asking until it is told. As it was, a ledger that could
    not be asked was a role that brings no files."""
    if not guarded:
        monkeypatch.setattr(tab, "compute", SimpleNamespace(no_files_by_role=compute.no_files))
    first = press(in_use(open_app), "own-selection-0")
    settings, link = dict(first.session_state["_set"]), dict(first.query_params)
    name, ledger.why = browser.kept, why
    anew = says(open_app("selection", **link), browser, name)
    assert "_own_file" not in anew.session_state
    assert (browser.waits, text(anew).count(WAITS)) == (guarded, guarded)
    assert (GONE in text(anew)) is not guarded
    if not guarded:
        return
    says(anew, browser, name)
    anew.switch_page("app_pages/budget.py").run()
    assert (browser.waits, text(anew).count(WAITS)) == (True, 1)
    ledger.why = None
    says(anew, browser, name)
    assert own_file(anew).name == "umfrage.csv"
    assert {key: value for key, value in anew.session_state["_set"].items() if key in settings} == settings
    assert not browser.waits
    assert WAITS not in text(anew)
    assert GONE not in text(anew)


@pytest.mark.thorough
@pytest.mark.parametrize("link", [{"data": OWN}, {}])
def test_a_file_that_went_while_it_waited_is_said_to_be_gone(
    link: dict[str, str], open_app: Open, browser: Browser, ledger: Away
) -> None:
    in_use(open_app)
    ledger.why = LedgerError(UNREACHABLE)
    anew = says(open_app("data", **link), browser, browser.kept)
    assert browser.waits
    visit = tab._names[browser.kept].visit()
    assert visit is not None
    visit.end()
    says(anew, browser, browser.kept)
    assert not browser.waits
    assert WAITS not in text(anew)
    assert text(anew).count(here(GONE)) == 1


@pytest.mark.thorough
def test_a_file_that_waits_is_in_nobody_s_way(open_app: Open, browser: Browser, ledger: Away) -> None:
    """Neither of other data that are chosen meanwhile nor of another file; and what was never there does not wait."""
    first = press(in_use(open_app), "own-selection-0")
    name, link = browser.kept, dict(first.query_params)
    ledger.why = LedgerError(UNREACHABLE)
    for nobodys, others in (("tab" + "0" * 32, set[str]()), (name, {opened_by(name)})):
        browser.open = others
        assert WAITS not in text(says(open_app("data"), browser, nobodys))
        assert not browser.waits
    browser.open = set()
    anew = says(open_app("selection", **link), browser, name)
    anew.selectbox(key="data").set_value("town").run()
    assert WAITS in text(anew)
    ledger.why = None
    assert own_file(says(anew, browser, name)).name == "umfrage.csv"
    assert anew.session_state["_set"]["data"] == "town"

    ledger.why = LedgerError(UNREACHABLE)
    other = says(open_app("data"), browser, browser.kept)
    assert browser.waits
    ledger.why = None
    drop(other.run(), survey(seed=4), name="zweite.csv")
    assert not browser.waits
    assert WAITS not in text(other)
    press(other, "own-remove")
    press(other, "own-forget")
    assert not browser.waits


def test_a_session_that_holds_a_file_keeps_its_own(open_app: Open, browser: Browser) -> None:
    in_use(open_app)
    name = browser.kept
    second = drop(open_app("data"), survey(seed=4), name="zweite.csv")
    assert own_file(says(second, browser, name)).name == "zweite.csv"
    assert browser.kept != name, "its tab keeps the name of this one from now on"


def test_a_link_about_a_sample_keeps_its_settings_and_the_file_is_there(open_app: Open, browser: Browser) -> None:
    first = in_use(open_app)
    first.switch_page("app_pages/data.py").run()
    second = says(open_app("data", epsilon="2"), browser, browser.kept)
    assert own_file(second).use == "what_if"
    assert second.session_state["_set"]["epsilon"] == 2.0
    assert second.session_state["_set"]["data"] != OWN


def test_what_can_be_brought_back_stays_and_what_is_forgotten_does_not(open_app: Open, browser: Browser) -> None:
    first = press(drop(open_app("data"), survey()), "own-remove")
    second = says(open_app("data"), browser, browser.kept)
    assert second.session_state["_own_before"].name == "umfrage.csv"
    assert "_own_before" not in first.session_state
    name = browser.kept
    press(second, "own-forget")
    assert "_own_tab" not in second.session_state
    gc.collect()
    assert name not in tab._names
    third = says(open_app("data"), browser, name)
    assert "_own_before" not in third.session_state
    assert "_own_file" not in third.session_state


@pytest.mark.parametrize("name", ["", "x", "tab" + "0" * 31, "tab" + "0" * 32, "0" * 33, "0" * 32, 7, None, ["0" * 32]])
def test_a_made_up_name_gives_nothing(open_app: Open, browser: Browser, name: Any) -> None:
    in_use(open_app)
    second = says(open_app("data"), browser, name)
    assert not second.exception
    assert "_own_file" not in second.session_state


def test_a_page_about_a_sample_says_nothing_of_it(open_app: Open, browser: Browser) -> None:
    open_app("selection")
    assert browser.kept == ""
    assert not [one for one in open_app("selection").button if one.key == "said-to-server"]
    assert [one for one in open_app("data").button if one.key == "said-to-server"]
    assert [one for one in open_app("selection", data=OWN).button if one.key == "said-to-server"]


def test_all_that_is_held_of_a_persons_data_stays_or_says_why_not() -> None:
    slots = {name: slot for name, slot in vars(held).items() if isinstance(slot, Slot)}
    staying = set(Slot.staying())
    assert {name for name, slot in slots.items() if slot._name not in staying} == set(GOES)
    assert {slot._name for slot in (EPSILON_TAKEN, HOME)} <= staying
