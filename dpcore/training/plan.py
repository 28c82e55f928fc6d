"""What a sweep simulates, and the slices it is done in: plain data that can go to another process."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from dpcore.discovery import discover
from dpcore.errors import InvalidArgument
from dpcore.training.baselines import NON_PRIVATE
from dpcore.training.choosable import ChoosableRows
from dpcore.training.coded import CodedRows
from dpcore.training.features import Features, Prepared
from dpcore.training.fit import Method, checked_classes, checked_rows
from dpcore.training.losses import LOGISTIC, SQUARED, Logistic, Loss
from dpcore.training.pairable import PairableRows
from dpcore.training.recall import BALANCED, FOUND
from dpcore.training.uncut import UncutRows
from dpcore.validate import FloatArray, IntArray, finite_vector, positive, probability, whole

FIRST = 4  # replicas of the quick first round
RADIUS = 10.0  # of the ball that excess risk is measured over: public, and wide enough for most rows of the unit ball
_SECONDS, _LONGEST = 0.4, 1.0  # aimed at for one slice, and where even one ε takes longer fewer models are a slice
_PACKAGE = "dpcore.training"
AnyRows = CodedRows | UncutRows | PairableRows | ChoosableRows
Settings = tuple[tuple[str, Any], ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Sweep:
    """What to simulate: ``seeds`` private models of every method at every ε and size.

    ``X``, ``y`` are the rows to train on, ``X_test``, ``y_test`` those to measure on. A size below the number of
    training rows takes that many of them, in a fixed random order; above it, rows are repeated: more people like
    these. ``options`` holds (method, ((field, value), …)) of fixed public settings. Excess risk is measured over the
    ball of weights of ``radius``, into which models are moved for it.

    ``coded`` and ``coded_test`` are the same rows as steps and options, where there are such: methods that can (class
    attribute ``coded``) train and are measured on them. Their weights are of other columns, so they have no excess
    risk. With more than two ``classes`` answers are their numbers from 0, there is no excess risk, and methods that
    can (``several``) train on ``coded``. ``uncut`` and ``uncut_test`` are the same rows for methods that buy their
    cuts (``uncut`` as well), ``pairable`` and ``pairable_test`` for those that buy pairs (``paired``), ``choosable``
    and ``choosable_test`` for those that choose a way (``chosen``). Raises InvalidArgument.
    """

    X: FloatArray
    y: FloatArray
    X_test: FloatArray
    y_test: FloatArray
    methods: tuple[str, ...]
    epsilon: tuple[float, ...]
    delta: float = 1e-5
    sizes: tuple[int, ...] = ()
    loss: Loss = LOGISTIC
    seeds: int = 20
    seed: int = 0
    options: tuple[tuple[str, Settings], ...] = ()
    radius: float = RADIUS
    coded: CodedRows | None = None
    coded_test: CodedRows | None = None
    uncut: UncutRows | None = None
    uncut_test: UncutRows | None = None
    pairable: PairableRows | None = None
    pairable_test: PairableRows | None = None
    choosable: ChoosableRows | None = None
    choosable_test: ChoosableRows | None = None
    classes: int = 2

    @classmethod
    def of(
        cls,
        features: Features,
        data: Prepared,
        *,
        methods: Sequence[str] | None = None,
        epsilon: Sequence[float],
        sizes: Sequence[int] = (),
        delta: float = 1e-5,
        seeds: int = 20,
        seed: int = 0,
    ) -> Self:
        """A sweep over prepared data: eight tenths to train on, the rest to measure on, by ``seed``.

        ``methods`` are ``usual_methods`` unless given; those that need public constants of the features get them.
        """
        order = np.random.Generator(np.random.SFC64([seed, 3])).permutation(data.n)
        train, test = order[: data.n * 8 // 10], order[data.n * 8 // 10 :]
        found: Mapping[str, Any] = discover(_PACKAGE)
        return cls(
            X=data.X[train],
            y=data.y[train],
            X_test=data.X[test],
            y_test=data.y[test],
            methods=tuple(usual_methods(two_classes=features.two_classes) if methods is None else methods),
            epsilon=tuple(epsilon),
            sizes=tuple(sizes),
            delta=delta,
            loss=LOGISTIC if features.classifies else SQUARED,
            seeds=seeds,
            seed=seed,
            options=tuple(
                (key, tuple(kind.settings_for(features).items()))
                for key, kind in found.items()
                if hasattr(kind, "settings_for")
            ),
        )

    def __post_init__(self) -> None:
        for X, answers in ((self.X, self.y), (self.X_test, self.y_test)):
            if whole(2, classes=self.classes) > 2:
                checked_classes(X, answers, self.classes)
            else:
                checked_rows(X, answers, self.loss)
        probability(delta=self.delta)
        whole(1, seeds=self.seeds)
        positive(radius=self.radius)
        for level in finite_vector(epsilon=self.epsilon):
            positive(epsilon=level)
        for size in self.sizes:
            whole(2, sizes=size)
        for name, train, test in (
            ("coded", self.coded, self.coded_test),
            ("uncut", self.uncut, self.uncut_test),
            ("pairable", self.pairable, self.pairable_test),
            ("choosable", self.choosable, self.choosable_test),
        ):
            for rows, codes in ((self.X, train), (self.X_test, test)):
                if codes is not None and codes.shape[0] != rows.shape[0]:
                    raise InvalidArgument(name, "must be the same rows")
            if (train is None) != (test is None):
                raise InvalidArgument(f"{name}_test", f"and {name} must be given together")
        for key in self.methods:
            if key not in discover(_PACKAGE):
                raise InvalidArgument("methods", "must be keys of the training catalogue")

    @property
    def n(self) -> int:
        """Rows to train on."""
        return int(self.X.shape[0])

    @property
    def metrics(self) -> tuple[str, ...]:
        if self.classes > 2:
            return ("accuracy",)
        if isinstance(self.loss, Logistic):
            return ("accuracy", "excess_risk", FOUND, BALANCED)
        return ("squared_error", "excess_risk")

    def method(self, key: str, epsilon: float) -> Method:
        """The method as it is simulated at ε. Raises InvalidArgument."""
        options = dict(dict(self.options).get(key, ()))
        if self.classes > 2:
            options["classes"] = self.classes
        return build(key, epsilon=epsilon, delta=self.delta, loss=self.loss, options=options)

    def training_rows(self, size: int) -> tuple[FloatArray, FloatArray]:
        """The rows and answers of one size."""
        chosen = self._chosen(size)
        return self.X[chosen], self.y[chosen]

    def codes_for(self, key: str, *, test: bool = False) -> AnyRows | None:
        """The rows that a method trains on, or with ``test`` is measured on, in place of X; None where it takes X."""
        kind = discover(_PACKAGE).get(key)
        for sort, rows, held in (
            ("chosen", self.choosable, self.choosable_test),
            ("paired", self.pairable, self.pairable_test),
            ("uncut", self.uncut, self.uncut_test),
            ("coded", self.coded, self.coded_test),
        ):
            if getattr(kind, sort, False):
                return held if test else rows
        return None

    def coded_rows(self, key: str, size: int) -> AnyRows | None:
        """``codes_for`` of one size, the rows of ``training_rows``."""
        found = self.codes_for(key)
        return None if found is None else found.take(self._chosen(size))

    def _chosen(self, size: int) -> IntArray:
        order = np.random.Generator(np.random.SFC64([self.seed, 1])).permutation(self.n)
        return order[:size] if size <= self.n else np.resize(order, size)

    def parts(self) -> tuple[Part, ...]:
        """The slices: baselines, then a few replicas of everything, then the rest; quick methods first."""
        sizes = self.sizes or (self.n,)
        found = [Part(method=NON_PRIVATE, size=size, epsilon=(), replicas=1, number=0) for size in sizes]
        first = min(FIRST, self.seeds)
        rounds = [first, self.seeds - first] if self.seeds > first else [first]
        for number, replicas in enumerate(rounds):
            slices = [
                part for key in self.methods for size in sizes for part in self._split(key, size, replicas, number)
            ]
            found += sorted(slices, key=lambda part: self._cost(replace(part, epsilon=self.epsilon)))
        return tuple(found)

    def _cost(self, part: Part) -> float:
        """About how many seconds a slice takes on one core."""
        size, d = part.size, int(self.X.shape[1])
        per_pass = 4.0 * size * d / 5e10
        passes = {
            "proved_descent": 400,
            "noisy_gradient_descent": 100,
            "clipped_examples": 100,
            "book_gradient_descent": 10,
            "adassp": 1,
        }
        one = passes.get(part.method, 150) * per_pass + d**3 / 1e10 + 1e-4
        noise = 0.0
        codes = self.codes_for(part.method)
        if isinstance(codes, CodedRows):
            outputs = self.classes if self.classes > 2 else 1
            one = 200 * outputs * (2.0 * size * codes.codes.shape[1] / 1e9 + size / 1e9 + codes.shape[1] / 1e8)
        elif codes is not None:  # one model at a time
            one = _one_model(codes, size)
        if part.method in ("dp_sgd", "disjoint_batches"):
            one = 250.0 * per_pass + 0.002
        if part.method == "dp_sgd":
            noise = 0.1  # its noise is found by a search through privacy losses
        return len(part.epsilon) * (noise + part.replicas * one)

    def _split(self, key: str, size: int, replicas: int, number: int) -> list[Part]:
        """One part, or several of fewer ε each where one would take too long, and of fewer models where one ε would."""
        alone = Part(method=key, size=size, epsilon=self.epsilon[:1], replicas=replicas, number=number)
        many = max(1, int(_SECONDS / self._cost(alone)))
        one, two = (self._cost(replace(alone, replicas=models)) for models in (1, 2))
        most = 1 + max(0, int((_LONGEST - one) / (two - one)))
        # numbers of their own, since they say what is drawn: those of the second round are odd
        pieces = [
            replace(alone, replicas=min(most, replicas - done), number=number + 2 * (done // most))
            for done in range(0, replicas, most)
        ]
        return [
            replace(piece, epsilon=self.epsilon[start : start + many])
            for piece in pieces
            for start in range(0, len(self.epsilon), many)
        ]


def _one_model(rows: AnyRows, size: int) -> float:
    """About how many seconds a model takes that buys or chooses for itself."""
    if isinstance(rows, ChoosableRows):  # all are tried, and one is built
        return sum(_one_model(own, size) / 2.0 for own in rows.by_way.values()) + 0.1
    if isinstance(rows, PairableRows):
        candidates, columns = len(rows.candidates), int(rows.singles.codes.shape[1])
        return 0.05 + candidates * size / 1e8 + columns * (0.002 + 260 * 3.0 * size / 1e9)
    columns = int(rows.codes.shape[1] if isinstance(rows, CodedRows) else rows.cells.codes.shape[1])
    return 0.05 + columns * (0.002 + 200 * 3.0 * size / 1e9)


def suitable(loss: Loss, columns: int, *, classes: int = 2) -> dict[str, type[Method]]:
    """Methods that can train a model for ``loss`` on rows of so many columns, by key, in the order pages show them.

    With more than two ``classes`` those that tell several apart.
    """
    kinds: Mapping[str, Any] = discover(_PACKAGE)
    return {
        key: kind
        for key, kind in kinds.items()
        if loss.name in kind.losses
        and (classes == 2 or getattr(kind, "several", False))
        and not getattr(kind, "one_number", False)
        and columns <= getattr(kind, "most_columns", columns)
    }


def usual_methods(*, two_classes: bool) -> tuple[str, ...]:
    """What the page shows first, few enough to be told apart: the usual, the best, another way, and the textbook's."""
    if not two_classes:
        return ("noisy_gradient_descent", "scaled_descent", "adassp")
    return ("noisy_gradient_descent", "scaled_descent", "objective_perturbation", "book_gradient_descent")


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One slice: ``replicas`` models of one method at some ε and one size; ``number`` tells apart what is drawn
    for the same method and size."""

    method: str
    size: int
    epsilon: tuple[float, ...]
    replicas: int
    number: int


def build(
    key: str, *, epsilon: float, delta: float, loss: Loss = LOGISTIC, options: dict[str, Any] | None = None
) -> Method:
    """The method ``key`` at (ε, δ): without δ where it has none, with ``loss`` where it can train for it.

    ``options`` are further fields of it. Raises InvalidArgument.
    """
    found = discover(_PACKAGE)
    if key not in found:
        raise InvalidArgument("method", "must be a key of the training catalogue")
    kind: Any = found[key]
    chosen: dict[str, Any] = dict(options or {})
    if loss.name in kind.losses:
        chosen.setdefault("loss", loss)
    made: Method = kind(epsilon=epsilon, delta=0.0 if kind.pure else delta, **chosen)
    return made
