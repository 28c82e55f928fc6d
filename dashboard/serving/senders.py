"""Whose a session or a file is that the address of a request names: nobody else puts files into it or takes them out.

Streamlit looks at none of it: whoever knows the id of a session, which what a proxy writes down holds, may send it
files, and remove those that no page has taken over yet; and whoever knows the address of a file that was made when it
was clicked is given it, as long as the tab rests, whoever has logged out since.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from starlette.requests import cookie_parser
from streamlit import runtime
from streamlit.runtime.app_session import AppSession

from dashboard.people import login, login_cookie
from dashboard.people.browser_token import browser
from dashboard.runtime import made_files, own_sessions
from dashboard.runtime.made_files import Whose
from dashboard.serving.asgi import Scope
from dashboard.serving.file_rights import FileRights
from dashboard.serving.heads import MEDIA, is_file, is_made, is_of_session, visitor_of
from dashboard.words import server as words
from dpcore.ledger.roles import Person


async def refused(scope: Scope, rights: FileRights) -> str:
    """Why who asks this may not, in a sentence; "" where they may, and for an address that names no session and no file
    that was made for somebody. Raises LedgerError where the ledger would say it and cannot be asked."""
    if is_made(scope):
        those = made_files.MADE.of(_named(str(scope["path"])))
        return words.OTHERS_FILE if those and not _is_one_of(those, _cookies(scope)) else ""
    if not is_of_session(scope):
        return ""
    _, named, _ = str(scope["path"]).rsplit("/", 2)
    session, cookies = _session(named), _cookies(scope)
    if login.configured() is None:
        theirs = session is None or browser(cookies).may_be(own_sessions.began(session))
        return "" if theirs else words.OTHERS_PAGE
    whose, sender = _person(session), login.known(login_cookie.said(cookies))
    if whose is None:
        return words.LOG_IN_FIRST
    if sender is None or sender.subject != whose.subject:
        return words.OTHERS_PAGE
    return await rights.why_not(whose, visitor_of(scope)) if is_file(scope) else ""


def no_files_of(person: Person) -> str:
    """Why somebody may bring no files, in a sentence; "" where they may. The ledger is asked: never in the server's one
    thread. Raises LedgerError where it cannot be."""
    from dashboard.background import compute  # where nobody logs in, nothing of it is needed before a page

    return compute.no_files_of(person)


def may_ask(session: str) -> bool:
    """Whether files may be made for a session: where there is a login, only for one of somebody who has logged in and
    may still be here."""
    return login.configured() is None or _person(_session(session)) is not None


def whose(session: str) -> Whose:
    """Who is at a session now."""
    found = _session(session)
    return Whose() if found is None else Whose(dict(found._user_info), own_sessions.began(found))


def _is_one_of(those: list[Whose], cookies: Mapping[str, str]) -> bool:
    """Whether a request comes from one of those for whom a file was made, who may still be here: with a login by who
    they are, without one by their browser."""
    if login.configured() is None:
        return any(browser(cookies).may_be(one.browser) for one in those)
    sender = login.known(login_cookie.said(cookies))
    there = [login.known(one.said) for one in those]
    return sender is not None and any(one is not None and one.subject == sender.subject for one in there)


def _named(path: str) -> str:
    """The file that an address names, as Streamlit's storage reads it."""
    return os.path.splitext(path.rsplit(MEDIA, 1)[1])[0]


def _cookies(scope: Scope) -> dict[str, str]:
    return cookie_parser("; ".join(line.decode("latin-1") for name, line in scope["headers"] if name == b"cookie"))


def _session(named: str) -> AppSession | None:
    """The session of this id, also one whose connection was lost: what was sent to it lies there."""
    if not runtime.exists():
        return None
    info = runtime.get_instance()._session_mgr.get_session_info(named)
    return None if info is None else info.session


def _person(session: AppSession | None) -> Person | None:
    return None if session is None else login.known(session._user_info)
