"""Private plays over a person's own losses: whom to follow round by round, or whom to follow from now on."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np

from dpcore.calibration import zcdp_rho
from dpcore.costs import Cost
from dpcore.datasets.declaration import OPTIONS_MOVED, Declaration, shown
from dpcore.errors import InvalidArgument
from dpcore.experts.bounds import held_bound
from dpcore.experts.doubling import epoch_starts
from dpcore.experts.rates import best_hold, draws_with_data, hedge_rate, learning_rate, plays_cost
from dpcore.releases.asked import Asked, ErrorBound
from dpcore.releases.cells import check_scores
from dpcore.releases.choice import Choice
from dpcore.releases.sizes import MOST_BYTES, listed, too_large
from dpcore.validate import FloatArray, IntArray, Neighbours, in_range, one_of, probability, whole
from dpcore.written import exact

if TYPE_CHECKING:
    from dpcore.datasets.private_rows import OpenRows, PrivateRows

UNIT = 2.0**-20  # losses are whole numbers of it, so a round moves a total by at most 2²⁰ units, exactly
ONE = 2**20
MOST_ROUNDS = 10**6

Way = Literal["batched", "doubling_leader", "from_now_on"]
WAYS: tuple[Way, ...] = ("batched", "doubling_leader", "from_now_on")
Kind = Literal["losses", "squared", "absolute", "zero_one", "prices"]
KINDS: dict[Kind, str] = {
    "losses": "what each lost",
    "squared": "forecasts, judged by the squared miss",
    "absolute": "forecasts, judged by the miss",
    "zero_one": "forecasts, right or wrong",
    "prices": "prices, held from one row to the next",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class PrivatePlays(Asked):
    """Name the ``experts`` (columns) to follow over ``rounds`` rounds of losses in [0, 1]; one row may be any other.

    Neighbours differ in ``rows_per_person`` rows in any way (replace-one). A row touches one round, or two where losses
    are changes of ``prices``, to the row and from it. A total over both rounds moves by at most 1 all the same: a
    higher price makes the first loss smaller and the second larger, and a missing one makes both one half, which is at
    most ½ from each. But where separate draws look at the two rounds, each moves by up to 1. So one person moves what
    the draws look at by at most ``touched``, in sum over those that look at separate rounds.

    ``way``: ``batched`` plays afresh every ``hold`` rounds by the exponential mechanism at the rate η of
    ``dpcore.experts.Batched`` (``hold`` 1 is weighted majority) over ``touched``, each play of bounded range 2η; (ε, δ)
    in all by zCDP, the account that the ledger adds up (the exact one would charge more ρ for the same ε).
    ``doubling_leader`` follows the leader of the epoch before by permute-and-flip, and ``from_now_on`` names one expert
    by the total over all rounds, by permute-and-flip: both ε-DP with no δ. For the doubling leader a person who moves
    epoch e by c_e ≤ ``touched`` in all costs Σ ε·c_e/touched ≤ ε.

    Losses are rounded to 2⁻²⁰ one by one and added up as whole numbers; totals get OpenDP's noise, so the laws of
    ``dpcore.experts`` hold exactly for the rounded losses. A loss runs from the ``low`` to the ``high`` of the widest
    declared bounds (forecasts: of a miss; prices: of a change by ``move`` either way). Raises InvalidArgument.
    """

    key: ClassVar[str] = "plays"
    unread: ClassVar[tuple[str, ...]] = ("epsilon", "delta", "chosen_after_looking", "way", "hold")

    neighbours: Neighbours = "replace_one"
    delta: float
    rounds: int
    experts: tuple[str, ...]
    kind: Kind = "losses"
    outcome: str | None = None
    move: float = 0.15
    way: Way = "batched"
    hold: int | None = None

    def __post_init__(self) -> None:
        Asked.check(self)
        if self.neighbours != "replace_one":
            raise InvalidArgument("neighbours", "must be replace_one: the number of rounds is public")
        one_of(WAYS, way=self.way)
        one_of(tuple(KINDS), kind=self.kind)
        if self.way == "batched":
            probability(delta=self.delta)
        elif self.delta != 0.0:
            raise InvalidArgument("delta", "must be 0: this way of choosing does not use it")
        whole(2, MOST_ROUNDS, rounds=self.rounds)
        whole(2, experts=len(self.experts))
        if len(set(self.experts)) < len(self.experts):
            raise InvalidArgument("experts", "must all have different names")
        if (self.kind in ("squared", "absolute", "zero_one")) != (self.outcome is not None):
            raise InvalidArgument("outcome", "must be given for forecasts and for nothing else")
        in_range(0.0, 1.0, open_low=True, move=self.move)
        if self.hold is not None:
            whole(1, self.rounds, hold=self.hold)
            if self.way != "batched":
                raise InvalidArgument("hold", "is for batched plays only")
        _ = self.choice
        if self.most_bytes > MOST_BYTES:
            raise InvalidArgument(
                "rounds", f"cannot be that many with a play in so many of them: {too_large(self.most_bytes)}"
            )

    @classmethod
    def of(
        cls,
        declaration: Declaration,
        experts: Sequence[str],
        *,
        rounds: int,
        epsilon: float,
        delta: float = 0.0,
        kind: Kind = "losses",
        outcome: str | None = None,
        move: float = 0.15,
        way: Way = "batched",
        hold: int | None = None,
        chosen_after_looking: bool = False,
    ) -> Self:
        """The question about declared columns; ``rounds`` is stated by the person or ``PrivateRows.public_size`` (less
        one for prices). ``move`` is the largest change of a price that is told apart. Raises InvalidArgument.
        """
        if declaration.each_row == "option":
            raise InvalidArgument("rows", OPTIONS_MOVED)
        for name in experts:
            check_scores(declaration.column(name) if kind == "prices" else declaration.bounded(name))
        names = tuple(experts)
        if outcome is not None:
            column = declaration.bounded(outcome)
            if outcome in names or column.type not in ("number", "integer", "yes/no"):
                raise InvalidArgument("outcome", f"cannot be “{shown(outcome)}”: it must hold what then happened")
            names = (*names, outcome)
        if declaration.id_column is not None:
            raise InvalidArgument("id_column", "is not for rows in time order: a row stands for a round")
        return cls(
            epsilon=epsilon,
            reads=declaration.reads(*names, in_place=True),
            unit=declaration.unit,
            chosen_after_looking=chosen_after_looking,
            delta=delta,
            rounds=rounds,
            experts=tuple(experts),
            kind=kind,
            outcome=outcome,
            move=move,
            way=way,
            hold=hold,
        )

    @property
    def touched(self) -> int:
        """By how many rounds' losses one person can move what is looked at; see the class."""
        apart = self.kind == "prices" and self.way == "doubling_leader"
        return self.rows_per_person * (2 if apart else 1)

    @property
    def held(self) -> int:
        """For how many rounds a batched play is held."""
        return self.hold or best_hold(zcdp_rho(self.epsilon, self.delta), self.rounds, len(self.experts))

    @property
    def rate(self) -> float:
        """η of batched plays times ``touched``: half of the bounded range of each."""
        count = draws_with_data(self.rounds, self.held)
        if count == 0:
            return 0.0
        fastest = self.touched * hedge_rate(self.rounds, len(self.experts), self.held)
        return min(learning_rate(self.epsilon, self.delta, count, "zcdp"), fastest)

    @property
    def most_bytes(self) -> int:
        """Bytes of the answer: at most so many."""
        if self.way == "batched":
            plays = draws_with_data(self.rounds, self.held) + 1
        else:
            plays = 1 if self.way == "from_now_on" else self.rounds.bit_length() + 1
        return listed(self.experts, plays, len(str(self.rounds - 1)) + 1 + len(str(len(self.experts) - 1)))

    @property
    def choice(self) -> Choice:
        """How each play is drawn.

        The first of a run looks at nothing: any scale will do there, and the rate may be 0 when it is the only one.
        """
        batched = self.way == "batched"
        return Choice(
            epsilon=(2 * self.rate or 1.0) if batched else self.epsilon,
            sensitivity=self.touched * ONE,
            monotonic=False,
            rule="exponential" if batched else "permute_and_flip",
        )

    @property
    def what(self) -> str:
        """The question in one plain sentence."""
        which = f"Which of {len(self.experts):,} experts ({self._meaning})"
        if self.way == "from_now_on":
            return f"{which} should be followed from now on, after {self.rounds:,} rounds?"
        return f"{which} should be followed in each of {self.rounds:,} rounds?"

    @property
    def _meaning(self) -> str:
        if self.kind == "prices":
            return f"{KINDS['prices']}, up to {exact(self.move)} either way"
        low, high = self._bounds
        about = "" if self.outcome is None else f" of “{shown(self.outcome)}”"
        return f"{KINDS[self.kind]}{about}, from {exact(low)} to {exact(high)}"

    @property
    def _bounds(self) -> tuple[float, float]:
        """The widest declared bounds of the experts' columns."""
        columns = [self.reads.column(name) for name in self.experts]
        return min(float(column.low or 0.0) for column in columns), max(
            1.0 if column.high is None else float(column.high) for column in columns
        )

    @property
    def mechanism(self) -> str:
        """What answers it, by its right name."""
        if self.way == "from_now_on":
            return "Permute-and-flip on total losses"
        if self.way == "doubling_leader":
            return "Permute-and-flip on the losses of the epoch before, in doubling epochs"
        return f"Exponential mechanism on running totals, every {self.held} rounds"

    @property
    def cost(self) -> Cost:
        """All plays together; at most what was stated."""
        if self.way == "batched":
            count = draws_with_data(self.rounds, self.held)
            return plays_cost(self.rate, count, self.epsilon, self.delta, reacting=True)
        return Cost.pure(self.epsilon)

    @property
    def promise(self) -> str:
        """What is hidden: rows, not people who may be in many of them."""
        return f"Hidden is whatever the rows of one {shown(self.unit)} hold. {self.rows_promise}"

    @property
    def rules(self) -> tuple[str, ...]:
        """By which any table is answered about."""
        read = f"The first {self.rounds + (self.kind == 'prices'):,} rows are the rounds, in the order of the file"
        if self.kind == "prices":
            return (
                f"{read}; a row that is missing, or was left out, counts as missing prices.",
                f"A change by more than {exact(self.move)} counts as that; one from or to a price that is missing, "
                "unreadable or not above 0 counts as no change.",
                "One row touches two rounds, the change to it and the change from it: the noise covers both together.",
            )
        low, high = self._bounds
        return (
            f"{read}; a row that is missing, or was left out, counts as missing cells.",
            f"Values outside {exact(low)} to {exact(high)} are moved to the nearer bound; what is missing or "
            "unreadable makes a loss of one half.",
        )

    def error_bound(self, beta: float = 0.05) -> ErrorBound | None:
        """How much more is lost than by the best expert, at most; None for the doubling leader, whose bound needs days
        that are alike and independent. Raises InvalidArgument.

        From now on: the named expert's total, with probability 1 − β. Batched: over all rounds, on average, for losses
        that do not react to plays (Cesa-Bianchi & Lugosi 2006, Theorem 2.2, each play held).
        """
        if self.way == "from_now_on":
            return ErrorBound(
                number=self.choice.behind(len(self.experts), beta) / ONE,
                unit="rounds' losses",
                confidence=1.0 - beta,
                about="the named expert has lost at most this much more in all than the best one, as losses count",
            )
        if self.way == "doubling_leader":
            return None
        rate = self.rate / self.touched
        total = held_bound(rate, self.rounds, len(self.experts), self.held) if rate else math.inf
        return ErrorBound(
            number=min(total, float(self.rounds)),
            unit="rounds' losses",
            confidence=None,
            about="over all rounds, as losses count, at most this much more is lost than by the best expert, on "
            "average",
        )

    @property
    def starts(self) -> IntArray:
        """The first round, from 0, of each play; ``rounds`` for a play that comes after all of them."""
        if self.way == "from_now_on":
            return np.array([self.rounds])
        if self.way == "doubling_leader":
            return epoch_starts(self.rounds)
        return np.arange(0, self.rounds, self.held)

    def read(self, rows: PrivateRows) -> IntArray:
        """The losses as whole numbers of 2⁻²⁰, at most 2²⁰ of them, shape (rounds, experts)."""
        opened = self.opened(rows)
        count = self.rounds + (self.kind == "prices")
        happened = None if self.outcome is None else _first(opened, self.outcome, count)
        low, high = self._bounds
        units: IntArray = np.empty((self.rounds, len(self.experts)), dtype=np.int32)
        for place, name in enumerate(self.experts):  # one by one: all values beside all losses are twice as much
            values = _first(opened, name, count)
            shares = losses_of(values, self.kind, low=low, high=high, move=self.move, happened=happened)
            units[:, place] = np.floor(shares / UNIT + 0.5)
        return units

    def scores(self, units: IntArray) -> Iterator[IntArray]:
        """What each play looks at, higher being better: minus the losses before it (in the epoch before), in units.

        ``units`` are the losses, shape (rounds, experts).
        """
        total, before = np.zeros(len(self.experts), dtype=np.int64), 0
        for start in self.starts.tolist():
            recent = units[before:start].sum(axis=0, dtype=np.int64)
            total = recent if self.way == "doubling_leader" else total + recent
            before = start
            yield -total

    def law_of(self, units: IntArray) -> FloatArray:
        """Chance of each expert in each play, shape (plays, experts), exact; plays are drawn independently."""
        return np.stack([self.choice.law(scores) for scores in self.scores(units)])

    def answer(self, rows: PrivateRows, progress: Callable[[float], None] | None = None) -> dict[str, Any]:
        """One run of plays over the rows; see ``draw``."""
        return self.draw(self.read(rows), progress)

    def draw(self, units: IntArray, progress: Callable[[float], None] | None = None) -> dict[str, Any]:
        """``plays``, places of experts, each from the round in ``starts`` (from 0) to the next; and the ``experts``.

        ``progress`` is told the share of plays done: it depends on public numbers only.
        """
        starts, choice = self.starts.tolist(), self.choice
        plays = []
        for done, scores in enumerate(self.scores(units), start=1):
            plays.append(choice.draw(scores))
            if progress is not None:
                progress(done / len(starts))
        return {"experts": list(self.experts), "starts": starts, "plays": plays, "rounds": self.rounds}


