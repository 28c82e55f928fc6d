"""How often a drawn model is right, as a value: which models can be asked about, and what is said of them."""

from __future__ import annotations

import itertools
import json
import re
from dataclasses import replace
from fractions import Fraction
from hashlib import sha256
from pathlib import Path
from types import SimpleNamespace
from typing import Any, get_args

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from dashboard import catalogue, offering, words
from dashboard.blocks import Ask, Rows, Small, Text
from dashboard.case import Case, DrawnModel
from dashboard.controls import Setting
from dashboard.question import CannotAsk, NoOffer, Offer, Question
from dashboard.questions.training import PAGE
from dashboard.questions.training.hits import ASKED, Hits, _Setting, then
from dashboard.questions.training.hits_request import enough, hits_request
from dashboard.report.analysis import Asked, analysis
from dashboard.report.answer import answered
from dashboard.report.label import of_analysis
from dashboard.report.render import rendered
from dashboard.report.value import plain
from dashboard.usual import people
from dashboard.words import hits as said
from dashboard.words.report import MECHANISM, SENSITIVITY
from dpcore.audit.drawn import RECEIPT, drawn_model
from dpcore.datasets import Column, Declaration, Schema, apply
from dpcore.datasets.done import Done
from dpcore.formulas import disarmed
from dpcore.ledger import Ledger
from dpcore.ledger.budget import Counting
from dpcore.memory import Memory
from dpcore.release import question_digest, release
from dpcore.releases.confusion import ModelConfusion
from dpcore.releases.gaussian_confusion import GaussianConfusion
from dpcore.releases.model import PrivateModel
from dpcore.training.confusion import CELLS, Confusion, confusion_of
from dpcore.training.confusion_law import told_off, verdict_chance
from dpcore.training.confusion_problem import ConfusionProblem
from dpcore.training.count_noise import GaussianNoise, LaplaceNoise
from dpcore.training.model import load_model
from dpcore.validate import Neighbours
from tests.peak import peak
from tests.questions.samples import sample_case
from tests.report.made import report

NOISE = LaplaceNoise(scale=2.0)
WHEN = "2026-01-01 00:00:00 UTC"


def clinic(epsilon: float = 0.5) -> Case:
    return sample_case("clinic", epsilon)


def drawn(case: Case, receipt: str = RECEIPT, **how: Any) -> DrawnModel:
    declared = case.source.declared or Declaration.of(case.table.schema)
    return DrawnModel(receipt=receipt, answer=lambda: drawn_model(declared, **how), when=WHEN, same=True)


def asked(case: Case, **values: Any) -> Question:
    return Hits.ask(case, Setting(values))


def own(case: Case, mode: Any = "what_if") -> Case:
    source = replace(case.source, key="own-file", mode=mode, practice=False, lineage="people")
    return replace(case, source=source)


def test_without_a_model_one_sentence_says_how_to_get_one() -> None:
    with pytest.raises(CannotAsk) as refused:
        asked(replace(clinic(), models=()))
    assert str(refused.value) == said.NO_MODEL
    predict, here = (catalogue.questions(PAGE.key)[key] for key in ("predict", Hits.key))
    assert predict.title in said.NO_MODEL
    assert here is Hits
    assert catalogue.question_choice(PAGE).key == ASKED


def test_only_models_of_two_classes_and_of_these_columns_are_offered_and_others_named() -> None:
    """From the ledger's answers and what is declared alone: nothing of the rows is looked at for it."""
    case = clinic()
    fine, other = (
        drawn(case, receipt, target="returned", columns=columns)
        for receipt, columns in (("a" * 64, ["age"]), ("b" * 64, ["age", "day"]))
    )
    number = drawn(case, "c" * 64, target="age", columns=["day"])
    apart = drawn(case, "d" * 64, target="complaint", columns=["age"], apart=True)
    schema = case.table.schema
    wider = tuple(replace(one, high=130.0) if one.name == "age" else one for one in schema.columns)
    before = drawn_model(Declaration.of(replace(schema, columns=wider)), target="returned", columns=["age"])
    otherwise = DrawnModel(receipt="e" * 64, answer=lambda: before, when=WHEN, same=True)
    read = Setting()
    question = Hits.ask(replace(case, models=(other, number, apart, otherwise, fine)), read)
    offered = next(control for _, control in read.seen.values() if control.key.startswith("hits_model"))
    assert tuple(offered.options) == (other.receipt, fine.receipt), "the latest first"
    assert not offered.linked
    assert question.offer.request.drawn == other.receipt  # type: ignore[union-attr]
    (note,) = question.notes
    assert all(part in note for part in ("1 model of a number", "more than two classes", "not declared as when"))
    older = replace(otherwise, receipt="9" * 64, answer=lambda: {**before, "version": 99})
    reasons = {
        "no row of theirs is in one of four cells": (number, apart),
        "not declared as when they were drawn, which the Data page can set back": (otherwise,),
        "another version of this program": (older,),
    }
    for one in reasons:
        with pytest.raises(CannotAsk) as refused:
            asked(replace(case, models=reasons[one]))
        told = str(refused.value)
        assert told.startswith(said.NONE_FITS), "there are models, and none is to be drawn for want of one"
        assert said.NO_MODEL not in told
        assert [other for other in reasons if other in told] == [one], "each for its own reason"
    both = {
        question_digest(asked(replace(case, models=(one,))).offer.request)  # type: ignore[union-attr]
        for one in (fine, other)
    }
    assert len(both) == 2, "two models are two questions"


