"""A question asked again from what a report wrote down: its data, its privacy level and its settings.

This is what a report's notebook and script call. The rows come from where they came from (a sample, the person's own
file, a twin's declaration), the engine's problem is made of them by the very question, and ``dpcore`` computes.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from dashboard import catalogue
from dashboard.case import Case, Memo, Mode, Source
from dashboard.controls import Control, Place
from dashboard.question import Kind, Question
from dashboard.words import report as said
from dpcore.datasets import (
    Declaration,
    PrivateRows,
    Relation,
    Schema,
    Step,
    Table,
    load_sample,
    related,
    sample,
    sample_rows,
    twin,
)
from dpcore.errors import InvalidArgument

T = TypeVar("T")
CLOSE = 1e-6
"""How far a number may be from the report's, as a share of it: the machine's arithmetic, never another result."""


@dataclass(frozen=True, slots=True)
class Written:
    """A ``Read`` over what links would carry: each control's value as text, by its key; else its default."""

    values: Mapping[str, str]

    def __call__(self, control: Control[T], place: Place = "options") -> T:
        return control.read(self.values[control.key]) if control.key in self.values else control.default


def written(controls: Iterable[Control[Any]], value: Callable[[Control[Any]], Any]) -> dict[str, str]:
    """What ``Written`` reads: the controls that differ from their defaults, as text."""
    found = {control.key: (control, value(control)) for control in controls}
    return {key: control.written(now) for key, (control, now) in found.items() if now != control.default}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Begun:
    """A question that was asked, before anything is simulated that it waits for."""

    kind: type[Kind]
    case: Case
    read: Written
    question: Question

    def whole(self, results: Mapping[str, Sequence[Any]]) -> Question:
        """The same with what was simulated, by slot. Raises CannotAsk."""
        done = frozenset(results)
        if not done:
            return self.question
        case = replace(self.case, results=results, complete=done, finished=done)
        return self.kind.ask(case, self.read)


def begun(page: str, key: str, source: Source, *, epsilon: float, delta: float, settings: Mapping[str, str]) -> Begun:
    """The question ``key`` of a page, with nothing simulated yet. Raises KeyError, CannotAsk."""
    kind, read, memo = catalogue.questions(page)[key], Written(settings), _memo()
    case = Case(source=source, epsilon=epsilon, delta=delta, memo=memo, large=memo)
    return Begun(kind=kind, case=case, read=read, question=kind.ask(case, read))


def asked(
    page: str, key: str, source: Source, *, epsilon: float, delta: float, settings: Mapping[str, str]
) -> Question:
    """The question ``key`` of a page, with all its simulations done in this process. Raises KeyError, CannotAsk."""
    found = begun(page, key, source, epsilon=epsilon, delta=delta, settings=settings)
    results = {}
    for work in found.question.works:
        shared = work.common()
        results[work.slot] = tuple(work.run(shared, part) for part in work.parts())
    return found.whole(results)


def _memo() -> Memo:
    """What one asking remembers, until it is over."""
    kept: dict[tuple[Hashable, ...], Any] = {}

    def remembered(key: tuple[Hashable, ...], make: Callable[[], T]) -> T:
        if key not in kept:
            kept[key] = make()
        found: T = kept[key]
        return found

    return remembered


def sample_source(key: str) -> Source:
    """A bundled sample, as every page has it. Raises UnavailableSample."""
    table = load_sample(key)
    return Source(
        key=key,
        title=sample(key).title,
        mode="demo",
        table=table,
        lineage=table.lineage,
        practice=True,
        declared=Declaration.of(table.schema),
        rows=lambda: sample_rows(key),
    )


def file_source(
    name: str,
    *,
    key: str,
    choices: Mapping[str, Any],
    steps: tuple[Step, ...],
    schema: Schema,
    declared: Declaration | None,
    fingerprint: str = "",
) -> Source:
    """The person's own file, beside the script or at its first argument.

    Ends the program with one sentence where it is missing or cannot be the one of the report; that another one with
    such columns is not shows by its numbers. Scripts from before name its ``fingerprint``, and stop by that. Raises
    UnreadableFile.
    """
    from dpcore.datasets import read_table  # loads DuckDB

    path = Path(sys.argv[1]) if len(sys.argv) > 1 and Path(sys.argv[1]).is_file() else Path(Path(name).name)
    if not path.is_file():
        raise SystemExit(said.NO_FILE)
    reading = read_table(path.read_bytes(), **choices)
    try:
        reading = reading.after(steps, names=schema.names)
        table = reading.table(schema)
    except InvalidArgument:
        raise SystemExit(said.NOT_THIS_FILE) from None
    if fingerprint not in ("", table.fingerprint):
        raise SystemExit(said.NOT_THIS_FILE)
    print(said.WHICH_FILE)
    private = declared is None or declared.each_row == "record"
    lines = None if declared is None or private else reading.private.public_size(declared)
    return _own(key, "what_if", table, declared, lines)


def twin_source(
    schema: Schema,
    *,
    key: str,
    rows: int,
    seed: int,
    relations: tuple[Relation, ...] = (),
    declared: Declaration | None,
    shown: bool = False,
) -> Source:
    """Rows simulated from a declaration, as on the Data page. Raises InvalidArgument."""
    rng = np.random.Generator(np.random.PCG64(seed))
    made = _own(key, "twin", twin(schema, rows=rows, rng=rng, relations=relations), declared, rows)
    return replace(made, related=related(relations, schema), shown=shown)


def _own(key: str, mode: Mode, table: Table, declared: Declaration | None, lines: int | None) -> Source:
    """A person's own data; nothing is released here, so there are no rows to open."""
    return Source(
        key=key,
        title="",
        mode=mode,
        table=table,
        lineage=None,
        practice=False,
        declared=declared,
        rows=None if declared is None else closed,
        lines=lines,
    )


def closed() -> PrivateRows:
    """Rows that nothing opens: a report never reads what only a release may. Raises InvalidArgument."""
    raise InvalidArgument("rows", "are not opened to compute a report again")


def compare(reported: Mapping[str, float], found: Mapping[str, float]) -> None:
    """Print each of the report's numbers beside the one that was computed now.

    Ends the program with the names of those that differ by more than ``CLOSE`` of them, or were not computed.
    """
    wrong = []
    for name, before in reported.items():
        now = found.get(name)
        same = now is not None and math.isclose(before, now, rel_tol=CLOSE, abs_tol=1e-12)
        wrong += [] if same else [name]
        print(f"{'same' if same else 'DIFFERS':8} {before:>14.8g} {math.nan if now is None else now:>14.8g}  {name}")
    if wrong:
        raise SystemExit(f"{len(wrong)} of {len(reported)} numbers differ: {', '.join(wrong)}")
    print(f"All {len(reported)} numbers of the report are computed again.")
