"""The cookie of a login holds what counts of it, is never cut, and is read as a whole or not at all.

Streamlit keeps all that a provider says of somebody, and cuts what is longer than a browser keeps. Each piece is signed
by itself, with nothing that says to which login it belongs, and what is read is their pieces put together: who has two
logins of their own could join the name of the one to the roles of the other. Here nothing is kept but what ``login``
asks for (``login.kept``), which fits; a login of which even that does not fit is refused with a sentence; and a signed
value that only says how many pieces there are counts as one that nobody has signed, wherever one is read.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping
from typing import Any

from starlette.exceptions import HTTPException
from streamlit.auth_util import MAX_COOKIE_BYTES, set_cookie_with_chunks
from streamlit.web.server.starlette import starlette_app_utils, starlette_auth_routes, starlette_websocket
from streamlit.web.server.starlette.starlette_server_config import USER_COOKIE_NAME

from dashboard.people import login
from dashboard.serving.host_cookies import PREFIX
from dashboard.words import login as words

_PIECES = b"chunks-"
"""How a value begins that says how many pieces there are; a login itself is JSON."""
_decode = starlette_app_utils.decode_signed_value
_LOG = logging.getLogger(__name__)


def guard() -> None:
    """From now on, in this process. Again does nothing."""
    _set(_whole, _in_one)


def unguard() -> None:
    """As Streamlit does it; for tests."""
    _set(_decode, set_cookie_with_chunks)


def _set(decode: Callable[..., bytes | None], keep: Callable[..., None]) -> None:
    starlette_app_utils.decode_signed_value = decode  # of whom the websocket asks
    starlette_auth_routes.decode_signed_value = decode  # type: ignore[attr-defined]
    starlette_auth_routes.set_cookie_with_chunks = keep  # type: ignore[attr-defined]


def said(cookies: Mapping[str, str]) -> dict[str, Any]:
    """What a browser's cookie says of who has logged in, as a page that it opens would read it; nothing where it has
    none, or one that nobody here signed."""
    found = starlette_websocket._get_signed_cookie_with_chunks(dict(cookies), USER_COOKIE_NAME)
    told = None if found is None else json.loads(found)
    return told if isinstance(told, dict) else {}


def _whole(secret: str, name: str, value: str | bytes, *more: Any, **options: Any) -> bytes | None:
    """What was signed; None for what nobody here signed, and for what stands in pieces elsewhere."""
    found = _decode(secret, name, value, *more, **options)
    return None if found is None or found.startswith(_PIECES) else found


def _in_one(
    set_one: Callable[[str, str], None],
    sign: Callable[[str, str], bytes],
    name: str,
    value: dict[str, Any],
    *,
    cookie_attr_size: int,
) -> None:
    """Set the cookie that says who somebody is, and not the one of the provider's tokens.

    Raises HTTPException with a sentence where a browser would not keep it, and where it names nobody.
    """
    if name != USER_COOKIE_NAME:
        return
    text = json.dumps(login.kept(value))
    if len(PREFIX) + len(name) + 1 + len(sign(name, text)) + cookie_attr_size > MAX_COOKIE_BYTES:
        _LOG.warning("a login was refused: its subject, nonce and roles are more than a cookie holds")
        raise HTTPException(403, words.TOO_LONG)
    if why := login.refused(value):
        _LOG.warning("a login of the provider %s was refused: %s", value.get("provider"), why)
        raise HTTPException(403, why)
    set_one(name, text)
