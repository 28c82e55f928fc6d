"""Where the losses come from: a table's columns as losses, forecasts or prices, or a simulated story."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import streamlit as st

from dashboard import words
from dashboard.data.source import Source
from dashboard.widgets import inputs as controls
from dpcore.datasets import Schema, Table
from dpcore.experts import STORIES, ExpertLosses, Scenario, from_forecasts, from_losses, from_prices
from dpcore.validate import FloatArray

KINDS = {
    "losses": "what each expert lost",
    "squared": "forecasts, judged by the squared miss",
    "absolute": "forecasts, judged by the miss",
    "zero_one": "forecasts, right or wrong",
    "prices": "prices to hold from one row to the next",
}
PRICE_MOVE = 0.15
LONGEST_NAME = 30
MOST_EXPERTS = 1000
FEWEST_ROUNDS = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """Which columns are the experts, what they hold (of ``KINDS``) and the column of what then happened."""

    columns: tuple[str, ...]
    kind: str
    outcome: str | None

    @property
    def needed(self) -> tuple[str, ...]:
        """Every column that is read."""
        return self.columns if self.outcome is None else (*self.columns, self.outcome)

    @property
    def names(self) -> tuple[str, ...]:
        """The experts' names as they are shown and released; all different."""
        shown = [words.visible(name, LONGEST_NAME) for name in self.columns]
        return tuple(name if shown.count(name) == 1 else f"{place + 1}. {name}" for place, name in enumerate(shown))

    def rounds(self, table: Table) -> int:
        """How many rounds a table has: its rows, or for prices the steps between them."""
        return table.rows - (1 if self.kind == "prices" else 0)

    def bounds(self, schema: Schema) -> tuple[float, float]:
        """The widest declared bounds of the experts' columns."""
        columns = [schema.column(name) for name in self.columns]
        low = min((float(column.low or 0.0) for column in columns), default=0.0)
        high = max((1.0 if column.high is None else float(column.high) for column in columns), default=1.0)
        return low, high

    def meaning(self, schema: Schema) -> str:
        """What a loss is, in a few words with all that it depends on: part of a released question."""
        if self.kind == "prices":
            return f"gains from one row to the next, up to {PRICE_MOVE:.0%} either way"
        low, high = self.bounds(schema)
        about = KINDS[self.kind] if self.outcome is None else f"{KINDS[self.kind]}, of {words.visible(self.outcome)}"
        return f"{about}, from {low:g} to {high:g}"

    def losses(self, table: Table) -> ExpertLosses:
        """The losses by the bounds that ``table`` declares. Raises InvalidArgument."""
        low, high = self.bounds(table.schema)
        values = table.frame[list(self.columns)].to_numpy(np.float64, na_value=np.nan)
        if self.kind == "prices":
            return from_prices(values, self.names, -PRICE_MOVE, PRICE_MOVE)
        if self.outcome is None:
            return from_losses(values, self.names, low, high, clip=True)
        return from_forecasts(values, _happened(table, self.outcome), self.names, low, high, kind=self.kind, clip=True)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Setting:
    """Losses with their names, the cache key of how they came about, and the scenario when they are simulated.

    ``reading`` says how they were made from a table's columns.
    """

    losses: ExpertLosses
    key: tuple[object, ...]
    what: str
    scenario: Scenario | None = None
    reading: Reading | None = None

    @property
    def simulated(self) -> bool:
        return self.scenario is not None


def numeric(table: Table) -> list[str]:
    """Columns that can be experts: numbers with declared bounds."""
    return [column.name for column in table.schema.columns if column.is_numeric and column.bounded]


def outcomes(table: Table) -> list[str]:
    """Columns that can be what happened."""
    return [column.name for column in table.schema.columns if column.type == "yes/no" or column.is_numeric]


def suits(table: Table) -> bool:
    """Whether rows are steps in time and there are at least two experts."""
    return table.schema.each_row == "step" and len(numeric(table)) >= 2


