"""Every question as a report in every mode: from an own file, from its twin, and as a private answer about it."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dashboard import catalogue
from dashboard.case import Case, Source
from dashboard.question import Offer
from dashboard.report import again, recipe
from dashboard.report.answer import answered
from dashboard.report.render import rendered
from dashboard.report.value import Section
from dashboard.words import report as said
from dpcore.datasets import Declaration, read_table, twin
from dpcore.ledger import Ledger
from dpcore.release import release
from tests.report.made import FAST, KINDS, SAMPLES, report, section
from tests.report.test_report_forms import flat, pages

LINEAGE = "people-1"


@cache
def own(key: str, mode: str) -> tuple[Source, str]:
    """A question's sample as somebody's own file, or the twin of that file, with Python that makes it again."""
    sample = again.sample_source(SAMPLES.get(key, "clinic"))
    schema = sample.table.schema
    made = {"key": "own-1", "title": "x.csv", "lineage": LINEAGE, "declared": Declaration.of(schema)}
    if mode == "twin":
        table = twin(schema, rows=300, rng=np.random.Generator(np.random.PCG64(5)))
        known = frozenset(schema.names)  # what goes with what was stated
        source = replace(sample, mode="twin", table=table, practice=False, rows=None, related=known, **made)
        return source, recipe.of_twin(source, rows=300, seed=5, relations=())
    reading = read_table(sample.table.frame.to_csv(index=False).encode())
    digest = hashlib.sha256(repr(schema).encode()).hexdigest()
    table = reading.apply(schema).table(fingerprint=f"{reading.key}:{digest}", lineage="")
    source = replace(sample, mode="what_if", table=table, practice=False, rows=lambda: reading.private, **made)
    return source, recipe.of_file(source, name="x.csv", choices={}, steps=())


def marked(found: Section, mark: str) -> None:
    for page in pages(rendered(report(found), "pdf")[1]):
        assert flat(mark) in flat(page)


@pytest.mark.thorough
@pytest.mark.parametrize("mode", ["what_if", "twin"])
@pytest.mark.parametrize(("page", "key"), KINDS)
def test_own_data_are_marked_on_every_page(page: str, key: str, mode: str) -> None:
    source, data = own(key, mode)
    found = section(page, key, source, data, **FAST.get(key, {}))
    assert (found.kind, found.own) == (mode, True)
    marked(found, said.MARKS[mode])
    assert report(found).file_name.startswith(said.FILES[mode])
    assert len(found.numbers) > 10
    assert f"{mode.removeprefix('what_if') or 'file'}_source(" in found.code


@pytest.fixture
def ledger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("EPSILON_LAB_KEY", str(tmp_path / "key"))
    with Ledger.open(f"sqlite:///{tmp_path / 'ledger.db'}", create=True) as found:
        found.open_budget(LINEAGE, epsilon=100.0, delta=1e-4)
        yield found


@pytest.mark.parametrize(("page", "key"), KINDS)
def test_a_private_answer_is_reported_from_its_receipt(page: str, key: str, ledger: Ledger) -> None:
    source, _ = own(key, "what_if")
    question = catalogue.questions(page)[key].ask(Case(source=source, epsilon=0.5), again.Written(FAST.get(key, {})))
    if not isinstance(question.offer, Offer):
        assert question.offer.sentence
        return
    assert source.rows is not None
    receipt = release(ledger, "request-1", LINEAGE, question.offer.request, source.rows())
    found = answered(
        receipt,
        told=question.offer.describe(receipt.answer),
        forecast=question.offer.forecast,
        request=question.offer.request,
        declared=source.declared,
        counting="sum",
        own=True,
    )
    made = report(found)
    whole = "".join(pages(rendered(made, "pdf")[1]))
    assert made.file_name.startswith("private-answer-report")
    for told in (
        receipt.journal_hash[:12],
        receipt.mechanism,
        said.neighbours(receipt.neighbours, receipt.unit or "person"),
    ):
        assert flat(told) in flat(whole), told
    for mark in said.MARKS.values():
        assert not mark or flat(mark) not in flat(whole)
    assert ledger.examine(ledger.sealed(rendered(made, "html")[1], made.receipts)).unchanged
