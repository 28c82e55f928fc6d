"""What a browser asks for without a run of its page: nobody is given it who is not logged in any more."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from streamlit.proto.BackMsg_pb2 import BackendOperationRequest
from streamlit.runtime import media_file_manager
from streamlit.runtime.backend_operation_handler import BackendOperationDispatcher, DeferredFileHandler
from streamlit.runtime.media_file_manager import MediaFileManager
from streamlit.runtime.memory_media_file_storage import MemoryMediaFileStorage

from dashboard import gate, logged_out, login, operations
from dashboard.words import login as words
from tests.put_back import changed_in_streamlit
from tests.serving.test_login_cookie import ISSUER, SETTINGS

Ask = Callable[[str, str], str]


def said(**more: Any) -> dict[str, Any]:
    told = {"is_logged_in": True, "sub": "olga", "iss": ISSUER, "iat": int(time.time()), "provider": login.DEFAULT}
    return told | {"nonce": "1"} | more


@pytest.fixture
def sessions(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, dict[str, Any]]]:
    """What is known of the people of the open pages of a guarded server."""
    people: dict[str, dict[str, Any]] = {}

    def page(session: str) -> SimpleNamespace | None:
        return SimpleNamespace(_user_info=people[session]) if session in people else None

    served = SimpleNamespace(exists=lambda: True, get_instance=lambda: SimpleNamespace(get_app_session=page))
    monkeypatch.setattr(gate, "runtime", served)
    monkeypatch.setattr(logged_out, "_ended", {})
    operations.guard()
    yield people
    changed_in_streamlit()
    login._read.cache_clear()


@pytest.fixture
def ask(monkeypatch: pytest.MonkeyPatch) -> Ask:
    """What a session is told that asks for a file, or for rows; nothing where it is given them."""
    monkeypatch.setattr(media_file_manager, "_get_session_id", lambda: "a session")
    files = MediaFileManager(MemoryMediaFileStorage("/media"))
    name = files.add_deferred(lambda: b"a report", "application/pdf", "1.1.1")
    dispatcher = BackendOperationDispatcher()
    for kind in gate.OPERATIONS:
        dispatcher.register(kind, DeferredFileHandler(lambda: files))

    def go(session: str, kind: str) -> str:
        asked = BackendOperationRequest(request_id="1")
        asked.dataframe_chunk.offset = 0
        if kind == "deferred_file":
            asked.deferred_file.file_id = name
        monkeypatch.setattr(DeferredFileHandler, "handle", given if kind == "dataframe_chunk" else handle)
        return asyncio.run(dispatcher.dispatch(asked, session)).error_msg

    async def given(_: Any, request: Any, __: str) -> Any:
        return operations.BackendOperationResponse(request_id=request.request_id)

    handle = DeferredFileHandler.handle
    return go


@pytest.mark.parametrize("guarded", [True, False])
@pytest.mark.parametrize("kind", sorted(gate.OPERATIONS))
def test_an_old_tab_is_given_nothing_after_the_login(
    kind: str,
    guarded: bool,
    sessions: dict[str, dict[str, Any]],
    ask: Ask,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sessions |= {"tab": said(), "other tab": said(), "other": said(nonce="2"), "late": said(iat=time.time() - 1e5)}
    sessions |= {"login page": {}}
    assert [ask(one, kind) for one in sessions] == [""] * 5, "without a login everybody is"
    (tmp_path / "login.toml").write_text(SETTINGS)
    monkeypatch.setenv(login.VARIABLE, str(tmp_path / "login.toml"))
    if not guarded:
        operations.unguard()
    no = words.FIRST if guarded else ""
    assert [ask(one, kind) for one in sessions] == ["", "", "", no, no]
    logged_out.end(sessions["other tab"], 60.0)
    sessions["other tab"].clear()
    assert [ask(one, kind) for one in sessions] == [no, no, "", no, no]
    assert ask("nobody's", kind) == no
