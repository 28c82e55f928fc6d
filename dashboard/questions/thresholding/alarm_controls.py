"""What can be set about a private alarm: the line, the method, the measure, and what is asked for."""

from __future__ import annotations

from dashboard import usual
from dashboard.case import Case
from dashboard.charts.tradeoff import Scale
from dashboard.controls import Choice, Number, Switch, slug
from dashboard.questions.thresholding.watched import Series, Watched, first_line, own_line
from dashboard.words import alarm as said
from dpcore.thresholding.alarm_problem import ABOUT_THEORY, METRICS, THEORY
from dpcore.thresholding.ways import catalog

METHODS = catalog()
NAMES = {key: way.about.name for key, way in METHODS.items()} | {THEORY: ABOUT_THEORY.name}
SCALES = {
    key: Scale(title=metric.title, factor=metric.factor, unit=metric.unit, hundred=metric.share)
    for key, metric in METRICS.items()
}
FAR_LINE = 1e12
ON_TIME = "on_time"


def line(case: Case, watched: Watched, series: Series) -> Number:
    """The line: for a sample one that shows something, for a person's own data one from declared facts alone."""
    default = first_line(series) if case.source.public else own_line(case.table.schema, watched)
    return Number(
        key=slug("line", case.source.key, watched.code),
        label=said.LINE,
        help=said.LINE_HELP,
        default=default,
        low=-FAR_LINE,
        high=FAR_LINE,
        step=max(float(f"{abs(default) / 20:.1g}"), 1e-6),
        hide_label=True,
        width=130,
        linked=case.source.public,
    )


def settled(case: Case, watched: Watched) -> Switch:
    """Whether a person keeps the line that their own data began with."""
    return Switch(key=slug("line-settled", case.source.key, watched.code), label=said.LINE, default=False, linked=False)


def metric() -> Choice[str]:
    return usual.measure("alarm_metric", {key: metric.name for key, metric in METRICS.items()})


def method(one_way: bool) -> Choice[str]:
    about = {key: way.about for key, way in METHODS.items() if one_way or not way.monotonic}
    if one_way:
        return usual.method("alarm_method", about, tuple(about)[-1])
    return usual.method("alarm_method_general", about, "exponential")


def limit() -> Number:
    return Number(key="alarms", label=said.LIMIT, help=said.LIMIT_HELP, default=1.0, low=1.0, high=20.0, whole=True)


def late_by(series: Series) -> Number:
    """How long an alarm is still on time; only where entries follow each other in time is there such a while."""
    default = 3.0 if series.timed else 0.0
    return Number(key="late_by", label=said.late_label(series.step), default=default, low=0.0, high=200.0, whole=True)


def goal(metric: str) -> str:
    """What can be asked for: small ε exchanges missed alarms for false ones, so neither alone can be a goal."""
    return "alpha" if metric == "alpha" else ON_TIME


def need(metric: str, unit: str) -> Number:
    if goal(metric) == "alpha":
        label = f"{said.NEED_ALPHA_LABEL} {unit}"
        return Number(key="thresholding_alpha", label=label, help=said.NEED_HELP, default=10.0, low=0.001, high=1e9)
    return Number(
        key="thresholding_on_time", label=said.NEED_ON_TIME, help=said.NEED_HELP, default=95.0, low=0.001, high=99.9
    )
