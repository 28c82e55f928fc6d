"""Who can be followed, and where their losses come from: the columns of a table, or a simulated story."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dashboard import words
from dashboard.case import Case
from dashboard.controls import Choice, Control, Group, Number, Read, Several, slug
from dashboard.question import CannotAsk
from dashboard.usual import SEED
from dashboard.words import follow as said
from dashboard.words import page as page_words
from dpcore.datasets import Schema, Table
from dpcore.errors import InvalidArgument
from dpcore.experts import STORIES, ExpertLosses, Scenario
from dpcore.experts.scenarios import ZeroOne
from dpcore.releases.plays import KINDS, Kind, losses_of
from dpcore.validate import FloatArray

COLUMNS = "table"
"""What to follow when it is columns of the data in use; the other choices are the keys of ``STORIES``."""
FORECASTS = ("squared", "absolute", "zero_one")
PRICE_MOVE = 0.15
LONGEST_NAME = 30
MOST_EXPERTS, MOST_SHOWN = 1000, 50
FEWEST_ROUNDS, MOST_ROUNDS = 10, 100_000
MOST_LOSSES, MOST_NUMBERS = 10**7, 2 * 10**7
"""Losses of a story, in a byte each, and of columns, in eight: what a chart works with."""

EXPERTS = Number(key="experts_count", label=said.EXPERTS, default=10.0, low=2.0, high=float(MOST_EXPERTS), whole=True)
ROUNDS = Number(
    key="experts_days",
    label=said.DAYS,
    default=1000.0,
    low=float(FEWEST_ROUNDS),
    high=float(MOST_ROUNDS),
    whole=True,
)
GAP = Number(key="experts_gap", label=said.GAP, help=said.GAP_HELP, default=0.15, low=0.0, high=0.5, step=0.01)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """Which columns are the experts, what they hold and the column of what then happened."""

    columns: tuple[str, ...]
    kind: Kind
    outcome: str | None

    @property
    def needed(self) -> tuple[str, ...]:
        """Every column that is read."""
        return self.columns if self.outcome is None else (*self.columns, self.outcome)

    @property
    def names(self) -> tuple[str, ...]:
        """The experts' names as they are shown; all different."""
        return tuple(words.shortened(self.columns, LONGEST_NAME))

    def rounds(self, rows: int) -> int:
        """How many rounds that many rows make: as many, or for prices the steps between them."""
        return rows - (1 if self.kind == "prices" else 0)

    def bounds(self, schema: Schema) -> tuple[float, float]:
        """The widest declared bounds of the experts' columns."""
        columns = [schema.column(name) for name in self.columns]
        low = min((float(column.low or 0.0) for column in columns), default=0.0)
        high = max((1.0 if column.high is None else float(column.high) for column in columns), default=1.0)
        return low, high

    def losses(self, table: Table) -> ExpertLosses:
        """The losses as a release reads them, by the bounds that ``table`` declares. Raises InvalidArgument."""
        if len(self.columns) < 2:
            raise InvalidArgument("experts", "must be at least two: with one there is nothing to choose")
        if self.rounds(table.rows) < 2:
            raise InvalidArgument("rows", "must make at least two rounds: with one there is nothing to learn from")
        low, high = self.bounds(table.schema)
        happened = None if self.outcome is None else _happened(table, self.outcome)
        values = np.empty((self.rounds(table.rows), len(self.columns)))
        for place, name in enumerate(
            self.columns
        ):  # one by one: all values beside all losses are several times as much
            given = table.frame[name].to_numpy(np.float64, na_value=np.nan)
            values[:, place] = losses_of(given, self.kind, low=low, high=high, move=PRICE_MOVE, happened=happened)
        values.setflags(write=False)
        return ExpertLosses(values=values, names=self.names, meaning=said.meaning(self.kind, low, high, PRICE_MOVE))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Followed:
    """Experts with their losses. ``key`` names how they came about; ``unit`` is what a round is: a day, a week.

    ``scenario`` made them where they are simulated, ``reading`` where they are columns of a table. ``group`` holds the
    controls of it all; ``caution`` is a sentence for where the data in use were not meant for this.
    """

    losses: ExpertLosses
    key: tuple[Hashable, ...]
    unit: str
    group: Group
    scenario: Scenario | None = None
    reading: Reading | None = None
    caution: str = ""

    @property
    def name(self) -> str:
        """In a few letters, for the keys of controls that belong to these experts alone."""
        return COLUMNS if self.scenario is None else self.scenario.story

    @property
    def units(self) -> str:
        """The plural of ``unit``."""
        return words.many(self.unit)


def numeric(schema: Schema) -> list[str]:
    """Columns that can be experts: numbers with declared bounds."""
    return [column.name for column in schema.columns if column.is_numeric and column.bounded]


def suits(schema: Schema) -> bool:
    """Whether rows are steps in time and there are at least two experts."""
    return schema.each_row == "step" and len(numeric(schema)) >= 2


