"""Reports of private answers: declared facts and the answer only, with a receipt that its ledger confirms."""

from __future__ import annotations

import io
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from dashboard import words
from dashboard.case import Case
from dashboard.controls import Setting
from dashboard.question import Offer
from dashboard.questions.selection.most_common import MostCommon
from dashboard.questions.training.released_model import ON_STEPS, model_request
from dashboard.report.answer import answered, check_word
from dashboard.report.notebook import script
from dashboard.report.plan import PlannedTotal, planned
from dashboard.report.render import SEALED, rendered
from dashboard.report.value import Drawing, Section
from dashboard.words import report as said
from dpcore.datasets import Column, Declaration, PrivateRows, read_table
from dpcore.errors import InvalidArgument
from dpcore.ledger import Ledger, Receipt, seal
from dpcore.ledger.__main__ import main
from dpcore.release import release
from tests.contract.test_release_contract import KINDS, questions
from tests.contract.test_release_contract import asked as of_a_page
from tests.report.made import own_source, report, visits
from tests.report.test_report_again import run
from tests.report.test_report_forms import SMALL, document_text, flat, pages

LINEAGE = "people-1"


@pytest.fixture
def ledger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("EPSILON_LAB_KEY", str(tmp_path / "key"))
    monkeypatch.setenv("EPSILON_LAB_LEDGER", f"sqlite:///{tmp_path / 'ledger.db'}")
    with Ledger.open(create=True) as found:
        found.open_budget(LINEAGE, epsilon=3.0)
        yield found


def offered(data: bytes, name: str = "visits.csv") -> tuple[Any, Offer]:
    source, _ = own_source(data, name)
    question = MostCommon.ask(Case(source=source, epsilon=0.5), Setting())
    assert isinstance(question.offer, Offer)
    return source, question.offer


def on_paper(receipt: Receipt, data: bytes, name: str = "visits.csv") -> Section:
    """As the release panel makes it."""
    source, offer = offered(data, name)
    return answered(
        receipt,
        told=offer.describe(receipt.answer),
        forecast=offer.forecast,
        request=offer.request,
        declared=source.declared,
        counting="sum",
        own=True,
    )


def drawn(ledger: Ledger, data: bytes) -> Receipt:
    _, offer = offered(data)
    return release(ledger, "request-1", LINEAGE, offer.request, read_table(data).private)


def test_reports_of_neighbouring_files_with_the_same_answer_are_the_same_to_the_byte(ledger: Ledger) -> None:
    here, there = visits(), visits("rash,99\n")
    receipt = drawn(ledger, here)
    first, second = on_paper(receipt, here), on_paper(receipt, there)
    assert first == second
    for ending in ("pdf", "docx"):
        assert rendered(report(first), ending) == rendered(report(second), ending)
    # the comparison has teeth: what is computed from the rows differs
    from tests.report.made import section

    pictures = [section("selection", "most_common", *own_source(data)) for data in (here, there)]
    assert pictures[0].parts != pictures[1].parts


def test_a_real_answer_s_pages_carry_no_mark_and_its_check_word(ledger: Ledger) -> None:
    receipt = drawn(ledger, visits())
    found = report(on_paper(receipt, visits()))
    assert found.file_name == "private-answer-report-2026-03-04"
    whole = "".join(pages(rendered(found, "pdf")[1]))
    for mark in said.MARKS.values():
        assert not mark or flat(mark) not in flat(whole)
    for told in (check_word(receipt), words.visible(receipt.what, 400), "ε = 0.5", "Permute", receipt.journal_hash):
        assert flat(told) in flat(whole)
    assert flat("“complaint”: 3 options (declared by a person)") in flat(whole)
    assert flat("basic composition") in flat(whole)
    assert str(receipt.answer["option"]) in whole
    code = script(found).decode()
    assert run(code)["found"]["ε"] == receipt.epsilon
    with pytest.raises(SystemExit, match="differ"):
        run(code.replace("'ε': 0.5", "'ε': 0.4"))


