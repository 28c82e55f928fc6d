"""The holes that releases once had, each dug again: the audit must fall into every one of them.

Each is a way of asking, or a rule of reading, as the product once had it or might have again. Numbers are those of the
list in which they were found.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, fields, replace
from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd

from dpcore.audit.files import Ask, File, Question
from dpcore.audit.interference import Verdict, check
from dpcore.audit.questions import question
from dpcore.datasets import Declaration, Schema, apply, conversion, dates, numerals, plain_words, schema
from dpcore.datasets import private_rows as doors
from dpcore.datasets.reading import columns, kinds, layout
from dpcore.datasets.reading.labelled_days import moments
from dpcore.datasets.reading.labelled_files import Labelled, labelled_table
from dpcore.datasets.reading.survey import Survey
from dpcore.datasets.reading.workbook import Sheet, sheet_of
from dpcore.datasets.report import Report
from dpcore.datasets.schema import Decimal
from dpcore.datasets.steps import Worked
from dpcore.errors import InvalidArgument, UnreadableFile
from dpcore.releases import paired_model, whole_classes
from dpcore.releases.asked import Asked, ErrorBound
from dpcore.releases.bought_model import BoughtModel
from dpcore.releases.chosen_model import ChosenModel
from dpcore.releases.confusion import ModelConfusion
from dpcore.releases.gaussian_confusion import GaussianConfusion
from dpcore.releases.model import PrivateModel
from dpcore.releases.plays import PrivatePlays
from dpcore.releases.selection import LeastCost
from dpcore.releases.steps_model import StepsModel
from dpcore.releases.whole_codes import WholeCodes
from dpcore.releases.whole_pairs import most_wrong
from dpcore.training import confusion
from dpcore.training.cuts import own_cuts
from dpcore.training.encoding import Encoding
from dpcore.validate import BoolArray, FloatArray, IntArray


@dataclass(frozen=True, slots=True, kw_only=True)
class Hole:
    """A mutant of the question called ``on``: asked by ``ask``, or answered ``within`` a patch."""

    name: str
    on: str
    ask: Callable[[Question], Ask] = lambda found: found.ask
    within: Callable[[], AbstractContextManager[Any]] = nullcontext
    from_bytes: int = 0

    def dug(self, *, most: int = 12, from_bytes: int = 0) -> Verdict:
        """What the audit says with the hole in place; ``from_bytes`` it needs at least as many as it is found with."""
        found = question(self.on)
        with self.within():
            return check(found, most=most, from_bytes=max(from_bytes, self.from_bytes), ask=self.ask(found))


def typed(declaration: Declaration, file: File) -> pd.DataFrame:
    """The values of the file, which no question may look at."""
    return apply(Schema(columns=declaration.columns), file.frame).frame


def _changed(**numbers: Any) -> Callable[[Question], Ask]:
    """The question's own request with some of its public numbers wrong."""
    return lambda found: lambda declaration, file: replace(found.ask(declaration, file), **numbers)


def _computed(compute: Callable[[pd.DataFrame, Any], dict[str, Any]]) -> Callable[[Question], Ask]:
    """The question's own request with some of its public numbers computed from the values."""

    def asking(found: Question) -> Ask:
        def ask(declaration: Declaration, file: File) -> Any:
            request = found.ask(declaration, file)
            return replace(request, **compute(typed(declaration, file), request))

        return ask

    return asking


def _line(values: FloatArray) -> float:
    usual, highest = float(np.nanmedian(values)), float(np.nanmax(values))
    return float(f"{usual + (highest - usual) * 0.35:.3g}")


def _epsilon(frame: pd.DataFrame, request: Any) -> dict[str, Any]:
    """The least ε at which the exact private law is right 95 times in 100."""
    counts = frame["option"].value_counts().to_numpy()
    lead = counts[0] - counts[1]
    return {"epsilon": float(f"{max(0.001, 3.0 / max(lead, 0.5)):.3g}")}


def _refusing(needed: Callable[[pd.DataFrame], bool]) -> Callable[[Question], Ask]:
    def asking(found: Question) -> Ask:
        def ask(declaration: Declaration, file: File) -> Any:
            if not needed(typed(declaration, file)):
                raise InvalidArgument("losses", "must not miss a day")
            return found.ask(declaration, file)

        return ask

    return asking


