"""A database's address as it may be printed and kept: without what lets somebody in."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlalchemy import URL

_SECRET = re.compile("password|secret|scram_", re.IGNORECASE)
"""Parameters of an address that PostgreSQL's library takes secrets from: password, sslpassword and the like."""


def without_secrets(url: URL) -> URL:
    """``url`` with its password as "***" once it is rendered, and without secrets among its parameters."""
    return url.difference_update_query([name for name in url.query if _SECRET.search(name)])


def shown_address(url: URL) -> str:
    """The text of ``url`` for a screen or a file."""
    return without_secrets(url).render_as_string(hide_password=True)