@pytest.mark.parametrize("ending", SEALED)
def test_the_ledger_knows_its_report_and_finds_a_changed_word(ledger: Ledger, ending: str) -> None:
    receipt = drawn(ledger, visits())
    found = report(on_paper(receipt, visits()))
    made = ledger.sealed(rendered(found, ending)[1], found.receipts)
    assert ledger.examine(made).unchanged
    assert [one.journal_hash for one in ledger.examine(made).receipts] == [receipt.journal_hash]
    changed = _with_another_answer(made, ending)
    assert changed != made
    told = ledger.examine(changed)
    assert not told.unchanged
    assert told.receipts[0].answer == receipt.answer
    with pytest.raises(InvalidArgument, match="carries no seal"):
        ledger.examine(rendered(found, ending)[1])


def _with_another_answer(made: bytes, ending: str) -> bytes:
    """The file with something in it changed that stays readable."""
    if ending != "docx":
        place = made.index(b"Epsilon Lab") if ending == "html" else made.index(b"/Author")
        return made[: place + 1] + bytes([made[place + 1] ^ 1]) + made[place + 2 :]
    stream = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(made)) as parts, zipfile.ZipFile(stream, "w") as again:
        for name in parts.namelist():
            body = parts.read(name)
            again.writestr(name, body.replace(b"private", b"Private", 1) if name == "word/document.xml" else body)
    return stream.getvalue()


@pytest.mark.parametrize("ending", SEALED)
def test_every_byte_counts_and_another_server_s_seal_does_not(ledger: Ledger, ending: str, tmp_path: Path) -> None:
    receipt = drawn(ledger, visits())
    plain = rendered(report(on_paper(receipt, visits())), ending)[1]
    made = seal.sealed(plain, [receipt.journal_hash], b"k" * 32)
    assert seal.read(made, b"k" * 32) == ((receipt.journal_hash[:16],), True)
    assert seal.read(made, b"j" * 32)[1] is False
    assert not ledger.examine(made).unchanged
    if ending != "docx":
        assert seal.read(made + b"<!-- more -->", b"k" * 32)[1] is False
        assert seal.read(b"%PDF" + made if ending == "pdf" else b"<p>more</p>" + made, b"k" * 32)[1] is False
        renamed = made.replace(receipt.journal_hash[:16].encode(), b"0" * 16)
        assert seal.read(renamed, b"k" * 32)[1] is False
    else:
        repacked = io.BytesIO()
        with zipfile.ZipFile(io.BytesIO(made)) as parts, zipfile.ZipFile(repacked, "w") as again:
            for name in reversed(parts.namelist()):
                again.writestr(name, parts.read(name))
        assert seal.read(repacked.getvalue(), b"k" * 32)[1] is False


@pytest.mark.parametrize(
    "data", [b"", b"PK\x03\x04 no zip", b"%PDF-1.7 nothing", b"<html></html>", b"GIF89a", b"PK" + b"\0" * 200]
)
def test_what_is_no_report_is_refused_in_one_sentence(ledger: Ledger, data: bytes) -> None:
    with pytest.raises(InvalidArgument) as refused:
        ledger.examine(data)
    assert str(refused.value).count(".") <= 1


