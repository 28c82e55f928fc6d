"""Writes the simulated tables of this folder, byte for byte the same each time: ``python data/generate.py [folder]``.

Nobody in them exists. The numbers below are chosen to make good first examples, not to describe a place.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterable, Sequence
from datetime import date, timedelta
from pathlib import Path

import numpy as np

FOLDER = Path(__file__).parent

COMPLAINTS = {
    "Knee pain": 88,
    "Back pain": 79,
    "Headache": 52,
    "Cough": 41,
    "Rash": 26,
    "Earache": 18,
    "Dizziness": 12,
}
OCCUPATIONS = (
    "Care",
    "Crafts",
    "Education",
    "Farming",
    "Office",
    "Retail",
    "Student",
    "Transport",
    "Retired",
    "Seeking work",
)
WARDS = (
    *("Abbey", "Bridge", "Castle", "Dock", "East Gate", "Ferry", "Green", "Harbour"),
    *("Ivy Hill", "Junction", "Kiln", "Lakeside", "Market", "North Field", "Orchard", "Park"),
)
FORECASTERS = ("Almanac", "Barometer", "Cloudwatch", "Dewpoint", "Eastwind", "Frontline", "Gut feeling", "Persistence")
MEETING_DAYS, INVITED = 12, 40


def write(folder: Path, name: str, header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    with (folder / name).open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)


def sigmoid(x: np.ndarray) -> np.ndarray:
    return 1.0 / (1.0 + np.exp(-x))


def clinic(folder: Path) -> None:
    """316 visits of 316 people over eight weeks. The two commonest complaints are 9 visits apart."""
    rng = np.random.Generator(np.random.PCG64(20_240_311))
    complaint = rng.permutation(np.repeat(list(COMPLAINTS), list(COMPLAINTS.values())))
    middle = {"Knee pain": 58, "Back pain": 49, "Headache": 38, "Cough": 33, "Rash": 26, "Earache": 22, "Dizziness": 61}
    age = np.clip(np.rint(rng.normal([middle[name] for name in complaint], 15)), 1, 95).astype(int)
    waiting = np.clip(np.rint(rng.gamma(3.0, 9.0, size=complaint.size)), 1, 120).astype(int)
    chronic = np.isin(complaint, ["Knee pain", "Back pain", "Dizziness"])
    returned = rng.random(complaint.size) < sigmoid(-2.0 + 0.9 * chronic + 0.03 * (age - 45) + 0.02 * (waiting - 27))
    weekdays = [date(2024, 3, 4) + timedelta(days=7 * week + day) for week in range(8) for day in range(5)]
    days = np.sort(rng.integers(0, len(weekdays), size=complaint.size))
    rows = zip(
        (weekdays[index].isoformat() for index in days),
        complaint,
        age,
        waiting,
        np.where(returned, "yes", "no"),
        strict=True,
    )
    write(folder, "clinic.csv", ("day", "complaint", "age", "waiting minutes", "returned"), rows)


def town(folder: Path) -> None:
    """10,000 people in 16 wards; a condition that grows with age and clusters in two wards."""
    rng = np.random.Generator(np.random.PCG64(1_000_003))
    size = 10_000
    age = np.clip(np.rint(rng.beta(1.6, 2.1, size=size) * 96), 0, 99).astype(int)
    job = rng.choice(OCCUPATIONS[:6] + OCCUPATIONS[7:8], size=size, p=[0.15, 0.14, 0.11, 0.05, 0.27, 0.17, 0.11])
    job = np.where(rng.random(size) < 0.06, "Seeking work", job)
    job = np.where(age >= 67, "Retired", np.where(age < 20, "Student", job))
    ward = rng.choice(WARDS, size=size, p=np.linspace(1.5, 0.5, len(WARDS)) / len(WARDS))
    pay = {"Care": 27, "Crafts": 33, "Education": 36, "Farming": 24, "Office": 39, "Retail": 23, "Transport": 30}
    pay |= {"Retired": 19, "Student": 4, "Seeking work": 9}
    income = np.array([pay[name] for name in job]) * np.exp(rng.normal(0.0, 0.45, size=size))
    income = np.where(age < 16, 0, np.clip(np.rint(income * 10) * 100, 0, 200_000)).astype(int)
    cluster = np.isin(ward, ["Harbour", "Kiln"])
    condition = rng.random(size) < sigmoid(-4.1 + 0.036 * age + 1.1 * cluster + 0.5 * (job == "Farming"))
    visits = np.minimum(rng.poisson(0.6 + 0.025 * age + 2.2 * condition), 30)
    rows = zip(age, job, ward, income, visits, np.where(condition, "yes", "no"), strict=True)
    write(folder, "town.csv", ("age", "occupation", "ward", "income", "visits", "condition"), rows)


def meeting_dates(folder: Path) -> None:
    """For each of 12 evenings, how many of 40 invited people cannot come."""
    rng = np.random.Generator(np.random.PCG64(77))
    busy = rng.binomial(INVITED, rng.uniform(0.2, 0.55, size=MEETING_DAYS))
    best = int(np.argmin(busy))
    busy[best] = np.sort(busy)[1] - 3
    evenings = [date(2024, 9, 2) + timedelta(days=int(day)) for day in (0, 1, 2, 3, 7, 8, 9, 10, 14, 15, 16, 17)]
    rows = ((f"{day:%a} {day.day} {day:%b}", int(count)) for day, count in zip(evenings, busy, strict=True))
    write(folder, "meeting_dates.csv", ("evening", "conflicts"), rows)


def forecasts(folder: Path) -> None:
    """2,000 days of eight forecasters' chances of rain and whether it rained. The best one changes half way."""
    rng = np.random.Generator(np.random.PCG64(31_415))
    days = 2_000
    drift = np.convolve(rng.normal(size=days + 19), np.ones(20) / np.sqrt(20), mode="valid")
    truth = -0.5 + 1.6 * drift + 1.0 * rng.normal(size=days)
    rained = rng.random(days) < sigmoid(1.5 * truth)
    error = np.array([1.3, 1.2, 0.55, 1.6, 1.1, 0.9, 2.6, 0.0])[:, None] * np.ones(days)
    error[2, days // 2 :] = 1.5
    error[5, days // 2 :] = 0.5
    chance = sigmoid(1.5 * (truth + error * rng.normal(size=(len(FORECASTERS), days))))
    yesterday = np.concatenate([[False], rained[:-1]])
    chance[7] = np.where(yesterday, 0.7, 0.25)
    chance[6] = rng.beta(1.2, 1.8, size=days)
    start = date(2019, 1, 1)
    rows = (
        (
            (start + timedelta(days=day)).isoformat(),
            *(f"{value:.2f}" for value in chance[:, day]),
            "yes" if rained[day] else "no",
        )
        for day in range(days)
    )
    write(folder, "forecasts.csv", ("day", *FORECASTERS, "rain"), rows)


def main(folder: Path = FOLDER) -> None:
    for make in (clinic, town, meeting_dates, forecasts):
        make(folder)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER)
