"""The report on a page: what is in it, its title, and its files, written beside the page."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import date
from typing import Any

import streamlit as st
from streamlit.typing import UploadedFile

from dashboard import session, words
from dashboard.background import compute
from dashboard.background.held import JOBS
from dashboard.background.readers import READERS
from dashboard.budget import tracker
from dashboard.case import OWN, Source
from dashboard.data import source as data
from dashboard.people import login
from dashboard.report import held, recipe
from dashboard.report.logo import bare
from dashboard.report.render import MIMES, SEALED, Whole, one_form, piece_of, rendered
from dashboard.report.value import LONGEST_AUTHOR, LONGEST_TITLE, MOST_SECTIONS, Report, Section
from dashboard.widgets.download import download
from dashboard.widgets.drop_areas import named
from dashboard.widgets.inputs import text_box
from dashboard.widgets.receipt_file import GONE
from dashboard.widgets.waiting import Running, begin, in_background
from dashboard.words import login as login_said
from dashboard.words import report as said
from dpcore.datasets import sample, samples
from dpcore.errors import DpcoreError, LedgerError, NotAllowed
from dpcore.ledger import Ledger

LARGEST_LOGO = 1_000_000
_TRIAL = b"<html></html>"
_SETTABLE = "dashboard.report.pdf:settable"
"""Asked where files are read that visitors bring: it decodes the picture."""
_TITLE, _AUTHOR, _DAY, _LOGO = "report-title", "report-author", "report-day", "report-logo"


def report_button(
    make: Callable[[], Section] | None, *, key: str, label: str = said.BUTTON, waiting: str = said.NOTHING_KEPT
) -> None:
    """A button that opens the report: what was kept, and what ``make`` gives of the page now.

    ``make`` is None where the page has nothing (yet), as ``waiting`` says. ``key`` tells the buttons of a page apart.
    """
    menu = st.popover(
        label,
        icon=":material/description:",
        type="tertiary",
        help=said.HELP,
        key=f"{key}-report",
        on_change="rerun",
    )
    if not menu.open:
        return
    with menu:
        section = None
        if make is not None:
            try:
                section = make()
            except DpcoreError as error:
                st.warning(words.reason(error))
                return
        _opened(section, key, waiting)


def _opened(section: Section | None, key: str, waiting: str) -> None:
    kept = held.kept()
    _listed(kept, key)
    inside = section is not None and any(one.key == section.key for one in kept)
    sections = kept if section is None or inside else (*kept, section)
    if kept and section is not None:
        st.caption(said.IS_KEPT if inside else said.ALSO)
    if not sections or (section is None and waiting != said.NOTHING_KEPT):
        st.caption(waiting)
    if not sections:
        return
    if len(sections) > MOST_SECTIONS:
        st.warning(said.FULL.format(MOST_SECTIONS))
        return
    first = said.ANSWER_TITLE if all(one.receipt is not None for one in sections) else said.TITLE
    write(sections, key, first)
    if section is not None and not inside:
        st.button(
            said.KEEP,
            key=f"{key}-report-keep",
            icon=":material/add:",
            disabled=len(kept) >= MOST_SECTIONS,
            on_click=held.keep,
            args=(section,),
        )
    title_page(key, first)


def write(sections: Sequence[Section], key: str, first_title: str, *, title: str = _TITLE) -> None:
    """The files of these sections as one report, written beside the page; what a reader must know stands above them.

    ``title`` names what was typed as its title, ``first_title`` is how it is called until somebody calls it otherwise.
    """
    typed = held.TYPED.get()
    report = Report(
        title=str(typed.get(title) or "").strip() or first_title,
        author=str(typed.get(_AUTHOR) or "").strip(),
        day=typed.get(_DAY) or date.today(),
        sections=tuple(sections),
        logo=held.LOGO.get(),
    )
    if not report.private:
        st.warning(said.WHAT_IF_NOTE, icon=":material/visibility_off:")
    report = replace(report, made=held.made_on(report.digest))
    if _tells(report) and not compute.sees_all() and not _may_see(compute.ledger, report):
        st.warning(said.NOT_SEEN, icon=":material/lock_person:")
        return
    if _unsealed(report):
        st.warning(said.UNSEALED_FILES, icon=":material/lock:")
        report = replace(report, sealed=False)
    _files(report, key)


def _listed(kept: tuple[Section, ...], key: str) -> None:
    """What was kept, each with a way to take it out."""
    if not kept:
        return
    st.markdown(f"**{said.KEPT}**")
    for place, one in enumerate(kept):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(words.safe(one.title, 120), width="stretch")
            st.button(
                said.REMOVE,
                key=f"{key}-report-remove-{place}",
                type="tertiary",
                icon=":material/close:",
                on_click=held.remove,
                args=(one.key,),
            )


def title_page(key: str, first_title: str, *, title: str = _TITLE) -> None:
    """Title, author, date and logo; what was typed stays for the session's other reports."""
    for label, name, longest, first in (
        (said.REPORT_TITLE, title, LONGEST_TITLE, first_title),
        (said.REPORT_AUTHOR, _AUTHOR, LONGEST_AUTHOR, ""),
    ):
        place = f"{key}-{name}"
        session.seed(place, held.TYPED.get().get(name, first))
        text_box(label, key=place, most=longest, on_change=_typed, args=(name, place))
    place = f"{key}-{_DAY}"
    session.seed(place, held.TYPED.get().get(_DAY, date.today()))
    st.date_input(said.REPORT_DATE, key=place, format="YYYY-MM-DD", on_change=_typed, args=(_DAY, place))
    place = f"{key}-{_LOGO}"
    st.file_uploader(
        said.LOGO,
        type=["png", "jpg", "jpeg"],
        key=place,
        help=said.LOGO_HELP,
        max_upload_size=1,
        on_change=_brought,
        args=(place,),
    )
    named()
    problem = session.note(_LOGO)
    if problem is not None:
        st.warning(problem)


