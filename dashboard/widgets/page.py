"""The one flow of every question: sentence → options → chart → cards → tabs → release.

A question is a value (``dashboard.question``); here it is drawn. A page of questions is this function with its key.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from functools import partial
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dashboard import catalogue, offering, replay, session, traces
from dashboard.background import compute
from dashboard.background.in_use import at_work
from dashboard.blocks import Picture
from dashboard.budget import tracker
from dashboard.budget.models import drawn_models
from dashboard.budget.opening import asks_whose
from dashboard.case import Case, Source
from dashboard.catalogue import Page
from dashboard.controls import Choice, Control, Group
from dashboard.data import source, upload
from dashboard.question import RELEASE, CannotAsk, Kind, NoOffer, Offer, Piece, Question, Tab, Work, open_control
from dashboard.replay import Same
from dashboard.report import panel
from dashboard.report.analysis import Asked, analysis, has_trade_off
from dashboard.report.value import Section
from dashboard.scenes import embed, presenter, stage
from dashboard.scenes.held import SHOWING, STAGE, Stage
from dashboard.view import axis_control
from dashboard.widgets import blocks, cards, controls, finger, levels, onward, phone, waiting
from dashboard.widgets.blocks import Around
from dashboard.widgets.earlier import Place
from dashboard.widgets.release import cost_of, draw_beside, drawn_answers, release_panel, way_below
from dashboard.widgets.waiting import Running
from dashboard.words import made_up as made_up_words
from dashboard.words import page as words
from dashboard.words import release as release_words
from dashboard.words import report as report_words
from dashboard.words import scenes as scene_words
from dpcore.defects import reported
from dpcore.errors import NoRoom


def draw_page(page_key: str) -> None:
    """A page of questions: the one that is chosen, about the data in use."""
    page = next(page for page in catalogue.pages() if page.key == page_key)
    current = source.current()
    if current is None:
        st.title(page.title)
        onward.say(source.undecided())
        task = source.under_way()
        if task is not None:
            upload.progress(task, source.collect)
        return
    kinds = catalogue.questions(page.key)
    kind = kinds[_which(page)]
    models = drawn_models(current) if getattr(kind, "of_models", False) else ()
    if models:  # what one visitor drew is kept in their session alone, also where the rows are everybody's
        current = replace(current, everybodys=False)
    case = Case(
        source=current,
        epsilon=session.epsilon(),
        delta=tracker.usual_delta(current),
        hides=tracker.hidden(current),
        counting=tracker.counting(current),
        models=models,
        memo=compute.memory(own=not current.public or bool(models)),
        large=compute.large_memory(current),
    )
    read = session.Reader()
    try:
        with traces.reading(read), replay.common(current.everybodys), at_work(current):
            _draw_question(page, kind, case, read)
    except NoRoom as error:
        st.title(page.title)
        onward.say(str(error))
        st.button(words.TRY_AGAIN, key="large-again")


def _draw_question(page: Page, kind: type[Kind], case: Case, read: session.Reader) -> None:
    """The question that is chosen, or why it cannot be asked."""
    kinds = catalogue.questions(page.key)
    try:
        found = _asked(kind, case)
    except CannotAsk as error:
        st.title(kind.title if len(kinds) > 1 else page.title)
        onward.say(str(error))
        with st.expander(words.OPTIONS, expanded=True) if read.placed else st.container():
            controls.draw_all([one for part in read.placed.values() for one in part])
        return
    if found.trouble:
        st.title(kind.title if len(kinds) > 1 else page.title)
        onward.say(found.trouble)
        _only_release(found.question, case.source, read)
        return
    with _said():
        _draw(found.question, kind, case, read, page)


@contextmanager
def _said() -> Iterator[None]:
    """Say in a sentence why something could not be shown, for which there was no room."""
    try:
        yield
    except (CannotAsk, NoRoom) as error:
        onward.say(str(error))


def _asked(kind: type[Kind], case: Case) -> offering.Found:
    """The question. What fails in this program is one sentence with a reference, and what was set can be set anew.

    Raises CannotAsk.
    """
    try:
        return traces.asked(kind, case, partial(offering.ask, kind))
    except (CannotAsk, NoRoom):
        raise
    except Exception as error:  # noqa: BLE001 - what it says may hold values, so it goes to the log without them
        raise CannotAsk(words.failed(reported(error, "asking a question"))) from None


def _which(page: Page) -> str:
    """The question that is chosen on a page, by its key."""
    control = catalogue.question_choice(page)
    chosen = session.ask(control)
    if len(control.options) > 1 and STAGE.get() is None:
        controls.draw(control)
    return chosen


def _only_release(question: Question, current: Source, read: session.Reader) -> None:
    """The private answer where these data give no picture, with all that can be set about it."""
    st.caption(words.ONLY_RELEASE)
    with st.expander(words.OPTIONS, expanded=True):
        controls.draw_all([one for part in read.placed.values() for one in part])
    _count(question.offer)
    st.subheader(release_words.TAB, anchor=False)
    _release(question, current, Around(page=question.view.page, mark=current.mark, source=current), beside=False)


def _count(offer: Offer | NoOffer) -> None:
    """Tell the tracker what one more answer would cost."""
    if isinstance(offer, Offer):
        session.next_cost(cost_of(offer.request), offer.request.neighbours)


def _draw(question: Question, kind: type[Kind], case: Case, read: session.Reader, page: Page) -> None:
    current = case.source
    around = Around(page=question.view.page, mark=current.mark, source=current, question=question)
    alone = STAGE.get()
    if alone is not None:
        _alone(question, kind, case, around, read, alone)
        return
    _sentence(question.sentence)
    _made_up(current)
    head = st.container(gap="xsmall")
    left, right = st.columns([5, 3], gap="medium")
    with left:
        toolbar = st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute")
        axis = _axis(question, toolbar.container(width="content"))
        in_options = [control for control in read.placed.get("options", ()) if not _inside(control, question.sentence)]
        tools = toolbar.container(width="content", horizontal=True, gap="small")
        with tools:
            replay.part(("options", *controls.now(in_options)), partial(_options, in_options), told=True)
        on_paper = tools.container(width="content")
        chart = st.container()
    over = True
    if not question.works:
        with head:
            _head(question)
        with chart:
            _drawn(question, current)
            blocks.chart(_picture(question, axis, current), around.mark)
            _below_chart(question, case, axis)
            levels.beside(question, current)
            _seen(question, current)
        with right:
            _cards(question, current, read)
    else:
        question, over, case = _live(question, kind, case, axis, head, chart, (right, read), around)
    with on_paper, replay.common(False):
        _report(question, kind, case, read, page, over, axis)
    for note in question.notes:
        st.caption(note)
    if current.public and current.key == page.example:
        st.caption(words.opens_with(current.title))
    _count(question.offer)
    _tabs(question, current, around)
    finger.follow(question, kind, case, read, axis)
    phone.docked_epsilon()


def _options(placed: Sequence[Control[Any]]) -> None:
    with st.popover(words.OPTIONS, icon=":material/tune:", type="tertiary"):
        controls.draw_all(placed)


def _alone(
    question: Question, kind: type[Kind], case: Case, around: Around, read: session.Reader, alone: Stage
) -> None:
    """The question on a stage or within another page."""
    here = SHOWING.get()
    places = presenter.places(here) if alone.kind == "present" and here is not None else embed.places()
    placed = [control for part in read.placed.values() for control in part]

    def live(axis: str, head: DeltaGenerator, chart: DeltaGenerator) -> Question:
        return _live(question, kind, case, axis, head, chart, None, around)[0]

    stage.draw(question, case, around, alone, placed, places, live)


def _live(
    question: Question,
    kind: type[Kind],
    case: Case,
    axis: str,
    head: DeltaGenerator,
    chart: DeltaGenerator,
    right: tuple[DeltaGenerator, session.Reader] | None,
    around: Around,
) -> tuple[Question, bool, Case]:
    """A question that fills in while work goes on beside the page; returns it with what is there now, whether that is
    all, and the case with what the headline rests on.

    The first work carries the headline. The last one carries the chart, and begins when the first is done. Without a
    place on the ``right``, with the controls that were read, nothing but these two is drawn.
    """
    first = _begun(question.works[0], around)
    running: dict[str, Running | None] = {question.works[0].slot: first}
    drawn: Running | None = first
    if len(question.works) > 1:
        later = question.works[-1]
        drawn = running[later.slot] = _begun(later, around) if first.job.complete else None

    asked: dict[Hashable, Question] = {}

    def now() -> Question:
        # what is set does not change while work goes on, so the same question is asked again with more results
        found = {slot: tuple(run.job.results()) for slot, run in running.items() if run is not None}
        done = frozenset(slot for slot, run in running.items() if run is not None and run.job.complete)
        over = frozenset(slot for slot, run in running.items() if run is not None and run.job.finished)
        there = (*((slot, len(results)) for slot, results in found.items()), done, over)
        if there not in asked:
            asked.clear()
            told = replace(case, results=found, complete=done, finished=over)
            with traces.reading(session.Reader()):
                asked[there] = traces.asked(kind, told, partial(offering.ask, kind)).question
        return asked[there]

    def headed() -> None:
        with _said(), at_work(case.source):
            _head(now(), alone=right is None)

    with head:
        first.live(headed)
    place = Place(name=question.view.page, about=question.view.about, data=_own(case.source))

    def draw() -> None:
        run = first if drawn is None else drawn
        if not run.progress(lambda: place.keep(around.mark, height=question.view.height)):
            return
        with _said(), at_work(case.source):
            present = now()
            if _is_empty(present, case.source):
                place.keep(around.mark, height=present.view.height)
                return
            place.draw(_picture(present, axis, case.source), around.mark)

    with chart:
        above = st.container()
        (first if drawn is None else drawn).live(draw)
        below = st.container()
    present = now()
    told = replace(
        case,
        results={first.slot: tuple(first.job.results())},
        complete=frozenset({first.slot} if first.job.complete else ()),
        finished=frozenset({first.slot} if first.job.finished else ()),
    )
    if right is None:
        return present, False, told
    with above:
        _drawn(present, case.source)
    with below:
        _below_chart(present, told, axis)
        levels.beside(present, case.source)
        _seen(present, case.source)
    with right[0]:
        _cards(present, case.source, right[1])
    return present, all(run is not None and run.job.complete for run in running.values()), told


def _report(
    question: Question, kind: type[Kind], case: Case, read: session.Reader, page: Page, over: bool, axis: str
) -> None:
    """The button by which this question goes on paper, once everything it waits for is there."""

    def made() -> Section:
        placed = [control for part in read.placed.values() for control in part]
        asked = Asked(
            page=page.key,
            key=kind.key,
            title=kind.title,
            epsilon=case.epsilon,
            delta=case.delta,
            controls=tuple((control, session.value(control)) for control in placed),
            data="" if case.models else panel.data_code(case.source),  # a script has no model that was drawn
        )
        return analysis(question, case.source, asked)

    if over and not _is_empty(question, case.source) and has_trade_off(question, axis):
        panel.report_button(made, key=question.view.page)
        return
    waiting = report_words.OTHER_AXIS if over else report_words.NOT_READY
    panel.report_button(None, key=question.view.page, waiting=waiting)


def _picture(question: Question, axis: str, current: Source) -> Picture:
    """The question's chart against ``axis``."""
    return traces.followed(question, ("picture", axis), lambda: question.view.picture(axis), current)


