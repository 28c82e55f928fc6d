"""What one session may hold: how it is counted, for whom, and the sentence when it is too much."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

from dashboard import limits, visitors
from dpcore.datasets import read_csv
from dpcore.errors import UnreadableFile
from tests.dashboard import conftest as dashboard
from tests.dashboard.test_data_page import drop, held, press

ledger_file, one_visitor, open_app = dashboard.ledger_file, dashboard.one_visitor, dashboard.open_app
workers = dashboard.workers
FILE = ("nr,colour\n" + "".join(f"{number},red\n" for number in range(2000))).encode()
HERE = limits.Limits(rows=2000, megabytes=1, jobs=1)


def test_a_visitor_has_a_share_and_who_is_known_what_the_computer_can(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ROWS", "MEMORY", "JOBS"):
        monkeypatch.delenv(f"EPSILON_LAB_{name}", raising=False)
    monkeypatch.setattr(visitors, "restricted", lambda: False)
    assert limits.limits() == limits.KNOWN
    monkeypatch.setattr(visitors, "restricted", lambda: True)
    assert limits.limits() == limits.VISITOR
    monkeypatch.setenv("EPSILON_LAB_ROWS", "7")
    monkeypatch.setenv("EPSILON_LAB_MEMORY", "no number")
    assert limits.limits() == limits.Limits(rows=7, megabytes=500, jobs=3)


def test_files_and_tables_count_together() -> None:
    reading = read_csv(FILE)
    limits.check(FILE, 0, HERE, reading)
    with pytest.raises(UnreadableFile, match="2,000 rows and one session here may have 1,999"):
        limits.check(FILE, 0, limits.Limits(rows=1999, megabytes=1, jobs=1), reading)
    room = (1 << 20) - len(FILE)
    limits.check(FILE, room, HERE)
    with pytest.raises(UnreadableFile, match="would hold 2 MB of files and tables, and one may hold 1"):
        limits.check(FILE, room + 1, HERE)
    with pytest.raises(UnreadableFile, match="2 MB"):
        limits.check(FILE, room, HERE, reading)


def test_a_file_too_many_is_a_sentence_on_the_page(
    open_app: Callable[..., AppTest], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second does not fit beside the first, and does once that is gone for good."""
    app = drop(open_app("data"), FILE)
    own = held(app)
    assert limits.weight([own, None]) > len(FILE) + 8 * 2000
    monkeypatch.setattr(limits, "KNOWN", limits.Limits(rows=2000, megabytes=1, jobs=1))
    monkeypatch.setattr(limits, "weight", lambda files: sum(1 << 20 for one in files if one is not None))
    app = drop(app, FILE.replace(b"red", b"blue"))
    assert "would hold 2 MB of files and tables" in app.error[0].value
    assert held(app) is own, "what was there stays"
    app = press(press(app, "own-remove"), "own-forget")
    app = drop(app, FILE.replace(b"red", b"blue"))
    assert not app.error
    assert held(app) is not own
