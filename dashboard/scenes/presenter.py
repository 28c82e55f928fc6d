"""The presenter's stage: a scene in the type of a projector, nothing else on the screen, the way on at its foot."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dashboard.controls import Switch
from dashboard.poll.kinds import PAGE as ROOM_PAGE
from dashboard.scenes import tour
from dashboard.scenes.address import PRODUCT
from dashboard.scenes.held import PICTURE_HEIGHT, STAGE, Showing, Stage
from dashboard.words import safe
from dashboard.words import scenes as words

NOTES = Switch(key="notes", label=words.NOTES, default=False)
"""Whether a window shows the speaker's notes."""
TYPE = 28
"""Pixels of the text of a projected page; small print is seven eighths of it."""
HEIGHT = 460
"""Pixels of a picture on a screen 720 pixels high."""
# Streamlit derives every size from the root's, and has no setting for one visitor alone; what it keeps free around a
# page would take a third of a small screen. A sidebar that was open stays, empty, when a page without one follows. A
# browser test measures what comes of it.
_LARGE = f"""<style>
:root {{ font-size: {TYPE}px; }}
[data-testid="stHeader"], [data-testid="stSidebar"] {{ display: none; }}
[data-testid="stMainBlockContainer"] {{ padding: 12px 40px 0; }}
[data-testid="stBottomBlockContainer"] {{ padding: 4px 40px 18px; }}
</style>"""


def draw(here: Showing, page: str, run: Callable[[], None]) -> None:
    """The scene, by ``run``, which draws the page in view."""
    scene = here.scene
    st.html(_LARGE)
    STAGE.put(Stage(kind="present", part=scene.address.part, turn=scene.turn))
    PICTURE_HEIGHT.put(HEIGHT)
    if tour.at(page, here) and page != ROOM_PAGE:  # a room has a title of its own once it is open
        st.title(safe(scene.title, 90), anchor=False)
        if page in PRODUCT:  # a question says it beside its picture
            st.markdown(safe(scene.sentence, 300))
    run()
    _foot(here)


def leave() -> None:
    """Pages are drawn as they are again."""
    STAGE.forget()
    PICTURE_HEIGHT.forget()


def places(here: Showing) -> tuple[DeltaGenerator, DeltaGenerator]:
    """Where a question's words and its picture go."""
    left, right = st.columns([2, 3], gap="medium")
    with left:
        st.markdown(safe(here.scene.sentence, 300))
        if here.scene.address.own:
            st.markdown(words.wants(here.scene.wants))
    return left, right


def _foot(here: Showing) -> None:
    with st.bottom, st.container(horizontal=True, vertical_alignment="center", key="stage-foot"):
        tour.steps(here)
        st.markdown(words.place(here.number, len(here.deck.scenes)), width="stretch")
        st.link_button(words.NOTES, "demos?notes=on", icon=":material/speaker_notes:", type="tertiary", help=words.KEYS)
        st.button(words.STOP, icon=":material/close_fullscreen:", type="tertiary", key="stage-stop", on_click=_stop)
        tour.listen(here)


def _stop() -> None:
    """Callback: the whole page of the scene again."""
    tour.end()
