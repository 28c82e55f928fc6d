"""The Data page: a sample, a person's own file, or a table that is only described."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from dashboard import session, words
from dashboard.background import compute
from dashboard.data import (
    actions,
    arrivals,
    asking,
    columns,
    configured,
    declarations,
    describe,
    doubts,
    needed,
    people,
    samples,
    source,
    understood,
    upload,
    use,
    whence,
    working,
)
from dashboard.data.own_file import OwnFile
from dashboard.data.whence import OWN_FILE, SAMPLES, SOURCE
from dashboard.usual import SEED
from dashboard.words import data as said
from dashboard.words import place as places

source.collect()
own = source.own_file()
st.title("Which data do you want to ask about?")
home = whence.home(own)
place = whence.choose(home)
session.ask(SEED)  # what is simulated here follows it too
task = actions.running()
if task is not None:
    upload.progress(task, source.collect)
problem = session.note("own")
if problem:
    st.warning(words.safe(problem, 400))

if place == SAMPLES:
    samples.show_samples()
elif place == SOURCE and (own is None or home != place):
    configured.choose()
elif own is None or home != place:
    if place == OWN_FILE:
        upload.trouble()
        if no_files := compute.no_files():
            st.info(words.reason(no_files), icon=":material/lock_person:")
        elif task is None:
            upload.drop(said.DROP)
            upload.paste()
            st.caption(
                f"{understood.where_it_is()} It is read at once, and its columns and first rows are shown to you "
                "alone. No chart is computed from it before you say so."
            )
            st.markdown(said.YOU_STATE)
            with st.container(horizontal=True):
                upload.bring_back(own)
        in_use = source.current()
        if in_use is not None:
            st.caption(said.in_use(in_use.title))
        st.caption(said.WITHOUT_FILE)
        st.markdown("**Or start from a sample**: its button opens a first chart at once")
        samples.show_samples()
    else:
        describe.start()
else:
    upload.trouble()
    if own.place is None:
        upload.held(own)
    else:
        configured.held(own)
    declarations.offer(own)
    alone = asking.show_asking(own)
if place != SAMPLES and own is not None and home == place and not alone:
    st.markdown(f"**{said.DETAILS}**")
    doubts.show_doubts(own, [doubt for doubt in own.doubts if not doubt.startswith("file:")])
    doubts.show_doubts(own, own.form.doubts)
    if own.place is not None:
        st.caption(places.DECLARED_BY_YOU if own.place.kinds_stated else places.TYPED_BY_YOU)
    elif own.reading is None:
        describe.more(own)
    else:
        st.markdown(understood.summary(own.reading))
        understood.notices(own.reading)
        working.show_working(own)
    with st.container(border=True):
        use.show_use(own)
    left, right = st.columns([5, 3], gap="medium")
    with left:
        names = ["Columns", "Preview", "Read it differently", "What was read, and when"]
        tabs = st.tabs(names[:1] if own.unseen else names, key="own-tab", on_change="rerun")
        shown_by: tuple[Callable[[OwnFile], None], ...] = (
            columns.show_columns,
            understood.preview,
            upload.again,
            understood.log,
        )
        for tab, body in zip(tabs, shown_by, strict=False):
            if tab.open:
                with tab:
                    body(own)
    with right:
        needed.still_needed(own)
        with st.container(border=True):
            st.markdown("**Whose data are these?**")
            if own.place is not None:
                configured.people(own, own.place)
            else:
                people.rows(own)
                people.budget(arrivals.asked_about(own))
                declarations.offer_remembered(own)