def _by_frequency(found: Question) -> Ask:
    def ask(declaration: Declaration, file: File) -> Any:
        words = file.frame["option"]
        ranked = tuple(str(word) for word in words[words.isin(["a", "b", "c"])].value_counts().index)
        rest = tuple(word for word in ("a", "b", "c") if word not in ranked)
        column = replace(declaration.column("option"), categories=(*ranked, *rest))
        columns = tuple(column if one.name == "option" else one for one in declaration.columns)
        return found.ask(replace(declaration, columns=columns), file)

    return ask


def _rows_as_people(found: Question) -> Ask:
    return lambda declaration, file: found.ask(replace(declaration, people=len(file.frame)), file)


def _curve_as_forecast(found: Question) -> Ask:
    """The error bound replaced by what the file's own curve says."""

    def ask(declaration: Declaration, file: File) -> Any:
        wrong = float(typed(declaration, file)["answer"].eq(True).mean())  # what is missing is not yes

        @dataclass(frozen=True, slots=True, kw_only=True)
        class Promised(PrivateModel):
            def error_bound(self, beta: float = 0.05) -> ErrorBound:
                return ErrorBound(number=wrong, unit="errors", confidence=1 - beta, about="as the curve shows")

        request = found.ask(declaration, file)
        return Promised(**{field.name: getattr(request, field.name) for field in fields(request)})

    return ask


def _all_one_way(found: Question) -> Ask:
    """Whole numbers taken for counts, whatever was declared."""

    def ask(declaration: Declaration, file: File) -> Any:
        columns = tuple(
            replace(column, counts=True) if column.type == "integer" else column for column in declaration.columns
        )
        return found.ask(replace(declaration, columns=columns), file)

    return ask


def _whole_by_values(found: Question) -> Ask:
    """A column of numbers taken for whole ones where all its values happen to be."""

    def ask(declaration: Declaration, file: File) -> Any:
        values = typed(declaration, file)[found.entry].dropna()
        if not bool((values == np.rint(values)).all()):
            return found.ask(declaration, file)
        columns = tuple(
            replace(column, type="integer") if column.name == found.entry else column for column in declaration.columns
        )
        return found.ask(replace(declaration, columns=columns), file)

    return ask


def _as_if_added(found: Question) -> Ask:
    return lambda declaration, file: found.ask(replace(declaration, hidden="add_remove"), file)


@contextmanager
def _touching_once() -> Iterator[None]:
    """A row of prices reckoned to touch one round."""
    with patch.object(PrivatePlays, "touched", property(lambda self: self.rows_per_person)):
        yield


@contextmanager
def _all_rows() -> Iterator[None]:
    """Every row of a person kept, whatever was declared."""
    with patch.object(doors, "kept", lambda person, texts, column, most: np.ones(len(texts), dtype=np.bool_)):
        yield


@contextmanager
def _first_in_file() -> Iterator[None]:
    """The first rows of the file kept, whosever they are."""
    with patch.object(doors, "kept", lambda person, texts, column, most: np.arange(len(texts)) < 6):
        yield


@contextmanager
def _dropping_steps() -> Iterator[None]:
    """Steps without anything in them set aside: the others move up."""
    opened = doors.PrivateRows.opened
    with patch.object(doors.PrivateRows, "opened", lambda self, reads: opened(self, replace(reads, steps=False))):
        yield


@contextmanager
def _moved_up() -> Iterator[None]:
    """Rows that a step left out take their place with them: the others move up."""

    def places(self: Worked, before: IntArray, records: int) -> tuple[IntArray, int]:
        return np.arange(len(self.frame)), len(self.frame)

    with patch.object(Worked, "places", places):
        yield


@contextmanager
def _missing_left_out() -> Iterator[None]:
    """Rows with a missing cost left out and totals put in relation to those that are there."""
    read = LeastCost.read

    def averaged(self: LeastCost, rows: Any) -> Any:
        there = max(1, sum(~np.isnan(self.opened(rows).numbers(self.columns[0]))))
        return (read(self, rows) * 100) // there

    with patch.object(LeastCost, "read", averaged):
        yield


@contextmanager
def _unbounded() -> Iterator[None]:
    """A fill beyond the bounds taken as it is."""
    with (
        patch("dpcore.releases.cells.stand_in", lambda column: -5000.0),
        patch("dpcore.releases.cells._bounds", lambda column: (-np.inf, np.inf)),
    ):
        yield


