"""A page that asks and does not read holds no more of this server's memory than a page needs."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest
from starlette.websockets import WebSocket
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime.session_manager import SessionClientDisconnectedError
from streamlit.web.server.starlette.starlette_websocket import StarletteSessionClient

from dashboard.runtime import unread

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
