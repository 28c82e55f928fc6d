"""A deck of one's own: views are added on any page, put in order and captioned, saved, opened again and shared."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

import streamlit as st
from streamlit.typing import UploadedFile

from dashboard import session
from dashboard.background import compute
from dashboard.budget import visitor
from dashboard.case import Case, Source
from dashboard.scenes import deck as decks
from dashboard.scenes import tour
from dashboard.scenes.address import LONGEST, PART, PARTS, Address
from dashboard.scenes.deck import Deck, DeckMistakes, Scene
from dashboard.scenes.held import DECK_MISTAKES, DECK_ROUND, EMPTIED, MAKING, Kept, Making
from dashboard.widgets.download import download
from dashboard.widgets.drop_areas import named
from dashboard.widgets.inputs import text_box
from dashboard.words import safe
from dashboard.words import scenes as words
from dpcore.datasets import Declaration, sample

CHECKING = 5.0
"""Seconds of the processor for all scenes of a deck that is opened: nobody else's page is drawn as fast meanwhile, and
nothing can stop it. The longest bundled deck takes two."""
_NOTE = "deck-made"
_FIELDS = (
    ("title", words.SCENE_TITLE, decks.TITLE),
    ("sentence", words.SENTENCE, decks.SENTENCE),
    ("notes", words.SPEAKER, decks.NOTES),
    ("wants", words.WANTS, decks.WANTS),
)
_MOST = {name: most for name, _, most in _FIELDS}


def case_of(key: str, epsilon: float) -> Case:
    """A sample as pages have it, for checking a deck."""
    table = compute.sample(key)
    source = Source(
        key=key,
        title=sample(key).title,
        mode="demo",
        table=table,
        lineage=visitor.lineage(key),
        practice=True,
        declared=Declaration.of(table.schema),
        rows=lambda: compute.sample_rows(key),
    )
    return Case(source=source, epsilon=epsilon, memo=compute.memory(own=False), large=compute.large_memory(source))


def add(address: Address, title: str, *, parts: bool) -> None:
    """The form that adds the view at ``address`` to the deck of this session; ``parts`` offers what is spoken of."""
    with st.form("add-to-deck", border=False):
        text_box(words.SCENE_TITLE, value=title[: decks.TITLE], most=decks.TITLE, key="add-title")
        text_box(words.SENTENCE, most=decks.SENTENCE, key="add-sentence", placeholder=words.UNTITLED)
        text_box(words.SPEAKER, most=decks.NOTES, key="add-notes", lines=True)
        if parts:
            st.selectbox(words.PART, PARTS, format_func=lambda part: words.PARTS[part], key="add-part")
        if address.own:
            text_box(words.WANTS, value=words.OWN_FILE, most=decks.WANTS, key="add-wants")
        st.caption(words.NEVER)
        st.form_submit_button(words.ADD, on_click=_add, args=(address, title))
    said = session.note(_NOTE)
    if said:
        st.success(said)


def _add(address: Address, title: str) -> None:
    """Callback."""
    making = MAKING.get() or Making(title=words.FIRST_TITLE)
    part = str(session.entered("add-part", PART.default))
    scene = Scene(
        title=_typed("add-title", "title") or decks.legible(title, "title")[: decks.TITLE],
        sentence=_typed("add-sentence", "sentence") or words.UNTITLED,
        notes=_typed("add-notes", "notes"),
        address=address if part == PART.default else address.with_settings(part=part),
        wants=(_typed("add-wants", "wants") or words.OWN_FILE) if address.own else "",
    )
    if len(making.scenes) >= decks.MOST_SCENES:
        session.say(_NOTE, words.too_many(len(making.scenes) + 1, decks.MOST_SCENES))
        return
    if len(scene.address.text) > LONGEST:
        session.say(_NOTE, words.VIEW_LONG)
        return
    _put(making, (*making.scenes, Kept(mark=making.next_mark, scene=scene)), next_mark=making.next_mark + 1)
    session.say(_NOTE, words.added(len(making.scenes) + 1))


def _typed(key: str, name: str) -> str:
    """What was typed for a field of a deck, as much as it holds; what is pasted may hold signs that none has."""
    return decks.legible(str(session.entered(key, "")), name).strip()[: _MOST[name]]


def _put(making: Making, scenes: tuple[Kept, ...], next_mark: int | None = None) -> None:
    MAKING.put(replace(making, scenes=scenes, next_mark=next_mark or making.next_mark))


def show(on_paper: Callable[[Deck, str], None]) -> None:
    """The deck of this session: its title, its scenes, and what can be done with it.

    ``on_paper`` draws the button by which a deck becomes a report.
    """
    making = MAKING.get()
    st.header(words.MINE, anchor=False)
    st.caption(words.NEVER)
    if making is None or not making.scenes:
        st.markdown(words.EMPTY)
        _bring(making)
        return
    text_box(
        words.DECK_TITLE,
        value=making.title,
        most=decks.TITLE,
        key=f"deck-title-{DECK_ROUND.get()}",
        on_change=_title,
        args=(f"deck-title-{DECK_ROUND.get()}",),
    )
    deck = tour.made(making)
    with st.container(horizontal=True, vertical_alignment="center"):
        start(tour.reference(deck), deck.title, primary=True)
        download(words.SAVE, deck.written, f"{_file_name(deck.title)}.json", "application/json", key="deck-save")
        on_paper(deck, tour.MINE)
        st.button(words.FORGET, icon=":material/delete:", type="tertiary", key="deck-empty", on_click=_empty)
    for place, kept in enumerate(making.scenes):
        _row(making, place, kept)
    packed = deck.packed()
    with st.expander(words.LINK):
        if packed is None:
            st.caption(words.LINK_LONG)
        else:
            base = str(st.context.url or "").rstrip("/").removesuffix("/demos")
            st.code(f"{base}/?tour={packed}", language=None, wrap_lines=True)
    _bring(making)


def start(name: str, title: str, *, primary: bool = False) -> None:
    """The two ways of showing a deck."""
    st.button(
        words.TOUR,
        icon=":material/directions_walk:",
        key=f"tour-{name[:40]}",
        on_click=tour.begin,
        args=(name,),
        kwargs={"present": False},
        help=title if primary else None,
    )
    st.button(
        words.PRESENT,
        icon=":material/slideshow:",
        key=f"present-{name[:40]}",
        on_click=tour.begin,
        args=(name,),
        kwargs={"present": True},
    )


def _row(making: Making, place: int, kept: Kept) -> None:
    """One scene, with its place in the order and its words."""
    scene, mark = kept.scene, kept.mark
    with st.container(border=True, horizontal=True, vertical_alignment="center", key=f"own-scene-{mark}"):
        st.markdown(f"{place + 1}\\. **{safe(scene.title, 90)}**  \n{safe(scene.sentence, 250)}", width="stretch")
        st.button(
            words.UP,
            icon=":material/arrow_upward:",
            type="tertiary",
            key=f"up-{mark}",
            disabled=place == 0,
            on_click=_shift,
            args=(mark, -1),
        )
        st.button(
            words.DOWN,
            icon=":material/arrow_downward:",
            type="tertiary",
            key=f"down-{mark}",
            disabled=place == len(making.scenes) - 1,
            on_click=_shift,
            args=(mark, 1),
        )
        with st.popover(words.EDIT, icon=":material/edit:", type="tertiary", key=f"edit-{mark}"):
            for name, label, most in _FIELDS:
                if name == "wants" and not scene.address.own:
                    continue
                key = f"{name}-{mark}-{DECK_ROUND.get()}"
                text_box(
                    label,
                    value=getattr(scene, name),
                    most=most,
                    lines=name == "notes",
                    key=key,
                    on_change=_caption,
                    args=(mark, name, key),
                )
        st.button(
            words.REMOVE, icon=":material/close:", type="tertiary", key=f"off-{mark}", on_click=_off, args=(mark,)
        )


def _bring(making: Making | None) -> None:
    """A deck from a file, and the one that was there before."""
    key = f"deck-file-{DECK_ROUND.get()}"
    st.file_uploader(words.OPEN_FILE, type=["json"], key=key, on_change=_open, args=(key,))
    named()
    for sentence in DECK_MISTAKES.get():
        st.warning(safe(sentence, 400))
    if EMPTIED.get() is not None:
        st.button(words.UNDO, icon=":material/undo:", key="deck-undo", on_click=_undo)


def _open(key: str) -> None:
    """Callback: the deck of a file takes the place of the one that is there; its mistakes are told."""
    file: UploadedFile | None = session.entered(key, None)
    if not isinstance(file, UploadedFile):
        return
    DECK_ROUND.put(DECK_ROUND.get() + 1)
    if file.size > decks.LARGEST:
        DECK_MISTAKES.put((words.TOO_LARGE,))
        return
    try:
        deck = decks.read_deck(file.getvalue().decode("utf-8-sig"))
    except UnicodeDecodeError:
        DECK_MISTAKES.put((words.NOT_A_DECK,))
        return
    except DeckMistakes as error:
        DECK_MISTAKES.put(error.sentences)
        return
    DECK_MISTAKES.put(decks.mistakes(deck, case_of, seconds=CHECKING))
    EMPTIED.put(MAKING.get())
    MAKING.put(making_of(deck))


def making_of(deck: Deck) -> Making:
    """A deck as one that is being made."""
    scenes = tuple(Kept(mark=mark, scene=scene) for mark, scene in enumerate(deck.scenes, 1))
    return Making(title=deck.title, about=deck.about, scenes=scenes, next_mark=len(scenes) + 1)


def _empty() -> None:
    EMPTIED.put(MAKING.get())
    MAKING.forget()
    DECK_MISTAKES.forget()
    DECK_ROUND.put(DECK_ROUND.get() + 1)


def _undo() -> None:
    before = EMPTIED.get()
    EMPTIED.put(MAKING.get())
    MAKING.put(before)
    DECK_MISTAKES.forget()
    DECK_ROUND.put(DECK_ROUND.get() + 1)


def _title(key: str) -> None:
    making, typed = MAKING.get(), _typed(key, "title")
    if making is not None and typed:
        MAKING.put(replace(making, title=typed))


def _caption(mark: int, name: str, key: str) -> None:
    """Callback: a text of one scene; what a deck needs is not taken away."""
    making, typed = MAKING.get(), _typed(key, name)
    if making is None or (not typed and name != "notes"):
        return
    scenes = tuple(
        replace(kept, scene=kept.scene.said(name, typed)) if kept.mark == mark else kept for kept in making.scenes
    )
    _put(making, scenes)


def _shift(mark: int, step: int) -> None:
    making = MAKING.get()
    if making is None:
        return
    scenes = list(making.scenes)
    place = next((place for place, kept in enumerate(scenes) if kept.mark == mark), None)
    if place is None or not 0 <= place + step < len(scenes):
        return
    scenes.insert(place + step, scenes.pop(place))
    _put(making, tuple(scenes))


def _off(mark: int) -> None:
    making = MAKING.get()
    if making is not None:
        EMPTIED.put(making)
        _put(making, tuple(kept for kept in making.scenes if kept.mark != mark))


def _file_name(title: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")[:60] or "deck"
