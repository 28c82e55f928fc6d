"""From the bytes of a file of any kind to rows of text: whoever knows the kind reads it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import replace

import numpy as np
import pandas as pd

from dpcore.datasets.held import held_by
from dpcore.datasets.reading import engine
from dpcore.datasets.reading.arrow_files import arrow_table
from dpcore.datasets.reading.bounds import check_told
from dpcore.datasets.reading.choices import Choices
from dpcore.datasets.reading.container import kind_of
from dpcore.datasets.reading.decoding import decode_json
from dpcore.datasets.reading.documents import json_document
from dpcore.datasets.reading.labelled_files import LabelledKind, labelled_table, read_as_labels
from dpcore.datasets.reading.naming import names
from dpcore.datasets.reading.packing import Workbook, unpacked, workbook_kind
from dpcore.datasets.reading.tabulate import Tabulated, tabulate, tabulate_sheet
from dpcore.datasets.reading.workbook import Sheet, sheet_of
from dpcore.datasets.report import Alternative, Container, Notice, Report
from dpcore.datasets.unnamed_index import without_unnamed_index
from dpcore.errors import UnreadableFile

_INDEX = (
    "An index, which pandas keeps beside the columns, is no column here; have the file saved after reset_index() to "
    "ask about it."
)
_NOT_READ = "Columns of lists, records or the like are not read: none of their cells counts as a value."
_Say = Callable[[float, str], None]


def table_of(data: bytes, choices: Choices, say: _Say) -> Tabulated:
    """Raises UnreadableFile for what is no table, cannot be read without guessing, or unpacks to too much."""
    found = _by_kind(data, choices, say)
    check_told(held_by(list(found.frame.columns), found.report, found.codebooks, found.about))
    return found


def _by_kind(data: bytes, choices: Choices, say: _Say) -> Tabulated:
    kind = kind_of(data, choices.encoding, is_text=choices.delimiter is not None)
    workbook = workbook_kind(data) if kind == "zip" else None
    if kind == "zip" and workbook is None:
        return _from_archive(data, choices, say)
    if kind == "gzip" or kind == "bzip2" or kind == "xz":
        inner = unpacked(data, kind, None)
        found = table_of(inner.data, choices, say)
        return _noticed(found, Notice(what="noticed", sentence=f"The table was unpacked from a {kind} archive."))
    if kind == "zip" or kind == "ole":
        return _sheet(data, workbook, choices, say)
    if kind == "text":
        return _text(data, choices, say)
    if kind == "json":
        return _json(data, choices, say)
    if kind == "parquet":
        say(0.1, "Reading the Parquet file")
        return _typed(engine.parquet(data), "parquet")
    if kind == "arrow" or kind == "arrow stream":
        say(0.1, "Reading the Arrow file")
        return _typed(arrow_table(data, stream=kind == "arrow stream"), "arrow")
    return _labelled(data, kind, choices.coded, say)


def _from_archive(data: bytes, choices: Choices, say: _Say) -> Tabulated:
    """One file of a zip archive: ``part`` names that, and so no sheet of it. Raises UnreadableFile for a workbook of
    several: one row could decide which of them is read, and nobody would be asked."""
    inner = unpacked(data, "zip", choices.part)
    found = table_of(inner.data, replace(choices, part=None), say)
    if any(each.argument == "part" for each in found.report.alternatives):
        raise UnreadableFile(
            "The archive holds a workbook of several sheets; unpack it, and bring the workbook itself."
        )
    found = _noticed(
        found,
        Notice(what="noticed", sentence="The table was unpacked from a zip archive.", texts=(inner.name,)),
    )
    report = replace(found.report, part=inner.name)
    if choices.part is None and len(inner.names) > 1:
        several = tuple(Alternative(argument="part", value=name, example="") for name in inner.names[:50])
        report = replace(report, alternatives=(*several, *report.alternatives))
    return replace(found, report=report)


def _noticed(found: Tabulated, notice: Notice) -> Tabulated:
    return replace(found, report=replace(found.report, notices=(notice, *found.report.notices)))


def _text(data: bytes, choices: Choices, say: _Say) -> Tabulated:
    return tabulate(
        data,
        delimiter=choices.delimiter,
        encoding=choices.encoding,
        quote=choices.quote,
        escape=choices.escape,
        header_rows=choices.header_rows,
        header_line=choices.header_line,
        columns=choices.columns,
        keep_footer=choices.keep_footer,
        returns=choices.returns,
        breaks=choices.breaks,
        uneven=choices.uneven == "set aside",
        say=say,
    )


def _sheet(data: bytes, workbook: Workbook | None, choices: Choices, say: _Say) -> Tabulated:
    say(0.02, "Opening the workbook")
    sheet = sheet_of(data, workbook, choices.part, lambda part: say(0.05 + 0.3 * part, "Reading the sheet"))
    return tabulate_sheet(
        sheet,
        header_rows=choices.header_rows,
        header_line=choices.header_line,
        columns=choices.columns,
        keep_footer=choices.keep_footer,
        merged=choices.merged,
    )


def _json(data: bytes, choices: Choices, say: _Say) -> Tabulated:
    """Objects are rows under the names that they give their cells. Lists are rows as those of a sheet, whose first ones
    name the columns where the document or a person says so: by how it looks one row would decide it, so it is asked."""
    decoded = decode_json(data, choices.encoding)
    text = decoded.data.decode()
    found = json_document(text, choices.objects, lambda part: say(0.02 + 0.35 * part, "Reading the records"))
    if found.survey is None:
        table = _plain(found.frame, "json", found.notices)
        ways = (*decoded.alternatives, *found.alternatives)
        report = replace(table.report, encoding=decoded.encoding, objects=found.objects, alternatives=ways)
        return replace(table, report=replace(report, encoding_certain=decoded.certain))
    rows = Sheet(
        frame=found.frame,
        left=0,
        survey=found.survey,
        name="",
        names=(),
        certain=True,
        merged={},
        notices=found.notices,
    )
    table = tabulate_sheet(
        rows,
        header_rows=1 if found.headed else choices.header_rows,
        header_line=1 if found.headed else choices.header_line or 1,
        columns=choices.columns,
        keep_footer=True,
        merged=None,
    )
    certain = found.headed or choices.header_rows is not None
    report = replace(
        table.report,
        container="json",
        encoding=decoded.encoding,
        encoding_certain=decoded.certain,
        header_certain=certain,
        objects=found.objects,
        alternatives=(*decoded.alternatives, *found.alternatives, *table.report.alternatives),
    )
    return replace(table, report=report)


def _labelled(data: bytes, kind: LabelledKind, coded: Collection[str], say: _Say) -> Tabulated:
    """With labels in place of codes, but in the ``coded`` columns: what a person says of a column, and never how many
    of its values have a label, for one row can bring one."""
    found = labelled_table(data, kind, lambda part: say(0.05 + 0.3 * part, "Reading the rows"))
    frame = without_unnamed_index(found.frame)
    table = _plain(frame, "transport" if found.open_ended else "labelled", found.notices)
    called = dict(zip(map(str, frame.columns), map(str, table.frame.columns), strict=True))
    labelled = {
        name: called[name]
        for name, labels in found.codebooks.items()
        if labels and name in called and called[name] not in coded
    }
    read = table.frame.copy(deep=False)
    for name, own in labelled.items():
        read[own] = found.as_labels[name]
    table = _noticed(table, read_as_labels(tuple(labelled.values()))) if labelled else table
    return replace(
        table,
        frame=read,
        codebooks={own: _different(found.codebooks[name].values()) for name, own in labelled.items()},
        about={called[name]: about for name, about in found.about.items() if name in called},
    )


def _different(words: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(word for word in words if word.strip()))


def _typed(found: engine.Typed, container: Container) -> Tabulated:
    told = ((_NOT_READ, found.not_read), (_INDEX, found.index))
    notices = tuple(
        Notice(what="noticed", sentence=sentence, count=len(names), columns=names) for sentence, names in told if names
    )
    return _plain(found.frame, container, notices)


def _plain(frame: pd.DataFrame, container: Container, notices: tuple[Notice, ...] = ()) -> Tabulated:
    """A table whose kind has no lines, delimiters or headings to guess."""
    frame = without_unnamed_index(frame)
    labels, renamed = names([[str(name) for name in frame.columns]], frame.shape[1], ())
    frame = frame.set_axis(pd.Index(labels), axis=1)
    report = Report(
        container=container,
        rows=len(frame),
        delimiter="",
        delimiter_certain=True,
        encoding="utf-8",
        encoding_certain=True,
        header_lines=(),
        header_certain=True,
        first_line=1,
        notices=(*notices, *renamed),
    )
    return Tabulated(frame=frame, lines=np.arange(1, len(frame) + 1, dtype=np.int64), report=report)
