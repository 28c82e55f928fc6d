"""The most common option as it is set: the candidates, what was chosen, and all that follows but its pictures."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dashboard.case import Case
from dashboard.controls import Number, Numbers, Read
from dashboard.question import NoOffer, Offer, Uncertain
from dashboard.questions.selection import most_common_controls as controls
from dashboard.questions.selection.candidates import Candidates
from dashboard.questions.selection.most_common_controls import METHODS, METRICS
from dashboard.questions.selection.most_common_request import chance_right, most_common_request
from dashboard.usual import BETA, SAMPLING, SEED, measure, method, neighbours, people, questions
from dashboard.words import most_common as said
from dashboard.words.usual import proved
from dpcore.releases.selection import MostCommonOption
from dpcore.selection import MostCommon as Problem
from dpcore.validate import Neighbours

OTHER_PEOPLE = 4000
"""Simulated draws of as many other people."""
_MOST_DRAWN = 2000
"""Options of which other people are drawn: with more of them it takes seconds, and what it says is nothing new."""
_AT_ONCE = 1 << 20
"""Numbers drawn at once: four thousand draws of all options together would fill the memory."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Setting:
    """The candidates, everything that was chosen, and what follows from it."""

    case: Case
    read: Read
    as_is: Candidates
    edited: Candidates
    counts: Numbers
    relation: Neighbours
    metric: str
    main: str
    sampling: bool
    beta: float
    seed: int
    times: float
    questions: int
    need: Number
    target: float

    @classmethod
    def of(cls, case: Case, as_is: Candidates, read: Read) -> Setting:
        schema = case.table.schema
        relation = read(neighbours("neighbours", schema.unit, "step" if schema.protects_rows else "record"))
        as_is = as_is.under(relation)
        metric = read(measure("selection_metric", {key: known.name for key, known in METRICS.items()}), "need")
        main = read(method("selection_method", {key: kind.about for key, kind in METHODS.items()}, "permute_and_flip"))
        sampling, beta, seed = read(SAMPLING), read(BETA), read(SEED)
        counts = controls.counts_of(case, as_is)
        edits = read(counts, "tab")
        times = read(people("what_if_factor", said.as_many(as_is.unit)), "tab") if as_is.counted else 1.0
        shared = int(read(questions("what_if_questions"), "tab"))
        need = controls.need(case, as_is, metric)
        return cls(
            case=case,
            read=read,
            as_is=as_is,
            edited=controls.edited(as_is, counts, edits, times),
            counts=counts,
            relation=relation,
            metric=metric,
            main=main,
            sampling=sampling,
            beta=beta,
            seed=int(seed),
            times=times,
            questions=shared,
            need=need,
            target=read(need, "need") / METRICS[metric].factor,
        )

    @property
    def epsilon(self) -> float:
        return self.case.epsilon

    @property
    def scored_anew(self) -> bool:
        """Whether What if has changed a score."""
        return bool((self.edited.scores != self.as_is.scores).any())

    @property
    def changed(self) -> bool:
        return self.questions != 1 or self.scored_anew

    def problem(self, shown: Candidates, shared: int) -> Problem:
        return Problem(
            scores=shown.scores,
            relation=self.relation,
            sensitivity=shown.sensitivity,
            counted=shown.counted,
            monotonic=shown.one_way if self.relation == "add_remove" else None,
            questions=shared,
            beta=self.beta,
            band=0.8 if self.sampling else 0.0,
            theorem=self.main,
        )

    def uncertain(self, noise: float) -> Uncertain | None:
        """Wrong through noise, and how often as many other people would have another winner; for counts of people."""
        edited = self.edited
        if not edited.counted or not edited.one_way or edited.scores.size > _MOST_DRAWN:
            return None

        def other() -> float:
            counts = np.maximum(edited.scores, 0.0)
            rng = np.random.Generator(np.random.PCG64(self.seed))
            total, shares, right, part = round(float(counts.sum())), counts / counts.sum(), 0, _AT_ONCE // counts.size
            for begun in range(0, OTHER_PEOPLE, part):
                drawn = rng.multinomial(total, shares, min(part, OTHER_PEOPLE - begun))
                right += int(edited.best[np.argmax(drawn, axis=1)].sum())
            return 1.0 - right / OTHER_PEOPLE

        key = ("other people", self.case.table.fingerprint, self.as_is.column, tuple(edited.scores.tolist()), self.seed)
        people = self.case.memo(key, other)
        return Uncertain(
            noise=noise,
            people=people,
            sentence=said.uncertain(noise, people, edited.scores.sum(), edited.unit, OTHER_PEOPLE),
        )

    def offer(self) -> Offer | NoOffer:
        """The release of the method that was chosen, about the data as they are."""
        source, about = self.case.source, METHODS[self.main].about
        if about.release is None:
            nearest = about.nearest or "permute_and_flip"
            other = METHODS[nearest].about.name
            return NoOffer(
                sentence=said.no_release(about.name, other),
                instead=("selection_method", nearest, said.use(other)),
            )
        obstacle = source.obstacle(self.as_is.column)
        if obstacle or source.rows is None or source.declared is None:
            return NoOffer(sentence=obstacle or source.unreleased)
        request = most_common_request(
            source.declared,
            self.as_is.column,
            rows=source.rows,
            epsilon=self.epsilon,
            neighbours=self.relation,
            rule=about.release,
        )
        if isinstance(request, str):
            return NoOffer(sentence=request)
        bound = request.error_bound(0.05)
        if source.public:
            forecast = said.forecast(chance_right(request, self.case.read(request)))
        else:
            forecast = said.forecast_bound(bound)
        return Offer(
            request=request,
            data=source.rows,
            forecast=forecast,
            describe=said.answer,
            gives=said.gives(request.options if isinstance(request, MostCommonOption) else request.candidates),
            relation="neighbours",
            conclude=said.conclude(bound, self.case.table.schema.unit),
            claim=proved(bound),
        )
