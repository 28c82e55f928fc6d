"""A random token that one browser keeps in a cookie, and nobody else has."""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass

import streamlit as st

from dashboard.session import Slot

_TOKEN = re.compile(r"[0-9a-f]{32}")


@dataclass(frozen=True, slots=True)
class BrowserToken:
    """The token in ``cookie``, held in ``slot`` while a session lasts, and by the browser for ``seconds``."""

    cookie: str
    slot: Slot[str | None]
    seconds: int

    def value(self) -> str:
        """From the cookie, else a new one for this session."""
        kept = self.slot.get()
        if kept is None:
            found = str(st.context.cookies.get(self.cookie, ""))
            kept = found if _TOKEN.fullmatch(found) else secrets.token_hex(16)
            self.slot.put(kept)
        return kept

    def remember(self) -> None:
        """Let the browser keep it: a constant script with nothing but the token in it."""
        if st.context.cookies.get(self.cookie) != self.value():
            st.html(
                f"<script>document.cookie = '{self.cookie}={self.value()}; path=/; max-age={self.seconds}; "
                "SameSite=Lax'</script>",
                unsafe_allow_javascript=True,
            )
