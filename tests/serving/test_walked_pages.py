"""Whichever pages are walked in whatever order, a click for a page leads there, and what comes late of a page that was
left takes nobody back: on a small model of a browser and of what a server sends it."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

import pytest
from hypothesis import find, settings
from hypothesis import strategies as st
from hypothesis.errors import NoSuchExample
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime.app_session import AppSession

from dashboard.runtime import left_pages
from dashboard.runtime.left_pages import _Place

MAIN = "the script"
SIDEBAR, NONE = {"data", "epsilon"}, set[str]()
BESIDE = {"start": SIDEBAR, "chart": {*SIDEBAR, "next scene"}, "budget": SIDEBAR, "poll": NONE, "bare": NONE}
"""What each page shows beside itself: most have the same sidebar, one a bar of its own, others nothing."""
OWN = {"start": NONE, "chart": {"menu"}, "budget": {"tab"}, "poll": {"menu of the room"}, "bare": {"a box"}}
"""What is on a page alone."""
PART, PRESSED = "a part of ", "a button of "
Step = tuple[str, str, int]


class Server:
    """Stands for one of Streamlit's sessions: what it is asked to run last is begun, and its browser told in order."""

    def __init__(self) -> None:
        self.ran: list[ClientState] = []
        self.waits = ""
        self.sent = deque[tuple[str, str]]()

    def get_pages(self) -> dict[str, dict[str, str]]:
        return {page: {"url_pathname": "" if page == "start" else page} for page in BESIDE}

    def take(self, asked: ClientState) -> None:
        self.ran.append(asked)
        self.waits = self.waits if asked.fragment_id else asked.page_script_hash

    def begins(self, page: str, shown: str = "") -> None:
        AppSession._create_new_session_message(self, page, None, None)  # type: ignore[arg-type]
        self.waits = ""
        self.sent.extend((kind, shown or page) for kind in ("begins", "stands at", "is drawn"))


class Browser:
    """What Streamlit's does with pages: it speaks of all widgets that it holds, and for the page that it heard of last;
    a click for a page speaks of those beside all pages alone."""

    def __init__(self) -> None:
        self.server = Server()
        self.page, self.at, self.drawn, self.changes = MAIN, "start", "start", 0
        self.holds: dict[str, int] = {}
        self.wanted, self.left, self.led = "start", "start", False
        self.server.begins(MAIN, "start")
        self.settles()

    def hears(self) -> None:
        """The next message of the server."""
        kind, page = self.server.sent.popleft()
        if kind == "begins":
            self.page = page
        elif kind == "stands at":
            self.at = page
        else:
            self.drawn = page
            self.holds = {widget: self.holds.get(widget, 0) for widget in sorted(BESIDE[page] | OWN[page])}

    def settles(self) -> None:
        while self.server.waits or self.server.sent:
            if self.server.waits:
                self.server.begins(self.server.waits)
            while self.server.sent:
                self.hears()

    def says(self, page: str, *widgets: str, **more: bool | str) -> list[ClientState]:
        """Send it; what is run of it."""
        asked = ClientState(page_script_hash=page, **more)
        asked.context_info.url = f"https://example.org/lab/{'' if self.at == 'start' else self.at}"
        for widget in widgets:
            if widget.startswith(PRESSED):
                asked.widget_states.widgets.add(id=widget, trigger_value=True)
            else:
                asked.widget_states.widgets.add(id=widget, int_value=self.holds[widget])
        before = len(self.server.ran)
        AppSession._handle_rerun_script_request(self.server, asked)  # type: ignore[arg-type]
        return self.server.ran[before:]

    def clicks(self, page: str, back: bool = False) -> None:
        """For a page, or in the browser's history. Who clicks for the page that they see while another is on its way
        stays there, but where the program leads on, or where the browser has gone on since the last click."""
        if page == self.at != self.wanted and (self.led or self.drawn != self.left):
            return
        if page != self.wanted:
            self.wanted, self.left, self.led = page, self.drawn, False
        self.at = page if back else self.at
        beside = [widget for widget in self.holds if widget in BESIDE[self.drawn]]
        (ran,) = self.says(page, *beside, is_history_navigation=back)
        assert ran.page_script_hash == page, "a click for a page leads there"
        if back:
            self.settles()

    def leads(self, page: str) -> None:
        """By the program, where nothing else is asked."""
        if not self.server.waits and not self.server.sent:
            self.wanted, self.led = page, True
            self.server.begins(page)

    def speaks(self, which: int, kind: str) -> None:
        """Of a widget that was changed, of a part where one was, of a button, or of a part that draws itself again.
        Nobody is so fast as to click on and leave a menu to close between two messages with which one run begins."""
        part = PART + self.drawn if kind in ("part", "again") else ""
        if not part and self.page not in (self.at, self.wanted):
            return
        if kind != "again" and self.holds:
            self.changes += 1
            self.holds[sorted(self.holds)[which % len(self.holds)]] = self.changes
        elif kind != "again":
            return
        pressed = [PRESSED + self.drawn] if kind == "button" else []
        ran = self.says(self.page, *self.holds, *pressed, fragment_id=part, is_auto_rerun=kind == "again")
        assert {one.page_script_hash for one in ran} <= {self.wanted}, "what comes late takes nobody back"
        here = self.page == self.wanted
        assert len(ran) == (here or kind != "again"), "what nobody asked for is answered on the page alone"
        for one in ran:
            assert one.fragment_id == (part if here else "")
            assert {widget.id: widget.int_value for widget in one.widget_states.widgets} == {
                **self.holds,
                **dict.fromkeys(pressed if here else [], 0),
            }, "all that was changed is told, and no click on another page"

    def takes(self, step: Step) -> None:
        kind, page, which = step
        if kind in ("click", "back"):
            self.clicks(page, kind == "back")
        elif kind == "leads":
            self.leads(page)
        elif kind == "server" and self.server.waits:
            self.server.begins(self.server.waits)
        elif kind == "browser" and self.server.sent:
            self.hears()
        elif kind == "settles":
            self.settles()
        elif kind not in ("server", "browser"):
            self.speaks(which, kind)


