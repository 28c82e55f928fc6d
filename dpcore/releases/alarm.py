"""One private alarm run: which answers of a series reach a line, named one by one until the alarms are used up."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from dpcore.costs import Cost
from dpcore.datasets.declaration import Declaration, shown
from dpcore.datasets.schema import Column
from dpcore.errors import InvalidArgument
from dpcore.in_units import LARGEST, binary_unit
from dpcore.releases import draws
from dpcore.releases.asked import Asked, ErrorBound
from dpcore.releases.cells import (
    check_scores,
    entry_rules,
    entry_sensitivity,
    option_rules,
    options_of,
    resolution_of,
    score_units,
    sensitivity_rule,
)
from dpcore.releases.sizes import MOST_BYTES, some_of_these, too_large
from dpcore.thresholding.noise import NoiseKind, NoisePair, Share, best_share, check_parameters, resolve_share
from dpcore.thresholding.units import Units
from dpcore.validate import FloatArray, IntArray, Neighbours, boolean, in_range, one_of, probability, whole
from dpcore.written import exact

if TYPE_CHECKING:
    from dpcore.datasets.private_rows import OpenRows, PrivateRows

MOST_ENTRIES = 10**6
_BLOCK = 4096  # answers compared at a time
_FIRST_DAY = date(1970, 1, 1)


_NUMBER = "People move the entries of rows and not the rows: how many there are is not hidden."
_NAMES = "The names of the rows are the file's own and are not hidden either."


@dataclass(frozen=True, slots=True, kw_only=True)
class AlarmRun(Asked):
    """Names the first ``limit`` of ``entries`` answers that reach ``threshold`` + ``offset``, all with noise.

    The sparse vector technique (Lyu, Su & Li, VLDB 2017) in whole numbers: answers and threshold are counted in units
    and all noise is discrete, ``laplace`` or ``exponential`` (geometric). ε-DP for the whole run, however many answers
    it compares; its exact law is in ``dpcore.thresholding.discrete``.

    The answers are the entries of ``column`` in a table of steps or options, or else how many rows each day or option
    of ``column`` has (``where`` that column says yes). ``sensitivity`` is how far one person can move any one answer
    (how many answers a person moves does not matter): declared, or the rows one person has, or the whole declared
    range. ``one_way``, that one person added or removed moves all answers the same way, holds for rows that are counted
    and for columns declared as counts; it halves the noise. ``both_ways`` leaves that unused: noise that covers answers
    moved either way covers those moved one way among them, so it is ε-DP too and only less accurate. ``labels`` are
    public names of the entries for the receipt: the person's own, or with ``labels_from_file`` those of the table's
    rows, which people do not move.
    ``threshold_share`` as in ``dpcore.thresholding``, left out ``best``. Raises InvalidArgument.
    """

    key: ClassVar[str] = "alarm"
    unread: ClassVar[tuple[str, ...]] = (
        *("epsilon", "chosen_after_looking", "threshold", "limit", "noise", "threshold_share", "offset", "both_ways"),
        *("labels", "labels_from_file"),
    )

    column: str
    threshold: float
    entries: int
    counted: bool
    sensitivity: float
    where: str | None = None
    limit: int = 1
    noise: NoiseKind = "exponential"
    threshold_share: Share = None
    offset: float = 0.0
    both_ways: bool = False
    labels: tuple[str, ...] = ()
    labels_from_file: bool = False

    def __post_init__(self) -> None:
        Asked.check(self)
        boolean(both_ways=self.both_ways)
        check_parameters(
            self.epsilon, self.sensitivity, self.noise, self.threshold_share, self.one_way, self.offset, self.limit
        )
        in_range(-1e15, 1e15, threshold=self.threshold)
        whole(1, whole(1, MOST_ENTRIES, entries=self.entries), limit=self.limit)
        if self.labels and len(self.labels) != self.entries:
            raise InvalidArgument("labels", "must be as many as the answers")
        if abs(self.bar) > LARGEST:
            raise InvalidArgument("threshold", "is too large for the sensitivity: it would not fit")
        if max(self.scales.query_scale, self.scales.threshold_scale) > draws.LARGEST_SCALE:
            raise InvalidArgument("epsilon", "is too small: the noise would not fit")
        if self.most_bytes > MOST_BYTES:
            raise InvalidArgument("limit", f"cannot be that many alarms: {too_large(self.most_bytes)}")

    @classmethod
    def of(
        cls,
        declaration: Declaration,
        column: str,
        *,
        threshold: float,
        epsilon: float,
        entries: int | None = None,
        where: str | None = None,
        limit: int = 1,
        noise: NoiseKind = "exponential",
        threshold_share: Share = None,
        offset: float = 0.0,
        both_ways: bool = False,
        labels: tuple[str, ...] = (),
        named_by: str | None = None,
        neighbours: Neighbours | None = None,
        chosen_after_looking: bool = False,
    ) -> Self:
        """The question about a declared column.

        In a table with one record in each row: how many rows each declared day or option of ``column`` has, those only
        whose ``where`` is yes. Else: the entries of ``column``, ``entries`` of them, a number the person states or
        ``PrivateRows.public_size``. The ``labels`` are the person's own, or what the column ``named_by`` holds. Raises
        InvalidArgument.
        """
        counted = declaration.each_row == "record"
        if counted:
            entries, labels = _counted_entries(declaration.bounded(column), entries, labels)
            sensitivity = float(declaration.rows_per_person)
            if where is not None and declaration.column(where).type != "yes/no":
                raise InvalidArgument("where", "must be a column of yes and no")
        elif entries is None or where is not None:
            raise InvalidArgument("entries" if entries is None else "where", "must fit a table of steps or options")
        else:
            hidden = neighbours or declaration.hidden
            declaration.check_stay(hidden)
            sensitivity = entry_sensitivity(check_scores(declaration.column(column)), hidden)
        names = (column,) if where is None else (column, where)
        return cls(
            epsilon=epsilon,
            reads=declaration.reads(*names, in_place=not counted, named_by=named_by),
            neighbours=neighbours or declaration.hidden,
            unit=declaration.unit,
            chosen_after_looking=chosen_after_looking,
            column=column,
            threshold=threshold,
            entries=entries,
            counted=counted,
            sensitivity=sensitivity,
            where=where,
            limit=limit,
            noise=noise,
            threshold_share=threshold_share,
            offset=offset,
            both_ways=both_ways,
            labels=labels,
            labels_from_file=named_by is not None,
        )

    @property
    def counts_alone(self) -> bool:
        """Whether rows are counted, rather than entries read one by one."""
        return self.counted

    @property
    def _column(self) -> Column:
        return self.reads.column(self.column)

    @property
    def one_way(self) -> bool:
        """Whether the noise makes use of it that one person moves all answers the same way, as was declared."""
        return (self.counted or self._column.reads_as_counts) and self.neighbours == "add_remove" and not self.both_ways

    @property
    def units(self) -> Units:
        """What everything is counted in."""
        return units_of(None if self.counted else self._column, self.sensitivity)

    @property
    def unit_of_answers(self) -> float:
        """One of ``units``, in the answers' own unit."""
        return self.units.unit

    @property
    def steps(self) -> int:
        """``sensitivity`` in units, never too few."""
        return self.units.steps(self.sensitivity)

    @property
    def scales(self) -> NoisePair:
        """Scales of the discrete noises in units: rounded up until the guarantee they give is at most ε, exactly."""
        best = best_share(self.limit, monotonic=self.one_way)
        share = resolve_share(self.threshold_share, otherwise=best, limit=self.limit, monotonic=self.one_way)
        return self.units.scales(self.epsilon, self.sensitivity, self.noise, share, self.limit, self.one_way)

    @property
    def bar(self) -> int:
        """Threshold and offset in units, upward: an answer is a whole number of units."""
        return self.units.bar(self.threshold + self.offset)

    @property
    def what(self) -> str:
        """The question in one plain sentence."""
        first = "is the first" if self.limit == 1 else f"are the first {self.limit}"
        asked = f"Which of {self.entries:,} entries of “{shown(self.column)}” {first}"
        if not self.counted:
            return f"{asked} to reach {exact(self.threshold)}?"
        only = "" if self.where is None else f" whose “{shown(self.where)}” is yes"
        return f"{asked} with {exact(self.threshold)} or more rows{only}?"

    @property
    def mechanism(self) -> str:
        """What answers it."""
        noise = "discrete Laplace" if self.noise == "laplace" else "geometric"
        return f"Sparse vector with {noise} noise, at most {self.limit} alarm{'s' if self.limit > 1 else ''}"

    @property
    def cost(self) -> Cost:
        """The whole run."""
        return Cost.pure(self.epsilon)

    @property
    def promise(self) -> str:
        """How far one person can move an answer, and how that is known."""
        if self.counted:
            return self.rows_promise
        return sensitivity_rule(self._column, self.unit, self.neighbours)

    @property
    def own_notes(self) -> tuple[str, ...]:
        """Where the names of the rows are from, and that there are so many."""
        if self.counted:
            return ()
        return (_NUMBER, _NAMES) if self.labels_from_file else (_NUMBER,)

    @property
    def rules(self) -> tuple[str, ...]:
        """By which any table is answered about."""
        name = shown(self.column)
        if not self.counted:
            first = f"The first {self.entries:,} rows are the answers"
            read = f"{first}; one that is not there, or was left out, counts as missing."
            return (*entry_rules(self._column), read, *self.own_notes)
        places = option_rules(self._column)
        if self._column.type == "date":
            missing = "for none" if self._column.fill is None else f"as {self._column.fill}"
            places = (
                f"A clock time in “{name}” is dropped; a day outside {self._column.earliest} to {self._column.latest} "
                "counts for none.",
                f"A missing or unreadable “{name}” counts {missing}.",
            )
        only = () if self.where is None else (f"A missing or unreadable “{shown(self.where)}” is not yes.",)
        return (*places, *only, *self.person_rules)

    @property
    def most_bytes(self) -> int:
        """Bytes of the answer: at most so many."""
        named = self.labels
        if self.counted and self._column.type != "date":
            named = tuple(options_of(self._column))
        return some_of_these(named, self.limit, len(str(self.entries)))

    def error_bound(self, beta: float = 0.05) -> ErrorBound:
        """How far from the line answers are told apart from it, in the answers' own unit. Raises InvalidArgument.

        Dwork & Roth 2014, Theorem 3.24, for discrete noise: a discrete Laplace tail is at most twice the continuous
        one; the line and the answers are rounded by up to a unit and a half together.
        """
        from dpcore.thresholding.accuracy import theorem_alpha

        level = probability(beta=beta) * (0.5 if self.noise == "laplace" else 1.0)
        far = theorem_alpha(self.scales, self.entries, level, self.offset / self.unit_of_answers) + 1.5
        return ErrorBound(
            number=far * self.unit_of_answers,
            unit="rows" if self.counted else (self._column.unit or self.column),
            confidence=1.0 - beta,
            about="no answer that counts as so far below the line raises an alarm, and each that counts as so far "
            "above does while alarms last",
        )

    def read(self, rows: PrivateRows) -> IntArray:
        """The answers as whole numbers of units, shape (entries,)."""
        opened = self.opened(rows)
        if self.counted:
            return self._counts(opened)
        values = np.full(self.entries, np.nan)
        found = opened.numbers(self.column)[: self.entries]
        values[: found.size] = found
        return score_units(values, self._column, self.unit_of_answers)

    def _counts(self, opened: OpenRows) -> IntArray:
        if self._column.type == "date":
            first = self._column.earliest or _FIRST_DAY
            return opened.day_counts(self.column, first, self.entries, where=self.where)
        return opened.counts(self.column, where=self.where)

    def law_of(self, answers: IntArray) -> FloatArray:
        """Where the alarms are: row j the law of the place of alarm j + 1, shape (limit, entries + 1), the last entry
        that there is none. Exact.
        """
        from dpcore.thresholding.discrete import discrete_alarm_law

        return discrete_alarm_law(self.scales, answers, self.bar, self.limit).position

    def draw(self, answers: IntArray) -> dict[str, Any]:
        """Run once: ``alarms``, places from 0; ``names``, their labels; ``compared``, how many answers were looked at;
        ``stopped``, whether all alarms were spent.
        """
        pair = self.scales
        draw = draws.geometric_noise if pair.one_sided else draws.laplace_noise
        line = self.bar + int(draw(1, pair.threshold_scale)[0])
        alarms: list[int] = []
        for start in range(0, self.entries, _BLOCK):
            block = answers[start : start + _BLOCK]
            raised = np.flatnonzero(block + draw(block.size, pair.query_scale) >= line)
            alarms += (start + raised).tolist()
            if len(alarms) >= self.limit:
                break
        alarms = alarms[: self.limit]
        stopped = len(alarms) == self.limit
        return {
            "alarms": alarms,
            "names": [self.name_of(place) for place in alarms],
            "compared": alarms[-1] + 1 if stopped else self.entries,
            "stopped": stopped,
        }

    def name_of(self, place: int) -> str:
        """What the answer at a ``place`` (from 0) is called, in public: its label, day or option, or its number."""
        if self.labels and self.labels[place]:
            return self.labels[place]
        if not self.counted:
            return f"{place + 1}"
        if self._column.type == "date" and self._column.earliest is not None:
            return (self._column.earliest + timedelta(days=place)).isoformat()
        return options_of(self._column)[place]


def units_of(column: Column | None, sensitivity: float) -> Units:
    """What a run about the entries of ``column`` is counted in; None: rows are counted."""
    resolution = None if column is None else resolution_of(column, sensitivity)
    return Units() if resolution is None else Units(binary_unit(resolution), rounded=True)


def _counted_entries(column: Column, entries: int | None, labels: tuple[str, ...]) -> tuple[int, tuple[str, ...]]:
    """How many days or options a declared column has; they name themselves. Raises InvalidArgument."""
    if entries is not None or labels:
        raise InvalidArgument("entries", "must be left out: they are the declared days or options")
    if column.type == "date" and column.earliest is not None and column.latest is not None:
        return (column.latest - column.earliest).days + 1, ()
    one_of(("category", "yes/no"), column=column.type)
    return len(options_of(column)), ()
