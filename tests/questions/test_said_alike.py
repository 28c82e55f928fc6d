"""What pages say alike: where a goal comes from, the two reasons, what privacy costs, and what an average is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboard import catalogue, words
from dashboard.controls import Choice, Setting
from dashboard.question import CannotAsk, Question, Uncertain
from dashboard.questions.training.hits import Hits
from dashboard.words import alarm, levels, measured, needs, page, usual
from tests.questions.samples import sample_case
from tests.questions.test_words_everywhere import QUICK

SAMPLES = ("clinic", "outbreak", "forecasts")
KINDS: dict[str, Any] = {key: kind for _, key, kind in QUICK}
SET_UNDER = re.compile(r"(?:goal|limit) of [\d.,]+(?: %)? set under “([^”]+)”")
UNSAID = re.compile(r"you (?:need|allow|accept)\b")


def asked(key: str) -> Iterator[tuple[Question, Setting]]:
    """One question about a sample, in each measure it offers and at three levels of ε."""
    for name in SAMPLES:
        try:
            first = Setting()
            KINDS[key].ask(sample_case(name), first)
        except CannotAsk:
            continue
        measures = [one for _, one in first.seen.values() if one.label == usual.MEASURE and isinstance(one, Choice)]
        values = [{one.key: option} for one in measures for option in one.options] or [{}]
        for given_values in values:
            for epsilon in (0.05, 0.5, 10.0):
                setting = Setting(given_values)
                yield KINDS[key].ask(sample_case(name, epsilon), setting), setting
        return


def unexplained(key: str) -> list[str]:
    """Headlines that judge by a number without saying where it is set, or name another place than the card has."""
    found = []
    for question, _ in asked(key):
        places = SET_UNDER.findall(question.headline)
        label = question.need.control.label
        if UNSAID.search(question.headline) or any(not label.startswith(place) for place in places):
            found.append(question.headline)
    return found


@pytest.mark.parametrize("key", KINDS)
def test_a_goal_is_said_with_where_it_is_set(key: str) -> None:
    assert unexplained(key) == []
    if key != "alarm":
        assert any(SET_UNDER.search(question.headline) for question, _ in asked(key))


def test_a_goal_from_nowhere_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(usual, "goal_of", lambda shown: f"the {shown} you need")
    assert unexplained("most_common")
    monkeypatch.setattr(usual, "goal_of", lambda shown: f"the goal of {shown} set under “I accept”")
    assert unexplained("most_common")


# -- two reasons -------------------------------------------------------------------------------------------------------


def misnamed(found: Uncertain) -> bool:
    """Whether bars are called the two reasons and the sentence beside them is about something else, or the other way
    round."""
    told = (f"{usual.TWO_REASONS} {usual.NOISE} ", f" {usual.CHANCE} ")
    reasons = found.sentence.startswith(told[0]) and told[1] in found.sentence
    own = all(f"{name.capitalize()}: " in found.sentence for name in found.names)
    return not reasons if found.names == page.UNSURE else not own or "wo reasons" in found.sentence


SPREAD = Uncertain(
    noise=0.07,
    people=0.04,
    sentence=measured.uncertain(0.7, 0.9, 0.04, measured.judges(114), measured.RIGHT, models=12),
    sign="±",
    names=measured.BETWEEN,
)
OF_NUMBERS = Uncertain(
    noise=0.1,
    people=0.2,
    sentence=measured.uncertain_error(0.1, 0.3, (0.2, 0.05), 114, models=12),
    sign="±",
    in_100=False,
    names=measured.BETWEEN,
)


@pytest.mark.parametrize("key", [*KINDS, Hits.key])
def test_each_reason_has_one_phrase_on_all_pages(key: str) -> None:
    found = []
    if key == Hits.key:
        kind: Any = catalogue.questions("training")[key]
        found = [kind.ask(sample_case("clinic"), Setting()).uncertain]
    else:
        found = [question.uncertain for question, _ in asked(key)]
    assert not any(misnamed(one) for one in found if one is not None)


def test_what_is_another_thing_has_another_name() -> None:
    for found in (SPREAD, OF_NUMBERS):
        assert not misnamed(found)
        assert misnamed(Uncertain(noise=0.1, people=0.1, sentence=found.sentence)), "under the usual names it is found"


# -- what privacy costs ------------------------------------------------------------------------------------------------


def added_up(told: tuple[tuple[str, str], tuple[str, str], tuple[str, str]], *, higher: bool) -> bool:
    """Whether the difference that is written is that of the two numbers as they are written, and is called a cost where
    it is one."""
    plain, private = (float(value.replace(",", "")) for _, value in told[:2])
    label, written = told[2]
    gap = float(written.split(" ")[0].replace(",", ""))
    worse = private < plain if higher else private > plain
    side = ("fewer" in written or "less" in written, "more" in written)
    right = (label == "Privacy costs") == worse and side == (private < plain, private > plain)
    return right and gap == float(words.number(abs(plain - private)).replace(",", ""))


@given(st.floats(0.0, 1.0), st.floats(0.0, 1.0), st.booleans(), st.booleans())
def test_the_difference_is_that_of_the_two_numbers_beside_it(
    plain: float, value: float, higher: bool, of_100: bool
) -> None:
    told = measured.price("right of 100", 0.5, plain, value, higher=higher, of_100=of_100)
    assert added_up(told, higher=higher)
    if of_100:
        assert " in 100" in told[2][1], "its unit"


def test_another_difference_is_found() -> None:
    told = measured.price("right of 100", 0.5, 0.974, 0.836, higher=True, of_100=True)
    assert told[2] == ("Privacy costs", "13.8 in 100 fewer")
    assert not added_up((told[0], told[1], ("Privacy costs", "13.7 in 100 fewer")), higher=True)
    assert not added_up((told[0], told[1], ("Privacy costs", "13.8 in 100 more")), higher=True)
    assert not added_up(told, higher=False)


# -- averages, and whose number it is ----------------------------------------------------------------------------------


def test_what_is_enough_on_average_is_never_called_enough_alone() -> None:
    """“Enough” stood beside “46 of 100 runs would lose more”."""
    for question, _ in asked("follow"):
        found = question.need.found
        if found is None:
            continue
        assert found.average
        assert "average" in needs.here(3.0, 2.0, "days", part=False, average=found.average)
        assert "on average:" in question.headline
        for epsilon in (0.01, 0.5, 10.0):
            step = needs.next_step(found, epsilon)
            assert not re.search(r"(?<!not )enough(?! on average)", step), step
    assert "average" in levels.enough(average=True)
    assert "average" not in needs.here(3.0, 2.0, "days", part=False) + levels.enough(average=False)


def test_a_line_is_said_with_whose_number_it_meets_and_over_what() -> None:
    for question, setting in asked("alarm"):
        assert re.search(r"of (?:that|one) \w+ alone\?$", str(question.sentence[-1])), question.sentence
        start = question.caption.split(". ")[0]
        assert " in these data; " in start
        assert start.endswith("are not added up")
        assert setting.seen
    assert alarm.whose("day", "people").startswith("Each day has its own number, from all people")
