"""What others get: figures from a file, said for the question they were measured on and for no other."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import pytest

from dashboard.blocks import Block, Picture, Rows, Small, Text
from dashboard.case import Case
from dashboard.controls import Setting
from dashboard.questions.training import others
from dashboard.questions.training.others import FILE, OURS, PRIVATE, PUBLIC, figures
from dashboard.questions.training.predict import Predict
from dashboard.questions.training.prepared_rows import targets, usable, varying
from dashboard.words import others as said
from dpcore.datasets import sample, samples
from tests.questions.samples import KEYS, sample_case, table


def shown(case: Case, **values: object) -> list[Block]:
    question = Predict.ask(case, Setting(values))
    return list(next(tab for tab in question.tabs if tab.key == "others").blocks())


def words_of(blocks: list[Block]) -> str:
    return " ".join(block.markdown for block in blocks if isinstance(block, Text | Small))


def test_the_file_holds_the_first_question_of_every_sample_that_suits() -> None:
    found = figures()
    assert [one.sample for one in found.tables] == [
        known.key for known in samples() if any(page == "training" for page, _ in known.why)
    ]
    for one in found.tables:
        assert set(one.scores) == {*PRIVATE, *PUBLIC}
        assert all(len(one.scores[line]) == len(found.levels) for line in PRIVATE)
        assert one.target == targets(sample(one.sample).schema)[0]
        if one.sample in KEYS:
            assert set(one.columns) == set(varying(table(one.sample), usable(table(one.sample).schema, one.target)))
            assert one.rows <= table(one.sample).rows
        if one.classifies:
            assert all(0.0 <= mean <= 1.0 for line in one.scores.values() for mean, _ in line)
    assert FILE.stat().st_size < 50_000


@pytest.mark.parametrize("key", ["breast_cancer", "diabetes"])
def test_the_question_that_was_measured_shows_its_own_figures(key: str) -> None:
    blocks = shown(sample_case(key, 0.6))
    (own,) = [one for one in figures().tables if one.sample == key]
    place = figures().levels.index(0.5)
    factor = 100.0 if own.classifies else 1.0
    for line in PRIVATE:
        mean = own.scores[line][place][0]
        assert f"{said.NAMES[line]} {said.number(factor * mean)}" in words_of(blocks)
    assert "ε = 0.5 is nearest to yours" in words_of(blocks)
    assert "nearest to yours" not in words_of(shown(sample_case(key, 0.5)))
    (picture,) = [block for block in blocks if isinstance(block, Picture)]
    for dark in (False, True):
        assert len(picture.figure(dark)["data"]) > len(own.scores)
    mine, *every = [block.frame for block in blocks if isinstance(block, Rows)]
    assert mine.shape == (len(own.scores), 1 + len(figures().levels))
    _are_all_samples(every)
    for version in figures().versions.values():
        assert version in words_of(blocks)


def test_any_other_question_says_that_nobody_measured_it() -> None:
    blocks = shown(sample_case("town"), **{"training_columns-town-condition": ("age", "ward")})
    assert said.not_measured(sample_data=True) in words_of(blocks)
    case = sample_case("breast_cancer")
    own = replace(case, source=replace(case.source, mode="what_if"))
    assert said.not_measured(sample_data=False) in words_of(shown(own))
    assert not [block for block in blocks if isinstance(block, Picture)]
    _are_all_samples([block.frame for block in blocks if isinstance(block, Rows)])


def _are_all_samples(every: list[pd.DataFrame]) -> None:
    """Shares and errors stand in tables of their own: of the one more is better, of the other less."""
    wanted = [[one.target for one in figures().tables if one.classifies == kind] for kind in (True, False)]
    told = [list(frame[said.TOLD].str.split(" = ").str[0]) for frame in every]
    assert told == [kind for kind in wanted if kind]


@pytest.mark.parametrize(
    ("ours", "other", "guessing", "found"),
    [
        (0.9, 0.8, 0.6, "at this ε, and by more than chance would often do, is Noisy descent on steps (ours)."),
        (0.8, 0.9, 0.6, "another library is ahead: interpret-core’s boosted model."),
        (0.9, 0.895, 0.6, "too close"),
        (0.8, 0.7, 0.85, "none is better than the same answer for everybody"),
    ],
)
def test_who_is_ahead_is_said_whoever_it_is(ours: float, other: float, guessing: float, found: str) -> None:
    values = {OURS[0]: (ours, 0.01), "interpret": (other, 0.01), "diffprivlib": (0.5, 0.01), "guessing": (guessing, 0)}
    assert found in said.ahead(values, OURS, classifies=True)
    errors = {line: (1.0 - mean, error) for line, (mean, error) in values.items()}
    assert found in said.ahead(errors, OURS, classifies=False)


def test_it_says_on_how_many_samples_each_is_first_and_on_which_none_is_of_use() -> None:
    found = figures()
    for place, level in enumerate(found.levels):
        first, useless = others._first(found, place)
        assert sum(first.values()) == len(found.tables)
        for one in found.tables:
            means = {line: one.value(line, place)[0] for line in PRIVATE if one.value(line, place)}  # type: ignore[index]
            best = max(means, key=means.__getitem__) if one.classifies else min(means, key=means.__getitem__)
            first[best] -= 1
            guessed = one.value("guessing", place)
            assert guessed is not None
            beaten = means[best] > guessed[0] if one.classifies else means[best] < guessed[0]
            assert beaten == (others._name(one) not in useless)
        assert set(first.values()) == {0}
        told = said.every(level, *others._first(found, place))
        assert all(name in told for name in useless)
    assert "none is better" not in said.every(1.0, {"interpret": 8}, [])
