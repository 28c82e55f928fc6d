"""What every kind of release keeps: a question of declared facts that answers about any table whatever."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import inspect
import json
from datetime import date
from typing import Any

import numpy as np
import pandas as pd
import pytest

from dpcore.audit.files import Question
from dpcore.audit.questions import QUESTIONS
from dpcore.datasets import PrivateRows
from dpcore.errors import InvalidArgument
from dpcore.ledger.charging import MOST_BYTES
from dpcore.ledger.records import canonical
from dpcore.ledger.words import label
from dpcore.release import question_digest, question_digests, sentence
from dpcore.releases import catalog, draws
from dpcore.releases.asked import CHOSEN

KINDS = sorted(catalog().values(), key=lambda kind: kind.key)
every = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.key)
CELLS = [
    "",
    " ",
    "NA",
    "a",
    "B",
    "yes",
    "0",
    "-1",
    "1e999",
    "1,5",
    "2024-02-30",
    "2024-01-02 23:59",
    "\x00",
    "é\u202e",
    "=1",
]


def asked(question: Question, rows: Any = None) -> Any:
    if rows is None:
        return _by_name()[question.name]  # a request is frozen: all tests may have the same
    return question.ask(question.declaration, question.file(rows, from_bytes=False))


@functools.cache
def _by_name() -> dict[str, Any]:
    """Every question's request about its first table."""
    return {question.name: asked(question, question.tables[0]) for question in QUESTIONS}


def questions(kind: type) -> list[Question]:
    return [question for question in QUESTIONS if isinstance(asked(question), kind)]


@every
def test_it_is_frozen_and_made_of_plain_values(kind: Any) -> None:
    request = asked(questions(kind)[0])
    assert catalog()[kind.key] is kind
    assert not hasattr(request, "__dict__")
    with pytest.raises(dataclasses.FrozenInstanceError):
        request.epsilon = 2.0
    digests = {question_digest(request)}
    for field in ("epsilon", "unit", "reads"):
        other = {"epsilon": 1.0, "unit": "visit", "reads": dataclasses.replace(request.reads, most=7)}[field]
        digests.add(question_digest(dataclasses.replace(request, **{field: other})))
    assert len(digests) == 4
    assert question_digest(request) == question_digest(asked(questions(kind)[0]))


@every
def test_its_digest_is_of_every_parameter_however_deep(kind: Any) -> None:
    """As a copy of the whole as dictionaries gives it, with columns by their names: receipts of many years ago are
    found by it, or by the one of columns as they are listed."""
    for question in questions(kind):
        request = asked(question)
        whole = dataclasses.asdict(request)
        del whole["reads"]["records"]  # says what table is meant, and changes no answer
        assert whole["chosen_after_looking"] is False
        whole["chosen_after_looking"] = ()  # as where nothing was; it is said of a question, and makes no other
        for name in ("suggested", "suggested_row", "form", "coded", "named_by_rows", "table", "together", "done"):
            if not whole["reads"][name]:
                del whole["reads"][name]
        if not whole.get("features", {}).get("pairs", True):
            del whole["features"]["pairs"]
        named = f"{kind.__module__}.{kind.__qualname__}"
        listed = _hashed([named, whole])
        for part in (whole, whole["reads"], whole.get("features", {})):
            for name in {"columns", "experts", "suggested"} & part.keys():
                part[name] = sorted(part[name], key=lambda one: one if isinstance(one, str) else one["name"])
        for pair in whole.get("features", {}).get("pairs", ()):
            pair["first"], pair["second"] = sorted(pair.values(), key=lambda one: one["name"])
        if whole.get("features", {}).get("pairs"):
            by_names = sorted(whole["features"]["pairs"], key=lambda one: (one["first"]["name"], one["second"]["name"]))
            whole["features"]["pairs"] = by_names
        assert question_digest(request) == _hashed([named, whole])
        assert listed in question_digests(request)


@every
def test_what_it_stands_in_the_place_of_reads_and_hides_the_same(kind: Any) -> None:
    """At the same ε and in the same words, by another mechanism."""
    for question in questions(kind):
        request = asked(question)
        marked = dataclasses.replace(request, chosen_after_looking=True)
        for now, one in ((by, one) for by in (request, marked) for one in by.instead_of):
            assert one.mechanism != now.mechanism
            assert one.instead_of == ()
            for name in ("epsilon", "reads", "neighbours", "unit", "chosen_after_looking", "own_notes"):
                assert getattr(one, name) == getattr(now, name)
            if type(one) is not kind:  # of one kind among fewer numbers the same rows are scored at others
                assert one.reading[1:] == now.reading[1:]
            assert sentence(one) == sentence(now)
            assert set(question_digests(one)) < set(question_digests(now))


def _hashed(whole: Any) -> str:
    text = json.dumps(whole, sort_keys=True, separators=(",", ":"), default=date.isoformat)
    return hashlib.sha256(text.encode()).hexdigest()


