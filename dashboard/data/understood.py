"""What was understood of a file: one summary, everything set aside or repaired with its lines, and a preview."""

from __future__ import annotations

from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import pandas as pd
import streamlit as st

from dashboard import words
from dashboard.background import cluster
from dashboard.data.decisions import EVEN, LAST_STEP
from dashboard.data.file_form import HEADING
from dashboard.data.own_file import OwnFile
from dashboard.people import visitors
from dashboard.words import data as said
from dpcore.datasets import Notice, Report
from dpcore.datasets.report import BLANKS, BLANKS_NAMED

if TYPE_CHECKING:
    from dpcore.datasets import Reading

PREVIEWED, CELLS = 100, 10_000
_LISTED = 8
DELIMITERS = {",": "a comma", ";": "a semicolon", "\t": "a tab", "|": "a vertical bar"}
SPACED = {BLANKS: "blanks", BLANKS_NAMED: "blanks, behind the name of each row"}
ENCODINGS = {
    "ascii": "plain ASCII",
    "utf-8": "UTF-8",
    "utf-16-le": "UTF-16",
    "utf-16-be": "UTF-16",
    "utf-32-le": "UTF-32",
    "utf-32-be": "UTF-32",
    "cp1252": "Windows Western European (cp1252)",
    "cp1250": "Windows Central European (cp1250)",
    "cp1251": "Windows Cyrillic (cp1251)",
    "cp1253": "Windows Greek (cp1253)",
    "cp1254": "Windows Turkish (cp1254)",
    "cp1255": "Windows Hebrew (cp1255)",
    "cp1256": "Windows Arabic (cp1256)",
    "cp850": "DOS Western European (cp850)",
    "mac_roman": "old Macintosh (mac_roman)",
    "cp932": "Japanese (cp932)",
    "gb18030": "Chinese (gb18030)",
    "big5": "traditional Chinese (big5)",
    "cp949": "Korean (cp949)",
}
_WHAT = {"set aside": ":material/inventory_2:", "repaired": ":material/build:", "noticed": ":material/info:"}


def summary(reading: Reading) -> str:
    """The file in one or two sentences."""
    report = reading.report
    size = f"**{words.plural(report.rows, 'row')} and {words.plural(len(reading.columns), 'column')}.**"
    if report.container != "text":
        return f"{size} {said.container(report.container, report.part, header_words(report))}"
    where = "" if not report.part else f"{said.from_archive(report.part)} "
    return (
        f"{size} {where}{delimiter_words(report)} The text is {encoding_words(report.encoding)}. {header_words(report)}"
    )


def delimiter_words(report: Report) -> str:
    if not report.delimiter:
        return "Every line is one cell."
    if report.delimiter in SPACED:
        return f"Cells stand apart by {SPACED[report.delimiter]}."
    return f"Cells end at {DELIMITERS.get(report.delimiter, f'the sign {words.safe(report.delimiter)}')}."


def encoding_words(encoding: str) -> str:
    return ENCODINGS.get(encoding, words.safe(encoding))


def header_words(report: Report) -> str:
    if not report.header_lines:
        return f"The file names no columns; they are numbered. Data start on line {report.first_line:,}."
    return f"The columns are named on {lines_words(report.header_lines)}; data start on line {report.first_line:,}."


def form_suggested(own: OwnFile) -> list[str]:
    """Which lines name the columns, in which encoding letters are, and how many steps or options there are, where the
    file alone says so."""
    if own.reading is None or own.as_read is None:
        return []
    report, names = own.reading.report, list(own.as_read.frame.columns)  # of the file: steps make others
    count = words.plural(own.reading.records, own.schema.each_row)
    told = {
        HEADING: named_on(report, names),
        "file:encoding": _encoded(report),
        LAST_STEP: f"there are {count}, down to the last row that holds anything",
        EVEN: _stays(report),
    }
    return [told[doubt] for doubt in own.form.suggested]


def _stays(report: Report) -> str:
    """What must be so of every row of steps or options, whoever wrote into it: two marks that are letters could take in
    what stands between them, with as many cells as ever."""
    end = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}.get(report.delimiter, "sign that ends cells")
    lines = f"whatever people write stays in its cell: each line has {words.plural(report.cells, 'cell')}, and"
    if not report.quote:
        return f"{lines} none of them has a {end} in it"
    return f"{lines} the program that wrote the file puts quotation marks around each cell with a {end} or a mark in it"


def _encoded(report: Report) -> str:
    """By the last lines where it is of all letters, so that a first row may have made it so."""
    ends = {way.value: way.example for way in report.alternatives if way.argument == "encoding"}
    if "utf-8" not in ends:
        return f"letters such as é look right, read as {encoding_words(report.encoding)}"
    way, shown = encoding_words(report.encoding), words.safe(ends[report.encoding], 80)
    begins = "where / begins a line and → a cell" if "→" in shown else "where / begins a line"
    return f"the last lines can be read (as {way}): “{shown}”, {begins}; if not, see “Read it differently”"


