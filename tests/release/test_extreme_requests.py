"""A request that can be made is answered: numbers at their extremes are refused before a charge, or leave an answer."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import fields, replace
from typing import Any

import pytest

from dpcore.audit.files import Question
from dpcore.audit.questions import QUESTIONS
from dpcore.errors import InvalidArgument
from dpcore.releases import catalog
from dpcore.releases.quantile import QuantileValue

EXTREMES = (5e-324, 1e-10, 1.0 - 1e-10, 1e300)


def _by_kind() -> dict[str, tuple[Question, Any]]:
    found: dict[str, tuple[Question, Any]] = {}
    for one in QUESTIONS:
        request = one.ask(one.declaration, one.file(one.tables[0], from_bytes=False))
        found.setdefault(request.key, (one, request))
    return found


KINDS = _by_kind()


def failing(key: str) -> list[tuple[str, float]]:
    """Numbers of its own with which a request of this kind is made and then has no cost, no answer or no bound."""
    question, request = KINDS[key]
    rows = question.file(question.tables[0], from_bytes=False).private
    if "steps" in {field.name for field in fields(request)}:
        request = replace(request, steps=1)
    failed, read = [], {}
    numbers = [field.name for field in fields(request) if "float" in str(field.type) or "Share" in str(field.type)]
    assert "epsilon" in numbers
    for name in numbers:
        for extreme in EXTREMES:
            with suppress(InvalidArgument):
                made = replace(request, **{name: extreme})
                try:
                    if made.reading not in read:
                        read[made.reading] = made.read(rows)
                    _ = made.cost, made.error_bound(0.05), made.draw(read[made.reading])
                except Exception:  # noqa: BLE001 - whatever it is, it would come after the charge
                    failed.append((name, extreme))
    return failed


@pytest.mark.thorough
@pytest.mark.parametrize("key", sorted(KINDS))
def test_no_number_that_a_request_takes_leaves_it_without_an_answer(key: str) -> None:
    assert not failing(key)


def test_every_kind_of_request_is_tried() -> None:
    assert set(KINDS) == set(catalog())


def test_a_number_that_is_taken_and_cannot_be_read_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """As it was: a quantile that is as good as nothing was taken for a fraction."""
    monkeypatch.setattr(QuantileValue, "__post_init__", lambda self: None)
    assert ("q", 1e-10) in failing("quantile")
