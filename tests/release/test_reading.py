"""What is read of the same rows is the same wherever requests say that it is: at every ε, and whatever is not read."""

from __future__ import annotations

import pickle
from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest

from dpcore.audit.files import Question
from dpcore.audit.questions import QUESTIONS
from dpcore.errors import InvalidArgument
from dpcore.releases import catalog


def _by_kind() -> dict[str, list[tuple[Question, Any]]]:
    found: dict[str, list[tuple[Question, Any]]] = defaultdict(list)
    for one in QUESTIONS:
        request = one.ask(one.declaration, one.file(one.tables[0], from_bytes=False))
        found[request.key].append((one, request))
    return found


KINDS = _by_kind()


def _others(value: Any) -> tuple[Any, ...]:
    if isinstance(value, bool):
        return (not value,)
    if isinstance(value, int):
        return (value + 1, value - 1)
    return (value * 0.5, value * 1.5, value * 4.0) if isinstance(value, float) else ()


def _alike(request: Any, known: list[tuple[Question, Any]]) -> Iterator[Any]:
    """Requests that differ from this one in what they say is not read, each number alone and as another one has it."""
    for name in request.unread:
        for value in _others(getattr(request, name)):
            with suppress(InvalidArgument):
                yield replace(request, **{name: value})
    for _, other in known:
        with suppress(InvalidArgument):
            yield replace(request, **{name: getattr(other, name) for name in request.unread})


@pytest.mark.thorough
@pytest.mark.parametrize("key", sorted(KINDS))
def test_requests_that_read_the_same_read_the_same(key: str) -> None:
    tried = set()
    for question, request in KINDS[key]:
        rows = question.file(question.tables[-1], from_bytes=False).private
        found = pickle.dumps(request.read(rows))
        for other in _alike(request, KINDS[key]):
            assert other.reading == request.reading
            assert pickle.dumps(other.read(rows)) == found, other
            tried |= {name for name in request.unread if getattr(other, name) != getattr(request, name)}
    assert "epsilon" in tried


def test_every_kind_of_request_is_tried() -> None:
    assert set(KINDS) == set(catalog())