def named_on(report: Report, names: list[str]) -> str:
    """Which lines name the columns, and the first names."""
    if not report.header_lines:
        return "the first line is already a row: no line names the columns"
    told = ", ".join(f"“{words.safe(name, 30)}”" for name in names[:3])
    more = f" and {len(names) - 3:,} more" if len(names) > 3 else ""
    return f"{lines_words(report.header_lines)} of the file names the columns: {told}{more}"


def lines_words(lines: tuple[int, ...], count: int | None = None) -> str:
    """ "line 3", "lines 3 and 4", "lines 3, 4, 9 and 120 more"."""
    shown = [f"{line:,}" for line in lines[:_LISTED]]
    more = max(count or 0, len(lines)) - len(shown)
    if len(shown) == 1 and more <= 0:
        return f"line {shown[0]}"
    if more > 0:
        return f"lines {', '.join(shown)} and {more:,} more"
    return f"lines {', '.join(shown[:-1])} and {shown[-1]}"


def notices(reading: Reading) -> None:
    """Everything that is in the file and not in the table, or the other way round."""
    found = reading.report.notices
    if not found:
        st.caption("Every line of the file is in the table. Nothing was set aside, repaired or renamed.")
    with st.container(gap="xsmall"):
        for notice in found:
            st.markdown(f"{_WHAT[notice.what]} {_sentence(notice)}")


def _sentence(notice: Notice) -> str:
    where = lines_words(notice.lines, notice.count) if notice.lines else ""
    columns = ", ".join(f"“{words.safe(name)}”" for name in notice.columns[:_LISTED])
    if len(notice.columns) > _LISTED:
        columns += f" and {len(notice.columns) - _LISTED:,} more"
    what = f"**{notice.what.capitalize()}{f', {where}' if where else ''}:** {notice.sentence}"
    texts = "; ".join(f"“{words.safe(text.strip())}”" for text in notice.texts[:3])
    return f"{what}{f' {columns}.' if columns else ''}{f' {texts}' if texts else ''}"


def preview(own: OwnFile) -> None:
    """The first rows as they stand in the file, by line number."""
    reading = own.reading
    if reading is None:
        st.info("There is no file behind a described table, so there is nothing to preview.")
        return
    head = reading.frame.head(min(PREVIEWED, max(CELLS // len(reading.columns), 10)))
    shown = pd.DataFrame(
        {str(place): [words.visible(str(cell)) for cell in head.iloc[:, place]] for place in range(head.shape[1])},
        index=pd.Index(reading.lines[: len(head)], name="line"),
    )
    st.dataframe(
        shown,
        key="own-preview",
        column_config={
            str(place): st.column_config.TextColumn(words.visible(str(name), 40))
            for place, name in enumerate(head.columns)
        },
        height=320,
        alt=f"The first {len(head)} rows of the file, as text",
    )
    rest = reading.rows - len(head)
    more = f" and {rest:,} more rows" if rest > 0 else ""
    st.caption(
        f"{words.plural(len(head), 'row')}{more}; every cell as it stands in the file, none turned into a number."
    )


def log(own: OwnFile) -> None:
    """What was read, and when, to the letter."""
    try:
        zone = ZoneInfo(st.context.timezone or "UTC")
    except (ZoneInfoNotFoundError, ValueError, OSError):  # what a browser says may be the name of a folder of zones
        zone = ZoneInfo("UTC")
    for entry in own.log:
        st.markdown(f"**{entry.time.astimezone(zone):%H:%M:%S}** {entry.sentence}")
    st.caption(f"Times are in {words.safe(str(zone))}. {where_it_is()}")


def where_kept() -> str:
    """Where a file that was brought is now."""
    where = "this computer, on which Epsilon Lab runs" if visitors.alone() else "the computer that serves this page"
    nowhere = "" if _sent() else ", and sent nowhere else"
    return f"It is kept in the memory of {where}{nowhere}; only this browser tab shows it.{_sent()}"


def where_it_is() -> str:
    """Who may see a file, and until when."""
    minutes = max(round(int(st.get_option("server.disconnectedSessionTTL") or 0) / 60), 1)
    leaves = "" if _sent() else "does not leave this computer: it "
    here = (
        f"{leaves}stays in the memory of the program that shows this page"
        if visitors.alone()
        else "goes to the computer that serves this page, whoever runs that could look into its memory; it stays there"
    )
    return (
        f"A file you drop here {here}, for this browser tab only, also after you reload the page.{_sent()} After you "
        "remove or replace it you can bring it back or forget it for good; it is gone at most "
        f"{words.plural(minutes, 'minute')} after you close the tab, and until then reopening the tab brings it back."
    )


def _sent() -> str:
    """That rows go to other computers, where they do."""
    return f" {said.TO_CLUSTER}" if cluster.wanted() else ""
