"""Questions of a source leave nothing in memory: each is another statement, as long as its options, and free to ask."""

from __future__ import annotations

import functools
import gc
import sqlite3
import tracemalloc
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, create_engine, event

from dpcore.datasets import Column
from dpcore.datasets.declaration import Reads
from dpcore.datasets.in_place import PrivateSource, database, open_database

WARM, MORE = 2, 6


@pytest.fixture
def address(tmp_path: Path) -> str:
    file = tmp_path / "held"
    with closing(sqlite3.connect(file)) as own:
        own.execute("CREATE TABLE visits (who text, ward text)")
    return f"sqlite:///{file}"


def kept(address: str) -> float:
    """Bytes that each more question of some 900 options leaves."""
    source = PrivateSource(lambda: open_database(address, "visits"))
    database._engine.cache_clear()

    def ask(options: int) -> None:
        column = Column(name="ward", type="category", categories=tuple(f"ward {one}" for one in range(options)))
        source.opened(Reads(columns=(column,))).counts("ward")

    for one in range(WARM):
        ask(900 + one)
    gc.collect()
    tracemalloc.start()
    try:
        for one in range(WARM, WARM + MORE):
            ask(900 + one)
        gc.collect()
        return tracemalloc.get_traced_memory()[0] / MORE
    finally:
        tracemalloc.stop()


def test_a_question_leaves_nothing(address: str) -> None:
    assert kept(address) < 5_000


def test_what_keeps_what_was_asked_is_found_out(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    held: list[str] = []

    def keeping(*given: Any, **named: Any) -> Engine:
        engine = create_engine(*given, **named)
        event.listen(engine, "before_cursor_execute", lambda *asked: held.append(f"{asked[2]} {asked[3]}"))
        return engine

    monkeypatch.setattr(database, "create_engine", functools.wraps(create_engine)(keeping))
    assert kept(address) > 10_000
