"""What a run says leaves together: all of it, in order, as the same bytes, and soon."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.NewSession_pb2 import CustomThemeConfig
from streamlit.runtime import app_session
from streamlit.runtime.app_session import AppSession, AppSessionState
from streamlit.runtime.forward_msg_queue import ForwardMsgQueue
from streamlit.runtime.scriptrunner import ScriptRunnerEvent
from streamlit.runtime.scriptrunner_utils.script_requests import ScriptRequestType
from streamlit.web.server.starlette.starlette_websocket import StarletteSessionClient
from uvicorn.protocols.utils import ClientDisconnected
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.frames import Frame, Opcode
from websockets.protocol import State

from benchmarks.people import TOO_LONG, Person
from dashboard.runtime import outgoing, unread
from tests.browser.server import running

SAYS, BEGINS, ENDS = (
    ScriptRunnerEvent.ENQUEUE_FORWARD_MSG,
    ScriptRunnerEvent.SCRIPT_STARTED,
    ScriptRunnerEvent.SCRIPT_STOPPED_WITH_SUCCESS,
)


@pytest.fixture(autouse=True)
def guarded() -> Iterator[None]:
    outgoing.guard()
    yield
    outgoing.unguard()


def named(name: str) -> ForwardMsg:
    """A message in a place of its own: of two in one place the queue keeps the later."""
    return ForwardMsg(ref_hash=name, metadata={"delta_path": [*name.encode()]})


def names(payloads: list[bytes]) -> list[str]:
    return [ForwardMsg.FromString(data).ref_hash for data in payloads]


class Story:
    """A session on a loop of its own, its run, and whoever is connected to it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, loop: asyncio.AbstractEventLoop) -> None:
        self.written: list[list[str]] = []
        self.handled: list[ScriptRunnerEvent] = []
        self.left: list[str] = []
        self.run = SimpleNamespace(
            _requests=SimpleNamespace(_state=ScriptRequestType.CONTINUE),
            _maybe_handle_execution_control_request=lambda: self.handled.append(SAYS),
        )
        session = AppSession.__new__(AppSession)
        session.id = "one"
        session._state = AppSessionState.SHUTDOWN_REQUESTED  # nothing is left to do when it goes
        session._browser_queue = ForwardMsgQueue()
        session._event_loop = loop
        session._scriptrunner = self.run  # type: ignore[assignment]
        session._settled, session._settle_pending = None, False
        session._message_enqueued_callback = None
        self.session = session
        self.run._epsilon_lab_session = session
        monkeypatch.setattr(session, "_handle_scriptrunner_event_on_event_loop", self.handle)
        self.info: Any = None
        manager = SimpleNamespace(get_active_session_info=lambda _: self.info)
        runtime = SimpleNamespace(_session_mgr=manager, disconnect_session=lambda one, client: self.left.append(one))
        monkeypatch.setattr(outgoing, "get_instance", lambda: runtime)
        monkeypatch.setattr(unread, "write", lambda client, payloads: self.written.append(names(payloads)))

    def connect(self) -> None:
        client = StarletteSessionClient.__new__(StarletteSessionClient)
        self.info = SimpleNamespace(client=client, session=self.session, script_run_count=0)

    def handle(self, sender: Any, event: ScriptRunnerEvent, *_: Any, **__: Any) -> None:
        self.handled.append(event)
        if event is ENDS:
            self.session._enqueue_forward_msg(ForwardMsg(script_finished=ForwardMsg.FINISHED_SUCCESSFULLY))
        if event is ScriptRunnerEvent.SCRIPT_STOPPED_FOR_RERUN:
            raise RuntimeError("a defect")

    def says(self, *messages: str) -> None:
        for name in messages:
            outgoing._said(self.run, named(name))  # type: ignore[arg-type]

    def happens(self, event: ScriptRunnerEvent) -> None:
        self.session._on_scriptrunner_event(self.run, event)  # type: ignore[arg-type]


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[Story], Any]], Story]:
    """A story that is told on a loop, until nothing is due any more."""

    def tell(do: Callable[[Story], Any]) -> Story:
        async def all_of_it() -> Story:
            story = Story(monkeypatch, asyncio.get_running_loop())
            told = do(story)
            if asyncio.iscoroutine(told):
                await told
            await asyncio.sleep(3 * outgoing.SOON)
            return story

        return asyncio.run(all_of_it())

    return tell


