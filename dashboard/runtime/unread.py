"""What waits to be sent to a page that does not read is bounded in bytes, and so is what waits for all of them.

Streamlit keeps the last 500 messages for it, of any length, and keeps them too when it has given the page up.
"""

from __future__ import annotations

from collections import Counter
from typing import Any
from weakref import WeakKeyDictionary

from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime.runtime_util import serialize_forward_msg
from streamlit.runtime.session_manager import SessionClientDisconnectedError
from streamlit.web.server.starlette.starlette_websocket import StarletteSessionClient

VISITOR = "epsilon_lab.visitor"
"""Under which the gate notes the address in a page's scope."""
MOST = 16 << 20
"""Bytes that wait for one page, unless they are one message: a whole page with its charts has one or two million."""
MOST_OF_ALL = 128 << 20
"""Bytes that wait for all pages together. Where there are more, a page is given up of the address that most is waiting
for."""
_waiting: WeakKeyDictionary[StarletteSessionClient, int] = WeakKeyDictionary()
_write = StarletteSessionClient.write_forward_msg


def guard() -> None:
    """From now on, in this process. Again does nothing."""
    StarletteSessionClient.write_forward_msg = _bounded  # type: ignore[assignment, method-assign]


def unguard() -> None:
    """As Streamlit does it; for tests."""
    StarletteSessionClient.write_forward_msg = _write  # type: ignore[method-assign]


def _bounded(client: StarletteSessionClient, msg: ForwardMsg) -> None:
    """Have a message sent. Raises SessionClientDisconnectedError for a page that has left or does not read."""
    write(client, [serialize_forward_msg(msg)])


def write(client: StarletteSessionClient, payloads: list[bytes]) -> None:
    """Have messages sent together, as one entry of what waits. Raises SessionClientDisconnectedError as above."""
    waiting: Any = client._send_queue
    if not client._closed.is_set():
        held = sum(map(len, payloads)) + _held(client)
        if not waiting.full() and (held <= MOST or (waiting.empty() and len(payloads) == 1)):
            waiting.put_nowait(payloads)
            _waiting[client] = held
            _bound_all()
            if not client._closed.is_set():
                return
    _give_up(client)
    raise SessionClientDisconnectedError


def _held(client: StarletteSessionClient) -> int:
    """Bytes that wait for a page."""
    waiting: Any = client._send_queue
    return sum(sum(map(len, entry)) for entry in waiting._queue)


def _bound_all() -> None:
    while sum(_waiting.values()) > MOST_OF_ALL:
        each = Counter[str]()
        for one in list(_waiting):  # some of it was read meanwhile
            _waiting[one] = _held(one)
            each[_whose(one)] += _waiting[one]
        if sum(_waiting.values()) > MOST_OF_ALL:
            most = max(each, key=each.__getitem__)
            _give_up(max((one for one in _waiting if _whose(one) == most), key=_waiting.__getitem__))


def _whose(client: StarletteSessionClient) -> str:
    """From which address a page is open, as the gate noted it."""
    return str(client._websocket.scope.get(VISITOR, ""))


def _give_up(client: StarletteSessionClient) -> None:
    client._closed.set()
    while not client._send_queue.empty():
        client._send_queue.get_nowait()
    _waiting.pop(client, None)
