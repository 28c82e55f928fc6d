"""Uploaded files on their way: how many, how large and how slow those of one session, of one address and of all may be.

Streamlit keeps any number of files that a script sends without a form, until the session ends.
"""

from __future__ import annotations

import asyncio
import logging
import time
from dataclasses import dataclass

from starlette.exceptions import HTTPException
from streamlit import runtime
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager

from dashboard import machine_memory
from dashboard.serving import open_files, upload_form
from dashboard.serving.answers import answer, with_headers
from dashboard.serving.asgi import Asgi, Message, Receive, Scope, Send
from dashboard.serving.heads import header, size, visitor_of
from dashboard.serving.pace import EACH
from dashboard.serving.settings import number
from dashboard.words import server as words

_LOG = logging.getLogger(__name__)
_File = tuple[str, str]
"""A session and the name of a file in it."""
FILES_EACH = 3
"""Uploaded files that one session may have lying here before a page takes them over, which it does at once."""
FILES_AT_ONCE = 500
"""Files on their way, of all sessions together: one for each page that may be open. Each holds a connection, and one of
more than 1 MB a file on the disk."""
MOST_BYTES, SHARE = 1 << 30, 1 / 8
"""Bytes of uploaded files that lie here or are on their way, of all sessions together; EPSILON_LAB_UPLOADS in MB."""
LIES = 60.0
"""Seconds after which a file that no page has taken over may be removed, where another has no room."""
ARRIVES = 600.0
"""Seconds that a file may be on its way: 200 MB at 2.7 Mbit/s."""
LEAST, WHILE = 1_000_000, 60.0
"""Bytes of a file that have to come in so many seconds, or it gives up its room: 130 kbit/s."""
TAKES = 2.0
"""Seconds within which a file that ended is in memory."""
PIECES = 1 << 14
"""Into so many pieces that room falls: a file is compared with all others at each that came, not at each byte."""


@dataclass(slots=True, eq=False)
class _Arriving:
    """A file on its way: for whom, from which address, and how much of it is here."""

    session: str
    visitor: str
    bytes: int = 0
    compared: int = 0


