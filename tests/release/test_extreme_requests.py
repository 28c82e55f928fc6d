"""A request that can be made is answered: numbers at their extremes are refused before a charge, or leave an answer."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import fields, replace
from typing import Any

import pytest

from dpcore.audit.files import Question
from dpcore.audit.questions import QUESTIONS
from dpcore.errors import InvalidArgument
from dpcore.releases import catalog
from dpcore.releases.chosen_model import ChosenModel
from dpcore.releases.paired_model import PairedModel
from dpcore.releases.quantile import QuantileValue

EXTREMES = (5e-324, 1e-10, 1.0 - 1e-10, 1e300)
SMALL, BESIDE = (1e-12, 1e-9, 1e-6, 0.01), (1.1e-6, 0.1)


def _by_kind() -> dict[str, tuple[Question, Any]]:
    found: dict[str, tuple[Question, Any]] = {}
    for one in QUESTIONS:
        request = one.ask(one.declaration, one.file(one.tables[0], from_bytes=False))
        found.setdefault(request.key, (one, request))
    return found


KINDS = _by_kind()


def failing(key: str, *, beside: bool = False) -> list[dict[str, float]]:
    """Numbers of its own with which a request of this kind is made and then has no cost, no answer or no bound: one at
    an extreme, or each ``beside`` an ε that may be too little for it."""
    question, request = KINDS[key]
    rows = question.file(question.tables[0], from_bytes=False).private
    if "steps" in {field.name for field in fields(request)}:
        request = replace(request, steps=1)
    failed, read = [], {}
    numbers = [field.name for field in fields(request) if "float" in str(field.type) or "Share" in str(field.type)]
    assert "epsilon" in numbers
    for changed in _beside(numbers) if beside else ({name: one} for name in numbers for one in EXTREMES):
        with suppress(InvalidArgument):
            made = replace(request, **changed)
            try:
                if made.reading not in read:
                    read[made.reading] = made.read(rows)
                _ = made.cost, made.error_bound(0.05), made.draw(read[made.reading])
            except Exception:  # noqa: BLE001 - whatever it is, it would come after the charge
                failed.append(changed)
    return failed


def _beside(numbers: list[str]) -> Iterator[dict[str, float]]:
    others = [name for name in numbers if name != "epsilon"]
    return ({name: one, "epsilon": few} for name in others for few in SMALL for one in BESIDE)


@pytest.mark.thorough
@pytest.mark.parametrize("key", sorted(KINDS))
def test_no_number_that_a_request_takes_leaves_it_without_an_answer(key: str) -> None:
    assert not failing(key)


@pytest.mark.thorough
@pytest.mark.parametrize("key", sorted(KINDS))
def test_no_two_numbers_that_a_request_takes_together_leave_it_without_an_answer(key: str) -> None:
    """A part that is bought with a share of ε, beside δ, has less than the whole."""
    assert not failing(key, beside=True)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("kind", "unchecked", "found"),
    [
        (ChosenModel, "__post_init__", {"delta": 0.1, "epsilon": 0.01}),
        (PairedModel, "check_noise", {"pairs_share": 1.1e-6, "epsilon": 1e-6}),
    ],
)
def test_a_part_that_is_first_made_for_the_answer_is_seen(
    monkeypatch: pytest.MonkeyPatch, kind: type[Any], unchecked: str, found: dict[str, float]
) -> None:
    """As it was: such a model was charged, and could never be made."""
    monkeypatch.setattr(kind, unchecked, lambda *_: None)
    assert found in failing(kind.key, beside=True)


@pytest.mark.parametrize("delta", [1e-3, 1e-2, 0.1])
def test_a_way_that_could_not_be_tried_is_refused_before_the_charge(delta: float) -> None:
    _, request = KINDS["chosen_model"]
    with pytest.raises(InvalidArgument, match="too small beside this delta"):
        replace(request, epsilon=0.01, delta=delta)
    assert replace(request, epsilon=0.01, delta=1e-4).trials, "as pages ask"


def test_every_kind_of_request_is_tried() -> None:
    assert set(KINDS) == set(catalog())


def test_a_number_that_is_taken_and_cannot_be_read_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """As it was: a quantile that is as good as nothing was taken for a fraction."""
    monkeypatch.setattr(QuantileValue, "__post_init__", lambda self: None)
    assert {"q": 1e-10} in failing("quantile")
