"""A random token that one browser keeps in a cookie, and nobody else has.

The answer to a page brings it, before a session of that page begins: two tabs that are opened at one moment would each
make one of their own, act by it, and have the browser keep it over the other's.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import streamlit as st
from starlette.requests import cookie_parser
from streamlit.web.server.starlette.starlette_app_utils import decode_xsrf_token_string
from streamlit.web.server.starlette.starlette_server_config import XSRF_COOKIE_NAME

from dashboard.serving.host_cookies import PREFIX
from dashboard.session import Slot

TOKEN_LENGTH = 32
_TOKEN = re.compile(rf"[0-9a-f]{{{TOKEN_LENGTH}}}")


@dataclass(frozen=True, slots=True)
class Cookie:
    """A cookie of such a token, which a browser keeps for ``seconds``; over TLS by a name with a prefix, which nobody
    behind the gate sees (``serving.host_cookies``)."""

    name: str
    seconds: int

    def held(self, headers: Iterable[tuple[bytes, bytes]]) -> bool:
        """Whether a browser has it, by the head of its request: of several of this name it is the one that a session
        reads, the last."""
        found = "; ".join(value.decode("latin-1") for name, value in headers if name == b"cookie")
        return self.token(cookie_parser(found).get(self.name, "")) is not None

    @staticmethod
    def token(found: str) -> str | None:
        """What stands in it, if it is a token of ours."""
        return found if _TOKEN.fullmatch(found) else None

    def header(self) -> tuple[bytes, bytes]:
        """Has a browser keep a new one, which no script of its pages reads."""
        text = f"{self.name}={_made()}; Path=/; Max-Age={self.seconds}; HttpOnly; SameSite=Lax"
        return b"set-cookie", text.encode("ascii")


VISITOR = Cookie("epsilon_lab_visitor", 365 * 24 * 3600)
"""Whose practice it is, and who speaks to a room."""
PHONE = Cookie("epsilon_lab_phone", 4 * 3600)
"""Which phone of a room it is: for twice as long as a room lasts."""


@dataclass(frozen=True, slots=True)
class Browser:
    """What tells a browser from others: its visitor's token, and the one that it has against forged requests; "" for
    one that it has not."""

    visitor: str
    against_forgery: str

    def may_be(self, other: Browser) -> bool:
        """Whether it can be that one: by the token of that one which is ours, else by what it has. Nobody's browser has
        neither."""
        if other.visitor:
            return self.visitor == other.visitor
        return other.against_forgery in ("", self.against_forgery)


UNKNOWN = Browser("", "")


def browser(cookies: Mapping[str, str]) -> Browser:
    """The one that has these cookies."""
    against_forgery, _ = decode_xsrf_token_string(cookies.get(XSRF_COOKIE_NAME, ""))
    visitor = Cookie.token(cookies.get(VISITOR.name, ""))
    return Browser(visitor or "", (against_forgery or b"").hex())


@dataclass(frozen=True, slots=True)
class BrowserToken:
    """The token in a ``cookie``, held in ``slot`` while a session lasts."""

    cookie: Cookie
    slot: Slot[str | None]

    def value(self) -> str:
        """From the cookie, else a new one for this session."""
        kept = self.slot.get()
        if kept is None:
            kept = Cookie.token(str(st.context.cookies.get(self.cookie.name, ""))) or _made()
            self.slot.put(kept)
        return kept

    def remember(self) -> None:
        """Let a browser that came without it keep it: a constant script with nothing but the token in it. What another
        tab of the browser has kept since stays."""
        if st.context.cookies.get(self.cookie.name) != self.value():
            name, age = self.cookie.name, self.cookie.seconds
            st.html(
                "<script>{ const tls = location.protocol === 'https:', "
                f"name = `${{tls ? '{PREFIX}' : ''}}{name}=`; "
                "if (!document.cookie.split('; ').some((one) => one.startsWith(name))) document.cookie = "
                f"`${{name}}{self.value()}; path=/; max-age={age}; SameSite=Lax${{tls ? '; Secure' : ''}}` }}</script>",
                unsafe_allow_javascript=True,
            )


def _made() -> str:
    return secrets.token_hex(TOKEN_LENGTH // 2)
