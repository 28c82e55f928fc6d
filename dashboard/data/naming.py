"""Names by which a page's controls tell apart what a file holds, and what is declared of it.

They are written into the page, so they are keyed: no guess of a row may be tested on a page that somebody saved.
"""

from __future__ import annotations

import hmac
import secrets

_KEY = secrets.token_bytes(32)  # of this process alone


def named(what: str | bytes) -> str:
    """Twelve characters, the same for the same ``what`` as long as this server runs."""
    data = what if isinstance(what, bytes) else what.encode("utf-8", "surrogatepass")
    return hmac.digest(_KEY, data, "sha256").hex()[:12]
