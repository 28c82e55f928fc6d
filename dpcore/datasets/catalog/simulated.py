"""Simulated tables, written by ``data/generate.py``. Nobody in them exists."""

from __future__ import annotations

from datetime import date

from dpcore.datasets.entry import Sample, bundled
from dpcore.datasets.schema import Column, Schema

_ORIGIN = "Simulated by data/generate.py of this project (MIT licence). Nobody in it exists."
_COMPLAINTS = ("Knee pain", "Back pain", "Headache", "Cough", "Rash", "Earache", "Dizziness")
_JOBS = ("Care", "Crafts", "Education", "Farming", "Office", "Retail", "Student", "Transport", "Retired")
_WARDS = (
    *("Abbey", "Bridge", "Castle", "Dock", "East Gate", "Ferry", "Green", "Harbour"),
    *("Ivy Hill", "Junction", "Kiln", "Lakeside", "Market", "North Field", "Orchard", "Park"),
)
_FORECASTERS = ("Almanac", "Barometer", "Cloudwatch", "Dewpoint", "Eastwind", "Frontline", "Gut feeling", "Persistence")

_CLINIC = Sample(
    key="clinic",
    title="Town clinic, 316 people (simulated)",
    about="One row per person, one visit each: the complaint, age, minutes of waiting, and whether they came back.",
    origin=_ORIGIN,
    rows=316,
    simulated=True,
    rank=1,
    why=(
        ("selection", "Which complaint is most common: close enough that privacy matters, small enough to see how."),
        ("thresholding", "Which day first has 13 people: a short stream, so small counts drown in noise."),
        ("training", "Who comes back: with a few hundred people privacy costs a lot, and you see how much."),
    ),
    asks=(("thresholding", "days", ("day",)),),
    schema=Schema(
        columns=(
            Column(name="complaint", type="category", categories=_COMPLAINTS, about="what the visit was for"),
            Column(name="age", type="integer", low=0, high=100, unit="years"),
            Column(name="waiting minutes", type="integer", low=0, high=120, unit="minutes"),
            Column(name="returned", type="yes/no", about="came back within a month"),
            Column(name="day", type="date", earliest=date(2024, 3, 4), latest=date(2024, 4, 28)),
        )
    ),
    load=bundled("clinic.csv"),
)

_TOWN = Sample(
    key="town",
    title="A town, 10,000 people (simulated)",
    about="One row per inhabitant: age, occupation, ward, income, visits to the doctor, and a long-term condition.",
    origin=_ORIGIN,
    rows=10_000,
    simulated=True,
    rank=2,
    why=(
        (
            "selection",
            "Which occupation is most common, what is the median income, which simple rule finds a condition.",
        ),
        ("thresholding", "Has any ward passed 100 cases: two wards have many more than the others."),
        ("training", "Who has the condition: enough people that a private model can be nearly as good."),
    ),
    asks=(("thresholding", "groups", ("ward", "condition")),),
    schema=Schema(
        columns=(
            Column(name="occupation", type="category", categories=(*_JOBS, "Seeking work")),
            Column(name="ward", type="category", categories=_WARDS, about="where the person lives"),
            Column(name="age", type="integer", low=0, high=100, unit="years"),
            Column(name="income", type="integer", low=0, high=200_000, unit="a year"),
            Column(name="visits", type="integer", low=0, high=30, about="to a doctor in one year"),
            Column(name="condition", type="yes/no", about="has the long-term condition"),
        )
    ),
    load=bundled("town.csv"),
)

_MEETING = Sample(
    key="meeting_dates",
    title="A date for the meeting, 12 evenings (simulated)",
    about="One row per evening: how many of 40 invited people cannot come. A person counts at most once per evening.",
    origin=_ORIGIN,
    rows=12,
    simulated=True,
    rank=3,
    why=(("selection", "Which evening has the fewest conflicts: options with a score each, the smaller the better."),),
    schema=Schema(
        columns=(
            Column(name="evening", type="text"),
            Column(
                name="conflicts",
                type="integer",
                low=0,
                high=40,
                sensitivity=1.0,
                counts=True,
                better="lower",
                unit="people",
            ),
        ),
        each_row="option",
    ),
    load=bundled("meeting_dates.csv"),
)

_FORECASTS = Sample(
    key="forecasts",
    title="Eight forecasters of rain, 2,000 days (simulated)",
    about="One row per day: the chance of rain each forecaster gave, and whether it rained. The best one changes.",
    origin=_ORIGIN,
    rows=2_000,
    simulated=True,
    rank=4,
    why=(("experts", "Whose forecasts should we follow: the best forecaster of the first half fades in the second."),),
    schema=Schema(
        columns=(
            *(Column(name=name, type="number", low=0, high=1, unit="chance of rain") for name in _FORECASTERS),
            Column(name="rain", type="yes/no", about="whether it rained that day"),
            Column(name="day", type="date", earliest=date(2019, 1, 1), latest=date(2024, 12, 31)),
        ),
        each_row="step",
        unit="day",
    ),
    load=bundled("forecasts.csv"),
)

SAMPLES = (_CLINIC, _TOWN, _MEETING, _FORECASTS)
