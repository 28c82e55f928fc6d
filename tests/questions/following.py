"""What the browser is given for one step of the ε scale, held against the question at that step."""

from __future__ import annotations

from typing import Any

import pytest

from dashboard.question import Question
from dashboard.widgets import cards
from dashboard.widgets.finger import pieces


def same(found: dict[str, Any], there: Question) -> None:
    """``found`` is what the page draws of ``there``."""
    words = dict(found["words"])
    assert found["headline"] == pieces(there.headline)
    assert words["caption"] == pieces(there.caption)
    assert words["odds-words"] == pieces(there.protected.lines()[0])
    assert words["judged"] == pieces(there.protected.judged)
    assert there.view.point is not None
    assert found["value"] == pytest.approx(there.view.point)
    rows = [] if there.outcomes is None else [list(row) for row in cards.strips(there.outcomes, dark=False)]
    assert found["rows"] == rows
    assert sum(count for _, count, _ in rows) == (50 if rows else 0)
    if there.uncertain is None:
        assert not found["bars"]
        return
    assert words["uncertain-box"] == pieces(there.uncertain.sentence)
    assert [bar[2] for bar in found["bars"]] == pytest.approx([there.uncertain.noise, there.uncertain.people])
    assert [bar[0] for bar in found["bars"]] == list(there.uncertain.names)
