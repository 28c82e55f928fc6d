"""The way to a page with its columns already chosen: which of its controls to set for a question."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from dashboard import words
from dpcore.datasets import Question, Schema, Suited


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """One control of a page set in advance: its key, the value, and how the value is written in the link, if it is."""

    key: str
    value: str
    label: str | None


def route(suited: Suited, data: str) -> list[Choice]:
    """The controls to set for one question about the data called ``data``; none where its page chooses by itself."""
    find = _ROUTES.get((suited.question, suited.kind))
    return [] if find is None else find(suited, data)


def possible(suited: Suited, schema: Schema) -> bool:
    """Whether the question's page can take its leading column; what is not declared yet does not count against it."""
    role, names = suited.columns[0]
    column = schema.column(names[0])
    if suited.kind == "rule":
        return column.type == "yes/no" or len(column.categories) in (0, 2)
    if role == "group":
        return column.type == "category"
    return True


def _named(key: str, value: str) -> Choice:
    return Choice(key=key, value=value, label=words.visible(value))


def _selection(question: str, role: str, key: str) -> Callable[[Suited, str], list[Choice]]:
    return lambda suited, data: [_named("question", question), _named(key, suited.choices(role)[0])]


def _series(kind: str, role: str) -> Callable[[Suited, str], list[Choice]]:
    def find(suited: Suited, data: str) -> list[Choice]:
        name = suited.choices(role)[0]
        shown = words.visible(name)
        return [
            Choice(key="series", value=f"{kind}:{name}", label=f"rows per {shown}" if kind == "rows" else shown),
        ]

    return find


def counted(group: str, condition: str) -> list[Choice]:
    """Thresholding over the rows of each group where a condition holds."""
    label = f"“yes” in {words.visible(condition)} per {words.visible(group)}"
    return [Choice(key="series", value=f"yes:{group}:{condition}", label=label)]


def _experts(suited: Suited, data: str) -> list[Choice]:
    choices = [_named("experts_question", "Whom to follow")]
    if suited.kind == "forecasts":
        outcome = suited.choices("outcome")[0]
        choices.append(Choice(key=f"experts_outcome-{data}", value=outcome, label=None))
    return choices


def _training(role: str) -> Callable[[Suited, str], list[Choice]]:
    return lambda suited, data: [_named("training_target", suited.choices(role)[0])]


_ROUTES: Mapping[tuple[Question, str], Callable[[Suited, str], list[Choice]]] = {
    ("selection", "most_common"): _selection("Most common or best", "column", "column"),
    ("selection", "scores"): _selection("Most common or best", "score", "column"),
    ("selection", "quantile"): _selection("Median or quantile", "column", "quantile_column"),
    ("selection", "rule"): _selection("Best simple rule", "label", "rule_target"),
    ("thresholding", "groups"): _series("rows", "group"),
    ("thresholding", "days"): _series("rows", "date"),
    ("thresholding", "series"): _series("column", "value"),
    ("experts", "forecasts"): _experts,
    ("experts", "values"): _experts,
    ("training", "classify"): _training("label"),
    ("training", "regress"): _training("target"),
}
