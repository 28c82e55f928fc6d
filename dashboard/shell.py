"""What stands around every page: page configuration, navigation and the sidebar."""

from __future__ import annotations

from contextlib import suppress
from copy import copy
from pathlib import Path

import streamlit as st
from streamlit.navigation.page import StreamlitPage

from dashboard import catalogue, replay, session, words
from dashboard.background import compute, leaving
from dashboard.background.once import once
from dashboard.budget import tracker, visitor
from dashboard.case import Source
from dashboard.data import actions, source, tab
from dashboard.people import login, visitors
from dashboard.poll import phone
from dashboard.scenes import embed, presenter, share, tour, unused
from dashboard.serving import settings, typed
from dashboard.widgets import controls, explained, inputs, onward, signing
from dashboard.widgets import phone as phone_frame
from dashboard.words import data as data_words
from dashboard.words.server import OPEN
from dpcore.ledger.member import NO_FILES
from dpcore.threads import NoThread

SIDEBAR = 330  # pixels, so that the names of most samples fit
HERE = Path(__file__).parent
ICON = HERE / "icon.svg"  # a named icon would be fetched from a third party by every visitor
OWN_PAGES = (
    ("start", "Start", ":material/home:"),
    ("data", "Data", ":material/table:"),
    ("budget", "Budget", ":material/account_balance_wallet:"),
    ("demos", "Live demos", ":material/slideshow:"),
)
"""The product's own pages; those of questions are discovered and stand after the second."""
POLL_PAGE = ("poll", "Private poll", ":material/qr_code_2:")
"""The room's page: its data are the room's votes, so the sidebar has no data, no ε and no budget for it."""


@once()
def _pages() -> list[StreamlitPage]:
    """The product's own pages, the room's, and those of questions: found once, and copied for each run, which notes on
    its own which of them it may draw.
    """
    own = [
        st.Page(HERE / f"app_pages/{key}.py", title=title, icon=icon, url_path=key, default=key == "start")
        for key, title, icon in (*OWN_PAGES, POLL_PAGE)
    ]
    asked = [
        st.Page(HERE / f"questions/{page.key}/page.py", title=page.title, icon=page.icon, url_path=page.key)
        for page in catalogue.pages()
    ]
    return own + asked


def _data_in_use() -> None:
    """What the questions are asked about, in the sidebar."""
    current, control, alone = source.current(), source.control(), visitors.restricted()
    badge = None if current is None else source.badge(current)
    title = "" if current is None or current.mode == "demo" else words.safe(current.title)
    beside = source.beside()

    def draw() -> None:
        if badge is not None:
            st.badge(badge.text, icon=badge.icon, color=badge.color)
        if title:
            st.caption(title)
        controls.draw(control)
        if beside:
            st.caption(f":material/info: {beside}")
        if alone:
            st.caption(f":material/groups: {OPEN}")

    replay.part(("data in use", *controls.now([control]), badge, title, beside, alone), draw, told=True)


def _in_view(current: Source | None) -> None:
    """ε stands beside pictures of a person's own file where that is what a page is about."""
    if current is not None and current.looked_at:
        session.take_epsilon()


def _about_data(taken: bool) -> tuple[str | None, ...]:
    """What there is to say of the data in use, and of those that are not; call after the choice."""
    not_here = source.not_here()  # it also settles what the link asked for
    waits = data_words.WAITS if tab.waits() else None
    return session.note("data"), waits or not_here, source.undecided() if taken else None


def main() -> None:
    """One run of the script."""
    st.set_page_config(
        page_title="Epsilon Lab",
        page_icon=str(ICON),
        layout="wide",
        initial_sidebar_state=SIDEBAR,
        menu_items={"About": "Epsilon Lab: what privacy costs in accuracy, before you pay for it."},
    )

    if settings.trouble():  # the server says so before it starts; `streamlit run dashboard/app.py` has none of ours
        st.error(words.safe(settings.trouble(), 400))
        return
    session.begin()
    visit = leaving.visit()
    if phone.wanted():
        phone.show()
        return
    if login.needed():
        signing.show()
        return
    compute.sweep()
    with suppress(NoThread):  # then the next who comes has it done
        compute.warm_up()

    here, embedded = tour.showing(), embed.embedded()
    alone = embedded or (here is not None and here.present) or session.ask(presenter.NOTES)
    every = [copy(page) for page in _pages()]
    start, data, *others, poll = every[: len(OWN_PAGES) + 1]
    asked, room = every[len(OWN_PAGES) + 1 :], POLL_PAGE[0]
    page = st.navigation([start, data, *asked, *others, poll], position="hidden" if alone else "sidebar")
    key = page.url_path or "start"
    tour.move()
    session.page_opened(page.url_path)
    tables = page.url_path != room  # a room's data are what its phones say
    if tables:
        if source.own_file() is not None and compute.no_files() == NO_FILES:
            actions.take_away()  # who may bring none any more explores none either
        taken = source.taken_away() and page not in asked and key != "budget"  # these say it where they showed the data
        source.open_page(page.url_path)
    if alone:
        if tables:
            _in_view(source.current())
        if embedded:
            embed.draw(key, page.run)
        elif here is not None and here.present:
            presenter.draw(here, key, page.run)
        else:
            page.run()
        for problem in session.untold():
            st.warning(problem)
        session.write_link()
        visitor.remember()
        if tables and not embedded:
            tab.draw(visit, key)
        return
    presenter.leave()

    with st.sidebar:
        if tables:
            _data_in_use()
            current = source.current()
            _in_view(current)
            with replay.common(current is not None and current.everybodys):
                inputs.epsilon()
            budget_slot = st.container()
        explained.words()
        share_slot = st.container()
        signing.who()
        phone_frame.folds()
        phone_frame.margins()

    session.next_cost(None)
    told = st.container()  # on the page: a phone folds the sidebar away
    page.run()
    with told:
        about_data = _about_data(taken) if tables else ()
        about_page = (*session.unread(), typed.refusal(), unused.told(key))
        for sentence in (session.note("deck"), *about_data, *session.untold(), *about_page):
            if sentence:
                st.warning(data_words.here(sentence) if key == "data" else sentence)
                if key != "data":
                    onward.way(sentence)
    if tables:
        with st.sidebar, budget_slot:
            tracker.sidebar(source.current(), session.NEXT_COST.get())
    with st.sidebar, share_slot:
        share.button(key, page.title, chart=page in asked)
    if here is not None:
        tour.bar(here, key, session.labels())
    session.write_link()
    visitor.remember()
    if tables:
        tab.draw(visit, key)
