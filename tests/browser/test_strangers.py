"""Two strangers click on whatever they see; and the check that sends more of them over the pages can fail."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from playwright.sync_api import BrowserContext

from benchmarks.reliability import strangers
from benchmarks.reliability.strangers import Stranger, table
from dashboard.words import server as words
from tests.browser.server import running


def test_no_page_of_theirs_goes_wrong(context: BrowserContext, tmp_path: Path) -> None:
    """With a server of their own: they may open budgets and polls. ``make reliability`` sends many more."""
    with running(tmp_path) as address:
        for seed, width in enumerate((strangers.WIDE, strangers.PHONE)):
            page = context.new_page()
            page.set_viewport_size({"width": width, "height": 900})
            one = Stranger(page, address, np.random.Generator(np.random.PCG64(seed)))
            one.walk(strangers.FEW)
            assert one.wrong == [], one.trail
            page.close()


def looked(context: BrowserContext, body: str) -> list[str]:
    page = context.new_page()
    page.set_content(f"<body>{body}</body>")
    one = Stranger(page, "", np.random.Generator(np.random.PCG64(1)))
    one._look()
    return one.wrong


@pytest.mark.parametrize("said", [words.failed("0123ABCD"), words.NOT_UNDERSTOOD])
def test_a_page_that_says_it_failed_is_noted(context: BrowserContext, said: str) -> None:
    assert looked(context, f'<div data-testid="stAlert"><p>{said}</p></div>')


def test_a_page_that_is_never_drawn_is_noted(context: BrowserContext, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(strangers, "LONGEST", 0.5)
    assert looked(context, '<div data-testid="stStatusWidget">Running</div>')


def test_what_pages_say_of_other_things_is_not(context: BrowserContext) -> None:
    assert not looked(context, '<div data-testid="stAlert">The link asks for something that is not offered.</div>')


@pytest.mark.parametrize("seed", range(20))
def test_their_files_are_tables(seed: int) -> None:
    made = table(np.random.Generator(np.random.PCG64(seed)))
    text = made.decode("utf-16" if made[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig")
    read = pd.read_csv(io.StringIO(text), sep=next(sep for sep in (";", "\t", ",") if sep in text or sep == ","))
    assert len(read) in (1, 3, 40, 400)