LONG = tuple(f"{place:03d} {'x' * 2000}" for place in range(100))


def long_models(many: int) -> Case:
    """Models of options that are as long as an answer can hold, each read anew whenever it is asked for."""
    case = own(clinic())
    columns = (*case.table.schema.columns, Column(name="long", type="category", categories=LONG))
    declared = Declaration(columns=columns)
    text = json.dumps(drawn_model(declared, target="returned", columns=["long"]))
    models = tuple(
        DrawnModel(receipt=f"{place:064d}", answer=lambda: json.loads(text), when=WHEN, same=True)
        for place in range(many)
    )
    frame = case.table.frame.assign(long=pd.Categorical([LONG[0]] * case.table.rows, categories=list(LONG)))
    table = replace(case.table, frame=frame, schema=replace(case.table.schema, columns=columns), fingerprint="long")
    source = replace(case.source, table=table, declared=declared)
    return replace(case, source=source, models=models, memo=Memory(400, room=64 << 20))


@pytest.mark.thorough
def test_many_models_take_no_more_than_one() -> None:
    """One is read after the other, and of those that are not chosen little is kept, whatever they hold."""
    (one,), many = long_models(1).models, 12
    size = peak(one.answer)
    few, case = long_models(1), long_models(many)
    alone, together = (peak(lambda case=case: asked(case)) for case in (few, case))  # type: ignore[misc]
    assert together < alone + 2 * size
    assert case.memo.bytes < few.memo.bytes + size  # type: ignore[attr-defined]
    assert peak(lambda: [one.answer() for one in case.models]) > alone + 2 * size, "or nothing was tested"
    read: list[str] = []

    def counted(model: DrawnModel) -> DrawnModel:
        return replace(model, answer=lambda: read.append(model.receipt) or model.answer())  # type: ignore[func-returns-value]

    again = replace(case, models=tuple(map(counted, case.models)))
    for epsilon in (0.1, 0.2):
        asked(replace(again, epsilon=epsilon))
    assert read == [], "what was found of them is remembered by their receipts"


def test_what_is_said_is_what_the_engine_finds() -> None:
    case = clinic()
    question = asked(case)
    model = load_model(case.models[0].answer())
    true = confusion_of(model.features, model.weights, case.table.frame)
    off = float(told_off(true.right, true.wrong, 1 / case.epsilon)[0])
    assert f"within **{words.no_less(100 * off)} points of 100**" in question.headline
    assert question.view.point == pytest.approx(100 * off)
    assert question.uncertain is not None
    assert question.uncertain.noise == pytest.approx(off)
    assert f"{100 * true.right_share:.1f}".rstrip("0").rstrip(".") in question.caption
    assert isinstance(question.offer, Offer)
    assert question.offer.request.scale == 1 / case.epsilon  # type: ignore[attr-defined]
    assert question.need.found is not None
    enough = replace(case, epsilon=question.need.found.epsilon)
    assert asked(enough).view.point == pytest.approx(3.0, rel=1e-3), "what is needed is what the chart says of it"
    for metric in said.METRICS:
        for axis in ("epsilon", "n", "both"):
            assert asked(case, hits_metric=metric).view.picture(axis).alt
    assert "**" in asked(case, hits_metric="verdict").headline


def asked_about(cells: tuple[int, ...], times: float) -> ConfusionProblem:
    """What the page asks where the model has these cells and there are ``times`` as many people."""
    case = SimpleNamespace(table=SimpleNamespace(schema=Schema(columns=(Column(name="age", type="text"),))))
    setting = SimpleNamespace(true=Confusion.of(np.array(cells)), relation="add_remove", delta=None, case=case)
    return _Setting.problem(setting, times, 1)  # type: ignore[arg-type]


def test_as_many_people_are_asked_about_as_are_said() -> None:
    """By whole numbers alone: no sum of the four cells' shares is ever one person less, nor none at all of one row."""
    random, tables = np.random.default_rng(1), [(1, 0, 0, 0), (1, 1, 1, 4), (2, 1, 1, 3), (3000, 1226, 2000, 5000)]
    tables += [tuple(cells) for most in (3, 40, 20_000) for cells in random.integers(1, most, (200, 4)).tolist()]
    lost = 0
    for cells, times in itertools.product(tables, people("hits_factor", said.PEOPLE).options):
        problem, rows = asked_about(cells, times), max(1, round(sum(cells) * times))
        assert problem.n == rows, (cells, times)
        shares = [Fraction(cell, sum(cells)) for cell in cells]
        here = problem.at(float(rows))
        assert [float(share * rows) for share in shares] == pytest.approx([getattr(here, name) for name in CELLS])
        lost += int(here.total) < rows
    assert lost > 10, "or sums of shares would not have been found out"
    few = asked_about((1, 1, 1, 4), 0.1)
    for method, metric in itertools.product(few.methods, few.metrics):
        assert np.isfinite(few.evaluate(method, metric, np.ones(1), np.ones(1)).value).all()


