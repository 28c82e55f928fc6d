"""What a link, a deck, a receipt or another person holds is text: none of it is rendered, and none of it is a link."""

from __future__ import annotations

import json
from collections.abc import Callable

import pandas as pd
import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from benchmarks.audit.server import ADDRESSES, MARKUP, NAMES, cells, rendered
from dashboard import words
from dashboard.report.text import line
from dashboard.widgets import onward, tables
from dashboard.words import live
from dashboard.words.scenes import unmarked

Open = Callable[..., AppTest]
HOSTILE = (*NAMES, ADDRESSES, "https://q.r", "WWW.q.r", "<p@q.r>")
KEPT = json.dumps([{"scenario": NAMES[2], ADDRESSES: NAMES[3]}, {"scenario": NAMES[5], NAMES[1]: NAMES[0]}])


@pytest.mark.parametrize("text", HOSTILE)
def test_text_that_is_shown_is_what_it_was(text: str) -> None:
    """Also in a report and a picture, which take the escapes away again."""
    assert MARKUP.search(text.lower())
    assert not MARKUP.search(words.safe(text).lower())
    assert "".join(run.text for run in line(words.safe(text))) == text
    assert unmarked(words.safe(text)) == text


def test_no_address_is_escaped_by_its_signs_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """What shows that the test above can fail."""
    monkeypatch.setattr("dpcore.datasets.text.UNSEEN", "")
    assert all(MARKUP.search(words.safe(text).lower()) for text in ("https://q.r", "WWW.q.r", "p@q.r"))


PAGES = {
    "selection": {"selection_open": "what_if"},
    "thresholding": {"thresholding_open": "what_if"},
    "experts": {"experts_open": "what_if"},
    "training": {"training_open": "what_if"},
}


@pytest.mark.thorough
@pytest.mark.parametrize("page", PAGES)
def test_kept_scenarios_of_a_link_are_text(open_app: Open, page: str) -> None:
    app = open_app(page, **PAGES[page], **{f"{page}_kept": KEPT})
    assert len(app.table) == 1, "the scenarios were not shown"
    assert rendered(app) == []


def test_scenarios_that_are_not_text_are_found(open_app: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "plain", lambda cells: cells)
    app = open_app("selection", **PAGES["selection"], selection_kept=KEPT)
    assert len(rendered(app)) > 4, "names, headings and cells"


def test_every_cell_heading_and_name_of_a_table_is_text() -> None:
    frame = pd.DataFrame({text: list(HOSTILE) for text in HOSTILE}, index=pd.Index(HOSTILE, name=NAMES[1]))
    for one in (frame, dict(zip(HOSTILE, HOSTILE, strict=True))):
        app = AppTest.from_function(_table, kwargs={"one": one}).run()
        (sent,) = app.get("table")
        assert not [text for text in cells(sent.proto) if MARKUP.search(text.lower())]
    assert tables.plain({"a": tables.Code("x`y" + "z" * 20)}) == {"a": "`x'yzzzzzzzzzzzzz` `zzzzzzz`"}


def _table(one: object) -> None:
    from dashboard.widgets.tables import show_table

    show_table(one, alt="")  # type: ignore[arg-type]


@pytest.mark.parametrize("name", HOSTILE)
def test_what_stands_in_the_way_is_said_in_text(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Such a sentence may name a column of a file."""
    said: list[str] = []
    monkeypatch.setattr(st, "info", said.append)
    onward.say(f"Every cell of “{name}” is missing.")
    assert said
    assert not MARKUP.search(said[0].lower())


def test_what_happened_in_a_room_is_text() -> None:
    for name in HOSTILE:
        assert not MARKUP.search(live.followed_so_far(("Team A",), (name,)).lower())
