"""Every question of every page about neighbouring files as a person's own: what is offered before the answer.

The pages are asked as the product asks them, without the browser: the declaration, what was chosen, and the file's own
typed table, which draws the pictures. Whether a release is offered, its request with digest, cost, rules and bounds,
every sentence around it, the label card and what every control begins with must be the same to the byte.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from datetime import date
from itertools import islice
from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd

from dashboard import catalogue, offering
from dashboard.case import Case, DrawnModel, Mode, Source
from dashboard.controls import Choice, Control, Setting
from dashboard.data import file_columns
from dashboard.question import CannotAsk, Kind, NoOffer, Offer
from dashboard.questions.thresholding import alarm_controls
from dashboard.questions.thresholding.watched import first_line
from dpcore.audit.drawn import RECEIPT, drawn_model
from dpcore.audit.files import File, Row
from dpcore.audit.files import Question as Asked
from dpcore.audit.interference import SEED, Verdict, public
from dpcore.audit.questions import QUESTIONS
from dpcore.datasets import Column, Declaration, apply, twin

EPSILON = 0.5
_EXTRA = "beside"
SHOWING = ("edit-",)
"""Beginnings of the keys of controls that show the file's own numbers, for What if alone: no request reads them."""

GROUNDS: tuple[str, ...] = (
    "most common, a row added",
    "most common, a row replaced",
    "most common, three rows of a person",
    "most common, two rows by who",
    "best net votes",
    "best cases",
    "best score",
    "alarm over revenue, exponential",
    "alarm over net votes, exponential",
    "alarm over cases, exponential",
    "losses, from now on",
    "forecasts, from now on",
    "prices, from now on",
)
"""Questions of the audit whose files and neighbours the pages are asked about."""


REPLACED = ("experts/follow",)
"""Questions that hide a replaced row whatever is chosen, so that the number of rows is public: they say so."""


def kinds() -> tuple[str, ...]:
    """Every question by page and key."""
    return tuple(f"{page.key}/{kind.key}" for page, kind in catalogue.every())


def kind_named(name: str) -> type[Kind]:
    """One of ``kinds``."""
    page, key = name.split("/")
    return catalogue.questions(page)[key]


def grounds() -> Iterator[Asked]:
    """Files with everything declared that a page asks for: prices too have bounds there."""
    for one in (found for found in QUESTIONS if found.name in GROUNDS):
        columns = tuple(
            replace(column, low=0.0, high=1000.0) if column.is_numeric and not column.bounded else column
            for column in one.schema.columns
        )
        yield replace(one, schema=replace(one.schema, columns=columns))


def check_page(name: str, *, most: int, every: int = 1, settings: int = 1, mutant: bool = False) -> Verdict:
    """One question of a page on every kind of file; other choices on each file's first ``settings`` pairs.

    A ``mutant`` is looked at until it is caught.
    """
    kind, pairs, asked, trouble = kind_named(name), 0, 0, set[str]()
    for ground in grounds():
        if mutant and trouble:
            break
        if name in REPLACED and ground.schema.each_row == "record" and ground.hidden == "add_remove":
            continue
        for number, (here, there) in enumerate(_pairs(ground, most, every)):
            files = [ground.file(rows, from_bytes=False) for rows in (here, there)]
            pairs += 1
            for mode, values, shown in _ways(kind, ground, files[0], others=number < settings):
                first, second = (_shown(kind, ground, file, mode, values, shown) for file in files)
                asked += first != NOTHING
                if first != second:
                    said = "a release is offered for one file only" if NOTHING in (first, second) else "they differ"
                    trouble.add(f"{ground.name}: {said}{f' with {values}' if values else ''}")
    if not asked:
        trouble.add("no release was offered about any file")
    return Verdict(name=name, used=0.0, pairs=pairs, trouble=tuple(sorted(trouble)))


NOTHING = "no release"
_DAYS = (date(2024, 1, 1), date(2024, 3, 1))
UNSPOKEN: dict[str, tuple[Column, Callable[[int], pd.Series]]] = {
    "text": (Column(name=_EXTRA, type="text"), lambda rows: pd.Series(["x"] * rows, dtype="str")),
    "options": (
        Column(name=_EXTRA, type="category", categories=("p", "q"), from_file=True),
        lambda rows: pd.Series(pd.Categorical(["pq"[place % 2] for place in range(rows)], categories=["p", "q"])),
    ),
    "whole numbers": (
        Column(name=_EXTRA, type="integer", low=0.0, high=4.0, from_file=True),
        lambda rows: pd.Series([place % 5 for place in range(rows)], dtype="Int64"),
    ),
    "days": (
        Column(name=_EXTRA, type="date", earliest=_DAYS[0], latest=_DAYS[1], from_file=True),
        lambda rows: pd.Series(pd.date_range("2024-01-01", periods=rows, unit="s")),
    ),
}
"""What a column that nobody declared can look like, by its cells: what is offered must not hang on that."""