class Uploads:
    """The files that are on their way to one server, and those that lie there until a page takes them over."""

    def __init__(self, app: Asgi, most_bytes: int | None = None, files: open_files.Left | None = None) -> None:
        self._app, self._files = app, files or open_files.Left()
        self._most_bytes = most_bytes or most_together()
        self._arriving: list[_Arriving] = []
        self._ended: list[tuple[float, int]] = []  # when, and how large: those that are just being taken into memory
        self._came: dict[_File, tuple[float, str]] = {}  # when a file that lies here came, and from which address

    async def take(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One uploaded file, for as long as it is on its way. It counts as what came of it, not as what it says."""
        _, session, name = str(scope["path"]).rsplit("/", 2)
        lying = sum(owner == session for owner, _ in _lying())
        if lying + sum(one.session == session for one in self._arriving) >= FILES_EACH:
            await answer(send, 429, words.TOO_MANY_FILES)
            return
        mark = upload_form.mark_of(header(scope, b"content-type"))
        if mark is None:
            await answer(send, 400, words.NOT_AS_A_BROWSER)
            return
        here, form = _Arriving(session, visitor_of(scope)), upload_form.OnePart(mark)
        if not self._has_place(here.visitor) or not self._has_room(size(scope), here.visitor):
            await answer(send, 503, words.TOO_MUCH_AT_ONCE)
            return
        now = asyncio.get_running_loop().time
        end, until, enough = now() + ARRIVES, now() + WHILE, LEAST

        async def counted() -> Message:
            nonlocal until, enough
            try:
                async with asyncio.timeout_at(min(end, until)):
                    message = await receive()
            except TimeoutError:
                raise HTTPException(408, words.TOO_SLOW) from None
            piece = message.get("body", b"")
            here.bytes += len(piece)
            if here.bytes - here.compared >= self._most_bytes // PIECES or not message.get("more_body", False):
                here.compared = here.bytes
                ends = not message.get("more_body", False)
                if not self._has_room(0, here.visitor) or (ends and not self._can_end(here.bytes)):
                    raise HTTPException(503, words.TOO_MUCH_AT_ONCE)
            if not form.goes_on_with(piece):
                raise HTTPException(400, words.NOT_AS_A_BROWSER)
            if here.bytes >= enough:
                until, enough = now() + WHILE, here.bytes + LEAST
            return message

        self._arriving.append(here)
        try:
            await self._app(scope, counted, with_headers(scope, send))
        except OSError as error:  # a large file lies on the disk on its way, before anything is answered
            _LOG.warning("a file was not taken: %s", error.strerror)
            await answer(send, 507, words.NOT_TAKEN_BY_DISK)
        finally:
            self._arriving.remove(here)
            self._came[session, name] = time.monotonic(), here.visitor

    def _can_end(self, size: int) -> bool:
        """Whether a file that is here has room in memory, where it is taken now, with those that were just before."""
        now = time.monotonic()
        self._ended = [(at, one) for at, one in self._ended if now - at < TAKES]
        if not machine_memory.has_room(size + sum(one for _, one in self._ended)):
            return False
        self._ended.append((now, size))
        return True

    def held(self, visitor: str) -> int:
        """Bytes of an address that are on their way or lie here."""
        lying = sum(size for file, size in _lying().items() if self._came.get(file, (0.0, ""))[1] == visitor)
        return lying + sum(one.bytes for one in self._arriving if one.visitor == visitor)

    def let_go(self) -> None:
        """Remove what lies here longer than a page needs to take it over: the memory is needed."""
        now = time.monotonic()
        for file in _lying():
            if now - self._came.get(file, (now, ""))[0] > LIES:
                _remove(file)

    def _has_place(self, visitor: str) -> bool:
        """Whether one more file may be on its way from an address, which has its share of the places at most, and there
        are file descriptors for it."""
        mine = sum(one.visitor == visitor for one in self._arriving)
        if len(self._arriving) >= FILES_AT_ONCE or mine >= int(EACH * FILES_AT_ONCE):
            return False
        return not self._files.few()

    def _has_room(self, more: int, visitor: str) -> bool:
        """Whether so many ``more`` bytes may come from an address, which has its share at most.

        For them the largest files that no page takes over give way. None may where the computer has nothing left.
        """
        if machine_memory.is_short():
            return False
        lying, now = _lying(), time.monotonic()
        self._came = {file: self._came.get(file, (now, "")) for file in lying}
        gone: list[_File] = []
        for whose, most in ((visitor, EACH * self._most_bytes), (None, self._most_bytes)):
            files = [file for file in lying if file not in gone and whose in (None, self._came[file][1])]
            arriving = sum(one.bytes for one in self._arriving if whose in (None, one.visitor))
            over = sum(lying[file] for file in files) + arriving + more - most
            for file in sorted(files, key=lambda file: -lying[file]):
                if over > 0 and now - self._came[file][0] > LIES:
                    gone.append(file)
                    over -= lying[file]
            if over > 0:
                return False
        for file in gone:
            _remove(file)
        return True


def most_together() -> int:
    """Bytes of uploaded files that lie here or are on their way, of all sessions together."""
    usual = min(MOST_BYTES, int(SHARE * machine_memory.given()))
    return number("EPSILON_LAB_UPLOADS", usual >> 20) << 20


def _manager() -> MemoryUploadedFileManager | None:
    found = runtime.get_instance().uploaded_file_mgr if runtime.exists() else None
    return found if isinstance(found, MemoryUploadedFileManager) else None


def _lying() -> dict[_File, int]:
    """The files that lie here until a page takes them over, and how many bytes each has."""
    manager = _manager()
    if manager is None:
        return {}
    # copied at once: pages take files away in other threads
    held = [(session, list(files.values())) for session, files in list(manager.file_storage.items())]
    return {(session, file.file_id): len(file.data) for session, files in held for file in files}


def _remove(file: _File) -> None:
    manager = _manager()
    if manager is not None:
        session, name = file
        manager.remove_file(session_id=session, file_id=name)
