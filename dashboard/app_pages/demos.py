"""Live demos: decks to be toured or presented, one of one's own, and the window with the speaker's notes."""

from __future__ import annotations

import streamlit as st

from dashboard import session
from dashboard.report.deck_button import deck_report
from dashboard.scenes import deck, editor, presenter, remote
from dashboard.words import safe
from dashboard.words import scenes as words

if session.ask(presenter.NOTES):
    st.title(words.NOTES, anchor=False)
    remote.notes()
else:
    st.title(words.TITLE, anchor=False)
    st.markdown(words.ABOUT)
    st.caption(words.KEYS)
    st.header(words.READY, anchor=False)
    with st.grid(2, min_column_width=330):
        for name, ready in deck.bundled().items():
            with st.container(border=True, height="stretch", key=f"deck-{name}"):
                st.markdown(f"**{safe(ready.title, 90)}** · {words.scenes(len(ready.scenes))}")
                st.markdown(safe(ready.about, 300))
                st.space("stretch")
                with st.container(horizontal=True):
                    editor.start(name, ready.title)
                    deck_report(ready, name)
    editor.show(deck_report)
