"""Whose a session is that the address of a request names: nobody else puts files into it or takes them out.

Streamlit looks at none of it: whoever knows the id of a session, which what a proxy writes down holds, may send it
files, and remove those that no page has taken over yet.
"""

from __future__ import annotations

import asyncio

from starlette.requests import cookie_parser
from streamlit import runtime
from streamlit.runtime.app_session import AppSession

from dashboard.people import login, login_cookie
from dashboard.people.browser_token import browser
from dashboard.runtime import own_sessions
from dashboard.serving.asgi import Scope
from dashboard.serving.heads import is_file, is_of_session
from dashboard.words import server as words
from dpcore.ledger.roles import Person


async def refused(scope: Scope) -> str:
    """Why who asks this may not, in a sentence; "" where they may, and for an address that names no session."""
    if not is_of_session(scope):
        return ""
    _, named, _ = str(scope["path"]).rsplit("/", 2)
    session = _session(named)
    cookies = cookie_parser("; ".join(line.decode("latin-1") for name, line in scope["headers"] if name == b"cookie"))
    if login.configured() is None:
        theirs = session is None or browser(cookies).may_be(own_sessions.began(session))
        return "" if theirs else words.OTHERS_PAGE
    whose, sender = _person(session), login.known(login_cookie.said(cookies))
    if whose is None:
        return words.LOG_IN_FIRST
    if sender is None or sender.subject != whose.subject:
        return words.OTHERS_PAGE
    if is_file(scope):
        from dashboard.background import compute  # where nobody logs in, nothing of it is needed before a page

        return await asyncio.to_thread(compute.no_files_of, whose)
    return ""


def may_ask(session: str) -> bool:
    """Whether files may be made for a session: where there is a login, only for one of somebody who has logged in and
    may still be here."""
    return login.configured() is None or _person(_session(session)) is not None


def _session(named: str) -> AppSession | None:
    """The session of this id, also one whose connection was lost: what was sent to it lies there."""
    if not runtime.exists():
        return None
    info = runtime.get_instance()._session_mgr.get_session_info(named)
    return None if info is None else info.session


def _person(session: AppSession | None) -> Person | None:
    return None if session is None else login.known(session._user_info)
