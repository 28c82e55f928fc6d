"""How the speaker's screen is drawn: as a page of the product, or on the stage of a deck, for the back of the room."""

from __future__ import annotations

import streamlit as st

from dashboard import words
from dashboard.poll.kinds import ROOM
from dashboard.scenes import tour
from dashboard.scenes.deck import bundled
from dashboard.scenes.held import SHOWING, STAGE
from dashboard.words import poll as said
from dashboard.words import scenes as words_of_scenes

DECK = "with_the_room"
"""The deck whose scenes are rooms, one of each kind."""
LONG = 48
"""Characters of a title that a line of the stage has room for."""
_CLOSE = """<style>
[data-testid="stMain"] :is(h1, h2, h3) { padding: 0.1em 0; }
[data-testid="stElementToolbar"] { display: none; }
.st-key-asked-small :is(h1, h2) { font-size: 1.3rem; }
</style>"""


def on_stage() -> bool:
    """Whether the page stands on the stage, where a scene has a title of its own and there is room for the least."""
    stage = STAGE.get()
    return stage is not None and stage.kind == "present"


def asked(question: str, *, below: bool = False) -> None:
    """What the room is asked: the title of the page, or ``below`` one; smaller on the stage where it is long."""
    small = on_stage() and len(question) > LONG
    with st.container(key=f"asked-{'small' if small else 'large'}"):
        (st.header if below else st.title)(words.safe(question, 200), anchor=False)


def close() -> None:
    """On the stage, headings stand close together, so that a whole step of a room fits on the screen."""
    if on_stage():
        st.html(_CLOSE)


def large(kind: str) -> None:
    """The button that puts a page of this kind of room on the stage, without the sidebar and in large type."""
    number = next(
        place
        for place, scene in enumerate(bundled()[DECK].scenes, 1)
        if dict(scene.address.settings).get(ROOM.key, ROOM.default) == kind
    )
    st.button(
        words_of_scenes.PRESENT,
        icon=":material/slideshow:",
        key="poll-present",
        type="tertiary",
        help=said.PRESENT_HELP,
        on_click=tour.begin,
        args=(DECK,),
        kwargs={"present": True, "number": number},
    )


def scene() -> None:
    """The title of the scene on the stage, and its sentence."""
    here = SHOWING.get()
    if here is not None:
        st.title(words.safe(here.scene.title, 90), anchor=False)
        st.markdown(words.safe(here.scene.sentence, 300))
