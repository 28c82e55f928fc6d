"""One chart with its headline and its mark, for a frame in a report or a course page (``?embed=true``)."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dashboard.scenes.held import STAGE, Stage
from dashboard.scenes.share import full_link
from dashboard.words import scenes as words

HEIGHT = 640
"""Pixels of the frame that holds a chart with its headline."""


def embedded() -> bool:
    """Whether the page is shown within another one."""
    return bool(st.context.is_embedded)


def draw(page: str, run: Callable[[], None]) -> None:
    """The page in view, by ``run``, as one chart."""
    STAGE.put(Stage(kind="embed"))
    run()
    st.link_button(words.WHOLE, full_link(page), icon=":material/open_in_new:", type="tertiary")


def places() -> tuple[DeltaGenerator, DeltaGenerator]:
    """Where a question's headline and its chart go."""
    return st.container(), st.container()
