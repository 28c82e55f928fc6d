"""Whoever has logged out, in whichever tab, is shown no part of a page any more, and no click of theirs counts."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from streamlit.proto.WidgetStates_pb2 import WidgetStates
from streamlit.runtime.scriptrunner.script_runner import ScriptRunner
from streamlit.runtime.scriptrunner_utils.script_requests import RerunData

from dashboard.people import login
from dashboard.runtime import ended_logins, outgoing

CLICK = RerunData(query_string="a=b", page_script_hash="p", widget_states=WidgetStates(), fragment_id_queue=["dialog"])


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[RerunData]:
    """What Streamlit was given to run."""
    found: list[RerunData] = []
    monkeypatch.setitem(ended_logins._STREAMLITS, (ScriptRunner, "_run_script"), lambda _, asked: found.append(asked))
    monkeypatch.setattr(outgoing, "_session_of", lambda runner: runner.page)
    monkeypatch.setattr(login, "known", lambda said: said.get("sub"))
    return found


def run(page: Any, **said: Any) -> None:
    ended_logins._run(SimpleNamespace(page=page, _user_info=said), CLICK)  # type: ignore[arg-type]


def test_runs_after_a_log_out_are_whole_ones(runs: list[RerunData]) -> None:
    """An open dialog was drawn with the columns of a file, and a click in it was called, after the log-out."""
    page, other = SimpleNamespace(), SimpleNamespace()
    run(page, sub="olga")
    run(other, sub="olga")
    run(page)
    assert runs[:2] == [CLICK, CLICK]
    assert (runs[2].query_string, runs[2].page_script_hash) == ("a=b", "p")
    assert runs[2].widget_states is None
    assert not runs[2].fragment_id_queue
    run(other, sub="olga")
    run(page)
    run(page, sub="olga")
    assert runs[3:] == [CLICK, runs[2], CLICK], "and each until somebody is there: the first may have been stopped"


def test_who_never_logged_in_goes_on(runs: list[RerunData]) -> None:
    """A phone in a room is nobody from beginning to end; a page in process has no session."""
    page = SimpleNamespace()
    run(page)
    run(page)
    run(None)
    assert runs == [CLICK] * 3


def test_the_guard_stands_where_scripts_run() -> None:
    ended_logins.guard()
    try:
        assert ScriptRunner._run_script is ended_logins._run  # type: ignore[comparison-overlap]
    finally:
        ended_logins.unguard()
    assert ScriptRunner._run_script is not ended_logins._run  # type: ignore[comparison-overlap]
