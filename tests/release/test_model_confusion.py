"""How often a drawn model is right, told privately: what it reads, its exact law on neighbours, and its sampler."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chisquare

from dpcore.audit.drawn import RECEIPT, drawn_model
from dpcore.datasets import Column, Declaration, PrivateRows
from dpcore.errors import InvalidArgument
from dpcore.release import question_digest
from dpcore.releases.confusion import ModelConfusion
from dpcore.training.confusion import CELLS

AGE = Column(name="age", type="number", low=0, high=100)
WORD = Column(name="word", type="category", categories=("a", "b", "c"))
ILL = Column(name="ill", type="yes/no")
WHO = Column(name="who", type="text")
PEOPLE = Declaration(columns=(AGE, WORD, ILL))
EPSILON = 1.0
ROWS = [("10", "a", "yes"), ("90", "b", "no"), ("", "c", "yes"), ("55", "", "no"), ("x", "z", "yes"), ("20", "a", "")]


def rows(table: list[tuple[str, ...]], names: tuple[str, ...] = ("age", "word", "ill")) -> PrivateRows:
    return PrivateRows(pd.DataFrame(table, columns=list(names), dtype="str"))


def asked(declared: Declaration = PEOPLE, **how: Any) -> ModelConfusion:
    model = drawn_model(PEOPLE, target="ill", columns=["age", "word"])
    return ModelConfusion.of(declared, model, drawn=RECEIPT, **{"epsilon": EPSILON, **how})


def spent(request: ModelConfusion, here: PrivateRows, there: PrivateRows) -> float:
    """The largest |log-ratio| of the exact laws of all four told counts on these two: they are independent."""
    first, second = (np.log(request.law(found)) for found in (here, there))
    ratio = first - second
    return float(max(ratio.max(axis=1).sum(), (-ratio).max(axis=1).sum()))


def test_a_row_is_in_one_cell_and_without_an_answer_in_none() -> None:
    request = asked()
    assert request.read(rows(ROWS)).sum() == 5
    for row in ROWS:
        assert request.read(rows([row])).sum() == (row[2] != "")
    singly = sum(request.read(rows([row])) for row in ROWS)
    assert (request.read(rows(ROWS)) == singly).all(), "no row hangs on another"
    assert request.read(rows([])).tolist() == [0, 0, 0, 0]


def test_a_missing_cell_counts_as_the_model_takes_it() -> None:
    """A number as the middle of its bounds, a word as none of the options, a cell beyond the bounds as the bound."""
    request = asked()
    for blank, same in ((("", "a", "yes"), ("50", "a", "yes")), (("900", "b", "no"), ("100", "b", "no"))):
        assert (request.read(rows([blank])) == request.read(rows([same]))).all()
    filled = replace(PEOPLE, columns=(replace(AGE, fill=0.0), WORD, ILL))
    for word in "abc":
        found = asked(filled).read(rows([("", word, "yes")]))
        assert (found == request.read(rows([("0", word, "yes")]))).all()
    assert any("age" in rule for rule in asked(filled).rules if rule.startswith("Missing cells"))


@pytest.mark.parametrize("neighbours", ["add_remove", "replace_one"])
@pytest.mark.parametrize("most", [1, 3])
def test_the_exact_law_on_neighbours_stays_within_the_claim_and_uses_it_up(neighbours: Any, most: int) -> None:
    """All rows of one person come, go or are written anew: to the last bit ε, and never more. At half the noise the
    same neighbours show more than the claim."""
    declared = replace(PEOPLE, rows_per_person=most)
    request = asked(declared, neighbours=neighbours)
    others = [ROWS[1]] * 4
    written = [()] if neighbours == "add_remove" else ROWS[:3]
    used = []
    for theirs, anew in itertools.product(ROWS, written):
        there = [anew] * most if anew else []
        used.append(spent(request, rows([*others, *[theirs] * most]), rows([*others, *there])))
    assert max(used) == pytest.approx(EPSILON, rel=1e-9)
    louder = asked(declared, neighbours=neighbours, epsilon=2 * EPSILON)
    one, other = ([ROWS[0]] * most, [] if neighbours == "add_remove" else [ROWS[1]] * most)
    assert spent(louder, rows([*others, *one]), rows([*others, *other])) > 1.5 * EPSILON


def test_rows_of_one_person_beyond_what_was_declared_do_not_count() -> None:
    names = ("who", "age", "word", "ill")
    declared = Declaration(columns=(WHO, *PEOPLE.columns), id_column="who", rows_per_person=2)
    request = asked(declared)
    many = [("one", *ROWS[0])] * 7
    assert request.read(rows([*many, ("two", *ROWS[1])], names)).sum() == 3
    few = [("two", *ROWS[1])]
    assert spent(request, rows(few, names), rows([*few, *many], names)) == pytest.approx(EPSILON, rel=1e-9)


def test_answers_follow_the_law() -> None:
    """3,000 answers by OpenDP: a right law fails once in 10⁶ runs; the law of half the noise is rejected."""
    request = asked()
    found = request.read(rows(ROWS * 3))
    answers = [request.draw(found) for _ in range(3000)]
    assert list(answers[0]) == list(CELLS)
    for place, name in enumerate(CELLS):
        told = np.bincount(np.clip([one[name] for one in answers], -12, 30) + 12, minlength=43)
        for asking, right in ((request, True), (asked(epsilon=2.0), False)):
            law = asking.law_of(found)[place]
            law = np.concatenate([[law[: 100 - 11].sum()], law[100 - 11 : 100 + 30], [law[100 + 30 :].sum()]])
            few = law * 3000 < 10
            expected, seen = np.append(law[~few], law[few].sum()), np.append(told[~few], told[few].sum())
            p = chisquare(seen, expected * 3000 / expected.sum()).pvalue
            assert (p > 1e-6) == right
    off = [abs(one["found"] + one["rightly_left"] - found[0] - found[3]) for one in answers]
    wrong = [abs(one["missed"] + one["false_alarms"] - found[1] - found[2]) for one in answers]
    beyond = np.mean(np.maximum(off, wrong) > request.error_bound(0.05).number)
    assert 0.005 < beyond < 0.075, "its promise holds, and is not idle"


def test_a_question_is_of_one_model_and_of_columns_as_they_were_declared() -> None:
    request = asked()
    other = drawn_model(PEOPLE, target="ill", columns=["age", "word"])
    other["weights"][0] += 1e-9
    changed = ModelConfusion.of(PEOPLE, other, drawn=RECEIPT, epsilon=EPSILON)
    elsewhere = ModelConfusion.of(
        PEOPLE, drawn_model(PEOPLE, target="ill", columns=["age", "word"]), drawn="0" * 64, epsilon=EPSILON
    )
    assert len({question_digest(one) for one in (request, changed, elsewhere, asked())}) == 3
    assert RECEIPT[:12] in request.what
    for columns in (
        (replace(AGE, high=120.0), WORD, ILL),
        (AGE, replace(WORD, categories=("a", "b")), ILL),
        (AGE, ILL),
        (AGE, WORD, replace(WORD, name="ill")),
    ):
        with pytest.raises(InvalidArgument, match="not declared as when the model was drawn"):
            asked(Declaration(columns=columns))
    for target, match in (("age", "predicts a number"), ("word", "more than two classes")):
        model = drawn_model(PEOPLE, target=target, columns=["ill"], apart=target == "word")
        with pytest.raises(InvalidArgument, match=match):
            ModelConfusion.of(PEOPLE, model, drawn=RECEIPT, epsilon=EPSILON)
    with pytest.raises(InvalidArgument, match="weights"):
        replace(request, weights=request.weights[1:])
    with pytest.raises(InvalidArgument, match="too small"):
        asked(epsilon=1e-60)


def test_an_answer_is_never_larger_than_was_known() -> None:
    import json

    request = asked()
    assert len(json.dumps(dict.fromkeys(CELLS, -(2**63)))) <= request.most_bytes