def choose(source: Source) -> Setting:
    """The controls of the data, inside a popover, and what they give. Raises InvalidArgument with one sentence."""
    table = source.table
    stories = {f"story:{key}": f"simulated: {story.label.lower()}" for key, story in STORIES.items()}
    offered = ({"table": "the experts of these data"} if len(numeric(table)) >= 2 else {}) | stories
    own = source.mode != "demo" and "table" in offered
    first = "table" if own or suits(table) else "story:gap"
    picked = st.selectbox(
        "What to follow",
        list(offered),
        index=list(offered).index(first),
        key=f"experts_of-{source.key}",
        persist_state="session",
        format_func=offered.__getitem__,
    )
    if picked != "table":
        return _story(str(picked).partition(":")[2])
    return _table(source)


def _story(story: str) -> Setting:
    st.caption(STORIES[story].about)
    left, right = st.columns(2)
    experts = int(left.number_input("Experts", 2, MOST_EXPERTS, 10, key="experts_count", bind="query-params") or 10)
    days = right.number_input("Days", FEWEST_ROUNDS, 100_000, 1000, key="experts_days", bind="query-params")
    gap = float(
        st.slider("How much better the good one is", 0.0, 0.5, 0.15, 0.01, key="experts_gap", bind="query-params")
    )
    rounds = min(int(days or 1000), 10**7 // experts)
    scenario = Scenario(
        story=story, experts=experts, gap=gap, period=max(2, rounds // 10), seed=controls.current_seed()
    )
    values = scenario.losses(rounds)
    names = tuple(f"Expert {i + 1}" for i in range(experts))
    losses = ExpertLosses(values=values, names=names, meaning="1 on a day the expert was wrong")
    what = f"{experts} simulated experts over {rounds:,} days"
    return Setting(losses=losses, key=("story", scenario, rounds), scenario=scenario, what=what)


def _table(source: Source) -> Setting:
    table = source.table
    columns = numeric(table)
    binary = [column.name for column in table.schema.of_type("yes/no")]
    prices = all("price" in table.schema.column(name).unit for name in columns)
    kind = str(
        st.selectbox(
            "What the columns hold",
            list(KINDS),
            index=list(KINDS).index("prices" if prices else "squared" if binary else "losses"),
            key=f"experts_kind-{source.key}",
            persist_state="session",
            format_func=KINDS.__getitem__,
        )
    )
    forecast = kind in ("squared", "absolute", "zero_one")
    outcome = None
    if forecast:
        candidates = binary + [name for name in outcomes(table) if name not in binary]
        outcome = str(
            st.selectbox(
                "What then happened", candidates, key=f"experts_outcome-{source.key}", format_func=words.visible
            )
        )
    chosen = st.multiselect(
        "Experts",
        [name for name in columns if name != outcome],
        default=[name for name in columns if name != outcome][:50],
        key=f"experts_columns-{source.key}-{outcome}",
        format_func=words.visible,
    )
    reading = Reading(columns=tuple(chosen), kind=kind, outcome=outcome)
    low, high = reading.bounds(table.schema)
    st.caption(
        f"A loss of 0 is best and 1 worst, by the declared bounds {words.number(low)} to {words.number(high)}."
        if kind != "prices"
        else f"A loss of 0 is a gain of {PRICE_MOVE:.0%} between two rows, 1 a fall by as much; more counts as that."
    )
    losses = reading.losses(table)
    return Setting(
        losses=losses,
        key=("table", table.fingerprint, reading),
        what=f"{losses.experts} experts over {losses.rounds:,} {table.schema.unit}s",
        reading=reading,
    )


def _happened(table: Table, outcome: str) -> FloatArray:
    if table.schema.column(outcome).type == "yes/no":
        codes = table.codes(outcome).astype(np.float64)
        return np.where(codes < 0, np.nan, codes)
    return table.frame[outcome].to_numpy(np.float64, na_value=np.nan)