def test_a_whole_run_is_written_at_once_in_order(told: Callable[..., Story]) -> None:
    def run(story: Story) -> None:
        story.connect()
        story.happens(BEGINS)
        story.says(*map(str, range(100)))
        story.happens(ENDS)

    story = told(run)
    assert story.written == [[*map(str, range(100)), ""]]
    assert story.handled == [BEGINS, ENDS]
    assert story.info.script_run_count == 1


def test_a_run_that_goes_on_is_heard_meanwhile(told: Callable[..., Story]) -> None:
    async def run(story: Story) -> None:
        story.connect()
        story.happens(BEGINS)
        story.says("first")
        await asyncio.sleep(2 * outgoing.SOON)
        assert story.written == [["first"]], "nobody waits for the end"
        story.says("second")

    assert told(run).written == [["first"], ["second"]]


def test_what_many_threads_say_is_said_once_and_in_their_order(told: Callable[..., Story]) -> None:
    async def run(story: Story) -> None:
        story.connect()

        def speak(who: int) -> None:
            for number in range(400):
                story.says(f"{who} {number}")
                if number % 50 == 0:
                    story.happens(ENDS)

        threads = [threading.Thread(target=speak, args=(who,)) for who in range(4)]
        for thread in threads:
            thread.start()
        while any(thread.is_alive() for thread in threads):
            await asyncio.sleep(0.001)

    heard = [name for written in told(run).written for name in written if name]
    assert len(heard) == len(set(heard)) == 1600
    for who in range(4):
        assert [name for name in heard if name.startswith(f"{who} ")] == [f"{who} {n}" for n in range(400)]


def test_whoever_is_away_hears_it_when_they_come_back(told: Callable[..., Story]) -> None:
    async def run(story: Story) -> None:
        story.says("one")
        outgoing._said(story.run, named("two").SerializeToString())  # type: ignore[arg-type]
        await asyncio.sleep(2 * outgoing.SOON)
        assert story.written == []
        assert not story.session._browser_queue.is_empty()
        story.connect()
        assert story.session.flush_browser_queue() == [], "Streamlit's own loop sends nothing that could overtake"

    assert told(run).written == [["one", "two"]]


def test_a_run_that_another_one_took_the_place_of_is_not_heard(told: Callable[..., Story]) -> None:
    def run(story: Story) -> None:
        story.connect()
        story.says("former")
        story.session._scriptrunner = SimpleNamespace()  # type: ignore[assignment]

    assert told(run).written == []


def test_one_event_that_fails_takes_no_other_with_it(told: Callable[..., Story]) -> None:
    def run(story: Story) -> None:
        asyncio.get_running_loop().set_exception_handler(lambda *_: story.left.append("told"))
        story.connect()
        story.says("before")
        story.happens(ScriptRunnerEvent.SCRIPT_STOPPED_FOR_RERUN)
        story.says("after")
        story.happens(ENDS)

    story = told(run)
    assert [name for written in story.written for name in written] == ["before", "after", ""]
    assert story.left == ["told"]


def test_a_run_may_be_ended_wherever_it_says_something(told: Callable[..., Story]) -> None:
    def run(story: Story) -> None:
        story.connect()
        story.run._requests._state = ScriptRequestType.STOP
        story.says("one")

    assert told(run).handled == [SAYS]


