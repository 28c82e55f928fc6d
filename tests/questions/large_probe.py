"""What each question takes of a large table in the page's own process: a child for each, which prints its peak.

``python -m tests.questions.large_probe long`` (or another shape, with keys of questions for these alone) prints a line
of JSON for each question and each way it is set: whether it could be asked, the most bytes that a step of the page took
beside what stays, at which step, those that reading the rows for an answer took, and the longest step in seconds of
processor. What is loaded and compiled for a small table is not counted. A model of all columns was drawn before. Linux.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from dashboard import catalogue, machine_memory, offering
from dashboard.blocks import Picture, Slow
from dashboard.case import Case, DrawnModel, Source
from dashboard.controls import Choice, Number, Setting, Several
from dashboard.question import CannotAsk, Kind, Offer, Question
from dpcore.audit.drawn import RECEIPT, drawn_model
from dpcore.datasets import Column, Declaration, PrivateRows, Schema, Table, twin
from dpcore.datasets.conversion import as_text
from dpcore.memory import Memory

SHAPES = {"long": (400_000, 12, 1), "wide": (10_000, 250, 50), "broad": (60_000, 2, 250), "small": (400, 3, 1)}
"""Rows, columns of numbers, and columns of yes and no."""
TARGET = "q0"
ANSWER = "read for an answer"
OPTIONS = ("a", "b", "c", "d", "e")


def made(shape: str) -> Table:
    rows, numbers, answers = SHAPES[shape]
    columns = [Column(name=f"x{place}", type="number", low=0, high=1000) for place in range(numbers)]
    columns += [Column(name=f"q{place}", type="yes/no") for place in range(answers)]
    columns += [Column(name="kind", type="category", categories=OPTIONS)]
    return twin(Schema(columns=tuple(columns)), rows=rows, rng=np.random.Generator(np.random.PCG64(1)))


def case_of(table: Table, rows: PrivateRows) -> Case:
    declared = Declaration.of(table.schema)
    source = Source(
        key="own-x",
        title="t",
        mode="what_if",
        table=table,
        lineage=None,
        practice=False,
        declared=declared,
        so_far=declared,
        rows=lambda: rows,
    )
    others = [column.name for column in declared.columns if column.name != TARGET]
    model = DrawnModel(
        receipt=RECEIPT,
        answer=partial(drawn_model, declared, target=TARGET, columns=others),
        when="2026-01-01 00:00:00 UTC",
        same=True,
    )
    memo, large = Memory(400, room=64 << 20), Memory(6, room=300 << 20)
    return Case(source=source, epsilon=0.5, models=(model,), memo=memo, large=large)


def settings(kind: type[Kind], case: Case) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """As the page opens, each of its ways, and everything as far up and as far down as it goes."""
    yield "plain", {}
    forms: dict[str, Mapping[str, Any]] = {}
    for way in kind.ways(case.table.schema):
        forms.setdefault(way.form, way.sets)
    yield from forms.items()
    for last in (True, False):
        seen = Setting()
        try:
            kind.ask(case, seen)
        except CannotAsk:
            continue
        found: dict[str, Any] = {}
        for key, (_, control) in seen.seen.items():
            if isinstance(control, Number):
                found[key] = control.high if last else control.low
            elif isinstance(control, Several):
                found[key] = tuple(control.options)
            elif isinstance(control, Choice):
                found[key] = control.options[-1 if last else 0]
        yield ("highest" if last else "lowest"), found


def in_memory(which: str) -> int:
    found = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith(which))
    return int(found.split()[1]) << 10


class Peak:
    """The most that one step took, and the longest."""

    def __init__(self) -> None:
        self.bytes, self.at, self.answer, self.seconds, self.slowest = 0, "", 0, 0.0, ""

    def step(self, name: str, call: Callable[[], Any]) -> Any:
        machine_memory.give_back()
        Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
        before, begun = in_memory("VmRSS"), time.process_time()
        try:
            return call()
        except CannotAsk:
            return None
        finally:
            took, seconds = in_memory("VmHWM") - before, time.process_time() - begun
            if name == ANSWER:
                self.answer = took
            elif took > self.bytes:
                self.bytes, self.at = took, name
            if seconds > self.seconds:
                self.seconds, self.slowest = seconds, name


def look(peak: Peak, kind: type[Kind], case: Case, values: Mapping[str, Any], rows: PrivateRows) -> bool:
    """Whether it could be asked of these rows."""
    found: offering.Found | None = peak.step("asked", lambda: offering.ask(kind, case, Setting(values)))
    if found is None:
        return False
    question = found.question
    if not found.trouble:
        shown(peak, question)
        other = replace(case, epsilon=0.7)
        peak.step("asked at another ε", lambda: offering.ask(kind, other, Setting(values)))
        if question.follows:
            for level in (0.01, 10.0):
                briefly = replace(case, epsilon=level, brief=True)
                peak.step("asked in brief", lambda one=briefly: offering.ask(kind, one, Setting(values)))
    if isinstance(question.offer, Offer):
        request: Any = question.offer.request
        peak.step(ANSWER, lambda: request.read(rows))
    return not found.trouble


def shown(peak: Peak, question: Question) -> None:
    view = question.view
    for axis in () if view.empty else view.axes:
        pictured(peak, axis, peak.step(axis, lambda axis=axis: view.picture(axis)))
    for tab in question.tabs:
        for block in peak.step(tab.key, lambda tab=tab: list(tab.blocks())) or ():
            if isinstance(block, Picture):
                pictured(peak, tab.key, block)
            elif isinstance(block, Slow):
                peak.step(f"{tab.key} lent", block.common)
    for work in question.works:
        peak.step(f"{work.slot} lent", work.common)
        peak.step(f"{work.slot} parts", work.parts)


def pictured(peak: Peak, name: str, picture: Picture | None) -> None:
    if picture is not None:
        peak.step(f"{name} drawn", lambda: picture.figure(False))
        peak.step(f"{name} in numbers", lambda: picture.data() if callable(picture.data) else picture.data)


def apart(call: Callable[[], None]) -> None:
    """In a child, which takes what it took along."""
    child = os.fork()
    if not child:
        try:
            call()
            sys.stdout.flush()
        finally:
            os._exit(0)
    os.waitpid(child, 0)


def texts(table: Table) -> PrivateRows:
    """The rows as a reader of files leaves them."""
    import pandas as pd

    return PrivateRows(pd.DataFrame({name: as_text(table.frame[name]) for name in table.frame.columns}))


def told(kind: type[Kind], table: Table, rows: PrivateRows, name: str, values: Mapping[str, Any]) -> None:
    peak = Peak()
    asked = look(peak, kind, case_of(table, rows), values, rows)
    found = {"kind": kind.key, "set": name, "asked": asked, "bytes": peak.bytes, "at": peak.at}
    print(
        json.dumps({**found, "answer": peak.answer, "seconds": round(peak.seconds, 2), "slowest": peak.slowest}),
        flush=True,
    )


def main(shape: str, *keys: str) -> None:
    small, table = made("small"), made(shape)
    of_small, of_table = texts(small), texts(table)
    kinds = [kind for _, kind in catalogue.every() if not keys or kind.key in keys]
    for kind in kinds:
        for _, values in settings(kind, case_of(small, of_small)):
            look(Peak(), kind, case_of(small, of_small), values, of_small)

        def each(kind: type[Kind] = kind) -> None:
            for name, values in settings(kind, case_of(table, of_table)):
                apart(lambda name=name, values=values: told(kind, table, of_table, name, values))

        apart(each)


if __name__ == "__main__":
    main(*sys.argv[1:])
