"""Pictures for the back of a room: every text is large, names do not lie on one another, and the original stays."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import plotly.graph_objects as go
import pytest

from dashboard.charts.pile import MOST_ROWS, pile, told
from dashboard.charts.projector import LEAST, projected
from dashboard.scenes.address import Address, opened
from tests.questions.samples import sample_case

LINKS = ("selection?epsilon=0.05", "selection?epsilon=0.05&selection_axis=n", "thresholding?data=outbreak", "experts")


def figure(link: str) -> dict[str, Any]:
    found = opened(Address.of(link), sample_case)
    assert found.question is not None
    return found.question.view.picture(found.values[f"{found.question.view.page}_axis"]).figure(False)


def sizes(value: Any, key: str = "") -> Iterator[float]:
    """Every size of a font within a figure."""
    if isinstance(value, dict):
        if "font" in key and "size" in value:
            yield value["size"]
        for name, part in value.items():
            yield from sizes(part, name)
    elif isinstance(value, list):
        for part in value:
            yield from sizes(part)


@pytest.mark.parametrize("link", LINKS)
def test_every_text_is_large_and_the_picture_valid(link: str) -> None:
    before = figure(link)
    kept = repr(before)
    large = projected(before, 460)
    assert repr(before) == kept, "what is remembered is not changed"
    assert min(sizes(before)) < LEAST
    assert min(sizes(large)) >= LEAST
    assert large["layout"]["height"] == 460
    go.Figure(large)


def test_names_that_would_lie_on_one_another_go_into_a_legend() -> None:
    before = figure(LINKS[0])
    assert not before["layout"]["showlegend"]
    large = projected(before, 300)  # so low that some must give way, wherever they stand on a page
    written = {note["text"].replace("<br>", " ") for note in large["layout"]["annotations"]}
    in_legend = {trace["name"] for trace in large["data"] if trace.get("showlegend")}
    assert in_legend
    assert not written & in_legend
    assert {note["text"].replace("<br>", " ") for note in before["layout"]["annotations"]} == written | in_legend
    assert "Permute and flip" in written, "the line in use keeps its name beside it"


def test_answers_pile_up_one_dot_each() -> None:
    answers = ["Knee pain", "Back pain", "Knee pain", "Knee pain"]
    drawn = pile(answers)
    go.Figure(drawn)
    (dots,) = drawn["data"]
    assert list(dots["x"]) == [0, 0, 1, 2]
    assert list(dots["y"]) == [0, -1, 0, 0]
    assert dots["marker"]["line"]["width"] == [0, 0, 0, 3], "the newest has a ring"
    assert told(answers) == "3 × Knee pain; 1 × Back pain"
    many = pile([str(number) for number in range(40)])
    assert len(many["layout"]["annotations"]) == MOST_ROWS
    assert len(many["data"][0]["x"]) == 40