def _typed(name: str, place: str) -> None:
    """Callback: keep what was typed for the session, as it can be shown."""
    now = session.entered(place, None)
    told = words.visible(now, LONGEST_TITLE) if isinstance(now, str) else now
    held.TYPED.put({**held.TYPED.get(), name: told})


def _brought(place: str) -> None:
    """Callback: a logo was brought, or taken away; one that cannot be set on a page is refused."""
    found: Any = session.entered(place, None)
    if not isinstance(found, UploadedFile):  # a message may also name a file that was never brought
        held.LOGO.put(None)
        return
    brought = bare(found.getvalue()) if found.size <= LARGEST_LOGO else b""
    if not brought or not READERS.takes(brought, _SETTABLE):
        session.say(_LOGO, said.BAD_LOGO)
        return
    held.LOGO.put(brought)


def _files(report: Report, key: str) -> None:
    """The report's files, once they are written; by this session's own shelf, as a name may stand in them."""

    asked, pieces = ("report", report.digest), tuple[Any, ...]()
    if len(report.sections) > MOST_SECTIONS:  # section by section, so that others have a turn, and who leaves ends it
        writing = begin(
            f"{key}-report-sections",
            ("sections of a report", report.of_sections),
            piece_of,
            lambda: None,
            lambda: report.sections,
            what=said.MAKING,
            own=True,
            enough=lambda found: len(found) == len(report.sections),
        )
        if not writing.job.complete:
            _until_written(writing)
            return
        pieces = tuple(writing.job.results())

    def draw(results: list[Any]) -> None:
        made = dict(results)
        if len(made) < len(MIMES):
            _wait()
            return
        if problem := held.no_room(made):
            JOBS.once().forget(asked)
            st.warning(words.safe(problem, 300))
            return
        with st.container(horizontal=True):
            for form in MIMES:
                make = _sealing(report, form, made[form], pieces)
                download(said.FORMS[form], make, f"{report.file_name}.{form}", MIMES[form], key=f"{key}-report-{form}")

    in_background(
        f"{key}-report",
        asked,
        one_form,
        lambda: Whole(report, pieces),
        draw,
        what=said.MAKING,
        own=True,
        nothing_yet=_wait,
        parts=tuple(MIMES),
    )


def _until_written(writing: Running) -> None:
    """Show how far it is; the page is drawn anew once it is over."""

    def draw() -> None:
        writing.progress(_wait)

    writing.live(draw)


def _wait() -> None:
    st.caption(f"{said.MAKING} …")


def _tells(report: Report) -> bool:
    """Whether anything in it is of the ledger."""
    return bool(report.receipts or report.budgets)


def _may_see(asked: Callable[[], Ledger], report: Report) -> bool:
    """Whether all that the report tells of the ledger is to be seen in this one now."""
    try:
        asked().sealed(_TRIAL, report.receipts, report.budgets)
    except DpcoreError:
        return False
    return True


def _unsealed(report: Report) -> bool:
    """Whether the ledger would refuse to seal a report now."""
    return tracker.trouble() is not None or not _may_see(compute.ledger, report)


def _sealing(report: Report, form: str, made: bytes, pieces: Sequence[Any] = ()) -> Callable[[], bytes]:
    """What a click downloads: the file with the ledger's seal, or one that says that it has none.

    What tells of answers and budgets is for who may see these at the click, whoever the page was drawn for: it raises
    LedgerError then, also where the ledger of somebody with a share or a cookie cannot be asked.
    """

    still = None if login.person() is None else login.still()
    asks = _tells(report) and not compute.sees_all()
    held: Ledger | None = None
    with suppress(DpcoreError):  # a download has no page that says who asks
        held = compute.ledger()

    def here() -> Ledger:
        if held is None or (still is not None and not still()):  # nobody is logged in there any more
            raise NotAllowed(login_said.FIRST)
        return held

    def download() -> bytes:
        if asks and not _may_see(here, report):
            raise LedgerError(GONE)
        if form not in SEALED or not report.sealed:
            return made
        with suppress(DpcoreError):  # closed since the page was drawn
            ledger = here()
            compute.opens()
            return ledger.sealed(made, report.receipts, report.budgets)
        return rendered(replace(report, sealed=False), form, pieces)[1]

    return download


# -- where the data came from ------------------------------------------------------------------------------------------


def data_code(source: Source) -> str:
    """Python that makes the data in use again; empty where nothing can, as for a sample loaded from a file."""
    own = data.own_file()
    if source.public:
        known = source.key in {one.key for one in samples()} and not sample(source.key).needs_network
        return recipe.of_sample(source.key) if known else ""
    if own is None or not source.key.startswith(OWN):
        return ""
    if source.mode == "twin" and own.plan is not None:
        kept: Mapping[str, Any] = {"rows": own.plan.rows, "seed": own.plan.seed, "relations": own.plan.relations}
        return recipe.of_twin(source, **kept)
    if source.mode == "what_if" and own.reading is not None:
        return recipe.of_file(source, name=own.name, choices=dict(own.choices), steps=own.steps)
    return ""
