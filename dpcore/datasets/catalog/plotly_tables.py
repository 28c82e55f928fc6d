"""Tables that come with Plotly, read from its package without importing it."""

from __future__ import annotations

import gzip
from importlib.util import find_spec
from pathlib import Path

import pandas as pd

from dpcore.datasets.entry import Request, Sample
from dpcore.datasets.schema import Column, Schema
from dpcore.errors import UnavailableSample

_CONTINENTS = ("Africa", "Americas", "Asia", "Europe", "Oceania")
_FIRMS = ("GOOG", "AAPL", "AMZN", "FB", "NFLX", "MSFT")
_CANDIDATES = ("Coderre", "Bergeron", "Joly")


def _packaged(name: str) -> pd.DataFrame:
    """One of Plotly's files as text. The package is found, not imported: importing it changes global defaults."""
    spec = find_spec("plotly")
    if spec is None or spec.origin is None:
        raise UnavailableSample("This sample comes with Plotly, which is not installed here.")
    file = Path(spec.origin).parent / "package_data" / "datasets" / f"{name}.csv.gz"
    if not file.is_file():
        raise UnavailableSample(f"This version of Plotly does not bring the table {name}.")
    with gzip.open(file) as opened:
        return pd.read_csv(opened, dtype=str, keep_default_na=False, encoding="utf-8")


def _stocks(request: Request) -> pd.DataFrame:
    return _packaged("stocks")


def _election(request: Request) -> pd.DataFrame:
    return _packaged("election")


def _gapminder(request: Request) -> pd.DataFrame:
    """The countries in the last year of the table, so that each has one row."""
    frame = _packaged("gapminder")
    return frame[frame["year"] == "2007"].reset_index(drop=True)


SAMPLES = (
    Sample(
        key="gapminder",
        title="142 countries in 2007",
        about="One row per country: continent, life expectancy, population and income per head.",
        origin="Gapminder Foundation, gapminder.org, CC BY 4.0; the extract that comes with Plotly (MIT licence)",
        rows=142,
        simulated=False,
        rank=10,
        why=(
            ("selection", "Which continent has most countries, and what is the median life expectancy."),
            ("training", "How income and population go with life expectancy: a regression on very few rows."),
        ),
        asks=(("training", "regress", ("lifeExp",)),),
        schema=Schema(
            columns=(
                Column(name="continent", type="category", categories=_CONTINENTS),
                Column(name="lifeExp", type="number", low=0, high=100, unit="years", about="life expectancy at birth"),
                Column(name="gdpPercap", type="number", low=0, high=100_000, unit="dollars", about="income per head"),
                Column(name="pop", type="integer", low=0, high=2_000_000_000, unit="people", about="population"),
                Column(name="country", type="text"),
            ),
            unit="country",
        ),
        load=_gapminder,
    ),
    Sample(
        key="stocks",
        title="Six technology shares, 105 weeks",
        about="One row per week of 2018 and 2019: the price of each share, with 1 for the first week.",
        origin="Weekly closing prices 2018 to 2019, as they come with Plotly (MIT licence)",
        rows=105,
        simulated=False,
        rank=11,
        why=(("experts", "Which share to hold each week: real prices, few rounds, and a leader that changes."),),
        schema=Schema(
            columns=(
                *(Column(name=name, type="number", low=0, high=3, unit="price") for name in _FIRMS),
                Column(name="date", type="date"),
            ),
            each_row="step",
            unit="week",
        ),
        load=_stocks,
    ),
    Sample(
        key="election",
        title="Montreal's 2013 election, 58 districts",
        about="One row per district: the votes of three candidates for mayor, and who won there.",
        origin="City of Montreal, results of the 2013 mayoral election, as they come with Plotly (MIT licence)",
        rows=58,
        simulated=False,
        rank=12,
        why=(("selection", "Who won most districts: few rows, so that privacy is dear."),),
        schema=Schema(
            columns=(
                Column(name="winner", type="category", categories=_CANDIDATES),
                Column(name="result", type="category", categories=("majority", "plurality")),
                *(Column(name=name, type="integer", low=0, high=10_000, unit="votes") for name in _CANDIDATES),
                Column(name="total", type="integer", low=0, high=20_000, unit="votes"),
                Column(name="district", type="text"),
            ),
            unit="district",
        ),
        load=_election,
    ),
)
