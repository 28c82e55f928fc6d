"""An answer as it is copied into a text elsewhere says all that must go with it, and no more."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pandas as pd
import pytest

from dashboard.question import Offer
from dashboard.widgets.answer import to_copy
from dashboard.words import release as said
from dashboard.words import safe
from dpcore.datasets import Column, PrivateRows
from dpcore.datasets.declaration import Reads
from dpcore.ledger import Ledger, Receipt
from dpcore.release import release
from dpcore.releases.asked import Asked
from dpcore.releases.count import NoisyCount

NAME = "what *is* it? no. `4`"
ROWS = PrivateRows(pd.DataFrame({NAME: ["1", "2"]}, dtype="str"))


class Answered(NoisyCount):
    """Of no rows: always the same number."""

    def answer(self, rows: Any) -> Any:
        return 41


class Noted(Answered):
    """With a sentence of its kind."""

    own_notes = ("This is about a *part* of them.",)


PLAIN = Answered(epsilon=0.25, reads=Reads(columns=(Column(name=NAME, type="text"),)))


def drawn(request: Asked) -> Receipt:
    with Ledger.open("sqlite://") as ledger:
        ledger.open_budget("people", name="People", epsilon=1.0)
        return release(ledger, "first", "people", request, ROWS)


def offer(request: Asked, **more: Any) -> Offer:
    return Offer(
        request=request,
        data=list,
        forecast="",
        describe=lambda answer: f"**About {answer}** {safe(NAME)}.",
        gives="a number",
        **more,
    )


def whole(receipt: Receipt, offer: Offer) -> str:
    return to_copy(receipt, offer)[1]


def test_in_short_it_is_no_exact_number_and_no_promise() -> None:
    short, _ = to_copy(drawn(PLAIN), offer(PLAIN))
    assert short == (
        f"{PLAIN.what} About 41 {NAME} (changed at random on purpose, to protect those in the data, so not exact; "
        "differential privacy, ε = 0.25)."
    )


def test_it_says_question_answer_noise_odds_bound_and_receipt_as_plain_text() -> None:
    receipt = drawn(PLAIN)
    told = whole(receipt, offer(PLAIN, claim="95 times in 100 it is off by at most 12"))
    assert told == (
        f"{PLAIN.what} About 41 {NAME}. Noise was added on purpose (differential privacy, ε = 0.25, hides any one "
        "person added or removed). Someone who would guess right 50 times in 100 without the answer whether somebody "
        "is in the data is right at most 56.3 times in 100 with it. A guess what the data say of somebody who is in "
        "them: at most 62.3 times. 95 times in 100 it is off by at most 12. What this rests on that nobody could "
        f"check, and what it does not hide, stands in receipt {receipt.journal_hash[:12]}."
    )


def test_where_nothing_is_proved_it_says_that_another_draw_could_differ() -> None:
    assert said.ANOTHER_DRAW in whole(drawn(PLAIN), offer(PLAIN))


def test_what_tells_two_answers_apart_tells_their_sentences_apart() -> None:
    """Whom they hide, of which table they are, and how much can be guessed."""
    requests = [
        PLAIN,
        PLAIN,
        replace(PLAIN, epsilon=0.9),
        replace(PLAIN, reads=replace(PLAIN.reads, table="deaths 2025")),
    ]
    receipts = [drawn(one) for one in requests[:3]] + [drawn(PLAIN)]  # its rows are of one table
    receipts[1] = replace(receipts[1], neighbours="replace_one")
    sentences = map(whole, receipts, map(offer, requests))
    told = [one.split(" What this rests on")[0] for one in sentences]
    assert len(set(told)) == len(told)
    assert "one person's row changed" in told[1]
    assert "71.1 times in 100" in told[2]
    assert "Asked of the table “deaths 2025”." in told[3]


def test_what_belongs_to_a_kind_of_answer_goes_with_it() -> None:
    request = Noted(epsilon=0.25, reads=PLAIN.reads)
    assert Noted.own_notes[0] in whole(drawn(request), offer(request))


@pytest.mark.parametrize(
    "more",
    [
        {"chosen_after_looking": True},
        {"reads": replace(PLAIN.reads, suggested=(NAME,))},
        {"reads": replace(PLAIN.reads, form=("encoding",))},
    ],
    ids=["chosen", "read", "form"],
)
def test_it_says_that_something_lies_outside_of_the_promise_where_the_receipt_does(more: dict[str, Any]) -> None:
    request = replace(PLAIN, **more)
    assert said.OUTSIDE in whole(drawn(request), offer(request))
    assert said.OUTSIDE not in whole(drawn(PLAIN), offer(PLAIN))
