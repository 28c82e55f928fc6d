"""A database's address: read so that nothing of a password ends up in another part of it, and as it may be printed and
kept, without what lets somebody in.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlalchemy import URL

ON_THE_LINE = (
    "must be without a password, which the list of processes would show to everybody on this computer: name the "
    "address in EPSILON_LAB_LEDGER"
)
"""Why ``--ledger`` takes none."""
OF_NO_SESSION = {"prepare_threshold": None}
"""For psycopg: statements are not prepared, for behind a pooler the session in which one was is another's."""
_SECRET = re.compile("password|secret|scram_", re.IGNORECASE)
"""Parameters of an address that PostgreSQL's library takes secrets from: password, sslpassword and the like."""


def read_address(text: str) -> URL:
    """The parts of an address.

    Raises sqlalchemy.exc.ArgumentError, which holds nothing of it, for a text that is no address, and for one of a
    server with a second @: a password that holds one would be taken for a part of the host, and shown.
    """
    from sqlalchemy import make_url
    from sqlalchemy.exc import ArgumentError

    try:
        url = make_url(text)
    except (ArgumentError, ValueError):  # a port that is no number
        raise ArgumentError("no address of a database") from None
    if url.get_backend_name() != "sqlite" and text.count("@") > 1:
        raise ArgumentError("more than one @")
    return url


def holds_secret(text: str) -> bool:
    """Whether an address holds what lets somebody in; False for what is none."""
    from sqlalchemy.exc import ArgumentError

    if "://" not in text:
        return False
    try:
        url = read_address(text)
    except ArgumentError:
        return False
    return bool(url.password) or without_secrets(url).query != url.query


def without_secrets(url: URL) -> URL:
    """``url`` with its password as "***" once it is rendered, and without secrets among its parameters."""
    return url.difference_update_query([name for name in url.query if _SECRET.search(name)])


def shown_address(url: URL) -> str:
    """The text of ``url`` for a screen or a file."""
    return without_secrets(url).render_as_string(hide_password=True)
