"""A simulated outbreak, written by ``data/make_outbreak.py``. Nobody in it exists."""

from __future__ import annotations

from datetime import date

from dpcore.datasets.entry import Sample, bundled
from dpcore.datasets.schema import Column, Schema

SAMPLES = (
    Sample(
        key="outbreak",
        title="An outbreak, 120 days (simulated)",
        about="One row per day: how many people fell ill. Quiet for eleven weeks, then an outbreak.",
        origin="Simulated by data/make_outbreak.py of this project (MIT licence). Nobody in it exists.",
        rows=120,
        simulated=True,
        rank=3,
        why=(("thresholding", "When do daily cases pass 50: the line is passed once, clearly, from a quiet start."),),
        schema=Schema(
            columns=(
                Column(name="cases", type="integer", low=0, high=1000, unit="cases", sensitivity=1.0, counts=True),
                Column(name="day", type="date", earliest=date(2024, 1, 8), latest=date(2024, 5, 6)),
            ),
            each_row="step",
        ),
        load=bundled("outbreak.csv"),
    ),
)
