"""A page that was left empties no other one, and takes no click with it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime.scriptrunner.script_runner import ScriptRunner
from streamlit.runtime.scriptrunner_utils.script_requests import RerunData, ScriptRequests

from benchmarks.people import TOO_LONG, Person
from dashboard.runtime import left_pages
from tests.browser.server import running

SERVER = Path(__file__).with_name("two_pages") / "server.py"


class Browser(Person):
    """Sends what it is told to, and notes which pages begin and which part of one draws itself again."""

    def __init__(self, address: str) -> None:
        super().__init__(address, "")
        self.begun: list[str] = []
        self.part = ""

    async def sends(self, page: str, name: str = "", part: str = "") -> None:
        asked = BackMsg()
        state = asked.rerun_script
        state.page_script_hash, state.page_name, state.fragment_id, state.is_auto_rerun = page, name, part, bool(part)
        await self._connection.send(asked.SerializeToString())

    async def until_drawn(self) -> None:
        while True:
            told = ForwardMsg()
            told.ParseFromString(await asyncio.wait_for(self._connection.recv(decode=False), TOO_LONG))
            kind = told.WhichOneof("type")
            if kind == "new_session":
                self.begun.append(told.new_session.page_script_hash)
            elif kind == "navigation":
                self._page_hash = told.navigation.page_script_hash
            elif kind == "auto_rerun":
                self.part = told.auto_rerun.fragment_id
            elif kind == "script_finished" and told.script_finished == ForwardMsg.FINISHED_SUCCESSFULLY:
                return


async def from_one_to_two(address: str, tries: int) -> tuple[str, str, set[str]]:
    """Both pages, and those that begin once the first is left with its part asked for again. A busy server may take
    what it is sent together, and then nothing of the first page is left: so more than once, until it begins again.
    """
    browser, pages, begun = Browser(address), dict[str, str](), set[str]()
    await browser.arrive()
    while tries and len(begun) < 2:
        for name in ("two", "one"):
            await browser.sends("", name)
            await browser.until_drawn()
            pages[name] = browser._page_hash
        browser.begun.clear()
        await browser.sends(pages["two"])
        await browser.sends(pages["one"], part=browser.part)
        await browser.until_drawn()
        await browser.sends(pages["two"])
        await browser.until_drawn()
        begun.update(browser.begun)
        tries -= 1
    await browser.leave()
    return pages["one"], pages["two"], begun


@pytest.mark.thorough
@pytest.mark.parametrize("guarded", [True, False], ids=["guarded", "as Streamlit does it"])
def test_a_page_that_was_left_begins_no_more(guarded: bool, tmp_path: Path) -> None:
    with running(tmp_path, SERVER, **({} if guarded else {"UNGUARDED": "1"})) as address:
        one, two, begun = asyncio.run(from_one_to_two(address, 3 if guarded else 30))
    assert one != two
    assert begun == ({two} if guarded else {one, two})


@pytest.fixture
def guarded() -> Iterator[None]:
    left_pages.guard()
    yield
    left_pages.unguard()


class Storage:
    def contains(self, part: str) -> bool:
        return part == "there"


class Runner:
    _fragment_storage = Storage()


@pytest.mark.parametrize(
    ("asked", "runs"),
    [
        (RerunData(), True),
        (RerunData(fragment_id_queue=["there"], is_auto_rerun=True), True),
        (RerunData(fragment_id_queue=["gone", "there"], is_auto_rerun=True), True),
        (RerunData(fragment_id_queue=["gone"], is_auto_rerun=True), False),
        (RerunData(fragment_id_queue=["gone"]), True),  # somebody clicked within it
    ],
)
def test_only_what_is_gone_and_nobody_asked_for_is_left_out(
    asked: RerunData, runs: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran: list[RerunData] = []
    monkeypatch.setitem(left_pages._STREAMLITS, (ScriptRunner, "_run_script"), lambda runner, asked: ran.append(asked))
    left_pages._run_what_is_there(Runner(), asked)  # type: ignore[arg-type]
    assert ran == ([asked] if runs else [])


CLICK = RerunData(page_script_hash="two")
AGAIN = RerunData(page_script_hash="one", fragment_id="part", is_auto_rerun=True)


def waiting(*asked: RerunData) -> RerunData:
    requests = ScriptRequests()
    for one in asked:
        assert requests.request_rerun(one)
    return requests.on_scriptrunner_ready().rerun_data


def test_a_click_for_another_page_is_not_lost(guarded: None) -> None:
    assert waiting(CLICK, AGAIN).page_script_hash == "two"
    assert waiting(AGAIN, CLICK).page_script_hash == "two"
    assert waiting(AGAIN).fragment_id_queue == ["part"]
    assert waiting(AGAIN, AGAIN).fragment_id_queue == ["part"]
    left_pages.unguard()
    assert waiting(CLICK, AGAIN).page_script_hash == "one"  # as Streamlit does it