def losses_of(
    values: FloatArray,
    kind: Kind,
    *,
    low: float = 0.0,
    high: float = 1.0,
    move: float = 0.15,
    happened: FloatArray | None = None,
) -> FloatArray:
    """Losses in [0, 1], whatever cells hold: by the public rules of ``PrivatePlays``, shape (rounds, experts), or
    (rounds,) of one expert's values (rows,).

    ``values`` (rows, experts) and ``happened`` (rows,) are NaN where missing, which makes a loss of one half. Prices
    make one round less than there are rows.
    """
    if kind == "prices":
        prices = np.where(values > 0.0, values, np.nan)
        with np.errstate(over="ignore"):
            changes = np.clip(prices[1:] / prices[:-1] - 1.0, -move, move)
        losses = (move - changes) / (2.0 * move)
    else:
        losses = (np.clip(values, low, high) - low) / (high - low)
        if happened is not None:
            was = (np.clip(happened, low, high) - low) / (high - low)
            off = np.abs(losses - (was if losses.ndim == 1 else was[:, None]))
            wrong = np.where(np.isnan(off), np.nan, off > 0.0)
            losses = off * off if kind == "squared" else off if kind == "absolute" else wrong
    return np.where(np.isnan(losses), 0.5, np.clip(losses, 0.0, 1.0))


def _first(opened: OpenRows, name: str, count: int) -> FloatArray:
    """The first ``count`` values of a column, NaN where there are none."""
    values = np.full(count, np.nan)
    found = opened.numbers(name)[:count]
    values[: found.size] = found
    return values
