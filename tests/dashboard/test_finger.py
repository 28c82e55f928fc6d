"""What follows the finger is what the page says at that step, word for word."""

from __future__ import annotations

import pytest

from dashboard import catalogue, session
from dashboard.controls import Setting
from dashboard.view import View
from dashboard.widgets.finger import told
from tests.questions.samples import sample_case

FOLLOWING = (("selection", "most_common", "clinic"), ("thresholding", "alarm", "outbreak"))


@pytest.mark.parametrize(("page", "key", "name"), FOLLOWING)
@pytest.mark.parametrize("level", [session.EPSILON_STEPS[0], 0.1, 2.0, session.EPSILON_STEPS[-1]])
def test_every_step_says_what_the_question_says(
    page: str, key: str, name: str, level: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session, "Reader", Setting)
    kind = catalogue.questions(page)[key]
    found = told(kind, sample_case(name, 0.5), level, dark=False)
    there = kind.ask(sample_case(name, level), Setting())
    assert there.follows
    assert isinstance(there.view, View)
    assert found["headline"] == there.headline
    assert ["odds-words", there.protected.lines()[0]] in [list(pair) for pair in found["words"]]
    assert found["value"] == pytest.approx(there.view.at(there.view.main) * there.view.scale.factor)
    assert sum(count for _, count, _ in found["rows"]) == 50
    other = told(kind, sample_case(name, 0.5), 0.02, dark=False)
    assert other["headline"] != found["headline"], "another step says something else"
