"""The server: the page's script behind the gate, and what is said and opened when it listens.

``streamlit run dashboard/server.py`` finds ``app``; ``epsilon-lab`` runs it with the shipped settings.
"""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

# `streamlit run dashboard/server.py` puts this folder, not the project's root, on the path.
if str(Path(__file__).resolve().parents[1]) not in sys.path:
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import asyncio
import webbrowser

from starlette.middleware import Middleware
from streamlit import config
from streamlit.starlette import App

from dashboard import replay
from dashboard.background import safe_path
from dashboard.people import login, login_cookie, providers
from dashboard.runtime import (
    ended_logins,
    left_pages,
    left_sessions,
    looked_up,
    loops,
    operations,
    outgoing,
    own_sessions,
    scripts,
    shortcuts,
    unread,
    values,
)
from dashboard.serving import failures, file_threads, frames, lengths, loaded, media, own_pages, settings
from dashboard.serving.gate import Gate
from dashboard.serving.open_files import raise_file_limit
from dashboard.serving.output import say


def address() -> str:
    """Where this computer's own browser finds the page."""
    named = str(config.get_option("server.address") or "127.0.0.1")
    host = "127.0.0.1" if named in ("0.0.0.0", "::", "localhost") else named  # noqa: S104 - compared, not bound
    host = f"[{host}]" if ":" in host else host
    secure = "https" if config.get_option("server.sslCertFile") else "http"
    base = str(config.get_option("server.baseUrlPath") or "").strip("/")
    return f"{secure}://{host}:{config.get_option('server.port')}/{base}"


def has_screen() -> bool:
    """Whether a browser could show anything: without a screen one of text would take the terminal."""
    return not sys.platform.startswith("linux") or any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY"))


@asynccontextmanager
async def begun(served: App) -> AsyncIterator[None]:
    """Around the server's life: more files where the system allows it, what the pages need, and one line that says
    where it listens.
    """
    raise_file_limit()
    safe_path.keep()
    file_threads.guard()
    failures.keep_values_from_the_log()
    values.guard()
    login_cookie.guard()
    media.guard()
    operations.guard()
    own_sessions.guard()
    providers.guard()
    unread.guard()
    frames.guard()
    lengths.guard()
    own_pages.guard()
    left_pages.guard()
    left_sessions.guard()
    looked_up.guard()
    shortcuts.guard()
    outgoing.guard()
    scripts.guard()
    ended_logins.guard()
    loops.guard()
    replay.guard()
    say(address())
    if served.state.get("browser") and has_screen():
        # the socket listens already, and answers as soon as this returns
        asyncio.get_running_loop().run_in_executor(None, webbrowser.open, address())
    loaded.beforehand()
    yield


try:
    settings.check()
except ValueError as error:  # as the command line says it: `streamlit run` alone shows a traceback
    sys.exit(f"epsilon-lab: {error}")
lengths.choose()
app = App(
    Path(__file__).resolve().parent / "app.py",
    secrets=login.secrets(),
    lifespan=begun,
    middleware=[Middleware(Gate)],
    on_script_error=failures.shown,
)