def _is_empty(question: Question, current: Source) -> bool:
    """Whether there is nothing to draw yet."""
    return traces.followed(question, "empty", lambda: question.view.empty, current)


def _begun(work: Work, around: Around) -> Running:
    return waiting.begin(
        work.slot,
        work.key,
        work.run,
        work.common,
        work.parts,
        what=work.what,
        own=around.own,
        far=True,
        enough=work.enough,
    )


def _own(current: Source) -> str | None:
    return None if current.public else current.key


def _sentence(pieces: Sequence[Piece]) -> None:
    """The question as one sentence in heading size, with its choices inside it."""
    asked = [control for piece in pieces for control in _controls_of(piece)]
    words_of = tuple(piece if isinstance(piece, str) else Same(piece) for piece in pieces)
    replay.part(("sentence", words_of, *controls.now(asked)), partial(_spelled, pieces), told=True)


def _spelled(pieces: Sequence[Piece]) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        for index, piece in enumerate(pieces):
            if isinstance(piece, Group):
                _group(piece)
                continue
            if isinstance(piece, Control):
                _inline(piece)
                continue
            # One heading of the first rank, the rest in its size by the theme; none is a place to link to.
            write = st.title if index == 0 else st.header
            write(piece, anchor=False, width="content")


def _inline(control: Control[Any]) -> None:
    """A control inside the sentence: one choice or number as it is, several behind a button."""
    if isinstance(control, Choice) or getattr(control, "hide_label", False):
        controls.draw(control)
        return
    with st.popover(control.label, icon=":material/view_column:"):
        controls.draw(control)