def test_who_is_hidden_decides_the_noise_and_is_what_the_model_hides() -> None:
    case = clinic()
    changed = asked(case, hits_neighbours="replace_one")
    assert changed.offer.request.scale == 2 / case.epsilon  # type: ignore[union-attr]
    assert changed.protected.neighbours == "replace_one"
    assert changed.view.point > asked(case).view.point
    hidden = {**case.models[0].answer(), "about": {**case.models[0].answer()["about"], "neighbours": "replace_one"}}
    so = asked(replace(case, models=(replace(case.models[0], receipt="1" * 64, answer=lambda: hidden),)))
    assert so.protected.neighbours == "replace_one"


def in_rho(case: Case) -> Case:
    """The same where the budget of these people counts in ρ."""
    return replace(case, counting="zcdp")


def test_the_budget_s_kind_says_by_which_noise_hits_are_counted() -> None:
    """In ρ as a model is drawn, at the δ of a model; where ε adds up as ever."""
    for counting in get_args(Counting):
        read = Setting()
        question = Hits.ask(replace(clinic(), counting=counting), read)
        assert isinstance(question.offer, Offer)
        request: Any = question.offer.request
        told = [block.markdown for block in question.offer.before if isinstance(block, Text)]
        gaussian = counting == "zcdp"
        assert isinstance(request, GaussianConfusion if gaussian else ModelConfusion)
        assert (said.IN_RHO in told) == gaussian
        assert ("training_delta" in read.seen) == gaussian, "what a count does not need is not asked"
        assert question.protected.delta == request.cost.delta == (1e-6 if gaussian else 0.0)
        how = " ".join(block.markdown for block in question.tabs[0].blocks() if isinstance(block, Text))
        assert ("discrete Gaussian" in how) == gaussian
        assert ("geometric" in how) != gaussian
    other: Any = asked(in_rho(clinic()), training_delta=1e-8).offer
    assert other.request.delta == 1e-8


def test_whatever_is_said_in_a_budget_in_rho_is_by_its_own_noise() -> None:
    """Headline, picture, forecast, answer and what both let somebody guess: none by the noise of the other kind."""
    case, plain = in_rho(clinic()), clinic()
    question, other = asked(case), asked(plain)
    assert isinstance(question.offer, Offer)
    assert isinstance(other.offer, Offer)
    request: Any = question.offer.request
    model = load_model(case.models[0].answer())
    true = confusion_of(model.features, model.weights, case.table.frame)
    off = float(told_off(true.right, true.wrong, request.scale, law=GaussianNoise)[0])
    assert f"within **{words.no_less(100 * off)} points of 100**" in question.headline
    assert question.view.point == pytest.approx(100 * off)
    assert f"within {words.no_less(100 * off)} points of 100" in question.offer.forecast
    small: Any = asked(in_rho(clinic(0.02)), hits_metric="verdict")
    assert not true.better
    wrong = verdict_chance(true, small.offer.request.scale, GaussianNoise)
    assert small.view.point == pytest.approx(100 * (1 - wrong)) != pytest.approx(100)
    told = {"found": 3018, "missed": 58, "false_alarms": 10, "rightly_left": 2300}
    noise = GaussianNoise(scale=request.scale)
    assert question.offer.describe(told) == said.answer(Confusion(**told), noise, "returned", model.classes)
    assert question.offer.describe(told) != other.offer.describe(told)
    both = said.with_model(0.3, 1e-2, replace(request.cost, delta=2e-2), "add_remove", "person")
    assert "ε = 0.3 for the model, 0.5 for the count, at most 0.8 and the δ of both for both" in both
    assert words.odds_sentence(0.8, 3e-2, "add_remove", "person", of="the two") in both
    brief = asked(replace(case, brief=True))
    assert (brief.headline, brief.caption, brief.protected) == (question.headline, question.caption, question.protected)
    held = own(case)
    bound = offering.ask(Hits, held, Setting()).question.offer
    assert isinstance(bound, Offer)
    assert words.whole(bound.request.error_bound(0.05).number) in bound.forecast  # type: ignore[attr-defined]
    code = question.view.code
    assert code is not None
    assert "delta=1e-06" in code
    assert "delta" not in str(other.view.code)


