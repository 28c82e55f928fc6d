"""What a provider of logins says of itself is asked for once in some minutes, and not for each who begins a login.

Streamlit asks for it anew at every step of every login, so whoever sends such requests here, from whatever address, had
this server send as many to the provider; and for each it read anew whom this computer trusts, which took a twentieth of
a second of the one thread that answers everybody. The provider's keys are still asked for by each login that comes
back, so that a key it has given up counts no longer. How many steps of logins one address may make is kept by the gate.

What a browser brings back is handed to no provider but the one whose answer it is (``login.may_answer``). Of whatever a
provider answers no more than ``MOST_SAID`` is read, nor for longer than ``ANSWERED``: one that is in other hands could
answer without an end. Of the logins that a browser has begun it keeps few, and of each no more than its end needs: its
cookie has room for no more.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import cache
from ssl import SSLContext
from typing import Any

from streamlit.web.server.starlette import starlette_auth_routes

from dashboard.people import login

KEPT, ANSWERED = 300.0, 10.0
"""Seconds."""
MOST_SAID = 1 << 18
"""Bytes of an answer; a provider's keys and a token with many groups take a fifth of it."""
MOST_PARTS = 2_000
"""In which it comes: each is work, also one of a byte."""
MOST_KEYS = 50
_OF_KEYS = {"kty": 3, "kid": 500, "use": 10, "alg": 20, "crv": 20, "e": 8, "n": 2800, "x": 100, "y": 100}
"""What is taken of a provider's key, in so many characters at most: numbers of 16,384 bits, and nothing of a private
key, from part of which the rest would be worked out for as long as its sender likes."""
_KINDS = ("RSA", "EC", "OKP")
BEGUN, _STATE = 2, "_state_"
"""Logins that a browser has begun beside the latest, in other tabs say, and how Authlib calls what it keeps of one."""
_create = starlette_auth_routes._create_oauth_client


@dataclass(slots=True)
class _Said:
    """What one provider said last; those who come while it is asked wait for the same answer, or the same failure."""

    metadata: dict[str, Any] = field(default_factory=dict)
    until: float = 0.0
    failed: Exception | None = None
    attempts: int = 0
    asking: asyncio.Lock = field(default_factory=asyncio.Lock)


_said: dict[str, _Said] = {}


def guard() -> None:
    """From now on, in this process. Again does nothing."""
    starlette_auth_routes._create_oauth_client = _knowing


def unguard() -> None:
    """As Streamlit does it; for tests."""
    starlette_auth_routes._create_oauth_client = _create
    _said.clear()


@cache
def _certificates() -> SSLContext:
    """By which a provider is known; read once."""
    import httpx  # here where there is a login

    return httpx.create_ssl_context()


def _bounded(kind: type[Any]) -> type[Any]:
    """A client that reads no more of an answer, packed by nobody, and waits no longer."""
    import httpx  # here where there is a login

    class Bounded(kind):  # type: ignore[misc]
        async def send(self, request: Any, **how: Any) -> Any:
            request.headers["Accept-Encoding"] = "identity"
            async with asyncio.timeout(ANSWERED):
                found = await super().send(request, **{**how, "stream": True})
                try:
                    content = await _read(found)
                finally:
                    await found.aclose()
            return httpx.Response(
                found.status_code, headers=found.headers, content=content, request=found.request, history=found.history
            )

    return Bounded


async def _read(answer: Any) -> bytes:
    """All of an answer. Raises ValueError for one that is longer, or is packed all the same."""
    if answer.headers.get("Content-Encoding", "identity") != "identity":
        raise ValueError("a provider of logins answered what it was not asked for")
    content, parts = bytearray(), 0
    async for part in answer.aiter_bytes():
        content += part
        parts += 1
        if len(content) > MOST_SAID or parts > MOST_PARTS:
            raise ValueError("a provider of logins answered more than is read")
    return bytes(content)


def public(said: Any) -> dict[str, Any]:
    """A provider's keys as they are needed to check what it signed; none of any other form."""
    every = said.get("keys") if isinstance(said, dict) else None
    keys = [one for one in every if isinstance(one, dict)] if isinstance(every, list) else []
    lean = [{name: one[name] for name in _OF_KEYS if name in one} for one in keys[:MOST_KEYS]]
    return {"keys": [one for one in lean if one.get("kty") in _KINDS and all(map(_is_short, one, one.values()))]}


def _is_short(name: str, value: object) -> bool:
    return isinstance(value, str) and len(value) <= _OF_KEYS[name]


async def _ask(here: _Said, load: Callable[[], Awaitable[Any]]) -> None:
    try:
        here.metadata = dict(await load())
        if "jwks" in here.metadata:
            here.metadata["jwks"] = public(here.metadata["jwks"])
    except Exception as error:
        here.failed = error
        raise
    else:
        here.failed, here.until = None, time.monotonic() + KEPT
    finally:
        here.attempts += 1


def _knowing(provider: str) -> tuple[Any, str]:
    """A client of this provider's that asks for what is not known already."""
    client, redirect_uri = _create(provider)
    client.client_kwargs.setdefault("verify", _certificates())  # unless the login's file says others
    client.client_cls = _bounded(client.client_cls)
    load = client.load_server_metadata

    async def known() -> Any:
        here = _said.setdefault(provider, _Said())
        before = here.attempts
        async with here.asking:
            if here.failed is not None and here.attempts > before:
                raise here.failed  # or those who came while a provider hung would wait for it one after another
            if here.until <= time.monotonic():
                await _ask(here, load)
        client.server_metadata.update(here.metadata)
        return await load()  # which asks nobody now, and sets up what follows from it

    authorize = client.authorize_access_token

    async def authorized(request: Any, **more: Any) -> Any:
        if not login.may_answer(provider, request.query_params.get("iss")):
            raise PermissionError("another provider's answer")
        token = await authorize(request, **more)
        if "id_token" not in token:  # what it says of somebody then is signed by nobody
            raise PermissionError("an answer that names nobody")
        return token

    fetch, save = client.fetch_jwk_set, client.save_authorize_data

    async def keys(*asked: Any, **how: Any) -> dict[str, Any]:
        found = client.server_metadata["jwks"] = public(await fetch(*asked, **how))
        return found

    async def begun(request: Any, **data: Any) -> None:
        for old in [name for name in request.session if name.startswith(_STATE)][:-BEGUN]:
            del request.session[old]
        data.pop("url", None)  # where the browser was sent, which it knows
        await save(request, **data)

    client.load_server_metadata, client.authorize_access_token = known, authorized
    client.fetch_jwk_set, client.save_authorize_data = keys, begun
    return client, redirect_uri
