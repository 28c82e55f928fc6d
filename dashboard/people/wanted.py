"""Where somebody wanted to go before they logged in: their login brings them there, and not to the start page.

The provider's answer is always followed by the start page (``/oauth2callback``). So the page from which somebody goes
to log in, which their browser names (``Referer``), is kept in a cookie of theirs for as long as a login may take. It is
read as text that anybody may have written: what is not the path of a page here, with or without a question mark and
what may stand in a link of ours, counts as nothing, so that no login leads to another server.

What the provider says on the way back comes by the browser, so anybody may have written that as well: of why there is
no login only the word counts that the standard has for it. The login page says why in a sentence of ours, by a word
that the browser keeps for a minute.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Sequence
from urllib.parse import parse_qsl, urlencode, urlsplit

from dashboard.serving.heads import is_of

COOKIE = "epsilon_lab_wanted"
SECONDS = 900
LONGEST = 2500
"""Characters; a browser keeps no cookie above 4,096, and this one is a third longer than what it holds."""
LOGIN, LOGOUT, RETURN = "/auth/login", "/auth/logout", "/oauth2callback"
ERRORS = frozenset(
    {
        *("invalid_request", "unauthorized_client", "access_denied", "unsupported_response_type", "invalid_scope"),
        *("server_error", "temporarily_unavailable", "interaction_required", "login_required", "consent_required"),
        *("account_selection_required", "invalid_request_uri", "invalid_request_object", "request_not_supported"),
        *("request_uri_not_supported", "registration_not_supported", "unmet_authentication_requirements"),
    }
)
"""Why a login came to nothing, in the words of OAuth 2.0 (RFC 6749, 4.1.2.1) and OpenID Connect (Core, 3.1.2.6)."""
OTHER_ERROR = "other_error"
NO_LOGIN, MINUTE = "epsilon_lab_no_login", 60
DENIED, FAILED, AWAY = "denied", "failed", "away"
"""Why a login came to nothing, as its cookie says it."""
_PATH = re.compile(r"/|(?:/[A-Za-z0-9_-]+)+/?")
_QUESTION = re.compile(r"[A-Za-z0-9._~!$'()*+,;:@/?%=&-]*")
_NO_PAGE = ("/_stcore", "/auth", "/oauth2callback", "/media", "/static", "/component")
Headers = Sequence[tuple[bytes, bytes]]


def own(place: str) -> str:
    """``place`` where it is the path of a page here, with what follows its question mark; empty for all else."""
    path, mark, question = place.partition("?")
    if len(place) > LONGEST or not _PATH.fullmatch(path) or not _QUESTION.fullmatch(question):
        return ""
    return "" if any(f"/{part}" in _NO_PAGE for part in path.split("/")) else path + mark + question


def left(headers: Headers, *, secure: bool) -> str:
    """The page of this server from which a browser comes; empty where it is none."""
    said = _one(headers, b"referer")
    if not is_of(said, _one(headers, b"host"), secure=secure):
        return ""
    came = urlsplit(said)
    return own(came.path + (f"?{came.query}" if came.query else ""))


def is_from_here(headers: Headers, *, secure: bool) -> bool:
    """Whether a page of this server leads a browser to what it asks for, to show it: a picture does not. Browsers say
    so themselves where the connection cannot be listened to; elsewhere they name the page, which no other page can do
    for ours."""
    site = _one(headers, b"sec-fetch-site")
    if site:
        return site == "same-origin" and _one(headers, b"sec-fetch-dest") == "document"
    if "text/html" not in _one(headers, b"accept"):
        return False
    return is_of(_one(headers, b"referer"), _one(headers, b"host"), secure=secure)


def kept(headers: Headers) -> str:
    """The page that a browser's cookie names; empty where there is none."""
    found = re.search(rf"(?:^|;\s*){COOKIE}=([A-Za-z0-9_-]*=*)(?:;|$)", _one(headers, b"cookie"))
    try:
        return own(base64.urlsafe_b64decode(found.group(1)).decode("ascii")) if found else ""
    except (binascii.Error, UnicodeDecodeError):
        return ""


def told(question: bytes) -> bytes:
    """What a browser that comes back asks with, and of a login that came to nothing only why: no words of anybody's."""
    said = dict(parse_qsl(question.decode("latin-1"), keep_blank_values=True))
    if "error" not in said:
        return question
    left = {"error": said["error"] if said["error"] in ERRORS else OTHER_ERROR}
    if "state" in said:
        left["state"] = said["state"]
    return urlencode(left).encode("ascii")


def why(question: bytes) -> str:
    """Why who comes back with this has no login, where they have none; empty where they came from no login, as from
    logging out."""
    said = dict(parse_qsl(question.decode("latin-1"), keep_blank_values=True))
    if "error" in said:
        return DENIED if said["error"] == "access_denied" else FAILED
    return FAILED if "state" in said or "code" in said else ""


def cookie(place: str) -> tuple[bytes, bytes]:
    """The header that keeps ``place``, or for an empty one lets go of what was kept."""
    return _kept(COOKIE, base64.urlsafe_b64encode(place.encode("ascii")).decode("ascii"), SECONDS)


def no_login(word: str) -> tuple[bytes, bytes]:
    """The header that keeps why a login came to nothing, or for an empty word lets go of it."""
    return _kept(NO_LOGIN, word, MINUTE)


def _kept(name: str, value: str, seconds: int) -> tuple[bytes, bytes]:
    age = seconds if value else 0
    text = f"{name}={value}; Path=/; Max-Age={age}; HttpOnly; SameSite=Lax"
    return b"set-cookie", text.encode("ascii")


def _one(headers: Headers, name: bytes) -> str:
    return next((value.decode("latin-1") for key, value in headers if key == name), "")