def _stated_anew(name: str, **changes: Any) -> Callable[[Question], Ask]:
    """The question with one column declared otherwise."""

    def asking(found: Question) -> Ask:
        def ask(declaration: Declaration, file: File) -> Any:
            column = replace(declaration.column(name), **changes)
            columns = tuple(column if one.name == name else one for one in declaration.columns)
            return found.ask(replace(declaration, columns=columns), file)

        return ask

    return asking


@contextmanager
def _halves_to_even() -> Iterator[None]:
    """Numbers with a fraction rounded to the even one of two: 10.5 and 11.5 are two apart."""

    def nearest(text: pd.Series, decimal: Decimal) -> tuple[IntArray, BoolArray]:
        found = numerals.numbers(text, decimal)
        return np.rint(np.nan_to_num(found)).astype(np.int64), ~np.isnan(found)

    with patch.object(conversion, "nearest", nearest):
        yield


@contextmanager
def _any_fill() -> Iterator[None]:
    """A stand-in of any size accepted for whole numbers, and written where a cell is missing."""
    with (
        patch.object(schema, "check_fill", lambda column: None),
        patch.object(conversion, "_filled", lambda values, column: values.fillna(int(column.fill))),
    ):
        yield


@contextmanager
def _one_row_a_person() -> Iterator[None]:
    """Three rows of a person reckoned as one."""
    with patch.object(Asked, "rows_per_person", property(lambda self: 1)):
        yield


@contextmanager
def _every_one_alone() -> Iterator[None]:
    """Counts of steps reckoned as if a row were in one of them."""
    with patch.object(StepsModel, "counts_sensitivity", lambda self, most_ones: self.cells_sensitivity):
        yield


@contextmanager
def _one_level_alone() -> Iterator[None]:
    """Trees of cells reckoned as if a row were in one level of them."""
    with patch.object(BoughtModel, "tree_sensitivity", lambda self, _: self.cells_sensitivity):
        yield


def _cut_at_own_quantiles(frame: pd.DataFrame, request: Any) -> dict[str, Any]:
    """Numbers cut at the quantiles of the file, for nothing."""
    columns = [
        replace(column, levels=own_cuts(column.low, column.high, _quartiles(column, frame[column.name])))
        if column.kind == "number"
        else column
        for column in request.features.columns
    ]
    return {"features": replace(request.features, columns=tuple(columns))}


def _quartiles(column: Encoding, values: pd.Series) -> list[float]:
    here = column.unscaled(column.typed(values))
    inside = [column.high] if np.isnan(here).all() else np.nanquantile(here, (0.25, 0.5, 0.75)).tolist()
    return [cut for cut in inside if cut > column.low] or [column.high]


@contextmanager
def _unscaled_lengths() -> Iterator[None]:
    """Gradients cut by the length of the rows before scaling, which makes some of them longer."""
    sums = WholeCodes.sums

    def wrong(self: WholeCodes, weights: FloatArray, scales: Any, clip: int) -> Any:
        return sums(self, weights * scales / 4096.0, np.full_like(scales, 4096), clip) * scales // 4096

    with patch.object(WholeCodes, "sums", wrong):
        yield


@contextmanager
def _every_class_alone() -> Iterator[None]:
    """Gradients of several classes cut class by class, so that all together are longer."""

    def wrong(slopes: Any, caps: Any) -> Any:
        return np.clip(slopes, -caps[:, None], caps[:, None])

    with patch.object(whole_classes, "_shortened", wrong):
        yield