def test_answers_from_before_are_told_by_the_noise_that_they_were_drawn_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a budget in ρ counts by ε alone were drawn once: on page and paper they have their own forecast and ±."""
    monkeypatch.setenv("EPSILON_LAB_KEY", str(tmp_path / "key"))
    offer, before = asked(in_rho(clinic())).offer, asked(clinic()).offer
    assert isinstance(offer, Offer)
    assert isinstance(before, Offer)
    assert before.instead_of == ()
    with Ledger.open(f"sqlite:///{tmp_path / 'ledger.db'}", create=True) as ledger:
        ledger.open_budget("people", epsilon=3.0, delta=1e-5, counting="zcdp")
        old, new = (release(ledger, f"{n}", "people", one.request, one.data()) for n, one in enumerate((before, offer)))
    assert offer.told(old) == before.describe(old.answer) != offer.describe(old.answer)
    assert offer.told(new) == offer.describe(new.answer)
    assert (offer.of(old).request, offer.of(old).forecast) == (before.request, before.forecast)
    assert offer.of(old).claim == before.claim
    assert offer.of(new) is offer
    alone = replace(offer, instead_of=())
    assert alone.told(old) != before.describe(old.answer), "or what is told by another noise would not be found out"


def test_a_report_never_says_that_one_person_moves_less_than_they_can() -> None:
    """√2 of a row that is changed was rounded down."""
    case = in_rho(clinic())
    question = asked(case, hits_neighbours="replace_one")
    label = dict(of_analysis(question, case.source, ()).rows)
    assert isinstance(question.offer, Offer)
    told = float(plain(label[SENSITIVITY]))
    assert question.offer.request.sensitivity <= told < 1.4143  # type: ignore[attr-defined]
    assert question.offer.request.mechanism in plain(label[MECHANISM])  # type: ignore[attr-defined]


def test_tabs_show_the_four_cells_and_what_the_model_cannot_lean_on() -> None:
    question = asked(clinic(), hits_factor=2.0)
    how, what_if = (tab.blocks() for tab in question.tabs)
    assert any(isinstance(block, Rows) for block in how)
    told = " ".join(block.markdown for block in how if isinstance(block, Text))
    assert "on average at most 10 points" in told, "√(2·0.005) of 100"
    assert any(isinstance(block, Ask) for block in what_if)
    assert question.view.point < asked(clinic()).view.point, "twice as many people"


def leans(case: Case, receipt: str, **about: Any) -> str:
    """What is said of how much a model leans on its rows, beside its release and in how it works; ``about`` it is
    noted otherwise."""
    model = case.models[0]
    noted = {name: kept for name, kept in ({**model.answer()["about"], **about}).items() if kept is not None}
    other = replace(model, receipt=receipt, answer=lambda: {**model.answer(), "about": noted})
    question = asked(replace(case, models=(other, *case.models[1:])))
    assert isinstance(question.offer, Offer)
    (_, beside) = (block.markdown for block in question.offer.before if isinstance(block, Small))
    assert beside in [block.markdown for block in question.tabs[0].blocks() if isinstance(block, Text)]
    return beside


def requests() -> dict[str, PrivateModel]:
    """Requests for one model, each with one more tie to the rows than ε counts; the first has none."""
    schema = clinic().table.schema
    declared = Declaration.of(schema)
    plain = PrivateModel.of(declared, target="returned", columns=["age", "complaint"], epsilon=0.5, delta=1e-6)
    words = [replace(one, words_from_file=one.name == "complaint") for one in plain.reads.columns]
    reads: dict[str, dict[str, Any]] = {
        "cells that the file suggested": {"suggested": ("age",)},
        "rows that the file suggested": {"suggested_row": "record"},
        "the form of the file": {"form": ("no heading",)},
        "steps that were done": {"done": (Done(kind="totals", columns=("complaint",)),)},
        "columns that its rows name": {"named_by_rows": True},
        "options that are words of the file": {"columns": tuple(words)},
    }
    return {
        "": plain,
        "what was asked": replace(plain, chosen_after_looking=True),
        **{tie: replace(plain, reads=replace(plain.reads, **how)) for tie, how in reads.items()},
    }


@pytest.mark.parametrize("name", said.CELLS)
def test_a_count_below_0_reads_so_and_is_no_formula(name: str) -> None:
    """“'-2 false alarms” stood in the table: a spreadsheet might run what begins with a minus of arithmetic."""
    told = said.cell(Confusion(**dict.fromkeys(said.CELLS, -2)), name)
    assert told == disarmed(told) == f"−2 {said.CELLS[name]}"
    assert disarmed(told.replace("−", "-")) != told.replace("−", "-")


@pytest.mark.parametrize("tie", requests())
def test_no_lean_is_bounded_of_a_model_that_more_than_its_epsilon_ties_to_its_rows(tie: str) -> None:
    """As its own notes say: they are what a request writes into every model."""
    about = {name: requests()[tie].about(300)[name] for name in ("notes", "words_from_file", "named_by_rows")}
    told = leans(clinic(), f"tie {tie}", **about)
    assert ("at most" in told) == (not tie)
    assert (said.OUTSIDE in told) == bool(tie)


