"""Which questions a declared table can answer, and with which columns."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from dpcore.datasets.entry import Question
from dpcore.datasets.headings import names_someone
from dpcore.datasets.schema import Column, Schema
from dpcore.datasets.text import within
from dpcore.errors import InvalidArgument

_TIME = re.compile(
    r"(?:^|[\W_])(?:year|yr|quarter|month|week|day|hour|date|round|step|period|time|t|jahr|monat|woche|tag)$", re.I
)
_NUMBERED = re.compile(r"(?:^|[\W_])(?:obs|observation|row|index|serial|no|nr)\.?$", re.I)
_HAPPENED = re.compile(
    r"(?:^|[\W_])(?:actual|observed|outcome|happened|truth|true value|realised|realized|result)", re.I
)

# Forms of questions, the one that most people with such a table come with first.
_FITS = (
    *("forecasts", "scores", "most_common", "series", "quantile", "days", "values", "groups"),
    *("classify", "rule", "regress"),
)
_TOGETHER = ("features", "experts")


@dataclass(frozen=True, slots=True, kw_only=True)
class Suited:
    """One way in which a table suits a question.

    ``kind`` names the form of the question on its page, ``columns`` the columns for each of its roles, as
    (role, names) pairs with the most fitting name first. ``lacking`` says in one sentence what must still be declared
    before a private answer can be given ("" when nothing); looking at what-if curves never needs it. ``asks`` names
    the roles that only the person can fill: a page asks for them and takes the first name only as a proposal.
    """

    question: Question
    kind: str
    sentence: str
    columns: tuple[tuple[str, tuple[str, ...]], ...]
    lacking: str = ""
    asks: tuple[str, ...] = ()

    @property
    def fit(self) -> int:
        """How well the question suits such a table, 0 best: of all that can be asked the best is offered first."""
        return _FITS.index(self.kind)

    @property
    def others(self) -> tuple[str, ...]:
        """Columns that take part beside the leading one: what is predicted from, or whose forecasts are compared."""
        lead = self.columns[0][1][0]
        return tuple(name for role, names in self.columns if role in _TOGETHER for name in names if name != lead)

    @property
    def least(self) -> int:
        """How many of ``others`` it cannot do without."""
        return 0 if not self.others else 2 if self.kind == "forecasts" else 1

    def choices(self, role: str) -> tuple[str, ...]:
        """The names that can take a role. Raises InvalidArgument."""
        for known, names in self.columns:
            if known == role:
                return names
        raise InvalidArgument("role", "must be one of this question's roles")


def questions_for(schema: Schema) -> tuple[Suited, ...]:
    """Every question the declared columns suit, by page and then the simplest form first; empty when there is none."""
    found = {"record": _records, "option": _options, "step": _steps}[schema.each_row](schema)
    return tuple(
        sorted(found, key=lambda suited: ("selection", "thresholding", "experts", "training").index(suited.question))
    )


def _records(schema: Schema) -> list[Suited]:
    words = tuple(column for column in schema.of_type("category", "yes/no") if not names_someone(column.name))
    numeric = _numeric(schema)
    found: list[Suited] = []
    if words:
        found.append(_suited("selection", "most_common", "Which {} is most common", schema, column=_names(words)))
        found.append(
            _suited(
                "thresholding",
                "groups",
                "Has any {} passed a number of rows",
                schema,
                group=_names(words),
                condition=_names(schema.of_type("yes/no")),
            )
        )
    if numeric:
        found.append(_suited("selection", "quantile", "What is the median of {}", schema, column=_names(numeric)))
    if dated := schema.of_type("date"):
        found.append(
            _suited("thresholding", "days", "Has any day passed a number of rows, by {}", schema, date=_names(dated))
        )
    labels = _labels(words)
    for label in labels[:1]:
        features = tuple(name for name in _names((*numeric, *words)) if name != label)
        if features:
            found.append(
                _suited("selection", "rule", "Which simple rule predicts {}", schema, label=labels, features=features)
            )
            found.append(
                _suited("training", "classify", "Can {} be predicted", schema, label=labels, features=features)
            )
    if len(numeric) >= 2:
        names = _names(numeric)
        found.append(_suited("training", "regress", "Can {} be estimated", schema, target=names, features=names))
    return found


def _options(schema: Schema) -> list[Suited]:
    named = (*schema.of_type("category"), *schema.of_type("text"))
    # first what an answer would call the options by: those that were declared, else texts
    options = _names(sorted(named, key=lambda one: one.type == "category" and not one.releasable))
    scores = sorted(schema.of_type("number", "integer"), key=lambda column: column.sensitivity is None)
    if not options or not scores:
        return []
    best = "has the smallest" if scores[0].better == "lower" else "has the largest"
    # within declared bounds one person can move a score by their whole range at most, so that they suffice
    lacking = "" if scores[0].releasable else f"Declare the bounds of {scores[0].name} before a private answer."
    return [
        Suited(
            question="selection",
            kind="scores",
            sentence=within(f"Which {{}} {best} {{}}.", options[0], scores[0].name),
            columns=(("option", options), ("score", _names(scores))),
            lacking=lacking,
        )
    ]


def _steps(schema: Schema) -> list[Suited]:
    numeric = _numeric(schema)
    found: list[Suited] = []
    if numeric:
        found.append(_suited("thresholding", "series", "Has {} passed a threshold", schema, value=_names(numeric)))
    outcomes = _outcomes(schema, numeric)
    forecasters = tuple(column for column in numeric if column not in outcomes[:1])
    if outcomes and len(forecasters) >= 2:
        forecasts = _suited(
            "experts", "forecasts", "Whose forecasts of {} to follow", schema,
            outcome=_names((*outcomes, *(column for column in numeric if column not in outcomes))),
            experts=_names(forecasters),
        )  # fmt: skip
        found.append(replace(forecasts, asks=("outcome",)))
    elif len(numeric) >= 2:
        found.append(_suited("experts", "values", "Which column to follow over time", schema, experts=_names(numeric)))
    return found


def _outcomes(schema: Schema, numeric: tuple[Column, ...]) -> tuple[Column, ...]:
    """Columns that may hold what happened: yes/no beside possible chances, or a number whose name says so."""
    chances = [column for column in numeric if (column.low, column.high) in ((0, 1), (None, None))]
    said = tuple(column for column in numeric if _HAPPENED.search(column.name))
    return (*schema.of_type("yes/no"), *said) if len(chances) >= 2 else said


def _numeric(schema: Schema) -> tuple[Column, ...]:
    """Columns of numbers, those that count years, days or rows last: they say when or which, not how much."""
    found = [column for column in schema.of_type("number", "integer") if not names_someone(column.name)]
    return tuple(sorted(found, key=lambda one: counts_time(one.name) or _NUMBERED.search(one.name) is not None))


def counts_time(name: str) -> bool:
    """Whether a column's name says that its whole numbers count time: years, days, rounds."""
    return _TIME.search(name) is not None


def _suited(question: Question, kind: str, sentence: str, schema: Schema, **roles: tuple[str, ...]) -> Suited:
    leading = next(iter(roles.values()))
    used = [schema.column(name) for names in roles.values() for name in names[:1]]
    open_ = [column.name for column in used if not column.releasable]
    lacking = f"Declare bounds or categories of {', '.join(open_)} before a private answer." if open_ else ""
    return Suited(
        question=question,
        kind=kind,
        sentence=within(sentence, leading[0]) + ".",
        columns=tuple(roles.items()),
        lacking=lacking,
    )


def _names(columns: tuple[Column, ...] | list[Column]) -> tuple[str, ...]:
    return tuple(column.name for column in columns)


def _labels(words: tuple[Column, ...]) -> tuple[str, ...]:
    """What can be predicted: two values first, then any category ("is it this one?")."""
    two = [column for column in words if column.type == "yes/no" or len(column.categories) == 2]
    return _names([*two, *(column for column in words if column not in two)])
