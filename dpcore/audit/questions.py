"""Every question that the audit asks: all requests, on tables of records, steps and options, and of every form."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from functools import partial
from typing import Any

from dpcore.audit.drawn import RECEIPT, drawn_model
from dpcore.audit.files import Ask, File, FileKind, Question, Row
from dpcore.audit.frames import FrameQuestion, WrittenAs
from dpcore.audit.labelled import Program
from dpcore.datasets import (
    Column,
    Declaration,
    LeaveOutTotals,
    MonthsToRows,
    ReadAsMissing,
    Schema,
    SplitOptions,
    Step,
)
from dpcore.datasets.schema import EachRow
from dpcore.datasets.steps import rows_made
from dpcore.releases.alarm import AlarmRun
from dpcore.releases.bought_model import BoughtModel
from dpcore.releases.chosen_model import ChosenModel
from dpcore.releases.confusion import ModelConfusion
from dpcore.releases.count import NoisyCount
from dpcore.releases.gaussian_confusion import GaussianConfusion
from dpcore.releases.model import PrivateModel
from dpcore.releases.paired_model import PairedModel
from dpcore.releases.plays import PrivatePlays
from dpcore.releases.scaled_model import ScaledModel
from dpcore.releases.selection import BestRule, BestScore, LeastCost, MostCommonOption, QuantileValue
from dpcore.validate import Neighbours


def _rows(*columns: Sequence[str]) -> tuple[Row, ...]:
    return tuple(zip(*columns, strict=True))


OPTION = Column(name="option", type="category", categories=("a", "b", "c"))
NUMBER = Column(name="number", type="number", low=0, high=10)
OTHER = Column(name="other", type="integer", low=0, high=10)
ANSWER = Column(name="answer", type="yes/no")
DAY = Column(name="day", type="date", earliest=date(2024, 1, 1), latest=date(2024, 1, 5))
WHO = Column(name="who", type="text")
RECORDS = Schema(columns=(OPTION, NUMBER, OTHER, ANSWER, DAY))
SEVERAL = replace(RECORDS, rows_per_person=3)
NAMED = Schema(columns=(WHO, *RECORDS.columns), rows_per_person=2, id_column="who")
EXTREME: tuple[Row, ...] = (
    ("a", "0", "0", "yes", "2024-01-01"),
    ("a", "10", "10", "no", "2024-01-05"),
    ("b", "10", "0", "no", "2024-01-01"),
)
PEOPLE: tuple[tuple[Row, ...], ...] = (
    tuple(EXTREME[place] for place in (0, 0, 0, 1, 1, 2, 2)),
    _rows(
        "abcab",
        ("1", "2.5", "", "9", "x"),
        ("1", "2", "3", "", "8"),
        ("yes", "no", "", "yes", "no"),
        ("2024-01-03",) * 5,
    ),
)
NAMED_PEOPLE = tuple(tuple((f"p{place % 4}", *row) for place, row in enumerate(table)) for table in PEOPLE)
NAMED_EXTREME = tuple(("one", *row) for row in EXTREME)

REVENUE = Column(name="revenue", type="integer", low=0, high=1000)
VOTES = Column(name="net votes", type="integer", low=-50, high=50, sensitivity=1)
CASES = Column(name="cases", type="integer", low=0, high=1000, sensitivity=1, counts=True)
SCORE = Column(name="score", type="number", low=0, high=10, sensitivity=0.5)
LABEL = Column(name="label", type="category", categories=("a", "b", "c"))
LOSSES = tuple(Column(name=name, type="number", low=0, high=1) for name in ("ann", "bo"))
PRICES = tuple(Column(name=name, type="number", unit="price") for name in ("gold", "tin"))


def _records(hidden: Neighbours, schema: Schema, how: str) -> list[Question]:
    """Every question about records."""
    named = schema.id_column is not None
    about: dict[str, Any] = {
        "schema": schema,
        "tables": NAMED_PEOPLE if named else PEOPLE,
        "extreme": NAMED_EXTREME if named else EXTREME,
        "hidden": hidden,
    }
    asks: dict[str, Ask] = {
        "most common": lambda d, _: MostCommonOption.of(d, "option", epsilon=0.5),
        "most common, exponential": lambda d, _: MostCommonOption.of(d, "option", epsilon=0.5, rule="exponential"),
        "median": lambda d, _: QuantileValue.of(d, "number", epsilon=0.5, points=11),
        "quartile, permute-and-flip": lambda d, _: QuantileValue.of(
            d, "other", epsilon=0.5, q=0.25, points=11, rule="permute_and_flip"
        ),
        "best rule": lambda d, _: BestRule.of(d, ["option", "number"], target="answer", epsilon=0.5, cuts=4),
        "least cost": lambda d, _: LeastCost.of(d, ["number", "other"], epsilon=0.5),
        "alarm per day": lambda d, _: AlarmRun.of(d, "day", threshold=2, epsilon=0.5),
        "alarm per option, where yes": lambda d, _: AlarmRun.of(
            d, "option", where="answer", threshold=2, epsilon=0.5, noise="laplace"
        ),
    }
    if hidden == "add_remove":
        asks["how many"] = lambda d, _: NoisyCount.of(d, epsilon=0.5)
        asks["model, counted"] = lambda d, _: PrivateModel.of(
            d, target="answer", columns=["option", "number", "day"], epsilon=0.5, delta=1e-6
        )
        asks["model, cut and counted"] = lambda d, _: PrivateModel.of(
            d,
            target="answer",
            columns=["option", "number", "day"],
            shapes={"number": "even", "day": "even"},
            pairs=[("number", "option")],
            epsilon=0.5,
            delta=1e-6,
        )
    asks["model on steps, counted"] = lambda d, _: ScaledModel.of(
        d,
        target="answer",
        columns=["option", "number", "day"],
        pairs=[("option", "number")],
        epsilon=0.5,
        delta=1e-6,
    )
    if not named and (schema is RECORDS) == (hidden == "add_remove"):  # its sums and counts are those of the others
        asks["model on bought steps, counted"] = lambda d, _: replace(
            BoughtModel.of(
                d,
                target="answer",
                columns=["option", "number", "day"],
                pairs=[("option", "number")],
                epsilon=0.5,
                delta=1e-6,
            ),
            steps=20,
        )
        for title, kind in (("bought pairs", PairedModel), ("a chosen way", ChosenModel)):
            asks[f"model on {title}, counted"] = partial(_short, kind)
        asks["model on steps, all classes"] = lambda d, _: replace(
            ScaledModel.of(d, target="option", columns=["number", "day"], apart=True, epsilon=0.5, delta=1e-6), steps=20
        )
    asks["hits of a model"] = lambda d, _: ModelConfusion.of(
        d, drawn_model(d, target="answer", columns=["option", "number", "day"]), drawn=RECEIPT, epsilon=0.5
    )
    asks["hits of a model, counted in ρ"] = lambda d, _: GaussianConfusion.of(
        d, drawn_model(d, target="answer", columns=["option", "number"]), drawn=RECEIPT, epsilon=0.5, delta=1e-6
    )
    if not named:
        asks["hits of a model, cut and paired"] = lambda d, _: ModelConfusion.of(
            d,
            drawn_model(
                d,
                target="option",
                positive="b",
                columns=["other", "number", "answer", "day"],
                shapes={"number": "even", "day": "even"},
                pairs=[("number", "answer")],
            ),
            drawn=RECEIPT,
            epsilon=0.5,
        )
    people = replace(schema, people=40)
    found = [Question(name=f"{name}, {how}", ask=ask, **about) for name, ask in asks.items()]

    def model(request: type[PrivateModel | ScaledModel]) -> Ask:
        return lambda d, _: request.of(d, target="other", columns=["option", "number"], epsilon=0.5, delta=1e-6)

    stated = about | {"schema": people}
    found.append(Question(name=f"model, {how}", ask=model(PrivateModel), **stated))
    return (
        [*found, Question(name=f"model on steps, {how}", ask=model(ScaledModel), **stated)]
        if schema is RECORDS
        else found
    )


def _short(kind: type[PairedModel | ChosenModel], declaration: Declaration, _: File) -> PairedModel | ChosenModel:
    """A model in few steps: its counts and sums are those of the others."""
    asked = kind.of(declaration, target="answer", columns=["option", "number", "day"], epsilon=0.5, delta=1e-6)
    return replace(asked, steps=8)


def _steps() -> list[Question]:
    def entries(file: File, declaration: Declaration) -> int:
        return file.private.public_size(declaration)

    def alarm(column: str, threshold: float, **how: Any) -> Ask:
        return lambda d, file: AlarmRun.of(d, column, threshold=threshold, epsilon=0.5, entries=entries(file, d), **how)

    series = {"revenue": ("400", "", "x", "700", "1001"), "net votes": ("-1", "0", "3", "-2", "1"),
              "cases": ("4", "0", "6", "5", "9"), "score": ("0.5", "0", "9.8", "4", "4.2")}  # fmt: skip
    found = []
    for column, threshold in ((REVENUE, 500), (VOTES, 2), (CASES, 5), (SCORE, 4.1)):
        found += [
            Question(
                name=f"alarm over {column.name}, {noise}",
                schema=Schema(columns=(column,), each_row="step"),
                ask=alarm(column.name, threshold, noise=noise),
                tables=(_rows(series[column.name]),),
                moves="entries",
                entry=column.name,
            )
            for noise in ("exponential", "laplace")
        ]
        found.append(
            Question(
                name=f"best {column.name}",
                schema=Schema(columns=(LABEL, column), each_row="option"),
                ask=_best_score(column.name),
                tables=(_rows("abc", series[column.name][:3]),),
                moves="entries",
                entry=column.name,
            )
        )
    return found


def _best_score(name: str) -> Ask:
    return lambda declaration, _: BestScore.of(declaration, option="label", score=name, epsilon=0.5)


def _plays() -> list[Question]:
    losses = Schema(columns=LOSSES, each_row="step", unit="day")
    forecasts = Schema(columns=(*LOSSES, ANSWER), each_row="step", unit="day")
    market = Schema(columns=PRICES, each_row="step", unit="day")
    corner: tuple[Row, ...] = (("0", "1"), ("1", "0"), ("0", "0"))
    ways: tuple[tuple[str, dict[str, Any]], ...] = (
        ("from now on", {"way": "from_now_on"}),
        ("doubling", {"way": "doubling_leader"}),
        ("batched", {"way": "batched", "delta": 1e-6, "hold": 2}),
    )
    found = []
    for way, how in ways:
        found += [
            Question(
                name=f"losses, {way}",
                schema=losses,
                ask=_playing(["ann", "bo"], **how),
                tables=(corner * 2, (("0.3", "0.3"),) * 5),
                extreme=(*corner, ("", "")),
                hidden="replace_one",
            ),
            Question(
                name=f"losses of two days of one person, {way}",
                schema=replace(losses, rows_per_person=2),
                ask=_playing(["ann", "bo"], **how),
                tables=(corner * 2,),
                extreme=(*corner, ("", "")),
                hidden="replace_one",
            ),
            Question(
                name=f"forecasts, {way}",
                schema=forecasts,
                ask=_playing(["ann", "bo"], kind="squared", outcome="answer", **how),
                tables=((("0.9", "0.2", "yes"), ("0.1", "0.5", "no"), ("0.5", "", ""), ("1", "0", "yes")),),
                extreme=(("1", "0", "yes"), ("1", "0", "no"), ("", "", "")),
                hidden="replace_one",
            ),
            Question(
                name=f"prices, {way}",
                schema=market,
                ask=_playing(["gold", "tin"], kind="prices", **how),
                tables=(
                    (("100", "100"),) * 6,
                    tuple((f"{100 * 1.3**day:.2f}", f"{100 * 0.7**day:.2f}") for day in range(6)),
                ),
                extreme=(("900", "1"), ("1", "900"), ("0", "")),
                hidden="replace_one",
            ),
        ]
    return found


def _playing(experts: list[str], **how: Any) -> Ask:
    def ask(declaration: Declaration, file: File) -> Any:
        rows = file.private.public_size(declaration) - (how.get("kind") == "prices")
        return PrivatePlays.of(declaration, experts, rounds=rows, epsilon=0.5, **how)

    return ask


def _after_steps() -> list[Question]:
    """Tables of every kind of row after each step that leaves their order and number public."""
    header = ("day", "ann", "bo", "cy", "note")
    corner: tuple[Row, ...] = (
        ("one", "0", "1", "1", "x;y"),
        ("Total", "0", "1", "1", "x"),
        ("one", "1", "0", "0", "Total"),
        ("one", "Total", "1", "0", ""),
    )
    rounds = tuple((f"d{day}", *row[1:]) for day, row in enumerate((*corner[:1], *corner[2:3]) * 4))
    costs = tuple(Column(name=name, type="number", low=0, high=1) for name in ("ann", "bo", "cy", "lost"))
    totals, months = LeaveOutTotals(column="day"), MonthsToRows(columns=("ann", "bo"), time="part", value="lost")
    chains: dict[str, tuple[Step, ...]] = {
        "totals left out": (totals,),
        "totals in a cost left out": (LeaveOutTotals(column="ann"),),
        "a word read as missing": (ReadAsMissing(column="ann", word="1"),),
        "options split": (SplitOptions(column="note", options=("x", "y")),),
        "months made rows": (months,),
        "totals left out and months made rows": (totals, months),
    }
    found = []
    rows: tuple[EachRow, ...] = ("step", "record")
    for (how, steps), each_row in itertools.product(chains.items(), rows):
        if each_row == "record" and steps != (totals,):
            continue
        experts = ["lost", "cy"] if months in steps else ["ann", "bo"]
        schema = Schema(
            columns=tuple(column for column in costs if column.name in experts),
            each_row=each_row,
            rows_per_person=rows_made(steps, each_row),
        )
        found.append(
            Question(
                name=f"losses of a {each_row}, {how}",
                schema=schema,
                ask=_playing(experts, way="doubling_leader"),
                tables=(rounds,),
                extreme=corner,
                hidden="replace_one",
                steps=steps,
                header=header,
            )
        )
    of_totals = (LeaveOutTotals(column="revenue"),)
    label = Column(name="label", type="text")
    revenues = _rows(("a", "b", "Total", "c"), ("400", "", "1400", "1000"))
    found.append(
        Question(
            name="alarm over revenue, totals left out",
            schema=Schema(columns=(REVENUE,), each_row="step"),
            ask=lambda d, file: AlarmRun.of(
                d, "revenue", threshold=500, epsilon=0.5, entries=file.private.public_size(d)
            ),
            tables=(_rows(("400", "", "x", "700", "1001")),),
            moves="entries",
            entry="revenue",
            steps=of_totals,
        )
    )
    for how, steps in (("totals", of_totals), ("totals by name", (LeaveOutTotals(column="label"),))):
        found.append(
            Question(
                name=f"best revenue, {how} left out",
                schema=Schema(columns=(LABEL, REVENUE) if steps == of_totals else (label, REVENUE), each_row="option"),
                ask=_best_score("revenue") if steps == of_totals else _best_of_named,
                tables=(revenues,),
                moves="entries",
                entry="revenue",
                steps=steps,
            )
        )
    found += [
        Question(
            name=f"most common, {how}, totals left out",
            schema=RECORDS,
            ask=question_ask,
            tables=PEOPLE,
            extreme=(*EXTREME, ("Total", "0", "0", "yes", "")),
            steps=(LeaveOutTotals(column="option"),),
        )
        for how, question_ask in (
            ("a row added", lambda d, _: MostCommonOption.of(d, "option", epsilon=0.5)),
            ("how many", lambda d, _: NoisyCount.of(d, epsilon=0.5)),
        )
    ]
    return found


def _best_of_named(declaration: Declaration, file: File) -> BestScore:
    names = file.private.public_options(declaration, "label")
    return BestScore.of(
        declaration, option="label", score="revenue", epsilon=0.5, candidates=names, candidates_from_file=True
    )


def _of_form() -> list[Question]:
    """Files in which one row could decide how all others are read: by its quotation mark, by standing behind lines that
    look like notes at the foot, by having more or fewer cells than others, by standing first where nothing names the
    columns, by letters that look right in another encoding, by being one more than there are columns, or by a cell that
    is merged over several rows."""
    noted = replace(OPTION, categories=("a", "b", "a note"))
    foot = (("a note", "", "", "", ""),) * 3
    return [
        Question(
            name="single marks, most common, a row added",
            schema=RECORDS,
            ask=lambda d, _: MostCommonOption.of(d, "option", epsilon=0.5),
            tables=(tuple(EXTREME[place] for place in (0, 0, 0, 1, 1, 2, 2)),),
            extreme=(("a", '"', "0", "yes", "2024-01-01"), EXTREME[0]),
            mark="'",
        ),
        Question(
            name="lines at the foot, most common, a row added",
            schema=replace(RECORDS, columns=(noted, *RECORDS.columns[1:])),
            ask=lambda d, _: MostCommonOption.of(d, "option", epsilon=0.5),
            tables=((EXTREME[0], EXTREME[0], *foot),),
            extreme=EXTREME,
        ),
        Question(
            name="rows of several widths, most common, a row added",
            schema=RECORDS,
            ask=lambda d, _: MostCommonOption.of(d, "option", epsilon=0.5),
            tables=((*[EXTREME[0][:4]] * 6, *[EXTREME[0]] * 3),),
            extreme=((*EXTREME[0], "x"), EXTREME[0][:4], EXTREME[0]),
        ),
        Question(
            name="rows of several widths without a heading, most common, a row added",
            schema=Schema(columns=(replace(OPTION, name="column 5"),)),
            ask=lambda d, _: MostCommonOption.of(d, "column 5", epsilon=0.5),
            tables=((*[("1", "2", "3", "4")] * 3, *[("1", "2", "3", "4", "a")] * 3),),
            extreme=(("1", "2", "3", "4"), ("1", "2", "3", "4", "a"), ("1", "2", "3", "4", "a", "x")),
            header=tuple(f"column {place}" for place in range(1, 6)),
            heading=False,
        ),
        Question(
            name="text without a heading, most common, a row added",
            schema=Schema(columns=(replace(OPTION, name="column 1"),)),
            ask=lambda d, _: MostCommonOption.of(d, "column 1", epsilon=0.5),
            tables=((*[("a", "1")] * 3, ("b", "1")),),
            extreme=(("c", "x"), ("b", "y"), ("a", "x")),
            header=("column 1", "column 2"),
            heading=False,
        ),
        *(
            Question(
                name=f"{kind} without a heading, few cells first, most common, a row added",
                schema=Schema(columns=(replace(OPTION, name="column 1"),)),
                ask=lambda d, _: MostCommonOption.of(d, "column 1", epsilon=0.5),
                tables=((*[("a", "")] * 9, *[("b", "1")] * 3),),
                extreme=(("c", "x"), ("a", ""), ("", "x")),
                header=("column 1", "column 2"),
                heading=False,
                kind=kind,
            )
            for kind in ("text", "sheet")
        ),
        Question(
            name="letters in an old encoding, most common, a row added",
            schema=Schema(columns=(replace(OPTION, categories=("été", "b")), Column(name="more", type="text"))),
            ask=lambda d, _: MostCommonOption.of(d, "option", epsilon=0.5),
            tables=((*[("été", "")] * 3, ("b", "")),),
            extreme=(("b", "a¤a" * 9), ("été", "")),
            encoding="cp1252",
        ),
        Question(
            name="a sheet with a column without a name, most common, a row added",
            schema=RECORDS,
            ask=lambda d, _: MostCommonOption.of(d, "option", epsilon=0.5),
            tables=((*EXTREME, *[("", "", "", "", "", "a")] * 3),),
            extreme=((*EXTREME[0], "x"), EXTREME[0], ("", "", "", "", "", "a")),
            kind="sheet",
        ),
        Question(
            name="a sheet with merged cells, most common, a row added",
            schema=RECORDS,
            ask=lambda d, _: MostCommonOption.of(d, "option", epsilon=0.5),
            tables=((*EXTREME, *[("", *EXTREME[0][1:])] * 5),),
            extreme=EXTREME,
            kind="merged sheet",
        ),
        Question(
            name="lists of JSON without a heading, most common, a row added",
            schema=Schema(columns=(replace(OPTION, name="column 1"),)),
            ask=lambda d, _: MostCommonOption.of(d, "column 1", epsilon=0.5),
            tables=((*[("a", "1")] * 3, ("b", "1")),),
            extreme=(("c", "x"), ("b", "y", "x"), ("a", "x")),
            header=("column 1", "column 2"),
            kind="lists",
            heading=False,
        ),
        Question(
            name="objects inside an object of JSON, most common, a row added",
            schema=RECORDS,
            ask=lambda d, _: MostCommonOption.of(d, "option", epsilon=0.5),
            tables=((*EXTREME, EXTREME[0]),),
            extreme=EXTREME,
            kind="objects",
        ),
    ]


def _displaced() -> list[Question]:
    """Entries of files in which another cell of its row, or how it is shown, may call one something else."""
    taken = Column(name="taken", type="integer", low=0, high=5_000_000, sensitivity=1)
    dated = _rows("abc", ("2958465", "20", "9"), ("0.5",) * 3)
    beyond = _rows("abc", ("2959990", "2959920", "2959909"), ("0.5",) * 3)  # which are no days any more
    plain = _rows("abc", ("900", "200", "90"), ("",) * 3)
    files: tuple[tuple[str, FileKind, tuple[Row, ...], tuple[str, ...]], ...] = (
        ("shown as a day", "shown sheet", dated, ("0.5",)),
        ("beside a span", "shown sheet", beyond, ("1e9", "1e300")),
        ("beside keys", "records", plain, ('{"taken ": 0}', '{"label ": ""}', '{"taken": null}')),
        ("beside a comma", "text", plain, ("x,y", '"x', "1e9")),
    )
    asks: dict[str, tuple[EachRow, Ask]] = {
        "best": (
            "option",
            lambda d, file: BestScore.of(
                file.private.said_of_entries(d, "label"), option="label", score="taken", epsilon=0.5
            ),
        ),
        "alarm over": (
            "step",
            lambda d, file: AlarmRun.of(
                file.private.said_of_entries(d, None),
                "taken",
                threshold=500,
                epsilon=0.5,
                entries=file.private.public_size(d),
            ),
        ),
    }
    return [
        Question(
            name=f"{how} entries {where}",
            schema=Schema(columns=(LABEL, taken), each_row=each_row),
            ask=ask,
            tables=(table,),
            moves="entries",
            entry="taken",
            beside=beside,
            header=("label", "taken", "waited"),
            kind=kind,
        )
        for how, (each_row, ask) in asks.items()
        for where, kind, table, beside in files
    ]


def _of_programs() -> list[Question]:
    """Questions about records in files of SPSS and Stata."""
    programs: tuple[Program, ...] = ("SPSS", "Stata")
    asked = ("most common, a row added", "alarm per day, a row added", "best rule, a row added")
    found = [one for one in _records("add_remove", RECORDS, "a row added") if one.name in asked]
    return [
        replace(one, name=f"{one.name}, {program}", program=program, codebook=RECORDS)
        for one in found
        for program in programs
    ]


_CODE = Column(name="code", type="category", categories=("1", "2", "3"))
_SICK = Column(name="sick", type="yes/no")
_AMOUNT = Column(name="amount", type="number", low=0, high=10, missing_words=("", "9"))
_DIGITS = Column(name="day", type="date", earliest=date(2024, 3, 1), latest=date(2024, 3, 8))


def _of_frames() -> list[Question]:
    """Whole numbers as codes, answers, amounts, days and names of people, in files of pandas, where a row without one
    makes all others be written in another way."""
    asks: dict[str, Ask] = {
        "most common code": lambda d, _: MostCommonOption.of(d, "code", epsilon=0.5),
        "most common answer": lambda d, _: MostCommonOption.of(d, "sick", epsilon=0.5),
        "median amount": lambda d, _: QuantileValue.of(d, "amount", epsilon=0.5, points=11),
        "median amount with a decimal comma": lambda d, _: QuantileValue.of(d, "amount", epsilon=0.5, points=11),
        "alarm per day": lambda d, _: AlarmRun.of(d, "day", threshold=25, epsilon=0.5),
    }
    rows = range(160)
    people = _rows(
        [str(3 * 10**16 + 10**8 * (row // 4)) for row in rows],
        [str(row % 3 % 2 + 1) for row in rows],
        [str(int(row % 5 == 0)) for row in rows],
        [str(row % 4 + 6) for row in rows],
        [str(20240301 + row % 7) for row in rows],
    )
    named = Schema(columns=(WHO, _CODE, _SICK, _AMOUNT, _DIGITS), rows_per_person=2, id_column="who")
    plain = Schema(columns=named.columns)
    comma = plain.with_column(replace(_AMOUNT, decimal=","))
    files: tuple[tuple[str, str, Schema, WrittenAs], ...] = (
        ("most common code", "a row added", plain, "CSV"),
        ("most common answer", "a row added", plain, "Parquet"),
        ("most common code", "two rows by who", named, "JSON"),
        ("median amount", "a row added", plain, "CSV"),
        ("median amount", "two rows by who", named, "CSV"),
        ("median amount", "two rows by who", named, "Parquet"),
        ("median amount with a decimal comma", "a row added", comma, "CSV"),
        ("alarm per day", "a row added", plain, "CSV"),
        ("alarm per day", "two rows by who", named, "JSON"),
    )
    return [
        FrameQuestion(
            name=f"whole numbers of pandas, {ask}, {how}, {written}",
            schema=schema,
            ask=asks[ask],
            tables=(people,),
            extreme=(("", "", "", "", ""), ("", "3", "0", "10", "20240308")),
            written=written,
        )
        for ask, how, schema, written in files
    ]


QUESTIONS: tuple[Question, ...] = (
    *_records("add_remove", RECORDS, "a row added"),
    *_records("replace_one", RECORDS, "a row replaced"),
    *_records("add_remove", SEVERAL, "three rows of a person"),
    *_records("replace_one", SEVERAL, "three rows replaced"),
    *_records("add_remove", NAMED, "two rows by who"),
    *_records("replace_one", NAMED, "two rows by who replaced"),
    *_steps(),
    *_plays(),
    *_after_steps(),
    *_of_form(),
    *_displaced(),
    *_of_programs(),
    *_of_frames(),
)


def question(name: str) -> Question:
    """One of ``QUESTIONS``."""
    return next(one for one in QUESTIONS if one.name == name)
