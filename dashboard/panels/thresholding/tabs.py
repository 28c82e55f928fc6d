"""What lies below the chart: how it works, what if, α, what goes wrong, selecting instead, and the release."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import streamlit as st

from dashboard import compute, controls, session, words
from dashboard.charts.alarms import odds, run
from dashboard.charts.theme import EPSILON_TITLE, colours
from dashboard.charts.tradeoff import Scale, tradeoff
from dashboard.panels import scenarios
from dashboard.panels.picture import picture
from dashboard.panels.thresholding.release import make_release
from dashboard.panels.thresholding.series import Series
from dashboard.panels.thresholding.settings import NAMES
from dashboard.panels.tradeoff import View, describe_at, needed_epsilon
from dashboard.source import Source
from dpcore.errors import InvalidArgument
from dpcore.thresholding import broken_catalog, select_instead
from dpcore.thresholding.problem import AlarmProblem
from dpcore.tradeoff import sweep_epsilon
from dpcore.validate import FloatArray


def bodies(
    source: Source,
    key: str,
    series: Series,
    view: View,
    problem: AlarmProblem,
    main: str,
    one_way: bool,
    chances: dict[str, float],
) -> dict[str, Callable[[], None]]:
    """Tab names and what each draws."""
    return {
        "How it works": lambda: how(series, view, problem, main),
        "What if": lambda: what_if(view, problem, chances),
        "How far apart (α)": lambda: alpha(view, problem),
        "What goes wrong": lambda: goes_wrong(view.epsilon),
        "Select instead": lambda: instead(problem, view.epsilon, one_way),
        "Make one private release": lambda: make_release(source, key, view, problem, main, one_way, chances),
    }


def how(series: Series, view: View, problem: AlarmProblem, main: str) -> None:
    """One run, step by step."""
    mechanism = problem.mechanism(main, view.epsilon)
    st.markdown(mechanism.about.how)
    rng = np.random.Generator(np.random.PCG64(controls.current_seed()))
    trace = mechanism.trace(problem.answers, problem.threshold, rng)
    pair = mechanism.scales
    spread = pair.threshold_scale * (1.0 if pair.one_sided else float(np.sqrt(2.0)))
    line = problem.threshold + mechanism.offset + (pair.threshold_scale if pair.one_sided else 0.0)
    names = [series.names[place] for place in trace.alarms]
    result = f"alarm at {', '.join(names)}" if names else "no alarm"
    figure = run(series.names, problem.answers, line, trace, spread, unit=series.unit, dark=session.dark())
    picture(figure, key="thresholding-run", alt=f"One simulated run: {result}.", mark=view.mark)
    st.caption(
        f"One simulated run: {words.safe(result)}. Grey band: where the noisy line usually lies. "
        "Another seed under Options gives another run."
    )
    with st.expander("The formula and its source"):
        if mechanism.about.formula:
            st.latex(mechanism.about.formula)
        st.caption(
            f"Noise on the line: scale {words.number(pair.threshold_scale)}; on each answer: "
            f"{words.number(pair.query_scale)}. {mechanism.about.source}"
        )


def what_if(view: View, problem: AlarmProblem, chances: dict[str, float]) -> None:
    """More or fewer people, and scenarios."""
    st.select_slider(
        "People: as many as now, times (the line is a share of the people, so it moves along)",
        (0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 1.5, 2.0, 3.0, 5.0, 10.0),
        value=1.0,
        key="alarm_factor",
        persist_state="session",
        format_func=lambda factor: f"×{factor:g}",
    )
    queries(view, problem)
    least = needed_epsilon(view)
    scenarios.show(
        view.page,
        {
            "ε": words.number(view.epsilon),
            "people": words.whole(problem.n),
            "line": words.number(problem.threshold),
            "alarms": str(problem.limit),
            "on time in 100": words.number(100 * chances["on time"]),
            "ε needed": "none" if least is None else words.number(least),
        },
        view.mark,
    )


def queries(view: View, problem: AlarmProblem) -> None:
    """How the answer depends on how long one watches before the line is passed."""
    counts = sorted(
        {*np.unique(np.geomspace(max(problem.limit, 5), 2000, 9).astype(int)).tolist(), problem.answers.size}
    )

    def make() -> list[tuple[int, float]]:
        found = []
        at = np.array([view.epsilon]), np.array([float(problem.n)])
        for count in counts:
            try:
                stretched = problem.watched_for(int(count))
            except InvalidArgument:
                continue
            if stretched.crossing is None and problem.crossing is not None:
                continue
            found.append((int(count), float(stretched.evaluate(view.main, "on_time", *at).value[0])))
        return found

    found = compute.cached((*view.identity, "queries", view.main, view.epsilon), make)
    if len(found) > 1:
        row = "; ".join(
            f"**{count:,}** queries: {words.times_in_100(chance)}"
            for count, chance in found[:: max(1, len(found) // 5)]
        )
        st.markdown(
            f"**Watching longer.** On time, if the quiet time before the crossing were longer or shorter: {row}."
        )


def alpha(view: View, problem: AlarmProblem) -> None:
    """The theorem's α, the exact one, and the best variant's, on one chart."""
    scale = Scale(title="distance from the line told apart, α")
    methods = list(problem.methods)
    levels = np.geomspace(session.EPSILON_LOW, session.EPSILON_HIGH, 51)
    frame = compute.cached(
        (*view.identity, "alpha"), lambda: sweep_epsilon(problem, levels, methods=methods, metrics=["alpha"])
    )
    at = np.array([view.epsilon]), np.array([float(problem.n)])
    here = {method: float(problem.evaluate(method, "alpha", *at).value[0]) for method in methods}
    best = min((method for method in methods if method != "theory"), key=here.__getitem__)
    st.markdown(
        f"With chance {words.number(1 - problem.beta)} a run is right about every answer farther than α from the line. "
        f"At ε = {words.number(view.epsilon)} the textbook's theorem gives α = {words.number(here['theory'])}, its "
        f"algorithm's exact α is {words.number(here['book'])}: theory is loose here by "
        f"×{words.number(here['theory'] / here['book'])}. {NAMES[best]} gains another "
        f"×{words.number(here['book'] / here[best])}."
    )
    figure = tradeoff(
        frame,
        x="epsilon",
        x_title=EPSILON_TITLE,
        scale=scale,
        names=NAMES,
        colour=colours(list(NAMES), session.dark()),
        main=best,
        chosen=view.epsilon,
        dark=session.dark(),
        log_y=True,
    )
    alt = describe_at(frame, NAMES, scale, "epsilon", view.epsilon, f"ε = {words.number(view.epsilon)}")
    picture(figure, key="thresholding-alpha", alt=alt, data=frame, mark=view.mark)


def goes_wrong(epsilon: float) -> None:
    """A broken variant, the attacker's odds against it, and against the right mechanism."""
    variants = broken_catalog()
    left, right = st.columns([2, 1])
    name = left.selectbox(
        "A version that is often written", list(variants), format_func=lambda key: variants[key].label, key="broken"
    )
    variant = variants[name]
    size = right.number_input(variant.size_word.capitalize(), min_value=1, max_value=200, value=4, key="broken_size")
    levels = np.geomspace(session.EPSILON_LOW, session.EPSILON_HIGH, 31)

    def make() -> list[FloatArray]:
        verdicts = [variant.verdict(float(level), int(size)) for level in levels]
        return [np.array([getattr(v, part) for v in verdicts]) for part in ("promised_odds", "right_odds", "odds")]

    promised, honest, broken = compute.cached(("broken", name, int(size)), make)
    now = compute.cached(("broken", name, int(size), epsilon), lambda: variant.verdict(epsilon, int(size)))
    st.markdown(f"**{variant.label}.** {variant.fault} ({variant.source})")
    told = "without limit" if np.isinf(now.realised) else f"ε = {words.number(now.realised)}"
    st.markdown(
        f"It claims ε = {words.number(epsilon)}, which promises that an attacker is right at most "
        f"{words.number(100 * now.promised_odds)} times in 100. Against this version the attacker is right "
        f"**{words.number(100 * now.odds)} times in 100**; what it really gives away is {told}."
    )
    picture(
        odds(levels, promised, honest, broken, dark=session.dark()),
        key="thresholding-broken",
        alt=f"Attacker's odds against “{variant.label}”: {words.number(100 * now.odds)} in 100 at the chosen ε.",
    )


def instead(problem: AlarmProblem, epsilon: float, one_way: bool) -> None:
    """When all questions are known in advance, selecting needs less."""
    k = problem.answers.size
    margins = compute.cached(
        ("instead", k, epsilon, problem.beta, problem.sensitivity, one_way),
        lambda: select_instead(k, epsilon, problem.beta, sensitivity=problem.sensitivity, monotonic=one_way),
    )
    st.markdown(
        f"If all {k:,} questions are known in advance and one name is enough, **select instead**. To find the one "
        f"answer that stands out, {words.number(100 * (1 - problem.beta))} times in 100, it must lead by "
        f"**{words.number(margins['permute_and_flip'])}** when selecting, by {words.number(margins['best'])} with the "
        f"best alarm, and by {words.number(margins['book'])} with the textbook's."
    )
    st.page_link("app_pages/selection.py", label="Open Selection with the same data", icon=":material/arrow_forward:")
