"""Whose practice budget it is: a random token that this visitor's browser keeps in a cookie, and nobody else has."""

from __future__ import annotations

import re
import secrets

import streamlit as st

from dashboard.budget.held import VISITOR
from dpcore.ledger import Ledger

COOKIE = "epsilon_lab_visitor"
_TOKEN = re.compile(r"[0-9a-f]{32}")
_YEAR = 365 * 24 * 3600


def token() -> str:
    """This visitor's token: from the cookie, else a new one for this session."""
    kept = VISITOR.get()
    if kept is None:
        found = str(st.context.cookies.get(COOKIE, ""))
        kept = found if _TOKEN.fullmatch(found) else secrets.token_hex(16)
        VISITOR.put(kept)
    return kept


def remember() -> None:
    """Let the browser keep the token; a constant script with nothing but the token in it."""
    if st.context.cookies.get(COOKIE) != token():
        st.html(
            f"<script>document.cookie = '{COOKIE}={token()}; path=/; max-age={_YEAR}; SameSite=Lax'</script>",
            unsafe_allow_javascript=True,
        )


def lineage(sample: str) -> str:
    """The lineage of this visitor's practice with one sample."""
    return Ledger.practice_lineage(token(), sample)
