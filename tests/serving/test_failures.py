"""A failure that nobody foresaw: a sentence on the page, a line in the log, and in neither what the failure says."""

from __future__ import annotations

import logging

import pytest
from streamlit import error_util

from dashboard import failures
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