def check_unspoken(name: str, *, every: int = 1) -> Verdict:
    """One question of a page about files with a column more, which nobody declared; ``every`` so manieth file."""
    kind, pairs, trouble = kind_named(name), 0, set[str]()
    for ground in islice(grounds(), 0, None, every):
        file = ground.file(ground.tables[0], from_bytes=False)
        shown = {look: _offered_beside(kind, ground, file, look) for look in UNSPOKEN}
        pairs += len(shown) - 1
        trouble |= {f"{ground.name}: {look} nobody declared" for look in shown if shown[look] != shown["text"]}
    return Verdict(
        name=f"{name}, beside a column nobody declared", used=0.0, pairs=pairs, trouble=tuple(sorted(trouble)[:3])
    )


def _offered_beside(kind: type[Kind], ground: Asked, file: File, look: str) -> str:
    """The release that is offered where such a column stands first in the file; none where none can be made."""
    case = _case(ground, file, "what_if")
    column, cells = UNSPOKEN[look]
    table = case.table
    schema = file_columns.declared_first(
        replace(table.schema, columns=(column, *table.schema.columns)), ground.schema.names
    )
    frame = table.frame.assign(**{_EXTRA: cells(table.rows).to_numpy() if look == "text" else cells(table.rows).array})
    beside = replace(table, frame=frame[list(schema.names)], schema=schema)
    try:
        found = offering.ask(kind, replace(case, source=replace(case.source, table=beside)), Setting())
    except CannotAsk:
        return NOTHING
    offer = found.question.offer
    return NOTHING if isinstance(offer, NoOffer) else repr((offered(offer), found.question.protected))


def _pairs(ground: Asked, most: int, every: int) -> Iterator[tuple[tuple[Row, ...], tuple[Row, ...]]]:
    """Neighbours that leave hardly anything to draw a picture of, then the worst ones, then generated ones."""
    if ground.moves == "rows":
        blank = ("",) * len(ground.schema.names)
        full = ground.tables[0][0]
        steps = ground.schema.each_row == "step"
        if ground.hidden == "add_remove" and not steps:
            yield (), (full,)
            yield (blank,), (blank, full)
        else:
            rest = (blank,) * (2 if steps else 0)
            yield (blank, *rest), (full, *rest)
            yield (full, full, *rest), (full, blank, *rest)
    else:
        place = ground.schema.names.index(ground.entry)
        rows = ground.tables[0]
        if ground.schema.column(ground.entry).sensitivity is None:
            emptied = tuple((*row[:place], "", *row[place + 1 :]) for row in rows)
            yield emptied, rows
            yield emptied, (*emptied[:-1], rows[-1])
    yield from islice(ground.neighbours(np.random.Generator(np.random.PCG64(SEED)), most), 0, None, every)


def _ways(kind: type[Kind], ground: Asked, file: File, *, others: bool) -> Iterator[tuple[Mode, dict[str, Any], bool]]:
    """In which mode, with which choices, and whether the file was shown before."""
    yield "what_if", {}, False
    if not others:
        return
    yield "twin", {}, True
    yield "twin", {}, False
    read = Setting()
    try:
        offering.ask(kind, _case(ground, file, "what_if"), read)
    except CannotAsk:
        return
    for _, control in read.seen.values():
        if isinstance(control, Choice):
            for option in control.options[:4]:
                if option != control.default:
                    yield "what_if", {control.key: option}, False


def _case(ground: Asked, file: File, mode: Mode, *, shown: bool = False) -> Case:
    """The file as a person's own, its form settled and everything declared."""
    declared = Declaration.of(ground.schema, hidden=ground.hidden)
    digest = hashlib.sha256(file.frame.to_json().encode()).hexdigest()
    table = apply(ground.schema, file.frame).table(fingerprint=digest, lineage="")
    if mode == "twin":
        table = twin(ground.schema, rows=60, rng=np.random.Generator(np.random.PCG64(SEED)))
    source = Source(
        key="own-file",
        title="file.csv",
        mode=mode,
        table=table,
        lineage="people",
        practice=False,
        declared=declared,
        rows=lambda: file.private,
        shown=shown,
    )
    return Case(source=source, epsilon=EPSILON, models=_drawn(declared))


