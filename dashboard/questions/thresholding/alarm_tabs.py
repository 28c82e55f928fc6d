"""The pictures of a private alarm: where it falls, one run, What if, the theorem's α, and what to do instead."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from dashboard import words
from dashboard.blocks import Ask, Block, Click, Formula, Go, Keep, Picture, Text, Undo
from dashboard.charts.alarms import RunWords, run, shown_steps, stopping
from dashboard.charts.theme import EPSILON_TITLE, Figure, colours
from dashboard.charts.tradeoff import Scale, tradeoff
from dashboard.questions.thresholding import accuracy, one_person
from dashboard.questions.thresholding import alarm_controls as controls
from dashboard.questions.thresholding.alarm_controls import METHODS, NAMES, ON_TIME
from dashboard.questions.thresholding.alarm_setting import Setting
from dashboard.view import EPSILON_HIGH, EPSILON_LOW, View, describe_at
from dashboard.words import alarm as said
from dpcore.errors import InvalidArgument
from dpcore.grid import nearest
from dpcore.thresholding import select_instead
from dpcore.thresholding.alarm_problem import THEORY, AlarmProblem
from dpcore.tradeoff import sweep_epsilon


def when(setting: Setting, chances: Mapping[str, float]) -> Picture:
    """The series and its line, and where the alarm falls."""
    series, edited = setting.series, setting.edited
    law = setting.law()
    (start, end), names = edited.window, words.labels(series.names)
    shown = {key: said.legend(key, chance) for key, chance in chances.items()}
    if edited.crossing is not None:
        shown[ON_TIME] = said.legend(ON_TIME, chances[ON_TIME], said.window(series, start, end - 1))

    def figure(dark: bool) -> Figure:
        return stopping(
            names,
            edited.answers,
            setting.shown,
            law,
            (start, end),
            unit=words.html(series.unit),
            line=said.line_label(setting.shown),
            axis=said.when_axis(edited.limit),
            endings={key: words.html(text, len(text)) for key, text in shown.items()},
            dark=dark,
        )

    looked = setting.case.source.mode == "what_if"
    values = [float(value) for value in series.answers]
    return Picture(
        key="thresholding-when",
        figure=figure,
        alt=said.when_alt(series.names, law.tolist(), chances),
        data=lambda: pd.DataFrame(
            {
                "query": [*series.names, "never"],
                "answer": [*edited.answers.tolist(), None],
                "alarm here": law,
            }
        ),
        note=said.when_note(setting.named, looked, setting.on_time["book"], _best(setting)),
        click=Click(key=setting.line.key, values=[nearest(value) for value in values] if looked else values),
    )


def _best(setting: Setting) -> str | None:
    """The name of the method that is oftenest on time here, where it is not the one in use."""
    found = setting.on_time
    best = max(found, key=found.__getitem__)
    return None if found[best] <= found[setting.main] + 5e-4 else NAMES[best]


def how(setting: Setting) -> Sequence[Block]:
    """One run of the method in use, why its line lies where it does, one formula, and its source."""
    series, edited, about = setting.series, setting.edited, METHODS[setting.main].about
    mechanism = edited.mechanism(setting.main, setting.epsilon)
    pair, rng = mechanism.scales, np.random.Generator(np.random.PCG64(setting.seed))
    trace = mechanism.trace(edited.answers, setting.shown, rng)
    rang = [int(place) for place in trace.alarms]
    names = [series.names[place] for place in rang]
    spread = pair.threshold_scale * (1.0 if pair.one_sided else float(np.sqrt(2.0)))
    middle = setting.shown + mechanism.offset + (pair.threshold_scale if pair.one_sided else 0.0)
    asked, size = shown_steps(trace), edited.answers.size
    drawn = RunWords(
        chosen=said.chosen_line(setting.shown),
        noisy=said.noisy_line(trace.noisy_threshold),
        true=said.TRUE,
        compared=said.COMPARED,
        alarm=said.RANG,
        steps=[said.run_step(count, size, series.step, count - 1 in rang) for count in asked],
        hover_true=said.TRUE_HERE,
        hover_noisy=said.NOISY_HERE,
    )
    return [
        Text(said.method_in_use(about, mechanism.about)),
        Picture(
            key="thresholding-run",
            figure=lambda dark: run(
                words.labels(series.names),
                edited.answers,
                setting.shown,
                (middle - spread, middle + spread),
                trace,
                drawn,
                unit=words.html(series.unit),
                dark=dark,
            ),
            alt=said.run_alt(names, setting.shown, trace.noisy_threshold),
            note=said.run_note(bool(rang), names, edited.answers[rang].tolist(), series.unit),
        ),
        Text(
            said.why_there(
                line=setting.shown,
                noisy=trace.noisy_threshold,
                lift=mechanism.offset,
                noise=trace.noisy_threshold - setting.shown - mechanism.offset,
                spread=pair.query_scale * (1.0 if pair.one_sided else float(np.sqrt(2.0))),
                entries=size,
                unit=series.unit,
                step=series.step,
            )
        ),
        Formula(
            latex=about.formula or mechanism.about.formula,
            source=said.source(pair.threshold_scale, pair.query_scale, about.source),
        ),
    ]


def what_if(setting: Setting, view: View, chances: Mapping[str, float]) -> Sequence[Block]:
    """More or fewer people, a longer or shorter watch, and scenarios."""
    goal = controls.goal(setting.metric)
    least = view.needed(goal, setting.target).epsilon
    found = setting.case.memo(
        (*setting.identity, "longer", setting.times, setting.main, setting.epsilon),
        lambda: _longer(setting.edited, setting.main, setting.epsilon),
    )
    here = (setting.edited.answers.size, chances[ON_TIME])
    shown = [here if one[0] == here[0] else one for one in found][:: max(1, len(found) // 5)]
    return [
        Text(said.what_if(setting.changed, setting.shown)),
        Ask((setting.factor,)),
        Undo(label=said.BACK, controls=(setting.factor,), enabled=setting.changed),
        *([Text(said.longer(shown, setting.series.step))] if len(found) > 1 else []),
        Keep(
            current=(
                ("ε", words.number(setting.epsilon)),
                ("people", words.whole(setting.edited.n)),
                ("line", words.number(setting.shown)),
                ("alarms", str(setting.edited.limit)),
                ("on time in 100", words.number(100 * chances[ON_TIME])),
                ("ε needed", "none" if least is None else words.number(least)),
            )
        ),
    ]


def alpha(setting: Setting, view: View) -> Sequence[Block]:
    """The theorem's α, the textbook's exact one, and the best method's, on one chart."""
    problem, scale = setting.edited, Scale(title=said.ALPHA_TITLE)
    methods = list(problem.methods)
    levels = np.geomspace(EPSILON_LOW, EPSILON_HIGH, 51)
    frame = setting.case.memo(
        (*setting.identity, "alpha", setting.times),
        lambda: sweep_epsilon(problem.central, levels, methods=methods, metrics=["alpha"]),
    )
    here = {method: view.at(method, "alpha") for method in methods}
    best = min((method for method in methods if method != THEORY), key=here.__getitem__)
    return [
        Text(said.alpha(problem.beta, setting.epsilon, here, best, NAMES[best], setting.series.unit)),
        Picture(
            key="thresholding-alpha",
            figure=lambda dark: tradeoff(
                frame,
                x="epsilon",
                x_title=EPSILON_TITLE,
                scale=scale,
                names=NAMES,
                colour=colours(list(NAMES), dark),
                main=setting.main,
                chosen=setting.epsilon,
                dark=dark,
                log_y=True,
            ),
            alt=describe_at(frame, NAMES, scale, "epsilon", setting.epsilon, f"ε = {words.number(setting.epsilon)}"),
            data=frame,
        ),
        *accuracy.split(setting.case, setting.series, setting.first_alarm, problem.beta),
    ]


