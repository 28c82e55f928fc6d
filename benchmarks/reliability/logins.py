"""A login behind HAProxy, each step of which is answered by another replica, and the replica it began at killed.

It begins at the first of three, comes back from the provider to the second while the first is dead, and is used at the
third: whoever signs and reads the cookies, the login is finished, and leads to the page it was begun on.
"""

from __future__ import annotations

import asyncio
import os
import re
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import patch

import httpx
from streamlit import auth_util
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.web.server.starlette.starlette_server_config import XSRF_COOKIE_NAME

from benchmarks.people import opened
from benchmarks.reliability.outcome import Ground, Outcome
from benchmarks.reliability.soak import PATIENCE, ROOT, replicas, troubles
from dashboard.serving.replicas import COOKIE, free_ports
from dpcore.ledger import Ledger

WANTED = "/budget?epsilon=0.7"


def logging_in(ground: Ground) -> Iterator[Outcome]:
    """The short form leaves it to ``tests/browser/test_login.py``, with one server."""
    if ground.short:
        name = "test_login.py"
        good = (ROOT / "tests" / "browser" / name).is_file()
        yield Outcome(
            check="login at replicas", database="PostgreSQL", tried="left to the tests", found=name, good=good
        )
        return
    from tests.browser.login_server import SECRET, provider

    folder = ground.folder / "logins"
    folder.mkdir()
    url = ground.server.new_schema()
    Ledger.open(url, create=True, journal=folder / "journal").close()
    (port,) = free_ports(1)
    with provider(["anna"]) as issuer:
        file = folder / "login.toml"
        file.write_text(
            f'[auth]\nredirect_uri = "http://127.0.0.1:{port}/oauth2callback"\n'
            f'cookie_secret = "{SECRET}"\nclient_id = "lab"\nclient_secret = "{SECRET}"\n'
            f'server_metadata_url = "{issuer}/.well-known/openid-configuration"\n'
            'client_kwargs = { scope = "openid" }\n'
        )
        place = {"XDG_DATA_HOME": str(folder), "EPSILON_LAB_LEDGER": url, "EPSILON_LAB_WARM_UP": "0"}
        place |= {"EPSILON_LAB_LOGIN": str(file)}
        with patch.dict(os.environ, place), replicas(folder / "log", port) as address:
            with patch.object(auth_util, "get_signing_secret", lambda: SECRET):
                token = auth_util.encode_provider_token("default")
            ended, cookies = _login(address, token, folder / "log")
            shown = asyncio.run(_shown(address, cookies))
    name = f"anna at {issuer}"
    wrong = troubles((folder / "log").read_text(errors="replace"))
    yield Outcome(
        check="login at replicas",
        database="PostgreSQL",
        tried="begun at r1, r1 killed, back from the provider at r2, used at r3",
        found=f"led to {ended}, {'logged in' if name in shown else 'NOT logged in'}, {len(wrong)} troubles in the log",
        good=ended == WANTED and name in shown and not wrong,
    )


def _login(address: str, token: str, log: Path) -> tuple[str, dict[str, str]]:
    """Where the login ends, and the cookies that the browser has then."""
    with httpx.Client(timeout=PATIENCE) as browser:
        browser.cookies.set(COOKIE, "r1", domain="127.0.0.1")
        headers = {"Referer": address + WANTED, "Sec-Fetch-Site": "same-origin", "Sec-Fetch-Dest": "document"}
        asked = browser.get(f"{address}/auth/login", params={"provider": token}, headers=headers)
        granted = httpx.post(asked.headers["location"], data={"sub": "anna"}, timeout=PATIENCE)
        found = re.findall(r"replica r1 at port \d+ is process (\d+)", log.read_text(errors="replace"))
        os.kill(int(found[-1]), signal.SIGKILL)
        _to(browser, "r2")
        back = browser.get(granted.headers["location"])
        _to(browser, "r3")
        browser.get(f"{address}/_stcore/health")  # gives the token by which a page shows that its cookies are its own
        return back.headers["location"], {one.name: one.value or "" for one in browser.cookies.jar}


def _to(browser: httpx.Client, replica: str) -> None:
    browser.cookies.delete(COOKIE)
    browser.cookies.set(COOKIE, replica, domain="127.0.0.1")


async def _shown(address: str, cookies: dict[str, str]) -> str:
    """What a page with these cookies is sent until somebody's name or the way to log in is in it."""
    cookie = "; ".join(f"{name}={value}" for name, value in cookies.items())
    found, until = "", time.monotonic() + PATIENCE
    async with opened(address, cookies[XSRF_COOKIE_NAME], additional_headers={"Cookie": cookie}) as page:
        await page.send(BackMsg(rerun_script=BackMsg().rerun_script).SerializeToString())
        while not re.search(r"anna at http|Log in to Epsilon Lab", found) and time.monotonic() < until:
            message = await asyncio.wait_for(page.recv(), PATIENCE)
            found += message if isinstance(message, str) else message.decode("utf-8", "replace")
    return found
