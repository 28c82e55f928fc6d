"""Real tables and what somebody who knows them expects: written by hand, from what each package says of its data."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from benchmarks.drops.expected import Commonest, Expected, Middle, Rings, Says
from benchmarks.tables import PACKAGES
from dpcore.datasets.text import within

RECORD, STEP = "one person or record", "a step in time"
Frame = Callable[[Path], pd.DataFrame]


@dataclass(frozen=True, slots=True, kw_only=True)
class Drop:
    """One file of a package: the question that a person with it would ask, what one row is, what must be seen.

    ``before`` are the buttons that a person who knows the table presses first, where something was understood
    otherwise, ``then`` those after the question was chosen. ``about`` is the column that they choose where the question
    is not among the first.
    """

    package: str
    file: str
    question: str
    expected: Expected
    about: str = ""
    row: str = RECORD
    frame: Frame = pd.read_csv
    before: tuple[str, ...] = ()
    then: tuple[str, ...] = ()

    @property
    def path(self) -> Path:
        """Where it lies. Raises LookupError where its package is not installed."""
        package = next(one for one in PACKAGES if one.name == self.package)
        found = importlib.util.find_spec(package.module)
        if found is None or found.origin is None:
            raise LookupError(f"{self.package} is not installed: run make test once")
        return next(iter(sorted((Path(found.origin).parent / package.folder).rglob(self.file))))


def quoted(file: Path) -> pd.DataFrame:
    """Names in single quotation marks, cells apart by blanks or tabs."""
    return pd.read_csv(file, sep=r"\s+", quotechar="'")


def nameless(file: Path) -> pd.DataFrame:
    """No line of names: columns are numbered from 1."""
    frame = pd.read_csv(file, sep=r"\s+", header=None)
    return frame.set_axis([f"column {place + 1}" for place in range(frame.shape[1])], axis=1)


def spaced(file: Path) -> pd.DataFrame:
    return pd.read_csv(file, sep=r"\s+")


def counted(file: Path) -> pd.DataFrame:
    """The first line says how many rows there are, and names the classes."""
    frame = pd.read_csv(file, skiprows=1, header=None)
    return frame.set_axis([f"column {place + 1}" for place in range(frame.shape[1])], axis=1)


def common(column: str) -> str:
    return f"Which {column} is most common?"


def middle(column: str) -> str:
    return within("What is the median of {}?", column)


def reach(column: str) -> str:
    return f"When does {column} first reach a line?"


YES = ((1, "yes"), (0, "no"))
TRUE = ((True, "yes"), (False, "no"))
DAY = "%d %b %Y"


def _most(package: str, file: str, column: str, *, frame: Frame = pd.read_csv, says: tuple[tuple[object, str], ...] = (), before: tuple[str, ...] = ()) -> Drop:  # fmt: skip  # noqa: E501
    return Drop(
        package=package,
        file=file,
        question=common(column),
        about=column,
        expected=Commonest(column=column, says=says),
        frame=frame,
        before=before,
    )


def _median(package: str, file: str, column: str, *, frame: Frame = pd.read_csv, before: tuple[str, ...] = ()) -> Drop:
    return Drop(
        package=package,
        file=file,
        question=middle(column),
        about=column,
        expected=Middle(column=column),
        frame=frame,
        before=before,
    )


def _series(package: str, file: str, column: str, name: str, *, form: str = "", frame: Frame = pd.read_csv, then: tuple[str, ...] = ()) -> Drop:  # fmt: skip  # noqa: E501
    return Drop(
        package=package,
        file=file,
        question=reach(column),
        about=column,
        expected=Rings(column=column, name=name, form=form),
        row=STEP,
        frame=frame,
        then=then,
    )


def _dated(file: Path) -> pd.DataFrame:
    frame = pd.read_csv(file)
    return frame.assign(date=pd.to_datetime(frame["date"].astype(str)))


def _statsmodels() -> tuple[Drop, ...]:
    at = "statsmodels"
    return (
        _most(at, "anes96.csv", "vote", frame=quoted, says=YES),
        _median(at, "cancer.csv", "cancer"),
        _most(at, "ccard.csv", "OWNRENT", says=YES),
        _median(at, "china_smoking.csv", "smoking_yes_cancer_yes"),
        _series(at, "co2.csv", "co2", "date", form=DAY, frame=_dated),
        _most(at, "committee.csv", "PRESTIGE", says=YES),
        _series(at, "copper.csv", "WORLDCONSUMPTION", "YEAR"),
        _most(at, "cpunish.csv", "SOUTH", says=YES),
        _series(at, "elnino.csv", "JAN", "YEAR", then=("The point marks decimals",)),
        _median(at, "engel.csv", "income"),
        _median(at, "fair.csv", "rate_marriage"),
        _median(at, "fertility.csv", "1960", before=("Yes, keep these names",)),
        _median(at, "grunfeld.csv", "invest"),
        _median(at, "heart.csv", "survival"),
        _median(at, "E6_jmulti.csv", "column 1", frame=nameless),
        _series(at, "longley.csv", "TOTEMP", "YEAR"),
        _most(at, "modechoice.csv", "choice", frame=lambda file: pd.read_csv(file, sep=";"), says=YES),
        _series(at, "nile.csv", "volume", "year"),
        _most(at, "randhie.csv", "idp", says=YES),
        _median(at, "scotvote.csv", "YES"),
        _most(at, "spector.csv", "PSI", frame=quoted, says=YES),
        _median(at, "statecrime.csv", "violent"),
        _median(at, "strikes.csv", "duration"),
        _series(at, "sunspots.csv", "SUNACTIVITY", "YEAR"),
    )


def _vega() -> tuple[Drop, ...]:
    at = "vega-datasets"
    json: Frame = pd.read_json
    return (
        _most(at, "airports.csv", "country"),
        _median(at, "anscombe.json", "X", frame=json),
        _median(at, "barley.json", "yield", frame=json),
        _most(at, "burtin.json", "Gram_Staining", frame=json),
        _most(at, "cars.json", "Origin", frame=json),
        _series(at, "crimea.json", "wounds", "date", form=DAY, frame=json),
        _series(at, "driving.json", "miles", "year", frame=json),
        _median(at, "iowa-electricity.csv", "net_generation"),
        _median(at, "iris.json", "sepalLength", frame=json),
        _most(at, "la-riots.csv", "gender"),
        _series(at, "seattle-weather.csv", "precipitation", "date", form=DAY),
        Drop(
            package=at,
            file="seattle-temps.csv",
            question=reach("temp"),
            row=STEP,
            expected=Says(sentence="There are 8,759 entries; up to 5,000 can be shown here."),
        ),
        _most(at, "stocks.csv", "symbol"),
        _series(at, "us-employment.csv", "nonfarm", "month", form=DAY),
        _series(at, "wheat.json", "wheat", "year", frame=json),
    )


def _others() -> tuple[Drop, ...]:
    stata: Frame = pd.read_stata
    return (
        _most("palmerpenguins", "penguins.csv", "species"),
        _most("palmerpenguins", "penguins-raw.csv", "studyName"),
        _most("causaldata", "Mroz.csv", "lfp"),
        _most("causaldata", "auto.dta", "foreign", frame=stata),
        _most("causaldata", "fetter_mortgages.csv", "nonwhite", says=YES),
        _most("causaldata", "gapminder.csv", "continent"),
        Drop(
            package="causaldata",
            file="nhefs_codebook.dta",
            question="",
            expected=Says(sentence="No question suits these columns yet."),
            frame=stata,
        ),
        _median("causaldata", "organ_donation.csv", "Rate"),
        _most("causaldata", "titanic.dta", "class", frame=stata),
        _median("scikit-learn", "diabetes_data_raw.csv.gz", "column 1", frame=nameless),
        _median("scikit-learn", "linnerud_exercise.csv", "Chins", frame=spaced),
        _median("scikit-learn", "wine_data.csv", "column 1", frame=counted, before=("On line 2",)),
        _most("plotly", "election.csv.gz", "winner"),
        _most("plotly", "tips.csv.gz", "sex"),
    )


DROPS = (*_statsmodels(), *_vega(), *_others())
