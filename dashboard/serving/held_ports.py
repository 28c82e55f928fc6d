"""Ports of this computer for replicas, which nobody else can take: whoever starts replicas holds them till the end.

Between two starts of a replica its port would be anybody's, and HAProxy hands visitors, with their cookies and files,
to whatever answers there. What is held is bound and does not listen, so a replica that ended refuses visitors at once;
beside it only sockets of the same user can be bound, and only on purpose (SO_REUSEPORT).
"""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

HOST = "127.0.0.1"


@dataclass(frozen=True, slots=True)
class Held:
    """Ports, and by which sockets they are held: a process that inherits these holds them as long as it lives."""

    ports: list[int]
    sockets: tuple[int, ...]


@contextmanager
def held(count: int) -> Iterator[Held]:
    """So many ports, held meanwhile."""
    with ExitStack() as until_the_end:
        found = [until_the_end.enter_context(_bound(HOST, 0)) for _ in range(count)]
        yield Held([int(one.getsockname()[1]) for one in found], tuple(one.fileno() for one in found))


def listening(address: str, port: int, backlog: int) -> socket.socket:
    """A socket that listens at a port that is held. Raises OSError where somebody else has it."""
    found = _bound(address, port)
    found.listen(backlog)
    found.setblocking(False)
    return found


def listen_at_held() -> None:
    """From now on Streamlit's server listens so; in a replica, before it starts."""
    from streamlit.web.server.starlette import starlette_server

    starlette_server._bind_socket = listening


def _bound(address: str, port: int) -> socket.socket:
    found = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET)
    try:
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        found.bind((address, port))
    except BaseException:
        found.close()
        raise
    return found
