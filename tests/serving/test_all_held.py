"""All sessions together hold no more than the server gives them; who has left makes room."""

from __future__ import annotations

import gc
from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from dashboard import all_held
from dpcore.datasets import read_csv
from dpcore.errors import UnreadableFile
from tests.dashboard import conftest as dashboard
from tests.dashboard.test_data_page import drop, held

ledger_file, one_visitor, open_app = dashboard.ledger_file, dashboard.one_visitor, dashboard.open_app
workers = dashboard.workers

FILE = b"name,n\n" + b"".join(b"%032d,%d\n" % (number, number) for number in range(12_000))


def test_many_sessions_are_refused_where_one_is_not_and_leaving_makes_room(monkeypatch: pytest.MonkeyPatch) -> None:
    gc.collect()
    before, reading = all_held.held(), read_csv(FILE)
    each = reading.size + len(FILE)
    assert each > 1 << 20
    monkeypatch.setattr(all_held, "most", lambda: before + each + (1 << 20))
    here = [all_held.note(reading, FILE)]
    del reading
    with pytest.raises(UnreadableFile, match="Everybody's files together"):
        all_held.note(read_csv(FILE), FILE)
    with pytest.raises(UnreadableFile, match="try again when others have left"):
        all_held.check((1 << 20) + 1)
    all_held.check(1 << 20)
    here.clear()
    gc.collect()
    assert all_held.held() == before
    all_held.note(read_csv(FILE), FILE)


def test_a_file_too_many_for_all_is_a_sentence_on_the_page(
    open_app: Callable[..., AppTest], monkeypatch: pytest.MonkeyPatch
) -> None:
    gc.collect()
    monkeypatch.setattr(all_held, "most", lambda: all_held.held() + (1 << 19))
    app = drop(open_app("data"), FILE)
    assert app.error[0].value.startswith("Everybody's files together")
    assert "_own_file" not in app.session_state
    monkeypatch.setattr(all_held, "most", lambda: 4 << 30)
    assert held(drop(app, FILE.replace(b"name", b"word"))).reading is not None


def test_it_follows_from_the_memory_of_the_container(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("EPSILON_LAB_MEMORY_ALL", raising=False)
    given = tmp_path / "memory.max"
    monkeypatch.setattr(all_held, "_CGROUPS", (given, tmp_path / "absent"))
    for text, most in (("1000000000\n", 600_000_000), ("max\n", None)):
        given.write_text(text)
        all_held._memory.cache_clear()
        assert all_held.most() == (all_held.most() if most is None else most >> 20 << 20)
        assert all_held.most() > 100 << 20
    all_held._memory.cache_clear()