@contextmanager
def _errors_half_as_long() -> Iterator[None]:
    """Pairs drawn as if a row's error were at most half as long as it is."""
    with patch.object(paired_model, "most_wrong", lambda features: most_wrong(features) // 2):
        yield


@contextmanager
def _every_row_told_twice() -> Iterator[None]:
    """Ways compared by a count in which a row is there twice."""
    good = WholeCodes.good
    with patch.object(WholeCodes, "good", lambda self, points: 2 * good(self, points)):
        yield


@contextmanager
def _named_by_the_middle() -> Iterator[None]:
    """A model that names as many as it leaves: whom it names hangs on the others."""

    margins = confusion.margins

    def middle(*asked: Any) -> FloatArray:
        found = margins(*asked)
        return found - np.median(found) if found.size else found

    with patch.object(confusion, "margins", middle):
        yield


@contextmanager
def _one_cell_alone() -> Iterator[None]:
    """Four counts reckoned as if a row in another's place were in one of them."""
    with (
        patch.object(ModelConfusion, "sensitivity", property(lambda self: self.rows_per_person)),
        patch.object(GaussianConfusion, "sensitivity", property(lambda self: self.rows_per_person)),
    ):
        yield


@contextmanager
def _last_for_all() -> Iterator[None]:
    """The model of the way that is drawn built with all of ρ, as if its trials had been free."""
    with patch.object(ChosenModel, "final", lambda self, way: self._way(way, 1.0, self.steps)):
        yield


@contextmanager
def _form_unasked() -> Iterator[None]:
    """What the bytes decided of a file's form left as it is, and nobody asked."""
    with patch.object(Report, "decided", ()):
        yield


@contextmanager
def _heading_unasked() -> Iterator[None]:
    """A heading guessed by how the first rows look, and nobody asked."""
    with patch.object(Report, "doubtful", ()):
        yield


@contextmanager
def _letters_unasked() -> Iterator[None]:
    """The encoding of a text by how its letters look, and nobody asked."""
    with patch.object(Report, "decided", ()), patch.object(Report, "doubtful", ()):
        yield


@contextmanager
def _labels_of_all_or_none() -> Iterator[None]:
    """Codes left as they are in a column of which one row has a code without a label."""

    def wrong(*given: Any) -> Labelled:
        found = labelled_table(*given)
        every = {name: found.frame[name].isin([*labels, ""]).all() for name, labels in found.codebooks.items()}
        return replace(found, codebooks={name: one for name, one in found.codebooks.items() if every[name]})

    with patch("dpcore.datasets.reading.kinds.labelled_table", wrong):
        yield


@contextmanager
def _narrowed() -> Iterator[None]:
    """As wide as most rows are, where one is wider than the heading."""
    named = columns.of_lines

    def usual(heading: list[list[str]], lines: tuple[int, ...], filled: columns.Filled) -> columns.Columns:
        return named([record[: widths[0]] if widths[1] > len(record) else record for record in heading], lines, filled)

    widths = [0, 0]
    find = layout.find

    def found(seen: Survey, **choices: Any) -> layout.Layout:
        widths[:] = [seen.usual, int(seen.counts.max())]
        return find(seen, **choices)

    with patch.object(columns, "of_lines", usual), patch.object(layout, "find", found):
        yield


@contextmanager
def _every_day_in_the_calendar() -> Iterator[None]:
    """A file refused for a day of one row that no calendar has."""

    def wrong(program: str, written: str) -> Callable[[Any], Any] | None:
        moment = moments(program, written)

        def day(number: Any) -> Any:
            if number is not None and np.isfinite(number) and moment and moment(number) is None:
                raise UnreadableFile("This file is damaged.")
            return moment and moment(number)

        return moment and day

    with patch("dpcore.datasets.reading.labelled_files.moments", wrong):
        yield


@contextmanager
def _lone_cells_first() -> Iterator[None]:
    """What stands alone in its row, in a column that no row with more fills, put into the first column."""

    def gathered(*asked: Any) -> Sheet:
        sheet = sheet_of(*asked)
        kept = sheet.survey.usual
        frame = sheet.frame.iloc[:, :kept].copy()
        for place in range(kept, sheet.frame.shape[1]):
            frame[0] += sheet.frame[place]
        return replace(sheet, frame=frame)

    with patch.object(kinds, "sheet_of", gathered):
        yield


@contextmanager
def _as_written() -> Iterator[None]:
    """Words told by how they are written."""
    with patch.object(plain_words, "plainly", lambda text: text):
        yield


@contextmanager
def _days_as_written() -> Iterator[None]:
    """Days of digits told by how they are written."""
    with patch.object(dates, "plain", lambda word: word):
        yield


@contextmanager
def _numbers_as_written() -> Iterator[None]:
    """Whole numbers told by the decimal mark that they are written with."""
    with patch.object(numerals, "plainly", lambda text: text):
        yield


@contextmanager
def _kept_by_how_cells_are_written() -> Iterator[None]:
    """Rows of a person kept by the texts of their cells, and not by what they say."""
    with patch.object(doors, "_as_read", lambda texts, column: texts[column.name]):
        yield


@contextmanager
def _begun_by_its_look() -> Iterator[None]:
    """A table that no line names begun with the first row that has half of its cells, and those above a title."""
    find = layout.find

    def found(seen: Survey, **choices: Any) -> layout.Layout:
        whole = [2 * sum(map(bool, record)) > seen.usual for record in seen.head]
        line = int(seen.lines[whole.index(True)]) if any(whole) else 1
        return find(seen, **choices | {"header_line": choices["header_line"] or line})

    with patch.object(layout, "find", found):
        yield


@contextmanager
def _said_of_any_file() -> Iterator[None]:
    """What was stated of how far one moves an entry, counted of every kind of file."""
    with patch.object(doors, "RECODED", ()):
        yield


HOLES: tuple[Hole, ...] = (
    Hole(
        name="1 an alarm with sensitivity 1 whatever the column",
        on="alarm over revenue, exponential",
        ask=_changed(sensitivity=1.0),
    ),
    Hole(name="1 whole numbers taken as one-way counts", on="alarm over net votes, exponential", ask=_all_one_way),
    Hole(
        name="1 an alarm that forgets the rows of a person",
        on="alarm per day, three rows of a person",
        ask=_changed(sensitivity=1.0),
    ),
    Hole(name="2 the exact number of rows scales a model", on="model, a row added", ask=_rows_as_people),
    Hole(
        name="3 the line of an alarm from the series",
        on="alarm over cases, exponential",
        ask=_computed(lambda frame, _: {"threshold": _line(frame["cases"].to_numpy(np.float64, na_value=np.nan))}),
    ),
    Hole(name="3 scores whole by their values", on="best score", ask=_whole_by_values),
    Hole(name="3 scores one way by their type", on="best net votes", ask=_all_one_way),
    Hole(name="3 ε from the exact law", on="most common, a row added", ask=_computed(_epsilon)),
    Hole(name="4 a price that touches one round", on="prices, doubling", within=_touching_once),
    Hole(
        name="5 a missing cell refuses the losses",
        on="losses, from now on",
        ask=_refusing(lambda frame: bool(frame.notna().all().all())),
    ),
    Hole(
        name="5 equal columns refuse the losses",
        on="losses, from now on",
        ask=_refusing(lambda frame: not bool((frame["ann"] == frame["bo"]).all())),
    ),
    Hole(
        name="5 a missing label refuses the best rule",
        on="best rule, a row added",
        ask=_refusing(lambda frame: bool(frame["answer"].notna().all())),
    ),
    Hole(name="5 steps without anything in them move the others", on="losses, doubling", within=_dropping_steps),
    Hole(
        name="rows that a step left out move the others",
        on="losses of a step, totals left out",
        within=_moved_up,
    ),
    Hole(
        name="halves to the even one, of two whole numbers",
        on="best net votes",
        within=_halves_to_even,
    ),
    Hole(name="5 a missing cell counts beyond the bounds", on="alarm over revenue, exponential", within=_unbounded),
    Hole(
        name="5 a stand-in that no whole number fits",
        on="quartile, permute-and-flip, a row added",
        ask=_stated_anew("other", fill=1e30),
        within=_any_fill,
    ),
    Hole(name="5 missing cells change how the others count", on="least cost, a row added", within=_missing_left_out),
    Hole(name="11 options in the order of frequency", on="most common, a row added", ask=_by_frequency),
    Hole(name="12 rows of a person beyond what is declared", on="most common, two rows by who", within=_all_rows),
    Hole(name="12 rows kept by other people's", on="most common, two rows by who", within=_first_in_file),
    Hole(
        name="12 three rows of a person at the noise of one",
        on="median, three rows of a person",
        within=_one_row_a_person,
    ),
    Hole(
        name="counts of steps at the noise of one", on="model on steps, counted, a row added", within=_every_one_alone
    ),
    Hole(
        name="gradients cut before they are scaled", on="model on steps, counted, a row added", within=_unscaled_lengths
    ),
    Hole(
        name="trees of cells at the noise of one level",
        on="model on bought steps, counted, a row added",
        within=_one_level_alone,
    ),
    Hole(
        name="pairs drawn by errors thought half as long",
        on="model on bought pairs, counted, a row added",
        within=_errors_half_as_long,
    ),
    Hole(
        name="ways compared with every row told twice",
        on="model on a chosen way, counted, a row added",
        within=_every_row_told_twice,
    ),
    Hole(
        name="a chosen way whose trials cost nothing",
        on="model on a chosen way, counted, a row added",
        within=_last_for_all,
    ),
    Hole(
        name="cuts at the file's own quantiles",
        on="model on steps, counted, a row added",
        ask=_computed(_cut_at_own_quantiles),
    ),
    Hole(
        name="gradients of several classes cut one by one",
        on="model on steps, all classes, a row added",
        within=_every_class_alone,
    ),
    Hole(name="model on steps: rows scale it exactly", on="model on steps, counted, a row added", ask=_rows_as_people),
    Hole(
        name="hits of a model that names as many as it leaves",
        on="hits of a model, a row added",
        within=_named_by_the_middle,
    ),
    Hole(
        name="hits of a model at the noise of one added where a row is replaced",
        on="hits of a model, a row replaced",
        within=_one_cell_alone,
    ),
    Hole(
        name="hits of a model, counted in ρ, at the noise of one added where a row is replaced",
        on="hits of a model, counted in ρ, a row replaced",
        within=_one_cell_alone,
    ),
    Hole(name="13 the file's curve as a forecast", on="model, a row added", ask=_curve_as_forecast),
    Hole(
        name="a quotation mark that one row decides",
        on="single marks, most common, a row added",
        within=_form_unasked,
        from_bytes=4,
    ),
    Hole(
        name="lines at the foot that one row brings back",
        on="lines at the foot, most common, a row added",
        within=_form_unasked,
        from_bytes=9,
    ),
    Hole(name="labels of all rows or of none", on="most common, a row added, SPSS", within=_labels_of_all_or_none),
    Hole(name="a day in no calendar", on="alarm per day, a row added, Stata", within=_every_day_in_the_calendar),
    Hole(
        name="a row with more cells than the heading narrows the table",
        on="rows of several widths, most common, a row added",
        within=_narrowed,
        from_bytes=9,
    ),
    Hole(
        name="how many columns there are where no line names them",
        on="rows of several widths without a heading, most common, a row added",
        within=_form_unasked,
        from_bytes=9,
    ),
    *(
        Hole(
            name=f"where a table of no names begins, {kind}",
            on=f"{kind} without a heading, few cells first, most common, a row added",
            within=_begun_by_its_look,
            from_bytes=9,
        )
        for kind in ("text", "sheet")
    ),
    Hole(
        name="a cell in a column without a name moves other rows' cells",
        on="a sheet with a column without a name, most common, a row added",
        within=_lone_cells_first,
        from_bytes=9,
    ),
    Hole(
        name="codes known by how they are written",
        on="whole numbers of pandas, most common code, a row added, CSV",
        within=_as_written,
    ),
    Hole(
        name="a word for missing known by how it is written",
        on="whole numbers of pandas, median amount, a row added, CSV",
        within=_as_written,
    ),
    Hole(
        name="days known by how they are written",
        on="whole numbers of pandas, alarm per day, a row added, CSV",
        within=_days_as_written,
    ),
    Hole(
        name="whole numbers known by the mark before their decimals",
        on="whole numbers of pandas, median amount with a decimal comma, a row added, CSV",
        within=_numbers_as_written,
    ),
    Hole(
        name="rows of a person kept by how their cells are written",
        on="whole numbers of pandas, median amount, two rows by who, CSV",
        within=_kept_by_how_cells_are_written,
    ),
    Hole(
        name="a cell merged over other rows that is theirs too",
        on="a sheet with merged cells, most common, a row added",
        within=_form_unasked,
        from_bytes=9,
    ),
    Hole(
        name="the first list of a JSON document taken for names by how it looks",
        on="lists of JSON without a heading, most common, a row added",
        within=_heading_unasked,
        from_bytes=9,
    ),
    Hole(
        name="the first row of a text taken for names by how it looks",
        on="text without a heading, most common, a row added",
        within=_form_unasked,
        from_bytes=9,
    ),
    Hole(
        name="letters in the encoding in which one row looks right",
        on="letters in an old encoding, most common, a row added",
        within=_letters_unasked,
        from_bytes=4,
    ),
    Hole(
        name="objects of JSON turned to columns by how many there are",
        on="objects inside an object of JSON, most common, a row added",
        within=_form_unasked,
        from_bytes=9,
    ),
    *(
        Hole(
            name=f"{how} entries {where} moved as stated",
            on=f"{how} entries {where}",
            within=_said_of_any_file,
            from_bytes=9,
        )
        for how in ("best", "alarm over")
        for where in ("shown as a day", "beside a span", "beside keys")
    ),
    Hole(name="a replaced row at the noise of an added one", on="most common, a row replaced", ask=_as_if_added),
)
