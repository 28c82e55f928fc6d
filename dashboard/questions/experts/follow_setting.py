"""Following experts as it is set: the experts, what was chosen, and all that follows from it but its pictures."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from dashboard.blocks import Ask, Block, Download, Rows
from dashboard.case import Case, Memo, unremembered
from dashboard.controls import Choice, Number, Read, Several, slug
from dashboard.question import NoOffer, Offer, Uncertain
from dashboard.questions.experts import beside, other_rounds
from dashboard.questions.experts import follow_controls as controls
from dashboard.questions.experts.follow_controls import (
    ASSUME,
    BAND,
    FIRST,
    METRIC,
    NON_PRIVATE,
    PUBLISH,
)
from dashboard.questions.experts.follow_request import LIKELY, Publish, chance_right, expected_regret, plays_request
from dashboard.questions.experts.followed import Followed
from dashboard.usual import SEED, method
from dashboard.usual import delta as usual_delta
from dashboard.words import follow as said
from dpcore.datasets.text import safe_csv
from dpcore.experts import ExpertsProblem, Strategy, catalog
from dpcore.experts.experts_problem import THEORIES
from dpcore.ledger import Receipt
from dpcore.releases.plays import PrivatePlays
from dpcore.validate import FloatArray

DRAWN = ("textbook", "weighted_majority", "batched", "doubling_leader", NON_PRIVATE, "theory")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Setting:
    """The experts, everything that was chosen, and what follows from it."""

    case: Case
    read: Read
    whom: Followed
    problem: ExpertsProblem
    metric: str
    main: str
    method: Choice[str]
    drawn: tuple[str, ...]
    seed: int
    publish: Publish
    need: Number
    target: float

    @classmethod
    def of(cls, case: Case, whom: Followed, read: Read) -> Setting:
        assumption = read(ASSUME)
        delta = read(usual_delta(case, "experts_delta", said.DELTA, said.DELTA_HELP))
        metric, band = read(METRIC, "need"), read(BAND)
        problem = ExpertsProblem(
            losses=whom.losses.values,
            delta=delta,
            assumption=assumption,
            scenario=whom.scenario,
            band=0.8 if band else 0.0,
        )
        if beside.is_large(problem.losses):
            found = beside.found_so_far(case)
            problem = beside.Remembering.of(problem, beside.looking(found, unremembered))
            case = replace(case, memo=beside.looking(found, case.memo))
        called = problem.labels
        strategies = tuple(key for key in called if key not in THEORIES and key != NON_PRIVATE)
        about = {key: catalog()[key].about for key in strategies}
        chosen = method(slug("experts_method", assumption), about, FIRST[assumption], said.STRATEGY)
        main = read(chosen)
        others = Several(
            key=slug("experts_drawn", assumption),
            label=said.DRAWN,
            options=tuple(called),
            names=called.__getitem__,
            default=tuple(key for key in called if key in DRAWN),
        )
        shown = read(others)
        seed = int(read(SEED))
        need = controls.need(case, whom, problem, metric)
        return cls(
            case=case,
            read=read,
            whom=whom,
            problem=problem,
            metric=metric,
            main=main,
            method=chosen,
            drawn=tuple(key for key in problem.methods if key in shown or key == main),
            seed=seed,
            publish=read(PUBLISH, "tab"),
            need=need,
            target=read(need, "need") / (100.0 if metric == "regret_per_round" else 1.0),
        )

    @property
    def epsilon(self) -> float:
        return self.case.epsilon

    @property
    def memo(self) -> Memo:
        return self.case.memo

    @property
    def large(self) -> bool:
        """Whether what takes long is evaluated beside the page."""
        return beside.is_large(self.problem.losses)

    @property
    def waits(self) -> bool:
        """Whether there is nothing to say yet."""
        return self.large and beside.HEAD not in self.case.complete

    @property
    def losses(self) -> FloatArray:
        return self.whom.losses.values

    @property
    def identity(self) -> tuple[Hashable, ...]:
        return ("experts", *self.whom.key, self.problem.assumption, self.problem.delta, self.problem.band)

    @property
    def strategy(self) -> Strategy:
        return self.problem.strategy(self.main, self.epsilon)

    @property
    def best(self) -> int:
        """The expert with the fewest losses in all."""
        return int(np.argmin(self.losses.sum(axis=0)))

    @property
    def own(self) -> float:
        """Points per round that the best expert loses itself."""
        return float(self.losses[:, self.best].mean())

    @property
    def at_random(self) -> float:
        """Points per round more than the best, when one is picked at random each time."""
        return float(self.losses.mean()) - self.own

    def weights(self) -> FloatArray:
        """The chance of each expert over time, at most 400 rounds, the last one among them."""
        return beside.weights(self, self.main, self.epsilon, self.problem)

    def uncertain(self, noise: float, price: str) -> Uncertain | None:
        """Another expert at the end through noise, whose ``price`` is in points per 100 rounds, and how often another
        would be best had other rounds come.

        The rounds are drawn anew from these (bootstrap), as if each came for itself.
        """
        if not other_rounds.few_enough(self.losses):
            return None
        people, without = beside.other_days(self, self.epsilon, self.problem, self.seed)
        more = max(noise - without, 0.0)
        return Uncertain(
            noise=more,
            people=people,
            sentence=said.uncertain(more, without, people, len(self.losses), self.whom.unit, other_rounds.DRAWS, price),
        )

    def offer(self) -> Offer | NoOffer:
        """The release of the strategy that was chosen, or of one expert to follow from now on."""
        source, reading = self.case.source, self.whom.reading
        if reading is None:
            return NoOffer(sentence=said.SIMULATED)
        about = catalog()[self.main].about
        if about.release is None and self.publish == "plays":
            other = about.nearest if about.nearest in self.method.options else FIRST[self.problem.assumption]
            name = catalog()[str(other)].about.name
            return NoOffer(sentence=said.no_release(about.name, name), instead=(self.method.key, other, said.use(name)))
        obstacle = source.obstacle(*reading.needed)
        if obstacle or source.rows is None or source.declared is None:
            return NoOffer(sentence=obstacle or source.unreleased)
        request = plays_request(
            source.declared,
            reading,
            rows=source.rows,
            epsilon=self.epsilon,
            delta=self.problem.delta,
            method=self.main,
            publish=self.publish,
            unsettled=self._unsettled(),
        )
        if isinstance(request, str):
            return NoOffer(sentence=request)
        if source.count is not None:
            return NoOffer(sentence=said.rounds_uncounted(request.rounds), states=(source.count, said.ROUNDS_RIGHT))
        return Offer(
            request=request,
            data=source.rows,
            forecast=self._forecast_so_far(request),
            describe=said.answer,
            gives=said.gives(self.publish, request.rounds, self.whom.unit, request.experts),
            below=_plays,
            conclude=said.CONCLUDE,
            claim=said.CLAIM,
            before=(Ask((PUBLISH,)),),
        )

    def _unsettled(self) -> str:
        """Why how many records there are is private: the budget of these people hides that one is there, or there is
        none yet and the picture is of simulated rows, which say nothing of the file.
        """
        source, hides = self.case.source, self.case.hides
        if source.public or hides == "replace_one" or (not hides and source.mode == "what_if"):
            return ""
        return said.rounds_hidden(self.whom.unit) if hides else said.rounds_unsettled(self.whom.unit)

    def _forecast_so_far(self, request: PrivatePlays) -> str:
        if self.case.brief:
            return ""
        source = self.case.source
        known = source.public and source.rows is not None
        return said.FORECAST_WAITING if self.waits else self.forecast(request, known=known)

    def forecast(self, request: PrivatePlays, *, known: bool) -> str:
        """How far off: where the rows are ``known`` to all by the law of the request on them, else from declared
        numbers alone.
        """
        unit, key = self.whom.unit, ("plays forecast", *self.whom.key, request)
        if not known:
            bound = request.error_bound(LIKELY)
            if bound is None:
                return said.FORECAST_UNKNOWN
            if request.way == "from_now_on":
                return said.forecast_naming_bound(bound.number, LIKELY, request.rounds, unit)
            return said.forecast_bound(bound.number, request.rounds, unit)
        lost = self.case.memo(key, lambda: expected_regret(request, self.case.read(request)))
        if request.way == "from_now_on":
            right = self.case.memo((*key, "right"), lambda: chance_right(request, self.case.read(request)))
            return said.forecast_naming(right, lost, unit)
        drawn = self.problem.central.forecast(self.main, np.array([self.epsilon]), np.array([float(request.rounds)]))
        return said.forecast(lost, request.rounds, unit, float(drawn.regret[0]), request.touched)


def _plays(receipt: Receipt) -> Sequence[Block]:
    """The plays as a table, and as a CSV with the receipt's number in it."""
    found = receipt.answer
    frame = pd.DataFrame(
        {
            said.FROM_ROUND: [start + 1 for start in found["starts"]],
            said.FOLLOW: [found["experts"][play] for play in found["plays"]],
        }
    )
    table = [Rows(frame=frame, alt=said.PLAYS_ALT)] if len(frame) > 1 else []
    signed = frame.assign(receipt=receipt.journal_hash)
    return [
        *table,
        Download(
            label=said.PLAYS_FILE,
            data=lambda: safe_csv(signed).encode("utf-8-sig"),
            name=f"plays-{receipt.request_id[:8]}.csv",
        ),
    ]
