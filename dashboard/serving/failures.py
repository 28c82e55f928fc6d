"""What becomes of a failure that nobody foresaw while a page was drawn: one sentence there, one line in the log.

Streamlit writes such a failure into the log with its words, which may quote a cell of somebody's file. Here the log
gets its kind and the places it passed (``dpcore.defects``), and the person a reference. A failure before our own code
ran is no defect of ours: its sender gave a widget a value that no page of ours can give it.
"""

from __future__ import annotations

import logging
import sys
import traceback
from pathlib import Path

import streamlit as st
from streamlit.runtime.media_file_storage import MediaFileStorageError

from dashboard.serving import log_line
from dashboard.serving.pace import Pace
from dashboard.words import server as words
from dpcore.defects import reported

_OURS = (Path(__file__).resolve().parents[1], Path(__file__).resolve().parents[2] / "dpcore")
_LEFT_OUT = {
    "streamlit.error_util": "Uncaught app execution",
    "streamlit.components.v2.bidi_component.serialization": "Failed to deserialize component state from frontend: %s",
}
"""Lines of Streamlit's that are not written, by who writes them. The second has a traceback, about what no page of ours
sends to a component, which then is as it was at first (``dashboard.runtime.values``)."""
_FILES = "streamlit.runtime.backend_operation_handler"
"""Who writes a line, of any length, about a file that was never offered: whoever asks for one could fill a disk."""
_AT_LOGIN = "streamlit.web.server.starlette.starlette_auth_routes"
"""Who writes a line, in a stranger's own words, about a login that came to nothing."""
_FORMS = "python_multipart.multipart"
"""Who writes a sign of a form into a line about it: whoever sent one that is none knows, and nobody else needs to."""
_OF_REQUESTS = "uvicorn.error"
"""Who writes a line of warning about a request that it cannot read, and of error about what became of one."""
_NO_TEXT = "Invalid UTF-8 sequence received from client."
"""Its error about a message of a page, with which the connection ends: who sent it knows, and others' errors need the
room for lines that it would take."""
_LOGINS, _REQUESTS, _ERRORS = Pace(1.0, 60.0), Pace(1.0, 60.0), Pace(1.0, 60.0)
"""Such lines a second, after a burst: more of them tell nothing, and could fill a disk."""
_log = logging.getLogger(__name__)


def shown(failure: Exception) -> bool:
    """Say it on the page, in place of what Streamlit says. True: nothing else is to be shown."""
    if is_ours(failure):
        st.error(words.failed(reported(failure, "drawing a page")))
    else:
        _log.info("a page was sent a value that no page of ours sends: %s", type(failure).__name__)
        st.error(words.NOT_UNDERSTOOD)
    return True


def is_ours(failure: BaseException) -> bool:
    """Whether code of ours ran when it happened."""
    files = [Path(frame.filename) for frame in traceback.extract_tb(failure.__traceback__)]
    return any(file.is_relative_to(folder) for file in files for folder in _OURS)


def _is_kept(record: logging.LogRecord) -> bool:
    failure = sys.exception()  # a record of ours holds it no longer
    if isinstance(failure, MediaFileStorageError) and record.name == _FILES:
        return failure.__cause__ is not None  # it was offered, and could not be made
    if record.name == _FORMS or (record.name, record.msg) == (_OF_REQUESTS, _NO_TEXT):
        return False
    if record.name == _AT_LOGIN:
        return _is_one_of_few(_LOGINS)
    if record.name == _OF_REQUESTS:
        paces = {logging.WARNING: _REQUESTS, logging.ERROR: _ERRORS}
        return record.levelno not in paces or _is_one_of_few(paces[record.levelno])
    return record.msg != _LEFT_OUT.get(record.name)


def _is_one_of_few(lines: Pace) -> bool:
    return lines.wait(0.0) == 0.0 and lines.wait(1.0) == 0.0


def keep_values_from_the_log() -> None:
    """From now on what Streamlit would write of a failure is left to ``shown``, and all else is one line each
    (``log_line``). Again does nothing."""
    log_line.guard()
    for name in (*_LEFT_OUT, _FILES, _FORMS, _AT_LOGIN, _OF_REQUESTS):
        logging.getLogger(name).addFilter(_is_kept)


def write_all_to_the_log() -> None:
    """As Streamlit does it; for tests."""
    log_line.unguard()
    for name in (*_LEFT_OUT, _FILES, _FORMS, _AT_LOGIN, _OF_REQUESTS):
        logging.getLogger(name).removeFilter(_is_kept)
