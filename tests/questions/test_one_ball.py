"""One number, one ball: the picture is the world it says, nobody moves it far, and what is dragged is checked."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from dashboard import session
from dashboard.blocks import Picture, Text
from dashboard.controls import Setting
from dashboard.question import CannotAsk, Question
from dashboard.questions.selection.one_ball import OneBall
from dashboard.questions.selection.one_ball_controls import CAP, RADIUS, RIDGE
from dashboard.widgets import handles
from dashboard.words import number
from tests.questions.samples import KEYS, sample_case
from tests.questions.test_pictures import flaws, frame_of, run

FITS = ("line", "median", "mean")


def asked(sample: str = "clinic", epsilon: float = 0.5, **values: Any) -> Question:
    return OneBall.ask(sample_case(sample, epsilon), Setting(values))


def tab(question: Question, key: str) -> tuple[str, list[Picture]]:
    """What a tab says first, and its pictures."""
    (found,) = [one for one in question.tabs if one.key == key]
    blocks = found.blocks()
    said = next(block.markdown for block in blocks if isinstance(block, Text))
    return said, [block for block in blocks if isinstance(block, Picture)]


@pytest.mark.parametrize("fit", FITS)
def test_it_is_drawn_on_every_sample_that_suits(fit: str) -> None:
    drawn = 0
    for sample in KEYS:
        try:
            question = asked(sample, ball_fit=fit)
        except CannotAsk:
            continue
        picture = question.view.picture("ball")
        assert flaws(picture, names=drawn == 0) == [], sample
        drawn += 1
    assert drawn >= 5


@pytest.mark.parametrize("fit", FITS)
def test_its_code_gives_what_the_words_say(fit: str) -> None:
    question = asked(ball_fit=fit, ball_people=30)
    picture = question.view.picture("ball")
    assert picture.code is not None
    expected, bad, moved, most, realised, near, tail = (float(one) for one in run(picture.code).split())
    assert moved <= most * (1 + 1e-9)
    assert f"by {number(moved)} at most" in question.caption
    assert f"Δ/n = {number(most)}" in question.caption
    assert number(expected) in picture.alt
    assert bad <= 0.05
    assert realised <= 0.5
    assert f"{number(near)} + {number(tail)}" in picture.note
    said, (worlds,) = tab(question, "two_worlds")
    assert flaws(worlds) == []
    assert f"reaches **{number(realised)}**" in said


def test_nobody_anywhere_moves_the_loss_by_more_than_its_share() -> None:
    """Whoever is moved, wherever to: over the ball L changes by Δ/n at most, and some come near it."""
    most = 0.0
    for who in (1.0, 7.0, 10.0):
        for x, y in ((0.0, 0.0), (100.0, 120.0), (100.0, 0.0)):
            key = "age-waiting minutes"
            where = {"ball_who-clinic": who, f"ball_to_0-clinic-{key}": x, f"ball_to_1-clinic-{key}": y}
            frame = frame_of(asked(ball_people=10, **where).view.picture("ball"))
            most = max(most, float((frame["loss"] - frame["loss before"]).abs().max()) * 10 / 2.0)
    assert 0.5 < most <= 1.0


def test_the_shape_of_the_loss_is_seen() -> None:
    """A limit makes Δ smaller and leaves no bound; a regulariser pulls the best line to 0; the ball bounds it."""
    free = asked()
    assert "Δ = 2." in free.view.picture("ball").note
    capped = asked(**{CAP.key: 0.5}).view.picture("ball")
    assert "Δ = 0.5." in capped.note
    assert "No bound is proved" in capped.note
    length = [
        float(np.hypot(*frame.loc[frame["loss"].idxmin(), ["w1", "w2"]]))
        for frame in (frame_of(asked(**{RIDGE.key: ridge}).view.picture("ball")) for ridge in (0.0, 1.0, 5.0))
    ]
    assert length[0] > length[1] > length[2]
    small = frame_of(asked(**{RADIUS.key: 0.3}).view.picture("ball"))
    assert np.hypot(small["w1"], small["w2"]).max() <= 0.3 + 1e-9


def test_against_epsilon_and_people_it_is_the_same_world() -> None:
    question = asked(epsilon=2.0)
    for axis in ("epsilon", "n", "both"):
        assert flaws(question.view.picture(axis), names=False) in ([], ["the words hold no number"])
    frame = frame_of(question.view.picture("epsilon"))
    exact, bound = (frame[frame["kind"] == kind]["value"].to_numpy() for kind in ("exact", "bound"))
    assert number(float(frame[(frame["kind"] == "exact") & (frame["epsilon"] == 2.0)]["value"].iloc[0])) in (
        question.headline
    )
    assert exact.max() <= bound.max()
    assert question.need.found is not None
    assert question.need.found.epsilon is not None


@pytest.mark.parametrize(("axis", "pure", "approximate"), [("d", 2.0, 2**0.5), ("n", 0.5, 0.5), ("epsilon", 0.5, 0.5)])
def test_many_numbers_at_once(axis: str, pure: float, approximate: float) -> None:
    """With many people the slopes are those of the rates: d against √d, and 1/(εn) for both."""
    said, (picture,) = tab(asked("town", epsilon=1.0, ball_people=1000, ball_many_axis=axis), "many")
    assert flaws(picture) == []
    assert picture.code is not None
    assert run(picture.code)
    told = said.split("multiplied by ")[1].rstrip(".").split(" and ")
    assert float(told[0]) == pytest.approx(pure, rel=0.06)
    assert float(told[1]) == pytest.approx(approximate, rel=0.08)


def test_the_theorem_is_drawn_for_the_loss_it_is_about() -> None:
    _, (picture,) = tab(asked(), "theory")
    assert flaws(picture) == []
    frame = frame_of(picture)
    proved, exact = (frame[frame["kind"] == kind] for kind in ("bound", "exact"))
    assert (exact["value"].to_numpy() <= proved["value"].to_numpy()).all()
    assert proved["n"].max() == pytest.approx(1e9)
    (note,) = next(one for one in asked(**{RIDGE.key: 1.0}).tabs if one.key == "theory").blocks()
    assert "plain loss" in note.markdown


def test_what_is_dragged_is_within_reach(monkeypatch: pytest.MonkeyPatch) -> None:
    """The browser's word is taken within the declared bounds, and nothing else of it."""
    drag = asked().view.picture("ball").drag
    assert drag is not None
    assert len(drag.at) == 100
    heard: dict[str, float] = {}
    monkeypatch.setattr(session, "change", heard.__setitem__)
    for moved in (None, 3, {"who": "1", "x": 1.0, "y": 2.0}, {"who": 2, "x": float("nan"), "y": 1.0}, {"who": 2}):
        monkeypatch.setattr(session, "entered", lambda *_, found=moved: SimpleNamespace(moved=found))
        handles._moved("any", drag)
    assert heard == {}
    monkeypatch.setattr(session, "entered", lambda *_: SimpleNamespace(moved={"who": 4, "x": 50.01234, "y": 1e9}))
    handles._moved("any", drag)
    assert list(heard.values()) == [4.0, 50.0, 120.0]
    question = asked(**heard)
    assert "(50, 120)" in question.view.picture("ball").alt