def walked(steps: list[Step]) -> None:
    browser = Browser()
    for step in steps:
        browser.takes(step)
    browser.settles()
    assert (browser.page, browser.at, browser.drawn) == (browser.wanted,) * 3


KINDS = ("click", "back", "leads", "server", "browser", "settles", "change", "part", "button", "again")
STEPS = st.lists(st.tuples(st.sampled_from(KINDS), st.sampled_from(sorted(BESIDE)), st.integers(0, 5)), max_size=25)
WALKS = settings(max_examples=300)


@pytest.fixture
def guarded(monkeypatch: pytest.MonkeyPatch) -> None:
    instead: dict[str, Callable[..., object]] = {
        "_handle_rerun_script_request": Server.take,
        "_create_new_session_message": lambda *_: ForwardMsg(),
    }
    for name, method in instead.items():
        monkeypatch.setitem(left_pages._STREAMLITS, (AppSession, name), method)
        monkeypatch.setattr(AppSession, name, left_pages._OURS[AppSession, name])


def fails(steps: list[Step]) -> bool:
    try:
        walked(steps)
    except AssertionError:
        return True
    return False


def found() -> list[Step] | None:
    """A walk that goes wrong, if there is one."""
    try:
        return find(STEPS, fails, settings=WALKS)
    except NoSuchExample:
        return None


def test_a_click_for_a_page_leads_there_and_nothing_late_takes_anybody_back(guarded: None) -> None:
    assert found() is None


@pytest.mark.parametrize("page", sorted(BESIDE))
@pytest.mark.parametrize("other", sorted(BESIDE))
def test_pages_are_walked_to_and_fro(page: str, other: str, guarded: None) -> None:
    """Each click waits for its page: the third one, for a page without a sidebar, was answered by the one before it."""
    rest: Step = ("settles", "", 0)
    for before in ([], [("change", "", 0)], [("change", "", 0), rest]):
        late: list[Step] = [("change", "", 1), ("button", "", 0), ("again", "", 0)]
        for after in ([], late):
            walked([step for one in (page, other) * 3 for step in (*before, ("click", one, 0), *after, rest)])


def by_widgets(session: object, place: _Place, asked: ClientState, said: dict[str, int]) -> bool:
    return asked.page_script_hash != place.page and not said.items() <= place.beside.items()


def by_address(session: object, place: _Place, asked: ClientState, said: dict[str, int]) -> bool:
    at = asked.context_info.url.rpartition("/")[2] or "start"
    return asked.page_script_hash != place.page and place.page in BESIDE and asked.page_script_hash == at


def by_parts(session: object, place: _Place, asked: ClientState, said: dict[str, int]) -> bool:
    return asked.page_script_hash != place.page and bool(asked.fragment_id)


@pytest.mark.parametrize("rule", [by_widgets, by_address, by_parts])
def test_these_tests_can_fail(rule: Callable[..., bool], guarded: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(left_pages, "_comes_late", rule)
    assert found() is not None
