"""How phones find a room: its address, made from the one the speaker's page was opened under, and the QR code of it."""

from __future__ import annotations

import socket
from collections.abc import Sequence
from urllib.parse import urlsplit, urlunsplit

import segno
import streamlit as st

from dashboard.people.visitors import is_here
from dashboard.poll.codes import GO, PARAMETER, shown_code
from dashboard.serving.container import in_container

_LOCAL = {"localhost", "127.0.0.1", "::1", "0.0.0.0"}  # noqa: S104 - names, not something to listen on


def base(url: str, page: str) -> str:
    """The product's own address, from that of one of its pages: without the page and its question mark."""
    parts = urlsplit(url)
    path = parts.path.rstrip("/").removesuffix(f"/{page}").rstrip("/")
    return f"{parts.scheme}://{parts.netloc}{path}/"


def address(at: str, code: str, *, go: str = "") -> str:
    """What the QR code holds: opening it joins; with the proof ``go`` (``along``) also from another replica."""
    return f"{at}?{PARAMETER}={shown_code(code)}{f'&{GO}={go}' if go else ''}"


def typed(at: str) -> str:
    """The short address to type, which asks for the code."""
    return f"{at.split('://', 1)[-1]}?{PARAMETER}"


def local(url: str) -> bool:
    """Whether only this computer knows this address."""
    return (urlsplit(url).hostname or "localhost") in _LOCAL


def outside(at: str, names: Sequence[str]) -> str:
    """``at`` under a name that others know: the first of the server's ``names`` that is not this computer's own.

    The name that the computer gives itself comes last, since phones seldom know it, and in a container never.
    Unchanged where there is none.
    """
    own = socket.gethostname()
    known = [name for name in names if name != "*" and not is_here(name) and not (name == own and in_container())]
    known.sort(key=lambda name: name == own)
    parts = urlsplit(at)
    if not known or not local(at):
        return at
    name = f"[{known[0]}]" if ":" in known[0] else known[0]
    return urlunsplit(parts._replace(netloc=name if parts.port is None else f"{name}:{parts.port}"))


def here(page: str) -> str:
    """The product's address as this browser sees it."""
    return base(st.context.url or "http://localhost:8501/", page)


def for_phones(page: str) -> str:
    """The product's address as phones see it; a local one where the server listens for this computer alone.

    Then a name of it is that of a proxy, whose port and scheme are not known here.
    """
    at = here(page)
    if is_here(st.get_option("server.address") or ""):
        return at
    return outside(at, st.get_option("server.allowedHosts") or ())


def qr(text: str) -> str:
    """A QR code as SVG, dark on light with its quiet zone in both appearances; made here, nothing is fetched."""
    svg: str = segno.make(text, error="m", micro=False).svg_inline(
        scale=8, border=4, dark="#000000", light="#ffffff", omitsize=True
    )
    return svg.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1)
