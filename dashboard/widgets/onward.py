"""A sentence that sends people to the Data page, and the way there: no address that loses a file of their own."""

from __future__ import annotations

import streamlit as st

from dashboard import words
from dashboard.catalogue import address
from dashboard.words import data as said

_LONGEST = 2000


def say(sentence: str) -> None:
    """What stands in the way of an answer, with a link to where it can be mended. Plain text: it may name a column."""
    st.info(words.safe(sentence, _LONGEST))
    way(sentence)


def way(sentence: str) -> None:
    """The link alone, for a sentence that is already shown; nothing where it names no other page."""
    if said.PAGE in sentence:
        st.page_link(address("data"), label=said.GO, icon=":material/arrow_forward:")
