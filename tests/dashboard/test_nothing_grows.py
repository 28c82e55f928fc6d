"""A page that is drawn again leaves no more behind than before: nothing it registers is registered anew."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

from dashboard.session import Slot

PAGES = ("start", "data", "budget", "demos", "poll", "selection", "thresholding", "experts", "training")


@pytest.mark.parametrize("page", PAGES)
def test_no_page_adds_to_what_sessions_hold(idle_app: Callable[..., AppTest], page: str) -> None:
    app = idle_app(page)
    before = len(Slot.made)
    app.run()
    assert len(Slot.made) == before