def test_no_lean_is_bounded_of_one_of_several_nor_of_a_model_that_says_too_little() -> None:
    case = clinic()
    assert "at most" in leans(case, "alone")
    assert "nothing that was seen of them decided what was asked" in leans(case, "alone")
    several = replace(case, models=tuple(replace(one, alone=False) for one in case.models))
    assert said.SEVERAL in leans(several, "one of several")
    too_little: tuple[dict[str, Any], ...] = ({"rho": None}, {"neighbours": None}, {"notes": None}, {"rho": 0.5})
    for number, less in enumerate(too_little):
        told = leans(case, f"less {number}", **less)
        assert said.USELESS in told
        assert "at most" not in told


def test_an_answer_is_told_in_plain_words_with_how_far_off_it_is() -> None:
    told = Confusion(found=18, missed=58, false_alarms=10, rightly_left=230)
    sentence = said.answer(told, NOISE, "ill", ("no", "yes"))
    both, one = (float(LaplaceNoise(scale=2.0, counts=counts).within(0.05)) for counts in (2, 1))
    assert f"**78.5 in 100 (± {words.no_less(100 * both / 316 + 0.05)})**" in sentence
    assert "always saying “no” would be right about 75.9 in 100" in sentence
    assert f"finds 23.7 in 100 (± {words.no_less(100 * one / 76 + 0.05)})" in sentence
    assert f"64.3 in 100 (± {words.no_less(100 * one / 28 + 0.05)}) really are so" in sentence
    assert "of those with “yes” in “ill” it finds" in sentence.lower()
    assert "not shown to be better" in sentence, "8 more found than false alarms, and the noise of both is up to 10"
    assert "so it is better on these rows" in said.answer(replace(told, false_alarms=2), NOISE, "ill", ("no", "yes"))
    assert "so it is not better on these rows" in said.answer(
        replace(told, false_alarms=30), NOISE, "ill", ("no", "yes")
    )
    assert "noise hides" in said.answer(replace(told, found=1, false_alarms=-2), NOISE, "ill", ("no", "yes"))
    assert "more noise here than rows" in said.answer(
        replace(told, rightly_left=-300, found=1), LaplaceNoise(scale=30.0), "ill", ("no", "yes")
    )


COUNTS = st.integers(-50, 10**7)


def written(told: Confusion, scale: float) -> list[tuple[float, float, float, float, float]]:
    """Of each share that an answer writes: what is written, with from where to where it may lie, and what is behind
    them: the share itself, and the true size of its bound."""
    both, one = (float(LaplaceNoise(scale=scale, counts=counts).within(0.05)) for counts in (2, 1))
    kept = replace(told, **{name: max(getattr(told, name), 0) for name in ("found", "missed", "false_alarms")})
    total = max(told.right, 0) + max(told.wrong, 0)
    behind = [(told.right_share, both / total), (told.common_share, both / total)] if total > both else []
    for share, rows in ((told.found_share, kept.yes), (told.named_share, kept.named)):
        behind += [(share, one / rows)] if behind and rows > 2 * one else []
    sentence = said.answer(told, LaplaceNoise(scale=scale), "ill", ("no", "yes"))
    found = re.findall(r"([\d.]+) in 100 \((?:± ([\d.]+)|([\d.]+) to ([\d.]+))\)", sentence)
    ends = [
        (float(share), *((float(share) - float(off), float(share) + float(off)) if off else (float(low), float(high))))
        for share, off, low, high in found
    ]
    return [(*end, 100 * true, 100 * min(bound, 1.0)) for end, (true, bound) in zip(ends, behind, strict=True)]


@settings(deadline=None)
@given(st.tuples(COUNTS, COUNTS, COUNTS, COUNTS), st.sampled_from([0.05, 0.3, 1.0, 7.0, 400.0]))
def test_what_is_written_is_within_its_own_bound_wherever_what_is_told_is(
    cells: tuple[int, int, int, int], scale: float
) -> None:
    """81.1 ± 0.00497 was written of 81.1082: rounded, it was never so."""
    told = Confusion.of(np.array(cells))
    for share, low, high, exact, bound in written(told, scale):
        assert -1e-9 <= low <= max(exact - bound, 0.0) + 1e-9, "no share lies below 0"
        assert min(exact + bound, 100.0) - 1e-9 <= high <= 100.0 + 1e-9, "nor above 100"
        assert share - low <= 1.2 * bound + 2e-4, "nor is it much wider than it is proved"
        assert high - share <= 1.2 * bound + 2e-4


def test_rounded_to_a_tenth_it_would_be_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(said, "_share", lambda share, off: f"{100 * share:.1f} in 100 (± {words.number(100 * off)})")
    (first, *_) = written(Confusion(found=30333, missed=10211, false_alarms=8777, rightly_left=51188), 1.0)
    share, low, _, exact, bound = first
    assert share - low < bound + abs(share - exact)
    few = written(Confusion(found=3, missed=82, false_alarms=6, rightly_left=317), 2.0)
    assert any(low < 0.0 for _, low, *_ in few), "a ± that goes below 0 is found"


