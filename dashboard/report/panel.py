"""The report on a page: what is in it, its title, and its files, written beside the page."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date
from typing import Any

import streamlit as st

from dashboard import session, words
from dashboard.background import compute
from dashboard.case import OWN, Source
from dashboard.data import source as data
from dashboard.report import held, recipe
from dashboard.report.render import MIMES, SEALED, every_form
from dashboard.report.value import LONGEST_AUTHOR, LONGEST_TITLE, MOST_SECTIONS, Report, Section
from dashboard.widgets.waiting import in_background
from dashboard.words import report as said
from dpcore.datasets import sample, samples
from dpcore.errors import DpcoreError

LARGEST_LOGO = 1_000_000
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
                st.warning(words.sentence(error))
                return
        _opened(section, key, waiting)


def _opened(section: Section | None, key: str, waiting: str) -> None:
    kept = held.kept()
    _listed(kept, key)
    inside = section is not None and any(one.key == section.key for one in kept)
    sections = kept if section is None or inside else (*kept, section)
    if section is not None:
        _keeping(section, kept, inside, key)
    if not sections:
        st.caption(waiting)
        return
    if len(sections) > MOST_SECTIONS:
        st.warning(said.FULL.format(MOST_SECTIONS))
        return
    _files(_report(sections, key), key)


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


def _keeping(section: Section, kept: tuple[Section, ...], inside: bool, key: str) -> None:
    if inside:
        st.caption(said.IS_KEPT)
        return
    if kept:
        st.caption(said.ALSO)
    st.button(
        said.KEEP,
        key=f"{key}-report-keep",
        icon=":material/add:",
        disabled=len(kept) >= MOST_SECTIONS,
        on_click=held.keep,
        args=(section,),
    )


def _report(sections: tuple[Section, ...], key: str) -> Report:
    """The report with the title page that was typed; what was typed stays for the session's other reports."""
    title = _text(said.REPORT_TITLE, _TITLE, key, LONGEST_TITLE, said.TITLE)
    author = _text(said.REPORT_AUTHOR, _AUTHOR, key, LONGEST_AUTHOR, "")
    day = _day(key)
    found = Report(
        title=title.strip() or said.TITLE, author=author.strip(), day=day, sections=sections, logo=_logo(key)
    )
    if not found.private:
        st.warning(said.WHAT_IF_NOTE, icon=":material/visibility_off:")
    return found


def _text(label: str, name: str, key: str, longest: int, first: str) -> str:
    """A line of text that every report of the session has; each place has a widget of its own."""
    place = f"{key}-{name}"
    typed: str = held.TYPED.get().get(name, first)
    session.seed(place, typed)
    now = st.text_input(label, key=place, max_chars=longest, on_change=_typed, args=(name, place))
    return words.visible(now or "", longest)


def _day(key: str) -> date:
    place = f"{key}-{_DAY}"
    session.seed(place, held.TYPED.get().get(_DAY, date.today()))
    found = st.date_input(said.REPORT_DATE, key=place, format="YYYY-MM-DD", on_change=_typed, args=(_DAY, place))
    return found if isinstance(found, date) else date.today()


def _typed(name: str, place: str) -> None:
    """Callback: keep what was typed for the session."""
    held.TYPED.put({**held.TYPED.get(), name: session.entered(place, None)})


def _logo(key: str) -> bytes | None:
    """The logo that was brought, if it is a picture that can be set."""
    found = st.file_uploader(
        said.LOGO, type=["png", "jpg", "jpeg"], key=f"{key}-{_LOGO}", help=said.LOGO_HELP, max_upload_size=1
    )
    if found is not None:
        from dashboard.report.pdf import settable  # loads the typesetter

        brought = found.getvalue()
        if len(brought) > LARGEST_LOGO or not settable(brought):
            st.warning(said.BAD_LOGO)
        else:
            held.LOGO.put(brought)
    return held.LOGO.get()


def _files(report: Report, key: str) -> None:
    """The report's files, once they are written; by this session's own shelf, as a name may stand in them."""

    def draw(results: list[Any]) -> None:
        made = dict(results[0])
        with st.container(horizontal=True):
            for form in MIMES:
                st.download_button(
                    said.FORMS[form],
                    _sealing(report, form, made[form]),
                    f"{report.file_name}.{form}",
                    MIMES[form],
                    icon=":material/download:",
                    on_click="ignore",
                    key=f"{key}-report-{form}",
                )

    in_background(
        "report", ("report", report.digest), every_form, lambda: report, draw, what=said.MAKING, own=True, nothing_yet=_wait
    )


def _wait() -> None:
    st.caption(f"{said.MAKING} …")


def _sealing(report: Report, form: str, made: bytes) -> Callable[[], bytes]:
    """What a click downloads: the file with the ledger's seal. Without a ledger, the file as it is."""

    def download() -> bytes:
        if form not in SEALED:
            return made
        try:
            return compute.ledger().sealed(made, report.receipts)
        except DpcoreError:
            return made  # the ledger is closed, as the sidebar says; the check then finds no seal

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