def _group(group: Group) -> None:
    """Several controls inside the sentence, behind one button."""
    with st.popover(group.label, icon=group.icon):
        controls.draw_all(group.controls)
        for note in group.notes:
            st.caption(note)


def _inside(control: Control[Any], pieces: Sequence[Piece]) -> bool:
    return any(one.key == control.key for piece in pieces for one in _controls_of(piece))


def _controls_of(piece: Piece) -> Sequence[Control[Any]]:
    if isinstance(piece, Group):
        return piece.controls
    return [piece] if isinstance(piece, Control) else []


def _axis(question: Question, slot: DeltaGenerator) -> str:
    """What the chart is drawn against."""
    control = axis_control(question.view)
    with slot:
        controls.draw(control)
    return session.ask(control)


def _made_up(current: Source) -> None:
    """That nothing here is said of the file, where its rows are made up."""
    own = source.own_file()
    if current.simulated and own is not None:
        kind, name = source.kind_of(own), own.name
        with st.container(key="made-up"):
            st.warning(made_up_words.banner(kind, name, current.table.rows), icon=":material/copy_all:")


def _head(question: Question, *, alone: bool = False) -> None:
    """The headline answer and the one line under it; the headline by itself where it stands ``alone``."""
    if alone:
        stage.headline(question)
        return
    about = (
        "head",
        question.headline,
        question.caption,
        Same(question.uncertain),
        question.price,
        question.view.page,
        session.dark(),
    )
    replay.part(about, partial(_headed, question))


