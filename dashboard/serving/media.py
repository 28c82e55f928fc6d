"""What a page offers for saving lies under an address that nobody can work out.

Streamlit names such a file by a plain digest of what it holds, and hands it to whoever asks for that name, without a
session or a login. Somebody who knew all rows but one could make every file that a page might offer, and ask which of
them is there. Here the digest is keyed with a secret of this process. It is of all that a file holds: of a large one
Streamlit's is of three pieces, and what is there under a name is handed out for whatever else comes to it.
"""

from __future__ import annotations

import hmac
import json
import secrets
from contextvars import ContextVar

from streamlit.runtime import memory_media_file_storage

FOR: ContextVar[str] = ContextVar("for whom a file is made", default="")
"""The session that has one made at a click: it goes to nobody else (``senders``), so no other file has its name."""
_SECRET = secrets.token_bytes(32)
_plain = memory_media_file_storage._calculate_file_id


def guard() -> None:
    """From now on, in this process. Again does nothing."""
    memory_media_file_storage._calculate_file_id = _keyed


def unguard() -> None:
    """As Streamlit does it; for tests."""
    memory_media_file_storage._calculate_file_id = _plain


def _keyed(data: bytes, mimetype: str, filename: str | None = None) -> str:
    """Of the same form as Streamlit's own; the same for the same file, so that a page that is drawn again finds it."""
    named = json.dumps([len(data), mimetype, filename, FOR.get()])
    digest = hmac.new(_SECRET, named.encode(), "sha256")
    digest.update(data)
    return digest.hexdigest()
