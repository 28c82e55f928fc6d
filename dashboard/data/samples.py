"""Samples, one click each: where they come from, simulated or real, and which question each suits."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Hashable, Mapping
from functools import cache, partial

import streamlit as st
from streamlit.typing import UploadedFile

from dashboard import all_held, catalogue, limits, session, words
from dashboard.background import compute
from dashboard.data import suits
from dashboard.data.arrivals import counted_tables, taken
from dashboard.data.held import LOADED_SAMPLES, SAMPLE_LOADING, SAMPLE_ROUND, SAMPLE_TASK
from dashboard.data.suits import questions
from dashboard.data.task import Say, Task
from dashboard.data.upload import progress
from dashboard.people import visitors
from dashboard.replay import part
from dashboard.widgets.drop_areas import named
from dpcore.datasets import Sample, Table, load_sample, sample, samples
from dpcore.datasets.temporary import private_file, private_folder
from dpcore.errors import UnreadableFile


def show_samples() -> None:
    """A card for each sample."""
    with st.grid(2, min_column_width=330):
        for one in samples():
            with st.container(border=True, height="stretch", key=f"sample-{one.key}"):
                if one.needs_network:
                    _card(one)
                else:
                    part(("sample", one.key), partial(_card, one), told=True)


def _card(sample: Sample) -> None:
    kind = ":blue-badge[simulated]" if sample.simulated else ":green-badge[real]"
    st.markdown(f"**{sample.title}** {kind}")
    st.caption(sample.about)
    loaded = sample.key in LOADED_SAMPLES.get()
    if sample.needs_network and not loaded:
        _load(sample)
    else:
        for page in catalogue.pages():
            sentence = next((why for asked, why in sample.why if asked == page.key), None)
            if sentence is None:
                continue
            left, right = st.columns([2, 3], vertical_alignment="center", gap="small")
            with left:
                suits.button(
                    page.title,
                    page,
                    _choices(sample.key, page.key),
                    sample.key,
                    icon=page.icon,
                    key=f"sample-{sample.key}-{page.key}",
                    width="stretch",
                )
            right.markdown(sentence)
    st.space("stretch")
    st.caption(f"From: {words.safe(sample.origin, 300)}")


@cache
def _choices(key: str, page: str) -> Mapping[str, Hashable]:
    """The form of the question that the sample's own sentence is about; the simplest one where it names none."""
    about = sample(key)
    for asked, form, columns in about.asks:
        if asked == page:
            for suited in questions(about.schema, columns[0]):
                if suited.page.key == page and suited.way.form == form and suited.way.about[: len(columns)] == columns:
                    return suited.way.sets
    simplest = next((suited.way.sets for suited in questions(about.schema) if suited.page.key == page), None)
    return {} if simplest is None else simplest


def _load(sample: Sample) -> None:
    """A sample that is not part of this program: from the network, or from a file of the person's own."""
    task: Task | None = SAMPLE_TASK.get()
    if task is not None and not task.finished:
        progress(task, collect)
        return
    collect()
    problem = session.note(f"sample-{sample.key}")
    if problem:
        st.warning(words.safe(problem, 400))
    st.button(
        "Download it",
        icon=":material/cloud_download:",
        key=f"sample-{sample.key}-get",
        on_click=_download,
        args=(sample.key,),
    )
    if sample.path_allowed and not compute.no_files():
        key = f"sample-{sample.key}-file-{SAMPLE_ROUND.get()}"
        st.file_uploader(
            "or use a copy you have (CSV, also gzipped)",
            type=["csv", "gz", "data"],
            key=key,
            on_change=_upload,
            args=(sample.key, key),
        )
        named()


def _download(name: str) -> None:
    _start(name, lambda say: load_sample(name, progress=say), "Fetching the census table")


def _upload(name: str, key: str) -> None:
    file: UploadedFile | None = session.entered(key, None)
    if not isinstance(file, UploadedFile):
        return
    if no_files := compute.no_files():
        session.say(f"sample-{name}", no_files)
        return
    data = taken(file)
    suffix = ".csv.gz" if data[:2] == b"\x1f\x8b" else ".csv"
    SAMPLE_ROUND.put(int(SAMPLE_ROUND.get()) + 1)
    whose = visitors.address()
    try:
        waiting = all_held.waiting(len(data), whose)
    except UnreadableFile as error:
        session.say(f"sample-{name}", words.sentence(error))
        return

    def work(say: Say) -> Table:
        # A private folder under a name of ours, gone as soon as the table is read.
        with private_folder() as folder, all_held.AtWork(whose) as reading:
            file = private_file(folder, data, f"table{suffix}")
            table = load_sample(name, path=file, progress=say, tables=counted_tables(reading))
        counted = all_held.again(limits.loaded([table]), whose, waiting)
        if counted is not None:
            weakref.finalize(table.frame, all_held.let_go, counted)
        return table

    _start(name, work, "Reading the census table")


def _start(name: str, work: Callable[[Say], Table], title: str) -> None:
    earlier: Task | None = SAMPLE_TASK.get()
    if earlier is not None:
        earlier.cancel()
    task = Task(work, title, visitors.address())
    SAMPLE_TASK.put(task)
    SAMPLE_LOADING.put(name)
    task.wait(0.4)
    collect()


def collect() -> bool:
    """Take over a sample that has been loaded; whether there was one."""
    task: Task | None = SAMPLE_TASK.get()
    if task is None or not task.finished:
        return False
    name = str(SAMPLE_LOADING.get())
    SAMPLE_TASK.forget()
    if task.problem is None:
        LOADED_SAMPLES.put({**LOADED_SAMPLES.get(), name: task.result})
    elif task.problem:
        session.say(f"sample-{name}", task.problem)
    return True
