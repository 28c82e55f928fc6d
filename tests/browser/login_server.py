"""A provider of OpenID Connect on this computer, and the product that asks it who people are."""

from __future__ import annotations

import json
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.browser.server import free_port, running

SECRET = "0123456789abcdef" * 2


@contextmanager
def provider(people: Sequence[str], **more: Mapping[str, Any]) -> Iterator[str]:
    """A provider that knows these people, each of whom gets in with a click, and says ``more`` of some; yields its
    address."""
    port = free_port()
    command = [sys.executable, "-m", "oidc_provider_mock", "--port", str(port), "--require-nonce", "true"]
    claims = (json.dumps({"sub": name, **said}) for name, said in more.items())
    process = subprocess.Popen(
        [
            *command,
            *(part for name in people for part in ("--user", name)),
            *(part for said in claims for part in ("--user-claims", said)),
        ],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    address = f"http://127.0.0.1:{port}"
    try:
        for _ in range(600):
            if process.poll() is not None:
                raise RuntimeError("the provider ended at its start")
            try:
                urllib.request.urlopen(f"{address}/.well-known/openid-configuration", timeout=2).close()
                break
            except OSError:
                time.sleep(0.1)
        yield address
    finally:
        process.terminate()
        process.wait(timeout=20)


@contextmanager
def product(folder: Path, issuer: str, lab: str = "") -> Iterator[str]:
    """The product with a login at this provider, and what else stands in its file; yields its address."""
    file = folder / "login.toml"
    file.write_text(
        "[auth]\n"
        'redirect_uri = "http://127.0.0.1:{port}/oauth2callback"\n'
        f'cookie_secret = "{SECRET}"\nclient_id = "lab"\nclient_secret = "{SECRET}"\n'
        f'server_metadata_url = "{issuer}/.well-known/openid-configuration"\n'
        'client_kwargs = { scope = "openid" }\n'
        f"{lab}"
    )
    with running(folder, EPSILON_LAB_LOGIN=str(file)) as address:
        yield address
