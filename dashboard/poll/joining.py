"""How phones find a room: its address, made from the one the speaker's page was opened under, and the QR code of it."""

from __future__ import annotations

from urllib.parse import urlsplit

import segno
import streamlit as st

from dashboard.poll.rooms import shown_code

PARAMETER = "join"
_LOCAL = {"localhost", "127.0.0.1", "::1", "0.0.0.0"}  # noqa: S104 - names, not something to listen on


def base(url: str, page: str) -> str:
    """The product's own address, from that of one of its pages: without the page and its question mark."""
    parts = urlsplit(url)
    path = parts.path.rstrip("/").removesuffix(f"/{page}").rstrip("/")
    return f"{parts.scheme}://{parts.netloc}{path}/"


def address(at: str, code: str) -> str:
    """What the QR code holds: opening it joins."""
    return f"{at}?{PARAMETER}={shown_code(code)}"


def typed(at: str) -> str:
    """The short address to type, which asks for the code."""
    return f"{at.split('://', 1)[-1]}?{PARAMETER}"


def local(url: str) -> bool:
    """Whether only this computer knows this address."""
    return (urlsplit(url).hostname or "localhost") in _LOCAL


def here(page: str) -> str:
    """The product's address as this browser sees it."""
    return base(st.context.url or "http://localhost:8501/", page)


def qr(text: str) -> str:
    """A QR code as SVG, dark on light with its quiet zone in both appearances; made here, nothing is fetched."""
    svg: str = segno.make(text, error="m", micro=False).svg_inline(
        scale=8, border=4, dark="#000000", light="#ffffff", omitsize=True
    )
    return svg.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1)
