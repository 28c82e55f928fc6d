"""A request that is refused by its head takes a turn of its address, as all others do, before it is answered.

What is no request, is too long, or asks for a page in a way that nobody understands is refused by uvicorn, and never
comes to the gate: whoever sent nothing else was never behind. So the gate is asked for a turn in its place.
Of a head that could not be read one line counts all the same, in which a proxy says for whom it asks: without it, it is
another's than whoever asks for something from where the proxy is.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, MutableMapping, Sequence
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from dashboard.serving.reads import is_proxy
from dpcore.defects import reported

TOLD_AFTER = 5.0
"""Seconds; fewer than of requests (``plain_requests``), since nobody sees that whoever asked has gone."""
KIND = "epsilon_lab.refused"
"""As what the gate is asked for a turn, and what it says when it has come."""
FORWARDED = b"x-forwarded-for"
_FORWARDED = re.compile(rb"^" + FORWARDED + rb":(.*)", re.IGNORECASE | re.MULTILINE)


def said(head: bytes) -> list[tuple[bytes, bytes]]:
    """The headers in which a proxy says for whom it asks, of a head whose other lines may be anything."""
    return [(FORWARDED, found.strip()) for found in _FORWARDED.findall(head)]


def in_turn(
    connection: H11Protocol | WebSocketsSansIOProtocol,
    headers: Sequence[tuple[bytes, bytes]] | None,
    answer: Callable[[], None],
) -> None:
    """Call ``answer`` when it is the turn of who sent a head with these ``headers``; None where none could be read.

    Nothing more is read meanwhile. Where more of them wait than any browsers ask for, it is answered after a while: a
    connection that ended at once began anew at once, and through a balancer was asked again twice. Where it cannot be
    answered it ends, since nobody would ever read that whoever asked has gone.
    """
    connection.transport.pause_reading()
    client = connection.client if headers is not None else _unread(connection)
    scope = {"type": KIND, "path": "", "headers": headers or (), "client": client, "scheme": connection.scheme}

    async def nothing() -> MutableMapping[str, Any]:
        return {"type": "http.disconnect"}

    async def wait() -> None:
        try:
            await answered()
        except Exception as error:  # noqa: BLE001 - it is reported, and the connection is not left open
            reported(error, "answering a request that is refused")
            connection.transport.abort()

    async def answered() -> None:
        come = False

        async def told(message: MutableMapping[str, Any]) -> None:
            nonlocal come
            come = message["type"] == KIND

        await connection.app(scope, nothing, told)
        if connection.transport.is_closing():
            return
        if not come:
            await asyncio.sleep(TOLD_AFTER)
        if not connection.transport.is_closing():
            answer()

    task = connection.loop.create_task(wait())
    connection.tasks.add(task)
    task.add_done_callback(connection.tasks.discard)


def _unread(connection: H11Protocol | WebSocketsSansIOProtocol) -> tuple[str, int] | None:
    """Who counts for a head of which nothing could be read: whoever is connected, unless that may be a proxy."""
    client = connection.client
    if client is not None and is_proxy(connection.app, client[0]):
        return f"{client[0]} unread", client[1]
    return client
