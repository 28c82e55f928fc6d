"""An answer is drawn as what its receipt says: one that goes on without it, as a model does, warns of no less."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dashboard import words
from dashboard.words.release import answers_for
from dpcore import release as module
from dpcore.datasets import PrivateRows
from dpcore.datasets.text import plain_sentence
from dpcore.errors import ReleaseRefused
from dpcore.ledger import Ledger
from dpcore.ledger.receipt import Receipt
from dpcore.ledger.words import LONGEST_QUESTION
from dpcore.release import release, sentence
from dpcore.releases.asked import CHOSEN
from dpcore.releases.asked_model import AskedModel
from dpcore.releases.steps_chosen import SEEN
from dpcore.training import load_model
from tests.contract.test_release_contract import KINDS, questions
from tests.contract.test_release_contract import asked as of_a_page
from tests.release.granting import granting
from tests.training.test_model_card import ALL, FRAME, TOLD, asked

ROWS = PrivateRows(FRAME)
Way = Callable[[Ledger, pytest.MonkeyPatch, Any, Any, Any], Receipt]


def after_a_grant(ledger: Ledger, patch: pytest.MonkeyPatch, first: Any, then: Any, rows: Any) -> Receipt:
    olga, anna = granting(ledger)
    module.ask(anna, "r", "theirs", first)
    olga.grant("r")
    return release(anna, "r", "theirs", then, rows)


def after_a_crash(ledger: Ledger, patch: pytest.MonkeyPatch, first: Any, then: Any, rows: Any) -> Receipt:
    ledger.charge("r", "people", first.cost, sentence(first), **module._asked(first))
    return release(ledger, "r", "people", then, rows)


def after_a_draw_that_failed(ledger: Ledger, patch: pytest.MonkeyPatch, first: Any, then: Any, rows: Any) -> Receipt:
    with patch.context() as failing:
        failing.setattr(type(first), "answer", lambda self, rows: 1 / 0)
        with pytest.raises(ReleaseRefused, match=module.FAILED):
            release(ledger, "r", "people", first, rows)
    return release(ledger, "r", "people", then, rows)


WAYS: tuple[Way, ...] = (after_a_grant, after_a_crash, after_a_draw_that_failed)
ways = pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)


@pytest.fixture
def ledger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Ledger]:
    monkeypatch.setenv("EPSILON_LAB_KEY", str(tmp_path / "key"))
    with Ledger.open(f"sqlite:///{tmp_path / 'ledger.db'}", create=True) as found:
        found.open_budget("people", epsilon=50.0, delta=1e-3)
        yield found


@ways
@pytest.mark.parametrize("kind", ALL, ids=lambda kind: kind.key)
def test_whatever_the_receipt_says_the_file_and_its_card_say(
    way: Way, kind: type[AskedModel], ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = asked(kind, TOLD)
    looked = replace(plain, chosen_after_looking=True)
    found = way(ledger, monkeypatch, looked, plain, ROWS)
    assert found.what == sentence(looked)
    assert found.answer["about"]["notes"] == list(looked.notes)
    assert plain_sentence(CHOSEN) in load_model(found.answer).card()


@ways
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.key)
def test_every_kind_of_question_is_drawn_as_its_receipt_says(
    way: Way, kind: type, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And is the same one in all else."""
    question = questions(kind)[0]
    plain = of_a_page(question)
    looked = replace(plain, chosen_after_looking=True)
    drawn: list[Any] = []
    monkeypatch.setattr(kind, "answer", lambda self, rows: drawn.append(self))
    file = question.file(question.tables[0], from_bytes=False)
    assert way(ledger, monkeypatch, looked, plain, file.private).what == sentence(looked)
    assert drawn == [looked]


@ways
def test_an_answer_that_is_drawn_as_it_is_asked_now_is_found_out(
    way: Way, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_as_charged", lambda request, receipt: request)
    with pytest.raises(AssertionError):
        test_whatever_the_receipt_says_the_file_and_its_card_say(way, ALL[0], ledger, monkeypatch)


@ways
def test_what_was_charged_before_somebody_looked_stays_so_on_its_receipt(
    way: Way, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is granted is charged later, so that both are true of it; a file warns of more at most."""
    plain = asked(ALL[0], TOLD)
    looked = replace(plain, chosen_after_looking=True)
    found = way(ledger, monkeypatch, plain, looked, ROWS)
    assert found.what == sentence(looked if way is after_a_grant else plain)
    assert found.answer["about"]["notes"] == list(looked.notes)


# -- what is listed before the click -----------------------------------------------------------------------------------


def listed(way: Way, ledger: Ledger, patch: pytest.MonkeyPatch, first: Any, then: Any) -> tuple[str, Receipt]:
    """What stands beside the release before it is drawn, from the words that are at hand then; and the receipt."""
    before: list[str] = []
    drawing = module.release

    def looked_at(here: Ledger, request_id: str, lineage: str, request: Any, rows: Any) -> Receipt:
        digests = module.question_digests(request)
        charges = [one.what for digest in digests for one in here.unanswered(lineage, digest)]
        granted = [petition.what for petition in module.asked_before(here, lineage, request)]
        before[:] = [answers_for(module.notes_of(request, granted=granted, charged=charges))]
        return drawing(here, request_id, lineage, request, rows)

    patch.setitem(globals(), "release", looked_at)
    receipt = way(ledger, patch, first, then, ROWS)
    return before[0], receipt


def unsaid(told: str, receipt: Receipt, request: Any) -> list[str]:
    """Sentences on the receipt, after its question, that the list has not."""
    rest = receipt.what.removeprefix(sentence(request).removesuffix(" ".join(request.notes)))
    return [one for one in re.split(r"(?<=[.]) (?=[A-Zε])", rest) if words.safe(one, LONGEST_QUESTION) not in told]


@ways
def test_the_list_beside_a_release_says_all_that_its_receipt_will_say(
    way: Way, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where an earlier session, which asked or was charged, said more of it than the one that draws; once."""
    plain = asked(ALL[0], TOLD)
    told, receipt = listed(way, ledger, monkeypatch, replace(plain, chosen_after_looking=True), plain)
    assert unsaid(told, receipt, plain) == []
    assert told.count(words.safe(CHOSEN, LONGEST_QUESTION)) == 1


@ways
def test_a_list_of_what_is_said_now_alone_is_found_out(
    way: Way, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "notes_of", lambda request, **_: request.notes)
    plain = asked(ALL[0], TOLD)
    told, receipt = listed(way, ledger, monkeypatch, replace(plain, chosen_after_looking=True), plain)
    assert unsaid(told, receipt, plain) == [CHOSEN]


def test_the_list_of_what_nobody_spoke_of_before_is_that_of_the_question() -> None:
    plain = asked(ALL[0], TOLD)
    looked = replace(plain, chosen_after_looking=True)
    for one in (plain, looked):
        assert module.notes_of(one) == one.notes
        same = module.notes_of(one, granted=[sentence(one)], charged=[sentence(one), sentence(plain)])
        assert same == one.notes
    assert module.notes_of(plain, granted=[sentence(looked)]) == looked.notes
    less = replace(plain, people=300, reads=replace(plain.reads, suggested_row=""))
    own = sentence(less)
    said_more = own.replace("rows was stated and not counted.", f"rows was stated by {SEEN}: not covered by ε.")
    assert said_more != own
    more = "".join(module.notes_of(less, granted=[said_more])[len(less.notes) :])
    assert f"rows was stated by {SEEN}" in more, "words of an earlier version, which the receipt takes over"
    assert "A model that predicts" not in more, "the question stands above"