def _drawn(declared: Declaration) -> tuple[DrawnModel, ...]:
    """A model that was drawn about these people, where one can be: of the first column of yes or no, by all others."""
    targets = [one.name for one in declared.columns if one.type == "yes/no"]
    others = [one.name for one in declared.columns if one.bounded and one.type != "text" and one.name not in targets]
    if not targets or not others or declared.each_row != "record":
        return ()
    answer = drawn_model(declared, target=targets[0], columns=others)
    return (DrawnModel(receipt=RECEIPT, answer=lambda: answer, when="2026-01-01 00:00:00 UTC", same=True, alone=True),)


def _shown(kind: type[Kind], ground: Asked, file: File, mode: Mode, values: dict[str, Any], shown: bool) -> str:
    """All of a release that is shown before it is made, as text."""
    read = Setting(values)
    try:
        found = offering.ask(kind, _case(ground, file, mode, shown=shown), read)
    except CannotAsk:
        return NOTHING
    begins = {key: _begins(control) for key, (_, control) in read.seen.items() if not key.startswith(SHOWING)}
    return repr((offered(found.question.offer), found.question.protected, found.question.key, begins))


def offered(offer: Offer | NoOffer) -> str:
    """An offer as text: all that the panel shows, prices, stores or sends for it."""
    if isinstance(offer, NoOffer):
        return repr(offer)
    before = [repr(block) for block in offer.before]
    said = (getattr(offer.request, name, ()) for name in ("rules", "notes"))
    told = (offer.forecast, offer.relation, offer.conclude, offer.claim, offer.gives)
    return repr((public(offer.request), *said, *told, before))


def _begins(control: Control[Any]) -> object:
    return control.label, control.default, control.linked


# -- the holes, dug again ----------------------------------------------------------------------------------------------


@contextmanager
def _pictures_alone() -> Iterator[None]:
    """No release where there is no picture."""
    with patch.object(offering, "stand_in", autospec=True, return_value=None):
        yield


@contextmanager
def _line_from_series() -> Iterator[None]:
    """The line of an alarm from the file, as it is for a sample."""
    made = alarm_controls.line

    def line(case: Case, watched: Any, series: Any) -> Any:
        return replace(made(case, watched, series), default=first_line(series))

    with patch.object(alarm_controls, "line", line):
        yield


@contextmanager
def _taken_for_a_sample() -> Iterator[None]:
    """Forecasts and goals from the file's own exact law, as they are for a sample."""
    with patch.object(Source, "public", property(lambda self: self.mode == "what_if")):
        yield


@contextmanager
def _in_the_files_order() -> Iterator[None]:
    """Pages begin with the first column that suits by its look, whether it was declared or not."""
    with (
        patch.object(file_columns, "declared_first", lambda schema, declared: schema),
        patch.object(Source, "first", lambda self, names: names[0]),
    ):
        yield


@contextmanager
def _all_columns_taken() -> Iterator[None]:
    """A question about several columns begins with all that suit by their look."""
    with patch.object(Source, "stated", lambda self, names, *, least=1: tuple(names)):
        yield


@dataclass(frozen=True, slots=True, kw_only=True)
class PageHole:
    """A mutant of the pages: within it, the audit of ``page`` must find trouble, ``beside`` a column that nobody
    declared or on neighbouring files."""

    name: str
    page: str
    within: Callable[[], AbstractContextManager[Any]] = nullcontext
    beside: bool = False

    def dug(self) -> Verdict:
        with self.within():
            if self.beside:
                return check_unspoken(self.page, every=4)
            return check_page(self.page, most=0, every=20, settings=0, mutant=True)


PAGE_HOLES: tuple[PageHole, ...] = (
    PageHole(name="3 a page's line from the series", page="thresholding/alarm", within=_line_from_series),
    PageHole(name="3 an alarm that begins as on a sample", page="thresholding/alarm", within=_taken_for_a_sample),
    PageHole(name="5 no release without a picture: training", page="training/predict", within=_pictures_alone),
    PageHole(name="5 no release without a picture: median", page="selection/quantile", within=_pictures_alone),
    PageHole(name="5 no release without a picture: options", page="selection/most_common", within=_pictures_alone),
    PageHole(name="13 the file's own law as the forecast", page="selection/quantile", within=_taken_for_a_sample),
    PageHole(name="13 the file's own law forecasts a rule", page="selection/best_rule", within=_taken_for_a_sample),
    PageHole(
        name="3 a column nobody declared comes first",
        page="selection/quantile",
        within=_in_the_files_order,
        beside=True,
    ),
    PageHole(
        name="3 columns nobody declared are followed", page="experts/follow", within=_all_columns_taken, beside=True
    ),
)
