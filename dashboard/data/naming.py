"""Names by which a page's controls tell apart what a file holds, and what is declared of it.

They are written into the page, so they are keyed: no guess of a row may be tested on a page that somebody saved.
"""

from __future__ import annotations

import hmac
import secrets

from dashboard.data.held import NAMING, OWN_NUMBER

_WITHIN = secrets.token_bytes(32)  # of this process alone


def named(what: str | bytes) -> str:
    """Twelve characters, the same for the same ``what`` as long as this session lasts, and others in every other one:
    whoever brings a guess of the whole file to this server gets another name, right or wrong."""
    return _keyed(NAMING.once(), what)


def about(key: str) -> str:
    """The key of a control that says something of the table that the session holds: another one for each, whatever
    columns several have, so that nothing that was set, ticked or typed of one stands at the next."""
    number = OWN_NUMBER.get()
    return f"{key}-of-{number}" if number else key


def another() -> None:
    """Another table takes the place of the one that the session held."""
    OWN_NUMBER.put(OWN_NUMBER.get() + 1)


def named_within(what: str) -> str:
    """As ``named``, the same for all sessions of this server: for what is compared between windows of one person, and
    written into no page, link or file."""
    return _keyed(_WITHIN, what)


def _keyed(key: bytes, what: str | bytes) -> str:
    data = what if isinstance(what, bytes) else what.encode("utf-8", "surrogatepass")
    return hmac.digest(key, data, "sha256").hex()[:12]
