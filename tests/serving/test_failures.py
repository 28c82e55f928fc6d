"""A failure that nobody foresaw: a sentence on the page, a line in the log, and in neither what the failure says."""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from types import SimpleNamespace

import pytest
from python_multipart.exceptions import MultipartParseError
from python_multipart.multipart import MultipartParser
from streamlit import error_util
from streamlit.proto.BackMsg_pb2 import BackendOperationRequest
from streamlit.runtime import media_file_manager
from streamlit.runtime.backend_operation_handler import DeferredFileHandler
from streamlit.runtime.media_file_manager import MediaFileManager
from streamlit.runtime.memory_media_file_storage import MemoryMediaFileStorage

from dashboard.serving import failures, pace
from dashboard.serving.pace import Pace
from dashboard.words import server as words

CELL = "cell of a file"


def _ours() -> Exception:
    try:
        failures.is_ours(CELL)  # type: ignore[arg-type]
    except AttributeError as error:
        return type(error)(CELL).with_traceback(error.__traceback__)
    raise AssertionError


def _theirs() -> Exception:
    try:
        float(CELL)
    except ValueError as error:
        return error
    raise AssertionError


@pytest.mark.defects
@pytest.mark.parametrize(("failure", "defect"), [(_ours(), True), (_theirs(), False)])
def test_what_a_failure_says_reaches_neither_the_page_nor_the_log(
    failure: Exception, defect: bool, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    said: list[str] = []
    monkeypatch.setattr(failures.st, "error", said.append)
    monkeypatch.setattr(logging.getLogger("streamlit.error_util"), "propagate", True)
    failures.keep_values_from_the_log()
    with caplog.at_level(logging.INFO):
        error_util.handle_user_script_exception(failure, failures.shown)
    failures.write_all_to_the_log()
    log = "\n".join(f"{record.getMessage()} {record.exc_info or ''}" for record in caplog.records)
    assert CELL not in log
    assert CELL not in said[0]
    assert ("defect" in log) is defect
    if defect:
        reference = log.split("defect ")[1].split()[0]
        assert said == [words.failed(reference)]
    else:
        assert said == [words.NOT_UNDERSTOOD]


def test_without_it_the_log_would_hold_what_a_failure_says(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """What shows that the test above can fail."""
    monkeypatch.setattr(logging.getLogger("streamlit.error_util"), "propagate", True)
    error_util._log_uncaught_app_exception(_theirs())
    assert CELL in caplog.text


@pytest.mark.parametrize("offered", [False, True])
def test_a_file_that_was_never_offered_leaves_no_line_in_the_log(
    offered: bool, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Ten times as many bytes in the log as on the way; one that could not be made is for its author to see."""
    monkeypatch.setattr(media_file_manager, "_get_session_id", lambda: "a session")
    files = MediaFileManager(MemoryMediaFileStorage("/media"))

    def fails() -> bytes:
        raise ValueError

    name = files.add_deferred(fails, "text/csv", "1.1.1") if offered else "x"
    asked = BackendOperationRequest(request_id="1")
    asked.deferred_file.file_id = name
    monkeypatch.setattr(logging.getLogger(failures._FILES), "propagate", True)
    for guarded in (False, True):
        if guarded:
            failures.keep_values_from_the_log()
        told = asyncio.run(DeferredFileHandler(lambda: files).handle(asked, "a session"))
        failures.write_all_to_the_log()
        assert told.error_msg
        assert bool(caplog.records) is (offered or not guarded)
        caplog.clear()


@pytest.mark.parametrize(
    ("writer", "level"),
    [
        (failures._AT_LOGIN, logging.WARNING),
        (failures._OF_REQUESTS, logging.WARNING),
        (failures._OF_REQUESTS, logging.ERROR),
    ],
)
@pytest.mark.parametrize("guarded", [True, False])
def test_strangers_do_not_fill_the_log(
    guarded: bool, writer: str, level: int, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Who comes back from no login, or asks for what no server here speaks."""
    now, log = [0.0], logging.getLogger(writer)
    monkeypatch.setattr(pace, "time", SimpleNamespace(monotonic=lambda: now[0]))
    monkeypatch.setattr(failures, "_LOGINS", Pace(1.0, 60.0))
    monkeypatch.setattr(failures, "_REQUESTS", Pace(1.0, 60.0))
    monkeypatch.setattr(failures, "_ERRORS", Pace(1.0, 60.0))
    monkeypatch.setattr(log, "propagate", True)
    if guarded:
        failures.keep_values_from_the_log()
    for number in range(1_000):
        log.log(level, "Error during authentication: %s", number)
    assert len({record.getMessage() for record in caplog.records}) == (60 if guarded else 1_000)
    now[0] += 2.0
    log.log(level, "Error during authentication: %s", "access_denied")
    failures.write_all_to_the_log()
    assert caplog.records[-1].getMessage().endswith("access_denied"), "an honest one is there soon after"


@pytest.mark.parametrize("guarded", [True, False])
def test_no_sign_of_a_form_that_is_none_is_in_the_log(guarded: bool, caplog: pytest.LogCaptureFixture) -> None:
    parser = MultipartParser(b"mark")
    if guarded:
        failures.keep_values_from_the_log()
    with suppress(MultipartParseError):
        parser.write(b"--mark\r\nsecret\x07: 1\r\n")
    failures.write_all_to_the_log()
    assert bool(caplog.records) is (not guarded)