@pytest.mark.parametrize("length", [0, 1, 125, 126, 127, 65_535, 65_536, 70_000])
def test_a_frame_is_what_the_library_makes_of_it(length: int) -> None:
    data = bytes(range(256)) * (length // 256) + bytes(length % 256)
    assert outgoing.frame(data) == Frame(Opcode.BINARY, data).serialize(mask=False)


class Page(WebSocketsSansIOProtocol):
    """A connection of which only what is written counts."""

    def __init__(self, state: State = State.OPEN, extensions: tuple[Any, ...] = ()) -> None:
        self.writes: list[bytes] = []
        self.writable = asyncio.Event()
        self.writable.set()
        self.disconnected, self.close_sent, self.initial_response, self.handshake_complete = False, False, None, True
        self.transport: Any = SimpleNamespace(write=self.writes.append)
        self.sent: list[bytes] = []
        self.conn: Any = SimpleNamespace(
            state=state, extensions=extensions, data_to_send=lambda: [], send_binary=self.sent.append
        )


def test_several_messages_are_one_write() -> None:
    async def run() -> Page:
        page = Page()
        await page.send({"type": "websocket.send", "bytes": [b"one", b"two"]})
        return page

    page = asyncio.run(run())
    assert page.writes == [outgoing.frame(b"one") + outgoing.frame(b"two")]


@pytest.mark.parametrize("page", [{"state": State.CLOSING}, {"extensions": ("deflate",)}])
def test_where_the_connection_is_another_each_goes_the_usual_way(page: dict[str, Any]) -> None:
    async def run() -> Page:
        made = Page(**page)
        await made.send({"type": "websocket.send", "bytes": [b"one", b"two"]})
        return made

    assert asyncio.run(run()).sent == [b"one", b"two"]


def test_whoever_is_gone_is_sent_nothing() -> None:
    async def run() -> None:
        page = Page()
        page.disconnected = True
        await page.send({"type": "websocket.send", "bytes": [b"one", b"two"]})

    with pytest.raises(ClientDisconnected):
        asyncio.run(run())


def test_what_waits_together_counts_by_its_bytes() -> None:
    async def run() -> int:
        client = StarletteSessionClient.__new__(StarletteSessionClient)
        client._send_queue, client._closed = asyncio.Queue(500), asyncio.Event()
        for taken in range(100):
            try:
                unread.write(client, [bytes(1 << 19)] * 2)
            except unread.SessionClientDisconnectedError:
                assert client._send_queue.empty()
                return taken
        return 100

    assert asyncio.run(run()) == unread.MOST >> 20


@pytest.mark.parametrize("section", ["theme", "theme.light", "theme.dark", "theme.sidebar"])
def test_the_settings_of_an_appearance_are_the_same(section: str) -> None:
    ours, again, theirs = CustomThemeConfig(), CustomThemeConfig(), CustomThemeConfig()
    app_session._populate_theme_msg(ours, section)
    app_session._populate_theme_msg(again, section)
    outgoing._STREAMLITS[app_session, "_populate_theme_msg"](theirs, section)
    assert ours == again == theirs


class Browser(Person):
    """Keeps where the elements of the run stand that is drawn last."""

    async def places(self, *, asked: int) -> list[tuple[int, ...]]:
        """Ask for so many runs at once; where everything stands that the last of them draws, in order."""
        for _ in range(asked):
            message = BackMsg()
            message.rerun_script.page_script_hash = self._page_hash
            await self._connection.send(message.SerializeToString())
        found: list[tuple[int, ...]] = []
        begun = 0
        while True:
            told = ForwardMsg()
            told.ParseFromString(await asyncio.wait_for(self._connection.recv(decode=False), TOO_LONG))
            kind = told.WhichOneof("type")
            if kind == "new_session":
                begun, found = begun + 1, []
            elif kind in ("delta", "ref_hash"):
                found.append(tuple(told.metadata.delta_path))
            elif kind == "script_finished" and told.script_finished == ForwardMsg.FINISHED_SUCCESSFULLY:
                return found


@pytest.mark.thorough
def test_a_page_is_whole_however_often_it_was_asked_for_meanwhile(tmp_path: Path) -> None:
    async def story(address: str) -> tuple[list[tuple[int, ...]], list[tuple[int, ...]]]:
        browser = Browser(address, "demos")
        await browser.arrive()
        calm = await browser.places(asked=1)
        pressed = await browser.places(asked=6)
        await browser.leave()
        return calm, pressed

    with running(tmp_path, EPSILON_LAB_WARM_UP="0") as address:
        calm, pressed = asyncio.run(story(address))
    assert len(calm) > 30
    assert len(set(calm)) == len(calm), "nothing is sent twice"
    assert pressed == calm