ALIKE = ("Returned within thirty days of sale: no", "Returned within thirty days of sale: yes")


def test_classes_that_begin_alike_are_told_apart_in_table_and_answer() -> None:
    """Of four counts two were gone from the table, and no sentence said of which class it was."""
    case = clinic()
    schema = case.table.schema
    column = Column(name="returned", type="category", categories=ALIKE)
    schema = replace(schema, columns=tuple(column if one.name == "returned" else one for one in schema.columns))
    codes = case.table.frame["returned"].astype(int)
    frame = case.table.frame.assign(returned=pd.Categorical.from_codes(codes, categories=list(ALIKE)))
    declared = Declaration.of(schema)
    source = replace(case.source, table=replace(case.table, schema=schema, frame=frame), declared=declared)
    model = drawn(replace(case, source=source), "5" * 64, target="returned", columns=["age"])
    question = asked(replace(case, source=source, models=(model,)))
    assert isinstance(question.offer, Offer)
    (shown,) = [block for block in question.tabs[0].blocks() if isinstance(block, Rows)]
    assert shown.frame.shape == (2, 3)
    assert len(set(shown.frame.columns)) == 3
    told = question.offer.describe({"found": 18, "missed": 58, "false_alarms": 10, "rightly_left": 230})
    assert all(words.named(one) in told for one in ALIKE)


def by_heart() -> tuple[Case, Case]:
    """A model that knows what each row it was made from says, of a column that says nothing: with those rows, and with
    others like them."""
    rng, words = np.random.default_rng(3), [f"w{number:03d}" for number in range(200)]
    schema = Schema(
        columns=(
            Column(name="ward", type="category", categories=tuple(words)),
            Column(name="ill", type="yes/no", categories=("no", "yes")),
        )
    )
    declared = Declaration.of(schema)

    frames = [
        pd.DataFrame({"ward": rng.choice(words, 1000), "ill": rng.choice(["no", "yes"], 1000)}, dtype="str")
        for _ in range(2)
    ]
    tables = [apply(schema, frame).table(fingerprint=f"ward {n}", lineage="") for n, frame in enumerate(frames)]
    counted = pd.crosstab(frames[0]["ward"], frames[0]["ill"]).reindex(words, fill_value=0)
    weights = [*(counted["yes"] - counted["no"]).astype(float), 0.0]
    answer = {**drawn_model(declared, target="ill", columns=["ward"]), "weights": weights}
    model = DrawnModel(receipt="6" * 64, answer=lambda: answer, when=WHEN, same=True, alone=True)
    cases = [
        replace(clinic(), source=replace(clinic().source, table=table, declared=declared), models=(model,))
        for table in tables
    ]
    return cases[0], cases[1]


def verdicts(case: Case) -> list[str]:
    """All that is said of whether the model beats the more common answer, by the headline, the caption, the dots, the
    control and an answer."""
    question = asked(case, hits_metric="verdict")
    assert question.outcomes is not None
    assert isinstance(question.offer, Offer)
    told = [
        Confusion(found=right, missed=wrong, false_alarms=wrong, rightly_left=right)
        for right, wrong in ((400, 100), (100, 400))
    ]
    answers = [said.answer(one, LaplaceNoise(scale=0.5), "ill", ("no", "yes")) for one in told]
    return [question.headline, question.caption, *question.outcomes.names, said.METRICS["verdict"], *answers]


def test_a_verdict_is_of_these_rows_and_never_that_a_model_is_worth_having() -> None:
    """Of what is known by heart these rows say that it is better, and others that it is not."""
    here, there = by_heart()
    model = load_model(here.models[0].answer())
    own, others = (confusion_of(model.features, model.weights, case.table.frame) for case in (here, there))
    assert own.better
    assert own.right_share > 0.6
    assert others.right_share < others.common_share
    for case in (here, there, clinic()):
        for told in verdicts(case):
            assert "these rows" in told
            assert "worth" not in told
    every = [one for one in vars(said).values() if isinstance(one, (str, tuple))]
    assert "worth" not in str(every)
    told = said.answer(own, LaplaceNoise(scale=0.5), "ill", ("no", "yes"))
    assert "better on these rows, 95 times in 100, which does not show that it is so on other people" in told
    assert "as good on other people" in said.conclude("person")


