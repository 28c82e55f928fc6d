"""Reports for tests: of samples, of own files and of their twins, without a page."""

from __future__ import annotations

import hashlib
from datetime import date
from functools import cache
from typing import Any

import numpy as np

from dashboard import catalogue
from dashboard.case import Case, Source
from dashboard.controls import Setting
from dashboard.report import again, recipe
from dashboard.report.analysis import Asked, analysis
from dashboard.report.of_deck import LeftOut, OwnFile, Simulated, Told, Waiting, section_of, section_with, simulated
from dashboard.report.render import rendered
from dashboard.report.value import Report, Section
from dpcore.datasets import Column, Declaration, Schema, read_table, twin

DAY = date(2026, 3, 4)
KINDS = tuple((page.key, kind.key) for page, kind in catalogue.every() if not getattr(kind, "of_models", False))
"""Those that a script can ask again: it has no model that was drawn."""
SAMPLES = {"alarm": "outbreak", "follow": "forecasts", "fixed_choice": "forecasts", "predict": "clinic"}
FAST = {"predict": {"training_seeds": "8", "training_drawn-accuracy-False": "[]"}}


def section(
    page: str, key: str, source: Source, data: str, *, epsilon: float = 0.5, delta: float = 1e-6, **settings: str
) -> Section:
    """The section of a question, with ``settings`` as links carry them."""
    question = again.asked(page, key, source, epsilon=epsilon, delta=delta, settings=settings)
    seen = Setting()
    kind = catalogue.questions(page)[key]
    kind.ask(Case(source=source, epsilon=epsilon, delta=delta), seen)
    read = again.Written(settings)
    controls = tuple((control, read(control)) for _, control in seen.seen.values())
    title = str(kind.title)
    asked = Asked(page=page, key=key, title=title, epsilon=epsilon, delta=delta, controls=controls, data=data)
    return analysis(question, source, asked)


def of_scene(own: OwnFile | None, told: Told) -> Section | LeftOut:
    """The section of a scene, with every part of what it waits for simulated here."""
    found = section_of(own, told)
    if not isinstance(found, Waiting):
        return found
    results = tuple(simulated(own, piece) for piece in found.pieces)
    return section_with(Simulated(own=own, pieces=found.pieces, found=results), told)


@cache
def of_sample(page: str, key: str) -> Section:
    """A question about a sample that suits it, as it opens."""
    sample = SAMPLES.get(key, "clinic")
    return section(page, key, again.sample_source(sample), recipe.of_sample(sample), **FAST.get(key, {}))


def report(*sections: Section, **facts: Any) -> Report:
    return Report(**{"title": "What privacy costs", "author": "A. Person", "day": DAY, **facts}, sections=sections)


@cache
def form(key: str, ending: str) -> bytes:
    """One form of the report of a question about its sample."""
    page = next(page for page, known in KINDS if known == key)
    return rendered(report(of_sample(page, key)), ending)[1]


def visits(extra: str = "") -> bytes:
    """A person's own file: a record a row, with ``extra`` rows."""
    rows = [f"{('cough', 'rash', 'ache')[n * n % 3]},{20 + n % 40}" for n in range(90)]
    return ("\n".join(["complaint,age", *rows]) + "\n" + extra).encode()


SCHEMA = Schema(
    columns=(
        Column(name="complaint", type="category", categories=("ache", "cough", "rash")),
        Column(name="age", type="integer", low=0.0, high=100.0),
    )
)


def own_source(data: bytes, name: str = "visits.csv", schema: Schema = SCHEMA) -> tuple[Source, str]:
    """An own file in What-if, and Python that makes it again."""
    reading = read_table(data)
    applied = reading.apply(schema)
    digest = hashlib.sha256(repr(applied.schema).encode()).hexdigest()
    source = Source(
        key="own-123",
        title=name,
        mode="what_if",
        table=applied.table(fingerprint=f"{reading.key}:{digest}", lineage=""),
        lineage="people-1",
        practice=False,
        declared=Declaration.of(schema),
        rows=lambda: reading.private,
    )
    return source, recipe.of_file(source, name=name, choices={}, steps=())


def twin_source(rows: int = 200, seed: int = 3) -> tuple[Source, str]:
    """The twin of such a file, and Python that makes it again."""
    table = twin(SCHEMA, rows=rows, rng=np.random.Generator(np.random.PCG64(seed)))
    source = Source(
        key="own-456",
        title="visits.csv",
        mode="twin",
        table=table,
        lineage=None,
        practice=False,
        declared=Declaration.of(SCHEMA),
        rows=None,
    )
    return source, recipe.of_twin(source, rows=rows, seed=seed, relations=())