def followed(case: Case, read: Read) -> Followed:
    """Whom to follow, as it is set. Raises CannotAsk."""
    source, schema = case.source, case.table.schema
    columns = len(numeric(schema)) >= 2
    begins = source.public or not source.known or len(source.known.intersection(numeric(schema))) > 1
    meant = begins and (suits(schema) or (columns and source.mode != "demo"))
    what = Choice(
        key=slug("experts_of", source.key),
        label=said.WHAT,
        options=(*([COLUMNS] if columns else []), *STORIES),
        names=said.followed_names({key: story.label for key, story in STORIES.items()}),
        default=COLUMNS if meant else "gap",
        linked=source.public,
    )
    story = read(what, "sentence")
    if story == COLUMNS:
        return _columns(case, what, read)
    return _simulated(case, story, what, read, "" if meant else said.not_in_time(case.table.schema.unit))


def _simulated(case: Case, story: str, what: Control[str], read: Read, caution: str) -> Followed:
    experts, rounds = int(read(EXPERTS, "sentence")), int(read(ROUNDS, "sentence"))
    gap, seed = read(GAP, "sentence"), int(read(SEED))
    rounds = min(rounds, MOST_LOSSES // experts)
    scenario = Scenario(story=story, experts=experts, gap=gap, period=max(2, rounds // 10), seed=seed)
    values: Any = case.large(("story", scenario, rounds), lambda: _simulated_once(scenario, rounds))
    losses = ExpertLosses(
        values=values,
        names=tuple(said.expert(place + 1) for place in range(experts)),
        meaning=said.WRONG,
    )
    return Followed(
        losses=losses,
        key=("story", scenario, rounds),
        unit="day",
        scenario=scenario,
        group=Group(
            label=said.THESE, controls=(what, EXPERTS, ROUNDS, GAP), notes=(STORIES[story].about,), icon=said.GROUP_ICON
        ),
        caution=caution,
    )


def _simulated_once(scenario: Scenario, rounds: int) -> ZeroOne:
    """0 and 1 in single bytes, which every strategy takes as they are."""
    found = scenario.losses(rounds)
    found.setflags(write=False)
    return found


def _columns(case: Case, what: Control[str], read: Read) -> Followed:
    source, table = case.source, case.table
    schema = table.schema
    columns = numeric(schema)
    binary = [column.name for column in schema.of_type("yes/no")]
    begun = source.stated((*columns, *binary), least=2)
    answers = [name for name in binary if name in begun]
    prices = all("price" in schema.column(name).unit for name in source.stated(columns, least=2))
    kind: Choice[Kind] = Choice(
        key=slug("experts_kind", source.key),
        label=said.HOLD,
        options=tuple(KINDS),
        names=lambda one: said.KINDS[one],
        default="prices" if prices else "squared" if answers else "losses",
        linked=source.public,
    )
    held = read(kind, "sentence")
    controls: list[Control[Any]] = [what, kind]
    happened: str | None = None
    if held in FORECASTS:
        outcome: Choice[str | None] = Choice(
            key=slug("experts_outcome", source.key),
            label=said.HAPPENED,
            options=(None, *binary, *(name for name in _outcomes(schema) if name not in binary)),
            names=lambda name: said.NOT_CHOSEN if name is None else words.visible(name),
            default=answers[0] if len(answers) == 1 else None,
            linked=source.public,
        )
        happened = read(outcome, "sentence")
        controls.append(outcome)
    offered = tuple(name for name in columns if name != happened)
    experts = Several(
        key=slug("experts_columns", source.key, happened),
        label=said.EXPERTS,
        options=offered,
        names=words.visible,
        default=source.stated(offered, least=2)[:MOST_SHOWN],
        least=2,
        refusal=page_words.too_few(2),
        linked=source.public,
    )
    chosen = read(experts, "sentence")
    controls.append(experts)
    if held in FORECASTS and happened is None:
        raise CannotAsk(said.SAY_OUTCOME)
    reading = Reading(columns=chosen, kind=held, outcome=happened)
    rounds = table.rows if schema.each_row == "record" else case.lines  # of records the number may be private
    if rounds * len(chosen) > MOST_NUMBERS:
        raise CannotAsk(said.too_many_numbers(rounds, len(chosen), MOST_NUMBERS))
    try:
        losses = case.large(("losses", table.fingerprint, reading), lambda: reading.losses(table))
    except InvalidArgument as error:
        raise CannotAsk(said.cannot_follow(str(error))) from None
    note = said.price_scale(PRICE_MOVE) if held == "prices" else said.scale(*reading.bounds(schema))
    return Followed(
        losses=losses,
        key=("table", table.fingerprint, reading),
        unit=schema.unit,
        reading=reading,
        group=Group(label=said.THESE, controls=tuple(controls), notes=(note,), icon=said.GROUP_ICON),
    )


def _outcomes(schema: Schema) -> list[str]:
    """Columns that can be what happened."""
    return [column.name for column in schema.columns if column.type == "yes/no" or column.is_numeric]


def _happened(table: Table, outcome: str) -> FloatArray:
    if table.schema.column(outcome).type == "yes/no":
        codes = table.codes(outcome).astype(np.float64)
        return np.where(codes < 0, np.nan, codes)
    return np.asarray(table.frame[outcome].to_numpy(np.float64, na_value=np.nan))
