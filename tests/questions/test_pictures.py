"""The pictures of a lecture: each draws on every sample that suits, says its numbers, and its code computes them."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
import pytest

from dashboard.blocks import Picture
from dashboard.charts.ready import packed
from dashboard.controls import Setting
from dashboard.question import CannotAsk
from dashboard.questions.experts.follow import Follow
from dashboard.questions.selection.most_common import MostCommon
from dashboard.questions.selection.quantile import Quantile
from dashboard.questions.thresholding.alarm import Alarm
from dashboard.words import number
from tests.questions.samples import KEYS, sample_case

CHANGES = {MostCommon: "one_person", Quantile: "one_person", Alarm: "one_person", Follow: "one_day"}


def pictures(kind: Any, sample: str, tab: str, epsilon: float = 0.5, **values: Any) -> list[Picture]:
    """The pictures of one tab."""
    question = kind.ask(sample_case(sample, epsilon), Setting(values))
    (found,) = [one for one in question.tabs if one.key == tab]
    return [block for block in found.blocks() if isinstance(block, Picture)]


def frame_of(picture: Picture) -> Any:
    return picture.data() if callable(picture.data) else picture.data


def flaws(picture: Picture) -> list[str]:
    """What is missing of a picture: a figure for either appearance, words, numbers."""
    found = []
    for dark in (False, True):
        figure = packed(picture.figure(dark))
        go.Figure({part: figure[part] for part in ("data", "layout")})  # Plotly checks every name
        if not figure["data"]:
            found.append("nothing is drawn")
    if not any(sign.isdigit() for sign in picture.alt):
        found.append("the words hold no number")
    frame = frame_of(picture)
    if frame is None or frame.empty or frame.select_dtypes("number").isna().all().any():
        found.append("no numbers to take away")
    return found


def run(code: str) -> str:
    """What a picture's code prints."""
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        exec(compile(code, "picture", "exec"), {})
    return said.getvalue()


def suited(kind: Any, tab: str) -> Sequence[tuple[str, list[Picture]]]:
    found = []
    for sample in KEYS:
        try:
            found.append((sample, pictures(kind, sample, tab)))
        except CannotAsk:
            continue
    return found


@pytest.mark.parametrize("kind", CHANGES)
def test_two_worlds_are_drawn_on_every_sample(kind: Any) -> None:
    shown = suited(kind, CHANGES[kind])
    assert len(shown) >= 2
    for sample, found in shown:
        for picture in found:
            assert flaws(picture) == [], (sample, picture.key)


@pytest.mark.parametrize("kind", CHANGES)
def test_their_code_gives_what_the_words_say(kind: Any) -> None:
    codes = 0
    for _, found in suited(kind, CHANGES[kind])[:3]:
        picture = found[0]
        if picture.code is None:
            continue
        most = float(run(picture.code).replace("]", " ").split()[-2 if kind is not Follow else 0])
        assert number(most) in picture.alt
        codes += 1
    if kind is not Follow:  # the losses of most runs are too many to print
        assert codes


@pytest.mark.parametrize("sample", ["clinic", "election", "town"])
@pytest.mark.parametrize("relation", ["add_remove", "replace_one"])
def test_the_promise_is_kept_and_the_broken_version_is_not(sample: str, relation: str) -> None:
    for variant in ("three_rows", "both_ways"):
        (picture,) = pictures(MostCommon, sample, "one_person", neighbours=relation, one_person_broken=variant)
        frame = frame_of(picture)
        assert np.abs(frame["log ratio"]).max() <= 0.5 * (1 + 1e-9)
        assert np.abs(frame["log ratio broken"]).max() > 0.5


@pytest.mark.parametrize("counted", ["every", "once", "against"])
@pytest.mark.parametrize("method", ["book", "exponential"])
def test_an_alarm_keeps_its_promise_and_its_proof(method: str, counted: str) -> None:
    values = {"alarm_neighbours": "replace_one", "alarm_method_general": method, "alarm_counted_general": counted}
    worlds, proof = pictures(Alarm, "outbreak", "one_person", **values)
    frame = frame_of(worlds)
    assert np.abs(frame["log ratio"]).max() <= 0.5 * (1 + 1e-6)
    assert "at the same place" in proof.alt
    if counted == "every" and method == "book":
        assert np.abs(frame["log ratio without noise on the line"]).max() > 0.5


@pytest.mark.parametrize("rate", ["private", "textbook", "free"])
def test_one_changed_day_moves_a_play_by_at_most_two_rates(rate: str) -> None:
    picture, total = pictures(Follow, "forecasts", "one_day", one_day_rate=rate)
    frame = frame_of(picture)
    most = frame_of(total)["most"].iloc[0]
    assert frame["largest log ratio"].max() <= most * (1 + 1e-9)
    assert frame["sum"].iloc[-1] <= frame_of(total)["most"].iloc[-1] * (1 + 1e-9)
