"""One private alarm run over the series in view, charged once."""

from __future__ import annotations

import numpy as np
import streamlit as st

from dashboard import words
from dashboard.data.source import Source
from dashboard.questions.thresholding.series import Series, columns_of, read, sources
from dashboard.widgets.release import release_panel
from dashboard.widgets.tradeoff import View
from dpcore.errors import InvalidArgument
from dpcore.releases.alarm import AlarmRun
from dpcore.thresholding.problem import AlarmProblem


def make_release(
    source: Source,
    key: str,
    view: View,
    problem: AlarmProblem,
    main: str,
    one_way: bool,
    chances: dict[str, float],
) -> None:
    """One private alarm run, charged once, on the declared columns alone."""
    obstacle = source.obstacle(*columns_of(key))
    if obstacle or source.released is None:
        st.info(obstacle or source.unreleased)
        return
    series = read(source.released(), key)
    whole = bool((series.answers == np.rint(series.answers)).all()) and series.sensitivity == round(series.sensitivity)
    mechanism = problem.mechanism(main, view.epsilon)
    reach = problem.family(main).alpha_factor * series.sensitivity / view.epsilon
    try:
        request = AlarmRun(
            epsilon=view.epsilon,
            threshold=problem.threshold,
            entries=int(series.answers.size),
            sensitivity=series.sensitivity,
            neighbours="add_remove" if one_way else "replace_one",
            one_way=one_way and main.endswith("monotone"),
            limit=problem.limit,
            noise="exponential" if main.startswith("exponential") else "laplace",
            threshold_share=mechanism.share,
            offset=mechanism.offset,
            resolution=None if whole else series.sensitivity / 1000,
            labels=series.names,
            subject=words.visible(sources(source.table).get(key, key), 60),
        )
    except InvalidArgument as error:
        st.warning(f"This run cannot be released: {error}.")
        return
    st.caption("The line is public: choose it for your own reasons, not by looking at the series.")
    release_panel(
        source,
        slot="thresholding",
        request=request,
        data=lambda: series.answers,
        forecast=(
            f"on time {words.times_in_100(chances['on time'])}, a false alarm "
            f"{words.times_in_100(chances['false alarm'])}."
            if source.mode == "demo"
            else f"answers farther than {words.number(reach)} from the line are told apart, "
            f"except with chance {words.number(problem.beta)}."
        ),
        describe=lambda answer: _told(answer, series),
        relation="alarm_neighbours" if series.one_way else None,
    )


def _told(answer: dict, series: Series) -> str:
    """The alarms by name."""
    places = [int(place) for place in answer.get("alarms", [])]
    if not places:
        return "No alarm was raised."
    return (
        "Alarm at " + ", ".join(words.safe(series.names[place]) for place in places if place < len(series.names)) + "."
    )
