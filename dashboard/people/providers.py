"""What a provider of logins says of itself is asked for once in some minutes, and not for each who begins a login.

Streamlit asks for it anew at every step of every login, so whoever sends such requests here, from whatever address, had
this server send as many to the provider; and for each it read anew whom this computer trusts, which took a twentieth of
a second of the one thread that answers everybody. The provider's keys are still asked for by each login that comes
back, so that a key it has given up counts no longer. How many steps of logins one address may make is kept by the gate.

What a browser brings back is handed to no provider but the one whose answer it is (``login.may_answer``).
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

KEPT = 300.0
"""Seconds."""
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


async def _ask(here: _Said, load: Callable[[], Awaitable[Any]]) -> None:
    try:
        here.metadata = dict(await load())
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
        return await authorize(request, **more)

    client.load_server_metadata, client.authorize_access_token = known, authorized
    return client, redirect_uri