def theory(setting: Setting) -> Sequence[Block]:
    """α against the number of answers up to 10⁹: the theorem's, and the exact ones."""
    return accuracy.theory(
        setting.case,
        setting.series,
        setting.first_alarm,
        setting.epsilon,
        setting.as_is.beta,
        NAMES["book"],
        NAMES[setting.main],
    )


def two_worlds(setting: Setting) -> Sequence[Block]:
    """Two worlds that differ in one person, and the proof between them."""
    answers, line = setting.as_is.answers, setting.as_is.met
    name = (setting.watched, setting.main)
    return one_person.blocks(
        setting.case, setting.read, setting.series, setting.first_alarm, answers, line, setting.seed, name
    )


def instead(setting: Setting) -> Sequence[Block]:
    """When all questions are known in advance, selecting needs less."""
    asked, size = setting.as_is, setting.as_is.answers.size
    margins = setting.case.memo(
        (*setting.identity, "instead", setting.epsilon),
        lambda: select_instead(
            size, setting.epsilon, asked.beta, sensitivity=asked.sensitivity, monotonic=asked.monotonic
        ),
    )
    return [
        Text(said.instead(size, asked.beta, margins, setting.series.unit, setting.series.step)),
        Go(page="selection", label=said.SELECT),
    ]


def _longer(problem: AlarmProblem, main: str, epsilon: float) -> list[tuple[int, float]]:
    """How the answer depends on how long one watches before the line is reached."""
    usual = np.unique(np.geomspace(max(problem.limit, 5), 2000, 9).astype(int)).tolist()
    at, found = (np.array([epsilon]), np.array([float(problem.n)])), []
    for count in sorted({*usual, problem.answers.size}):
        try:
            stretched = problem.watched_for(int(count))
        except InvalidArgument:
            continue
        if stretched.crossing is not None or problem.crossing is None:
            found.append((int(count), float(stretched.central.evaluate(main, ON_TIME, *at).value[0])))
    return found