def _headed(question: Question) -> None:
    with st.container(key=f"{question.view.page}-headline"):
        st.markdown(f"### {question.headline}")
    with st.container(key=f"{question.view.page}-caption"):
        st.caption(question.caption)
    if question.price is not None:
        cards.price(question.price, key=question.view.page)
    if question.uncertain is not None:
        cards.uncertain(question.uncertain, key=question.view.page)


def _spoken(*parts: str) -> None:
    """A mark above the part of the page that the tour's sentence is about."""
    here = SHOWING.get()
    if here is not None and here.scene.address.part in parts:
        with st.container(key="spoken-of"):
            st.badge(scene_words.LOOK, icon=":material/arrow_downward:", color="orange")


def _chosen(control: Control[Any]) -> bool:
    """Whether there is anything to choose."""
    return not isinstance(control, Choice) or len(control.options) > 1


def _cards(question: Question, current: Source, read: session.Reader) -> None:
    own = current.mode == "what_if"
    control = question.need.control.key
    measured = [one for one in read.placed.get("need", ()) if one.key != control and _chosen(one)]
    _spoken("need")
    request = question.offer.request if isinstance(question.offer, Offer) else None
    dear = partial(tracker.too_dear, current, question.protected.neighbours, request)
    cards.need(question.need, measured, key=question.view.page, own=own, dear=dear)
    _spoken("protected")
    cards.protected(question.protected, key=question.view.page)


def _drawn(question: Question, current: Source) -> None:
    """One private answer, between the chart's settings and the chart; of one's own data also the way to what it
    lacks."""
    offer, slot, tab = question.offer, question.key, open_control(question).key
    if isinstance(offer, Offer):
        with st.container(key=f"{question.view.page}-draw"), replay.common(False):
            draw_beside(current, offer, slot=slot, tab=tab)
    elif current.mode != "demo" and offer.sentence:
        with st.container(key=f"{question.view.page}-draw"), replay.common(False):
            way_below(slot, tab, release_words.NONE_AS_IT_IS)


def _below_chart(question: Question, case: Case, axis: str) -> None:
    """Whether the picture may be shown to others, and what a finger on it does."""
    drag = f" {words.DRAG}" if axis == "epsilon" and finger.follows(question, case) else ""
    st.caption(f"{words.MAY_SHOW[case.source.mode]}{drag}")


def _seen(question: Question, current: Source) -> None:
    """What one might see, under the chart, so that both columns end together."""
    if question.outcomes is not None:
        _spoken("outcomes")
        offer = None if current.simulated else question.offer  # a file's answer is no outcome of rows that are made up
        drawn = drawn_answers(current, offer) if isinstance(offer, Offer) else ()
        with replay.common(False) if drawn else nullcontext():
            cards.might_see(question.outcomes, key=question.view.page, drawn=drawn)


def _tabs(question: Question, current: Source, around: Around) -> None:
    """Views below the chart, the release last; only the open one runs."""
    tabs = [*question.tabs, Tab(key=RELEASE, title=release_words.TAB)]
    control = open_control(question)
    session.ask(control)
    titles = {tab.key: tab.title for tab in tabs}
    place_key = f"{around.page}_tab"
    _spoken("tab", RELEASE)
    if session.followed():
        session.enter(place_key, titles[session.value(control)])
    opened = st.tabs(
        list(titles.values()),
        key=place_key,
        on_change="rerun",
        default=titles[session.value(control)],
    )
    for tab, place in zip(tabs, opened, strict=True):
        if not place.open:
            continue
        session.note_open(control, tab.key)
        with place:
            if tab.key == RELEASE:
                with replay.common(False):
                    _release(question, current, around, beside=True)
            else:
                with _said():
                    parts = traces.followed(question, ("tab", tab.key), tab.blocks, current)
                    blocks.draw_all(parts, around)


def _release(question: Question, current: Source, around: Around, *, beside: bool) -> None:
    """The release of this question; ``beside`` says that ``_drawn`` stands on the page, which then asks to confirm."""
    offer = question.offer
    if asks_whose(current):
        return
    if isinstance(offer, NoOffer):
        onward.say(offer.sentence)
        if offer.instead is not None:
            key, value, label = offer.instead
            st.button(label, key=f"{around.page}-instead", on_click=session.change, args=(key, value))
        if offer.states is not None:
            state, label = offer.states
            st.button(label, key=f"{around.page}-states", icon=":material/check:", on_click=state)
        return
    blocks.draw_all(offer.before, around)
    release_panel(current, offer, slot=question.key, dialog=not beside)