def test_what_is_said_of_other_people_hangs_on_no_row_here() -> None:
    """Only on how many there are and on what its privacy proves: so it is said alike of rows known by heart."""
    here, there = by_heart()
    chance = [asked(case).uncertain for case in (here, there)]
    assert chance[0] is not None
    assert chance[1] is not None
    assert chance[0].people == chance[1].people
    assert chance[0].sentence.split("Chance")[1] == chance[1].sentence.split("Chance")[1]
    for share in np.linspace(0.02, 0.98, 49):
        low, high = (1000 * (share - chance[0].people), 1000 * (share + chance[0].people))
        assert binom.cdf(high, 1000, share) - binom.cdf(low, 1000, share) >= 0.945, "whatever the share of them is"
    model = load_model(here.models[0].answer())
    own, others = (confusion_of(model.features, model.weights, case.table.frame).right_share for case in (here, there))
    assert abs(own - others) > 3 * chance[0].people, "around the share here it would be wrong"
    captions = [asked(case).caption for case in (here, there)]
    beyond = [caption[caption.index("On other people") :] for caption in captions]
    assert beyond[0] == beyond[1]
    one_of_two = replace(here, models=(replace(here.models[0], receipt="8" * 64, alone=False),))
    assert "Of people whom it did not learn from that shows nothing" in asked(one_of_two).caption


@pytest.mark.parametrize(
    ("noted", "adds_up"),
    [({}, True), ({"neighbours": "replace_one"}, False), ({"rows_per_person": 7}, False), ({"unit": "visit"}, False)]
    + [({name: None}, False) for name in ("epsilon", "neighbours")],
)
def test_what_model_and_count_come_to_is_added_up_where_both_hide_the_same(
    noted: dict[str, object], adds_up: bool
) -> None:
    case = clinic(0.5)
    (model,) = case.models
    kind = {"unit": "person", "rows_per_person": 1, "delta": 1e-6}
    about = {name: kept for name, kept in ({**model.answer()["about"], **kind, **noted}).items() if kept is not None}
    receipt = sha256(repr(about).encode()).hexdigest()  # what a receipt's answer is never changes
    other = replace(model, receipt=receipt, answer=lambda: {**model.answer(), "about": about})
    question = asked(replace(case, models=(other,)), hits_neighbours="add_remove")
    assert isinstance(question.offer, Offer)
    (told, _) = (block.markdown for block in question.offer.before if isinstance(block, Small))
    both = model.answer()["about"]["epsilon"] + question.offer.request.cost.epsilon  # type: ignore[attr-defined]
    assert (f"at most {words.amount(both)} and the model's δ for both" in told) == adds_up
    assert "the budget adds them up" in told


def test_whether_a_model_was_made_from_these_rows_is_said_only_where_it_is_known() -> None:
    """A budget is of people, whose next file is another; the request is the same, and says what holds of both."""
    case = clinic()
    (model,) = case.models
    before = replace(case, models=(replace(model, same=False),))
    for one, known in ((case, True), (before, False)):
        read = Setting()
        question = Hits.ask(one, read)
        assert isinstance(question.offer, Offer)
        beside = " ".join(block.markdown for block in question.offer.before if isinstance(block, Small))
        offered = next(control for _, control in read.seen.values() if control.key.startswith("hits_model"))
        assert ("from the very rows that are counted" in beside) == known
        assert ("maybe from another file" in beside) == (not known)
        assert ("maybe from another file" in offered.name(model.receipt)) == (not known)
        assert ("which it was made from" in question.caption) == known
        assert ("which it may have been made from" in question.caption) == (not known)
    requests = [asked(one).offer.request for one in (case, before)]  # type: ignore[union-attr]
    assert requests[0] == requests[1]
    (note,) = requests[0].own_notes
    assert "maybe from these very rows" in note


def test_an_own_file_is_promised_what_declared_facts_say() -> None:
    """The forecast and the request are the same for whatever rows; the picture is the file's."""
    case = own(clinic())
    question = offering.ask(Hits, case, Setting()).question
    assert isinstance(question.offer, Offer)
    rng = np.random.default_rng(2)
    frame = case.table.frame.iloc[rng.permutation(200)].reset_index(drop=True)
    fewer = replace(case, source=replace(case.source, table=replace(case.table, frame=frame, fingerprint="fewer")))
    other = offering.ask(Hits, fewer, Setting()).question
    assert isinstance(other.offer, Offer)
    assert other.headline != question.headline
    assert other.offer.forecast == question.offer.forecast
    assert other.offer.request == question.offer.request
    bound = question.offer.request.error_bound(0.05)  # type: ignore[attr-defined]
    stated = said.forecast_bound(bound, 316, "visit")
    assert f"{words.no_less(100 * bound.number / 316)} points" in stated
    assert "over 316 rows with an answer, as of one for each of about as many visits as declared" in stated, (
        "how many people there are is no number of rows, nor of those that have an answer"
    )
    assert question.offer.request.chosen_after_looking  # type: ignore[attr-defined]
    label = then(case.source).label
    assert label == said.LEADS
    lost = replace(case, source=replace(case.source, rows=None, declared=None, unreleased="Say more on the Data page."))
    with pytest.raises(CannotAsk, match="Say more"):
        asked(lost)