@every
def test_its_sentences_are_for_people(kind: Any) -> None:
    """Whole sentences, no private or control characters, short enough for a receipt; chosen values are owned up to."""
    for question in questions(kind):
        request = asked(question)
        for text in (*request.rules, *request.notes, sentence(request)):
            assert text[0].isupper()
            assert text.endswith((".", "?"))
            assert label(text=text, longest=1000) == text
        assert request.rules
        looked = dataclasses.replace(request, chosen_after_looking=True)
        assert sentence(looked) == f"{sentence(request)} {CHOSEN}"
        with pytest.raises(InvalidArgument, match="chosen_after_looking"):
            dataclasses.replace(request, chosen_after_looking=("epsilon",))


@every
def test_its_error_bound_is_public_and_falls_with_confidence(kind: Any) -> None:
    for question in questions(kind)[:3]:
        request = asked(question)
        loose, tight = request.error_bound(0.5), request.error_bound(0.01)
        assert (loose is None) == (tight is None)
        if loose is not None and loose.confidence is not None:
            assert 0.0 <= loose.number <= tight.number < float("inf")
            assert loose.unit
        for wrong in (0.0, 1.0, float("nan")):
            if kind.key != "plays":
                with pytest.raises(InvalidArgument):
                    request.error_bound(wrong)


@every
def test_it_is_asked_of_a_declaration(kind: Any) -> None:
    parameters = inspect.signature(kind.of).parameters
    assert next(iter(parameters)) == "declaration"
    assert {"epsilon", "chosen_after_looking"} <= set(parameters)


@pytest.mark.thorough
@pytest.mark.parametrize("question", QUESTIONS[::3], ids=lambda question: question.name)
def test_it_answers_about_any_table_whatever(question: Question) -> None:
    """Cells of every kind, no rows at all, one row, columns that are not there: what is read has one shape."""
    rng = np.random.default_rng(3)
    request = asked(question)
    shapes = set()
    for rows in (0, 1, 7, 30):
        cells = {
            name: [CELLS[place] for place in rng.integers(len(CELLS), size=rows)] for name in question.schema.names
        }
        found = request.read(PrivateRows(pd.DataFrame(cells, dtype="str")))
        shapes.add(np.shape(found))
        answer = request.draw(found)
        assert json.loads(json.dumps(answer, allow_nan=False)) == answer
        assert "index" not in answer
    assert len(shapes) == 1
    assert np.shape(request.read(PrivateRows(pd.DataFrame({"elsewhere": ["1"]})))) in shapes


def _far(sign: int, factor: float) -> dict[str, Any]:
    """Samplers whose noise is ``factor`` standard deviations in one direction, or to and fro where ``sign`` is 0."""

    def noise(size: int, scale: float) -> np.ndarray:
        signs = np.where(np.arange(size) % 2 == 0, 1, -1) if sign == 0 else np.full(size, sign)
        return signs * min(int(factor * scale) + 1, 2**50)

    def near(values: Any, scale: float) -> np.ndarray:
        return np.asarray(values, dtype=np.int64) + noise(len(values), scale)

    return {
        "laplace": lambda values, *, sensitivity, epsilon: near(values, sensitivity / epsilon),
        "gaussian": lambda values, *, sensitivity, rho: near(values, sensitivity / np.sqrt(2 * rho)),
        "laplace_noise": noise,
        "gaussian_noise": noise,
        "geometric_noise": lambda size, scale: abs(noise(size, scale)),
        "noisy_max": lambda scores, **_: len(scores) - 1 if sign > 0 else 0,
    }


@pytest.mark.parametrize("sign", [1, -1, 0])
@pytest.mark.parametrize("question", QUESTIONS[::2], ids=lambda question: question.name)
def test_no_noise_makes_a_draw_fail(question: Question, sign: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """What fails by its noise would be drawn again for the same charge: one run more of which something is seen."""
    request = asked(question)
    ready = request.read(question.file(question.tables[0], from_bytes=False).private)
    for name, far in _far(sign, 40.0).items():
        assert callable(getattr(draws, name))
        monkeypatch.setattr(draws, name, far)
    answer = request.draw(ready)
    assert json.loads(json.dumps(answer, allow_nan=False)) == answer


def test_a_draw_that_fails_by_its_noise_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    question = questions(catalog()["count"])[0]
    request = asked(question)
    monkeypatch.setattr(draws, "laplace", _far(-1, 40.0)["laplace"])
    monkeypatch.setattr(
        type(request),
        "draw",
        lambda self, count: {"log": float(np.log(draws.laplace([count], sensitivity=1, epsilon=1.0)[0]))},
    )
    with pytest.warns(RuntimeWarning), pytest.raises(ValueError, match="JSON"):
        json.dumps(request.draw(3), allow_nan=False)


@every
def test_its_answer_is_no_larger_than_was_known_before(kind: Any) -> None:
    """From its public parameters alone: what is charged can be kept."""
    for question in questions(kind):
        for rows in question.tables[:2]:
            file = question.file(rows, from_bytes=False)
            request = question.ask(question.declaration, file)
            answer = request.answer(file.private)
            assert len(canonical(answer)) <= request.most_bytes <= MOST_BYTES, question.name