def test_the_owner_checks_a_report_by_a_command(
    ledger: Ledger, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    receipt = drawn(ledger, visits())
    found = report(on_paper(receipt, visits()))
    file = tmp_path / "report.pdf"
    file.write_bytes(ledger.sealed(rendered(found, "pdf")[1], found.receipts))
    assert main(["confirm", str(file)]) == 0
    out = capsys.readouterr().out
    assert receipt.journal_hash[:12] in out
    assert "Not a byte of the report was changed" in out
    file.write_bytes(file.read_bytes().replace(b"%PDF-1", b"%PDF-2", 1))
    assert main(["confirm", str(file)]) == 1
    assert "is not as it was made" in capsys.readouterr().err
    file.write_bytes(ledger.sealed(rendered(found, "pdf")[1], ["0" * 64]))
    assert main(["confirm", str(file)]) == 1
    assert "does not know 0000000000000000" in capsys.readouterr().out
    file.write_text(receipt.to_json())
    assert main(["confirm", str(file)]) == 0


def test_a_plan_says_what_it_costs_and_is_marked_like_its_data() -> None:
    totals = [
        PlannedTotal(rule="basic", name="Adding up ε", epsilon=2.5, holds="always"),
        PlannedTotal(rule="zcdp", name="zCDP", epsilon=1.75, holds="always"),
    ]
    code = (
        "from dpcore.accounting import Cost, compose\nfrom dpcore.events import *\n"
        "costs = [Cost.pure(0.5)] * 5\nfound = (compose(costs, delta=1e-06))"
    )
    for kind in ("plan", "what_if", "twin"):
        found = planned(
            ["**5 ×** the most common option, each right 95 times in 100"],
            [0.5],
            totals,
            verdict="These 5 answers cost **ε = 1.75** together.",
            picture=Drawing(svg=SMALL, width=4, height=4, alt="bars", caption=()),
            delta=1e-6,
            fit="They fit.",
            code=code,
            kind=kind,  # type: ignore[arg-type]
            budget=None,
        )
        whole = document_text(rendered(report(found), "docx")[1])
        assert said.MARKS[kind] in whole
        assert "5 × the most common option, each right 95 times in 100 (ε of each: 0.5)" in whole
        assert "These 5 answers cost ε = 1.75 together." in whole
    scope = {"reported": dict(found.numbers)}
    exec(code, scope)  # noqa: S102
    assert scope["found"]["basic"] == pytest.approx(2.5)


ASKED = {kind.key: (question, of_a_page(question)) for kind in KINDS for question in questions(kind)[:1]}
AGES = tuple(Column(name=name, type="number", low=0, high=90) for name in ("age", "started"))
DECLARED = Declaration(columns=(*AGES, Column(name="ill", type="yes/no")))
MODELS = {
    f"{kind}, {'stated' if people else 'counted'}": model_request(
        kind,
        replace(DECLARED, people=people, rows_per_person=2),
        target="ill",
        columns=("age", "started"),
        positive=None,
        steps=True,
        epsilon=1.0,
        delta=1e-6,
    )
    for kind in ("model", *ON_STEPS)
    for people in (300, None)
}
"""As the page on training asks for them: none says how long a gradient may be but the first kind."""


def reported(ledger: Ledger, request: Any, rows: Any, declared: Any, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(type(request), "answer", lambda self, rows: "south")
    ledger.open_budget("many", epsilon=100.0, delta=1e-3)
    receipt = release(ledger, "r", "many", request, rows)
    found = answered(receipt, told="South", request=request, declared=declared, counting="sum", own=True)
    return rendered(report(found), "html")[1].decode()


@pytest.mark.parametrize("kind", ASKED)
def test_every_kind_of_answer_has_its_report(kind: str, ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    question, request = ASKED[kind]
    file = question.file(question.tables[0], from_bytes=False)
    assert said.SENSITIVITY in reported(ledger, request, file.private, question.declaration, monkeypatch)


@pytest.mark.parametrize("kind", MODELS)
def test_every_model_that_a_page_asks_for_has_its_report(
    kind: str, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It broke off where a gradient's length is decided by the rule, as it is on every page."""
    request = MODELS[kind]
    assert not isinstance(request, str)
    rows = PrivateRows(pd.DataFrame({"age": ["1"], "started": ["1"], "ill": ["yes"]}, dtype=str))
    told = reported(ledger, request, rows, DECLARED, monkeypatch)
    length = getattr(request, "clip", None)
    assert said.clipped(2, "person", length) in told
    assert ("public rule" in said.clipped(2, "person", length)) == (kind.split(",")[0] != "model")
