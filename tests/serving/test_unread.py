"""A page that asks and does not read holds no more of this server's memory than a page needs."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from types import SimpleNamespace

import pytest
from starlette.websockets import WebSocket
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime.session_manager import SessionClientDisconnectedError
from streamlit.web.server.starlette.starlette_websocket import StarletteSessionClient

from dashboard.runtime import unread
from dashboard.runtime.scripts import VISITOR

MEGABYTE = ForwardMsg(ref_hash="x" * (1 << 20))


@pytest.fixture(autouse=True)
def guarded() -> Iterator[None]:
    unread.guard()
    yield
    unread.unguard()


def told(*messages: ForwardMsg, reads: bool = False) -> tuple[int, int]:
    """How many of these messages were taken for a page before it was given up, and how many of them stay."""

    async def story() -> tuple[int, int]:
        sent = 0

        async def send(message: object) -> None:
            nonlocal sent
            sent += 1
            if not reads and sent > 1:
                await asyncio.Event().wait()

        async def receive() -> dict[str, str]:
            return {"type": "websocket.connect"}

        page = WebSocket({"type": "websocket", "headers": []}, receive, send)  # type: ignore[arg-type]
        await page.accept()
        client, taken = StarletteSessionClient(page), 0
        try:
            for message in messages:
                client.write_forward_msg(message)
                taken += 1
                await asyncio.sleep(0)
        except SessionClientDisconnectedError:
            with pytest.raises(SessionClientDisconnectedError):
                client.write_forward_msg(ForwardMsg())
        held = client._send_queue.qsize()
        await client.aclose()
        return taken, held

    return asyncio.run(story())


def test_what_a_page_does_not_read_is_let_go_with_the_page() -> None:
    taken, held = told(*[MEGABYTE] * 40)
    assert taken <= (unread.MOST >> 20) + 1
    assert held == 0
    assert told(*[ForwardMsg()] * 600)[1] == 0, "and so it is where there are too many, whatever their length"


def test_who_reads_is_told_all_and_one_message_may_be_long() -> None:
    assert told(*[MEGABYTE] * 40, reads=True)[0] == 40
    assert told(ForwardMsg(), ForwardMsg(ref_hash="x" * (unread.MOST + 1)))[0] == 2


def test_without_the_guard_all_of_it_stays() -> None:
    """What shows that the tests above can fail."""
    unread.unguard()
    assert told(*[MEGABYTE] * 40)[1] >= 38


class Page:
    """A page that reads nothing, as far as what waits for it is looked at."""

    def __init__(self, visitor: str = "") -> None:
        self._websocket = SimpleNamespace(scope={VISITOR: visitor})
        self._send_queue: asyncio.Queue[list[bytes]] = asyncio.Queue(500)
        self._closed = asyncio.Event()


def test_what_waits_for_all_pages_is_bounded_and_the_page_goes_that_most_is_waiting_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each of four hundred pages of an address could have 16 MB waiting: eighty of them ended a server."""
    monkeypatch.setattr(unread, "MOST_OF_ALL", 1000)
    monkeypatch.setattr(unread, "_waiting", type(unread._waiting)())
    pages = [Page("a"), Page("b"), Page("b"), Page("c")]

    def write(place: int, size: int) -> None:
        unread.write(pages[place], [bytes(size)])  # type: ignore[arg-type]

    write(0, 300)
    write(1, 200)
    write(1, 250)
    write(2, 200)
    assert not any(page._closed.is_set() for page in pages)
    pages[1]._send_queue.get_nowait()  # it reads after all
    write(2, 200)
    assert not any(page._closed.is_set() for page in pages), "950 wait"
    write(3, 100)
    assert [page._closed.is_set() for page in pages] == [False, False, True, False], "of whose pages most waits for"
    assert pages[2]._send_queue.empty()
    with pytest.raises(SessionClientDisconnectedError):
        write(3, 1001)
    assert [page._closed.is_set() for page in pages] == [False, False, True, True]
    write(0, 100)
    assert sum(unread._waiting.values()) == 650