@pytest.mark.parametrize("delta", [None, 1e-6])
@pytest.mark.parametrize("neighbours", ["add_remove", "replace_one"])
@pytest.mark.parametrize("rows", [0.5, 9.48, 40.0])
def test_the_epsilon_that_is_said_to_be_enough_is_the_first_that_is(
    delta: float | None, neighbours: Neighbours, rows: float
) -> None:
    """By the bound of the very request: at that ε it is within what is accepted, a hundredth lower it is not."""
    case = replace(own(clinic()), models=())
    declared = Declaration.of(case.table.schema)
    made = drawn(case, target="returned", columns=["age"])
    model = load_model(made.answer())
    request = hits_request(declared, model, made.receipt, epsilon=0.5, delta=delta, neighbours=neighbours)
    assert not isinstance(request, str)

    def off(epsilon: float) -> float:
        return replace(request, epsilon=epsilon).error_bound(0.05).number

    found = enough(request, rows)
    assert (found is None) == (off(10.0) > rows)
    if found is not None:
        assert off(found) <= rows
        assert found == 0.01 or off(found - 0.01) > rows
        assert f"from ε = {found:g} on" in said.more_than(0.03, found)
    assert "only more people help" in said.more_than(0.03, None)


def test_more_than_is_accepted_is_said_where_it_is_more() -> None:
    """And of how far off it is told alone: nothing else was accepted."""
    case = own(clinic())
    declared = replace(case.source.declared or Declaration.of(case.table.schema), people=316)
    case = replace(case, source=replace(case.source, declared=declared))
    sentences = {}
    for accepted in (1, 50):
        offer = offering.ask(Hits, case, Setting({"hits_off_target": float(accepted)})).question.offer
        assert isinstance(offer, Offer)
        sentences[accepted] = offer.forecast
    assert "more than the 1 that you accept" in sentences[1]
    assert "that you accept" not in sentences[50]


def test_a_source_that_is_counted_in_place_is_not_asked() -> None:
    case = own(clinic())
    placed = replace(case, source=replace(case.source, in_place=True))
    offer = offering.ask(Hits, placed, Setting()).question.offer
    assert isinstance(offer, NoOffer)


def test_rows_without_an_answer_leave_the_release_offered() -> None:
    """Of an own file whose rows all lack a value there is no picture, and the same release as ever."""
    case = own(clinic())
    schema = case.table.schema
    empty = {column.name: [""] * 30 for column in schema.columns}
    table = apply(schema, pd.DataFrame(empty, dtype="str")).table(fingerprint="empty", lineage="")
    found = offering.ask(Hits, replace(case, source=replace(case.source, table=table)), Setting())
    assert "No row here has a value" in found.trouble
    assert isinstance(found.question.offer, Offer)
    assert found.question.offer.request == offering.ask(Hits, case, Setting()).question.offer.request  # type: ignore[union-attr]


def test_the_headline_follows_the_slider_in_brief() -> None:
    for epsilon in (0.05, 0.5, 5.0):
        case = clinic(epsilon)
        brief, whole = (asked(replace(case, brief=short)) for short in (True, False))
        assert (brief.headline, brief.caption) == (whole.headline, whole.caption)


def test_it_goes_on_paper_with_its_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The page's own section, which no script asks again, as that has no model; and the answer with its receipt."""
    monkeypatch.setenv("EPSILON_LAB_KEY", str(tmp_path / "key"))
    case = clinic()
    question = asked(case)
    about = Asked(page=PAGE.key, key=Hits.key, title=said.TITLE, epsilon=case.epsilon, delta=1e-6, controls=(), data="")
    section = analysis(question, case.source, about)
    assert section.code == ""
    assert dict(section.numbers)
    offer = question.offer
    assert isinstance(offer, Offer)
    with Ledger.open(f"sqlite:///{tmp_path / 'ledger.db'}", create=True) as ledger:
        ledger.open_budget("people", epsilon=3.0)
        receipt = release(ledger, "first", "people", offer.request, offer.data())
    told = offer.describe(receipt.answer)
    paper = answered(
        receipt,
        told=told,
        forecast=offer.forecast,
        request=offer.request,
        declared=case.source.declared,
        counting="sum",
        practice=True,
        own=False,
    )
    for one in (section, paper):
        assert rendered(report(one), "html")[1]
    assert RECEIPT[:12] in paper.title
    assert offer.below is not None
    assert any(isinstance(block, Rows) for block in offer.below(receipt))


def test_made_up_rows_say_how_good_a_model_is_only_where_their_columns_go_together() -> None:
    """Else the release alone is there, the very same; what a headline says of such rows it says of them."""
    case = own(clinic(), mode="twin")
    alone = offering.ask(Hits, case, Setting())
    assert alone.trouble == said.unrelated("returned")
    together = replace(case, source=replace(case.source, related=frozenset({"returned"})))
    shown = offering.ask(Hits, together, Setting())
    assert not shown.trouble
    assert "made-up rows" in shown.question.headline
    assert "In truth" not in shown.question.caption
    requests = [one.question.offer.request for one in (alone, shown)]  # type: ignore[union-attr]
    assert requests[0] == requests[1]
