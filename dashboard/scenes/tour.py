"""A deck being shown: which scene stands, the way to the next one, and the bar that people walk along."""

from __future__ import annotations

from typing import Any

import streamlit as st

from dashboard import catalogue, session
from dashboard.controls import Name, Number
from dashboard.scenes import deck as decks
from dashboard.scenes import remote
from dashboard.scenes.address import PART
from dashboard.scenes.deck import Deck, DeckMistakes
from dashboard.scenes.held import FOCUS, GO, MAKING, SHOWING, Making, Showing
from dashboard.view import EPSILON
from dashboard.widgets import inputs
from dashboard.words import safe
from dashboard.words import scenes as words

TOUR = Name(key="tour", label=words.TOUR, default="", refusal=words.NO_DECK)
PRESENT = Name(key="present", label=words.PRESENT, default="", refusal=words.NO_DECK)
SCENE = Number(key="scene", label=words.SCENE, default=0.0, low=0.0, high=float(decks.MOST_SCENES), whole=True)
MINE = "mine"
"""How a link names the deck that this session is making, where it is too long to travel in the link itself."""
FIRST = "five_minutes"
"""The deck that a newcomer is offered."""


def reference(deck: Deck) -> str:
    """How a link names the deck that this session is making: as a whole where it is short."""
    return deck.packed() or MINE


def made(making: Making) -> Deck:
    """The deck that is being made, as a value."""
    return Deck(title=making.title, about=making.about, scenes=tuple(kept.scene for kept in making.scenes))


def find(name: str) -> Deck | None:
    """The deck that a link names, or None where it is not here."""
    if name in decks.bundled():
        return decks.bundled()[name]
    if name == MINE:
        making = MAKING.get()
        return made(making) if making is not None and making.scenes else None
    if name.startswith(decks.PACKED):
        try:
            return decks.unpacked(name)
        except DeckMistakes:
            return None
    return None


def showing() -> Showing | None:
    """The deck that the link or a button asks for, before anything is drawn; None where there is none."""
    present, tour = session.ask(PRESENT), session.ask(TOUR)
    number = int(session.ask(SCENE))
    session.ask(PART)
    name = present or tour
    SHOWING.forget()
    if not name:
        return None
    deck = find(name)
    if deck is None:
        end()
        session.say("deck", words.NO_DECK)
        return None
    if number == 0 or number > len(deck.scenes):
        GO.put(1)
    here = Showing(deck=deck, reference=name, number=min(max(number, 1), len(deck.scenes)), present=bool(present))
    SHOWING.put(here)
    return here


def move() -> None:
    """Go to the scene that was asked for, if one was; called once the pages are known, before anything is drawn."""
    here, number = SHOWING.get(), GO.get()
    GO.forget()
    if here is None or not 1 <= number <= len(here.deck.scenes):
        return
    scene = here.deck.scenes[number - 1]
    mode = PRESENT.key if here.present else TOUR.key
    settings = scene.address.with_settings(**{mode: here.reference, SCENE.key: str(number)}).settings
    session.follow(dict(settings))
    st.switch_page(catalogue.address(scene.address.page), query_params=dict(settings))


def begin(name: str, *, present: bool, number: int = 1) -> None:
    """Callback: show a deck from a scene on."""
    session.change(PRESENT.key, name if present else "")
    session.change(TOUR.key, "" if present else name)
    session.change(SCENE.key, float(number))
    GO.put(number)


def go(number: int) -> None:
    """Callback: show another scene."""
    GO.put(number)


def end() -> None:
    """Callback: the page stays as it is, without the deck."""
    for key in (TOUR.key, PRESENT.key, SCENE.key, PART.key):
        session.unset(key)
        session.unlink(key)
    SHOWING.forget()


def at(page: str, here: Showing) -> bool:
    """Whether the page in view is the one of the scene."""
    return here.scene.address.page == page


def bar(here: Showing, page: str, labels: dict[str, str]) -> None:
    """The sentence of the scene, back, next, and what to try; pinned below the page, over none of it.

    ``labels`` are the controls of the page in view by key, with their words.
    """
    scene, count = here.scene, len(here.deck.scenes)
    with st.bottom, st.container(border=True, key="tour-bar", gap="xsmall"):
        if not at(page, here):
            with st.container(horizontal=True, vertical_alignment="center"):
                st.markdown(words.LEFT)
                st.button(words.RETURN, icon=":material/undo:", key="tour-return", on_click=go, args=(here.number,))
                _end()
            return
        st.caption(words.of_deck(here.deck.title, here.number, count))
        st.markdown(f"**{safe(scene.title, 90)}.** {safe(scene.sentence, 300)}")
        if scene.address.own:
            st.caption(words.wants(scene.wants))
        with st.container(horizontal=True, vertical_alignment="center"):
            steps(here)
            if scene.turn in labels:
                st.button(
                    words.turn(labels[scene.turn]),
                    icon=":material/touch_app:",
                    key="tour-try",
                    on_click=_focus,
                    args=(scene.turn,),
                )
            _present(here)
            _end()
        listen(here)


def steps(here: Showing) -> None:
    """Back and next."""
    last = here.number == len(here.deck.scenes)
    st.button(
        words.BACK,
        icon=":material/arrow_back:",
        key="scene-back",
        disabled=here.number == 1,
        on_click=go,
        args=(here.number - 1,),
    )
    st.button(
        words.AGAIN if last else inputs.primary(words.NEXT),
        icon=":material/replay:" if last else ":material/arrow_forward:",
        icon_position="left" if last else "right",
        type="secondary" if last else "primary",
        key="scene-next",
        on_click=go,
        args=(1 if last else here.number + 1,),
    )


def listen(here: Showing) -> None:
    """The remote control of this deck."""
    wanted, times = FOCUS.get()
    after, count = here.following, len(here.deck.scenes)
    data: dict[str, Any] = {
        "present": here.present,
        "number": here.number,
        "count": count,
        "deck": here.deck.title,
        "place": words.place(here.number, count),
        "title": here.scene.title,
        "sentence": here.scene.sentence,
        "notes": here.scene.notes,
        "next": words.LAST if after is None else after.title,
        "focus": _widgets(wanted),
        "look": "spoken-of",
        "asked": times,
    }
    remote.control(data, go)


def _present(here: Showing) -> None:
    st.button(
        words.PRESENT,
        icon=":material/slideshow:",
        type="tertiary",
        key="tour-present",
        shortcut="Alt+P",
        on_click=begin,
        args=(here.reference,),
        kwargs={"present": True, "number": here.number},
    )


def _end() -> None:
    st.button(words.END, icon=":material/close:", type="tertiary", key="tour-end", on_click=end)


def _focus(key: str) -> None:
    """Callback: the control that the sentence is about gets the focus."""
    _, times = FOCUS.get()
    FOCUS.put((key, times + 1))


def _widgets(key: str) -> list[str]:
    """Keys of the widgets that a control is drawn as, the likeliest first."""
    if not key:
        return []
    return [inputs.SLIDER] if key == EPSILON.key else [key, f"{key}.0"]
