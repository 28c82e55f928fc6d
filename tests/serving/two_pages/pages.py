"""Two pages: one with a part that draws itself again, and one that takes a moment."""

import time

import streamlit as st


def one() -> None:
    @st.fragment(run_every=60)
    def part() -> None:
        st.write("part")

    part()


def two() -> None:
    time.sleep(0.5)
    st.write("two")


st.navigation([st.Page(one, url_path="one", default=True), st.Page(two, url_path="two")]).run()
